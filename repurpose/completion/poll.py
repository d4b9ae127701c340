"""An address is asked for the state of the work until it says done or failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repurpose.completion._answers import (
    decoded,
    excerpt,
    is_success,
    is_transient,
    undecided,
    verdict,
)
from repurpose.completion._filling import request_for
from repurpose.completion._submitting import returned_id, submit
from repurpose.completion._timing import Wait
from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.core.endpoint import Endpoint, Poll
from repurpose.core.exchange import Response, WireError
from repurpose.core.json_types import JsonValue
from repurpose.core.waiting import retry_after
from repurpose.errors import AgentFailed
from repurpose.ports import Clock
from repurpose.schema.intake import IntakeError

__all__ = ["drive"]

_ONE_LOOK = 30.0
"""Seconds for one request for the state, so that one that hangs does not use up the whole wait."""


@dataclass(frozen=True, slots=True)
class _NotYet:
    """That a look told nothing."""

    why: str
    retry_after: float = 0.0


async def drive(
    endpoint: Endpoint, values: Mapping[str, JsonValue], environment: Environment
) -> CompletionOutcome:
    """A `completion.base.Drive`. What decides is the body of the state, not that of the submit.

    A state address that cannot be reached, or answers 408, 429, 5xx or no JSON, is asked again
    until time is up; any other status that is no success is final.
    """
    mode = endpoint.completion
    assert isinstance(mode, Poll)  # noqa: S101 - MODES chose this drive by it
    wait = Wait(endpoint, values, environment.clock)
    try:
        response = await submit(endpoint, values, environment)
    except TimeoutError:
        return wait.over("timeout", diagnosis="the submit was not answered")
    wait.remote_id = returned_id(endpoint, response)
    known = {**values, "id": wait.remote_id or values["run_id"]}
    last: JsonValue = None
    why = "its state was never asked for"
    while (left := wait.left()) > 0:
        seen = await _look(endpoint, mode, known, environment, min(left, _ONE_LOOK))
        pause = mode.interval
        if isinstance(seen, _NotYet):
            why, pause = seen.why, max(pause, seen.retry_after)
        else:
            last = seen[0]
            why = f"its state {undecided(last, mode.done)}"
            ended = verdict(last, done=mode.done, failed=mode.failed)
            if ended:
                return wait.over(ended, last)
        await environment.clock.sleep(max(0.0, min(pause, wait.left())))
    return wait.over("timeout", last, diagnosis=why)


async def _look(
    endpoint: Endpoint,
    mode: Poll,
    values: Mapping[str, JsonValue],
    environment: Environment,
    seconds: float,
) -> tuple[JsonValue] | _NotYet:
    """The body of the state, in a tuple since it may be anything; or that it is not there yet."""
    request = request_for(
        endpoint, values, method=mode.status_method, path=mode.status_path, body=mode.status_body
    )
    try:
        response = await environment.wire.send(request, seconds)
    except TimeoutError:
        return _NotYet("its state address did not answer")
    except WireError as error:
        return _NotYet(f"its state address cannot be asked: {error}")
    if not is_success(response.status):
        return _not_yet_or_never(endpoint, response, environment.clock)
    try:
        return (decoded(response.body),)
    except IntakeError:
        return _NotYet("its state address answered no JSON")


def _not_yet_or_never(endpoint: Endpoint, response: Response, clock: Clock) -> _NotYet:
    status = response.status
    if is_transient(status):
        pause = retry_after(response.headers, clock.now()) or 0.0
        return _NotYet(f"its state address answered {status}", pause)
    said = excerpt(response.body)
    raise AgentFailed(
        f"endpoint {endpoint.name}: its state address answered {status}"
        + (f": {said}" if said else ""),
        status=status,
        hint=f"look at status_path of [endpoints.{endpoint.name}]" if status == 404 else None,
    )
