"""Asks an HTTP endpoint of the user's own, which may finish in any of the five modes.

A call is submitted once and never again: what it costs to do the work twice is not ours to know.
No message holds what the endpoint answered, but for the beginning of a refusal, nor any secret.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from repurpose.completion import MODES
from repurpose.completion.base import CompletionOutcome, Drive, Environment
from repurpose.core.call import Call, Reply, Usage
from repurpose.core.endpoint import Endpoint, Trace
from repurpose.core.json_types import JsonValue
from repurpose.core.paths import MISSING, at, text_at
from repurpose.core.source import digest_of
from repurpose.core.table import member
from repurpose.engines._endpoint_secrets import Mask, Ready, ready
from repurpose.engines._endpoint_wire import HttpWire
from repurpose.errors import (
    AgentFailed,
    BrokenReply,
    EngineError,
    RepurposeError,
    StillWorking,
    UsageError,
)
from repurpose.fetching.showing import shown_address
from repurpose.ports import Clock, Engine, NewId
from repurpose.ports.endpoints import Rendezvous, TraceSource, Wire
from repurpose.traces import TRACES

__all__ = ["endpoint_engine"]

log = logging.getLogger(__name__)

_DIGITS = 16
"""Hex digits by which two ways of asking are told apart."""
_SHOWN = 60
"""Characters of an id, a kind or a state that a message shows."""


def endpoint_engine(
    endpoint: Endpoint,
    *,
    clock: Clock,
    new_id: NewId,
    environment: Mapping[str, str],
    rendezvous: Rendezvous | None = None,
    traces: TraceSource | None = None,
    wire: Wire | None = None,
) -> Engine:
    """An engine that has `endpoint` answer calls; its model is the endpoint's name.

    Every call is one submit with a run id of its own, also one that asks again. As many are on
    the way at once as the endpoint says that it takes. How large a text was is read where `usage`
    says; without that, what it cost is not known.

    `environment` holds the secrets that the endpoint's table names. `rendezvous` is for an endpoint
    that calls back, and closed with the engine. Without `traces`, an endpoint that is watched by
    its traces has the source that it names; without `wire`, HTTP.

    Raises:
        UsageError: a variable with a secret is not set, or the address or a source cannot be used.
    """
    asked, wires = ready(endpoint, environment), _Wires()
    if wire is None:
        wire = wires.to(endpoint.base_url, asked.headers)
    mode = asked.endpoint.completion
    if traces is None and isinstance(mode, Trace):
        traces = _source(endpoint, mode, wires)
    surroundings = Environment(wire, clock, rendezvous, traces)
    asker = _Asker(asked, surroundings, new_id, wires)
    return Engine(
        name="endpoint",
        answer=asker.answer,
        model=endpoint.name,
        parameters=_parameters(endpoint),
        close=asker.close,
        lanes=endpoint.lanes,
    )


class _Wires:
    """The connections of one engine."""

    def __init__(self) -> None:
        self._made: list[HttpWire] = []

    def to(self, base_url: str, headers: Mapping[str, str]) -> HttpWire:
        """A new one, with headers that are ready to be sent."""
        wire = HttpWire(base_url, headers)
        self._made.append(wire)
        return wire

    async def close(self) -> None:
        """Close the sessions of the running event loop."""
        for wire in self._made:
            await wire.close()


class _Asker:
    """From a call to its reply."""

    def __init__(
        self, asked: Ready, surroundings: Environment, new_id: NewId, wires: _Wires
    ) -> None:
        self._endpoint = endpoint = asked.endpoint
        self._mask = Mask(asked.secrets)
        self._surroundings = surroundings
        self._new_id = new_id
        self._wires = wires
        self._drive: Drive = member(MODES[endpoint.completion.mode])
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    async def answer(self, call: Call) -> Reply:
        """The reply, when the endpoint has finished.

        Raises:
            EngineError: no reply came; nothing else is raised but cancellation.
        """
        lanes = self._lane()
        if lanes is None:
            return await self._answer(call)
        async with lanes:
            return await self._answer(call)

    async def close(self) -> None:
        """Close what is open in the running event loop."""
        try:
            if self._surroundings.rendezvous is not None:
                await self._surroundings.rendezvous.close()
        finally:
            await self._wires.close()

    async def _answer(self, call: Call) -> Reply:
        try:
            values = _values(self._endpoint, call, self._new_id())
            outcome = await self._drive(self._endpoint, values, self._surroundings)
            log.info("endpoint %s: %s", self._endpoint.name, outcome.status)
            return self._reply(outcome)
        except EngineError as error:
            masked = self._mask.error(error)
            if masked is error:
                raise
            raise masked from None
        except RepurposeError as error:  # the database that deliveries are kept in, for one
            raise self._mask.error(EngineError(error.message, hint=error.hint)) from None

    def _lane(self) -> asyncio.Semaphore | None:
        """What lets only so many submits be on the way in the running event loop."""
        most = self._endpoint.lanes
        if most is None:
            return None
        return self._lanes.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(most))

    def _reply(self, outcome: CompletionOutcome) -> Reply:
        endpoint = self._endpoint
        match outcome.status:
            case "failed":
                raise _failed(endpoint, outcome)
            case "timeout":
                raise _still_working(endpoint, outcome)
            case "done":
                pass
        found = text_at(outcome.response, endpoint.result_path)
        if found is MISSING:
            raise BrokenReply(
                f"endpoint {endpoint.name} has finished, and there is nothing at"
                f" {endpoint.result_path} in its result",
                hint=f"look at result_path of [endpoints.{endpoint.name}]",
            )
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        return Reply(
            text=self._mask.answer(text),
            usage=_usage(endpoint, outcome.response),
            request_id=self._mask.text(outcome.remote_id or outcome.run_id),
        )


def _values(endpoint: Endpoint, call: Call, run_id: str) -> dict[str, JsonValue]:
    """What the places of body, paths and headers stand for."""
    return {
        **endpoint.keys,
        "run_id": run_id,
        "task": call.instructions,
        "system": call.system,
        "user": call.user,
        # The rules come first, since in one text nothing else tells them from the source.
        "prompt": f"{call.system}\n\n{call.user}",
        "schema": call.wire or None,
        "format": call.format,
        "attempt": call.attempt,
    }


def _failed(endpoint: Endpoint, outcome: CompletionOutcome) -> AgentFailed:
    """That it said no; of what it said, only the state that it was told by."""
    match = getattr(endpoint.completion, "failed", None)
    said = ""
    if match is not None and match.matches(outcome.response):
        value = at(outcome.response, match.field)
        said = f": {match.field} is {json.dumps(value, ensure_ascii=False)[:_SHOWN]}"
    elif isinstance(endpoint.completion, Trace):
        said = ", by its trace"
    return AgentFailed(f"endpoint {endpoint.name} failed{said}{_told_id(outcome)}")


def _still_working(endpoint: Endpoint, outcome: CompletionOutcome) -> StillWorking:
    """That it had not finished in the end, and what is known of why."""
    why = f": {outcome.diagnosis}" if outcome.diagnosis else ""
    seconds = f"{outcome.elapsed:.1f}".removesuffix(".0")
    is_over = outcome.elapsed >= 0.99 * endpoint.completion.timeout
    key = "completion.timeout" if is_over else None
    return StillWorking(
        f"endpoint {endpoint.name} has not finished after {seconds} s{why}{_told_id(outcome)}",
        hint=f"raise {key} of [endpoints.{endpoint.name}]" if key else None,
    )


def _told_id(outcome: CompletionOutcome) -> str:
    """The id under which the endpoint knows the work, for whoever looks for it there."""
    known = outcome.remote_id or outcome.run_id
    shown = "".join(sign if sign.isprintable() else "?" for sign in known[:_SHOWN])
    return f" (run {shown})"


def _usage(endpoint: Endpoint, response: JsonValue) -> Usage:
    """How large prompt and text were, where the result says so."""
    found = {name: at(response, path) for name, path in endpoint.usage.items()}
    counts = {
        name: count
        for name, count in found.items()
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**53
    }
    return Usage(**counts)


def _parameters(endpoint: Endpoint) -> dict[str, JsonValue]:
    """What makes two answers comparable; of secrets, not even how they are called."""
    asked = {
        "method": endpoint.method,
        "path": endpoint.path,
        "headers": dict(endpoint.headers),
        "body": endpoint.body,
        "keys": dict(endpoint.keys),
        "result_path": endpoint.result_path,
    }
    canonical = json.dumps(asked, ensure_ascii=False, sort_keys=True)
    return {
        "endpoint": shown_address(endpoint.base_url).rstrip("/"),
        "mode": endpoint.completion.mode,
        "template": digest_of(canonical)[:_DIGITS],
    }


def _source(endpoint: Endpoint, mode: Trace, wires: _Wires) -> TraceSource:
    """The source that the endpoint is watched by."""
    kind = mode.source.get("kind")
    where = TRACES.get(kind) if isinstance(kind, str) else None
    if where is None:
        raise UsageError(
            f"endpoint {endpoint.name}: no trace source {str(kind)[:_SHOWN]!r}",
            hint=f"completion.source.kind is {' or '.join(TRACES)}",
        )
    made: TraceSource = member(where)(mode.source, wire_for=wires.to)
    return made
