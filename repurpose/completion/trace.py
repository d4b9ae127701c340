"""A trace source is asked whether the work has ended, and for what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from repurpose.completion._submitting import held
from repurpose.completion._timing import Wait
from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.core.endpoint import Endpoint, Trace
from repurpose.core.exchange import WireError
from repurpose.core.json_types import JsonValue
from repurpose.core.paths import MISSING, text_at
from repurpose.errors import UsageError
from repurpose.ports.endpoints import TraceSource

__all__ = ["drive"]

_PULLS = 4
"""How often the record of an ended run is asked for, since traces are written one part after
another; whether the answer stands in the last one is for others to say."""


async def drive(
    endpoint: Endpoint, values: Mapping[str, JsonValue], environment: Environment
) -> CompletionOutcome:
    """A `completion.base.Drive`. What decides is the trace, pulled once more when it has ended.

    The submit is under way meanwhile: it need never be answered, that it fails ends the wait at
    the next look, and it is given up at the end. A source that cannot be asked is asked again.

    Raises:
        UsageError: there is no trace source; nothing was submitted.
    """
    mode, source = endpoint.completion, environment.traces
    assert isinstance(mode, Trace)  # noqa: S101 - MODES chose this drive by it
    if source is None:
        raise UsageError(f"endpoint {endpoint.name}: mode trace needs a source")
    wait = Wait(endpoint, values, environment.clock)
    key = str(values["run_id"])
    why: str | None = None
    async with held(endpoint, values, environment) as submitting:
        while (left := wait.left()) > 0:
            if submitting.done():
                submitting.result()
            try:
                state = await source.state(key)
            except WireError as error:
                why = f"its traces cannot be read: {error}"
            else:
                if state.status == "failed":
                    return wait.over("failed", diagnosis=state.diagnosis)
                if state.status == "done":
                    return wait.over(
                        "done", await _pulled(endpoint, source, key, wait, environment)
                    )
                why = state.diagnosis
            await environment.clock.sleep(min(mode.interval, left))
        if submitting.done():
            submitting.result()
    return wait.over("timeout", diagnosis=why or "its trace has not ended")


async def _pulled(
    endpoint: Endpoint, source: TraceSource, key: str, wait: Wait, environment: Environment
) -> JsonValue:
    """The record of a run that has ended; None where it cannot be had."""
    mode = endpoint.completion
    assert isinstance(mode, Trace)  # noqa: S101 - see above
    record: JsonValue = None
    for pull in range(_PULLS):
        if pull:
            if (left := wait.left()) <= 0:
                break
            await environment.clock.sleep(min(mode.interval, left))
        try:
            record = await source.record(key)
        except WireError:
            continue
        if record is not None and text_at(record, endpoint.result_path) is not MISSING:
            break
    return record
