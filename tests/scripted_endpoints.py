"""A wire, a rendezvous and a trace source that do what a test wrote down: no socket, no waiting.

They are for the loop of `virtual_time`, where a silent endpoint costs no time.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from repurpose.core.endpoint import Ticket, TraceState
from repurpose.core.exchange import Request, Response
from virtual_time import VirtualClock

__all__ = [
    "NEVER",
    "ScriptedRendezvous",
    "ScriptedTraces",
    "ScriptedWire",
    "SteppingClock",
    "answer",
    "text",
]

NEVER = object()
"""A reply, a piece of a body or a delivery that does not come."""


def answer(value: Any = None, status: int = 200, **headers: str) -> Response:
    """A response with a JSON body."""
    return Response(
        status, {"content-type": "application/json", **headers}, json.dumps(value).encode()
    )


def text(body: str, status: int = 200, kind: str = "text/plain") -> Response:
    """A response with a body of text."""
    return Response(status, {"content-type": kind}, body.encode())


class SteppingClock(VirtualClock):
    """Passes `step` seconds each time somebody looks at it."""

    def __init__(self, step: float) -> None:
        self.step = step
        self.seen = -step

    def monotonic(self) -> float:
        self.seen += self.step
        return self.seen


class ScriptedWire:
    """Answers the submit, and each look at the state with the next of `states`; the last repeats.

    Any of them may be an exception, which is raised, or `NEVER`. A streamed body has `chunks`.
    """

    def __init__(self, submitted: Any = None, states: Any = (), chunks: Any = ()) -> None:
        self.submitted = answer({}) if submitted is None else submitted
        self.states = list(states)
        self.chunks = list(chunks)
        self.sent: list[Request] = []
        self.timeouts: list[float] = []
        self.open_requests = 0
        self.read_chunks = 0

    @property
    def looks(self) -> list[Request]:
        """What was sent after the submit."""
        return self.sent[1:]

    async def send(self, request: Request, timeout: float) -> Response:  # noqa: ASYNC109
        place = len(self.sent) - 1
        reply = self.states[min(place, len(self.states) - 1)] if place >= 0 else self.submitted
        with self._noted(request, timeout):
            async with asyncio.timeout(timeout):
                return await _coming(reply)

    @asynccontextmanager
    async def stream(self, request: Request, timeout: float):  # noqa: ASYNC109
        with self._noted(request, timeout):
            async with asyncio.timeout(timeout):
                yield _Streamed(self, await _coming(self.submitted))

    @contextmanager
    def _noted(self, request: Request, timeout: float):
        self.sent.append(request)
        self.timeouts.append(timeout)
        self.open_requests += 1
        try:
            yield
        finally:
            self.open_requests -= 1


class _Streamed:
    def __init__(self, wire: ScriptedWire, head: Response) -> None:
        self._wire = wire
        self.status, self.headers = head.status, head.headers
        self._chunks = wire.chunks or [head.body]

    async def chunks(self):
        for chunk in self._chunks:
            piece = await _coming(chunk)
            self._wire.read_chunks += 1
            yield piece.encode() if isinstance(piece, str) else piece


class ScriptedRendezvous:
    """Hands out `deliveries` one after another; an event is waited for and passed over."""

    def __init__(self, deliveries: Any = ()) -> None:
        self.deliveries = list(deliveries)
        self.tickets: list[Ticket] = []
        self.waited: list[str] = []
        self.forgotten: list[str] = []

    async def ticket(self) -> Ticket:
        number = len(self.tickets) + 1
        ticket = Ticket(f"key-{number}", f"http://127.0.0.1:1/callbacks/secret-{number}")
        self.tickets.append(ticket)
        return ticket

    async def wait(self, key: str, timeout: float) -> bytes | None:  # noqa: ASYNC109
        self.waited.append(key)
        try:
            async with asyncio.timeout(timeout):
                body = await _coming(self.deliveries.pop(0) if self.deliveries else NEVER)
        except TimeoutError:
            return None
        return body if isinstance(body, bytes) else json.dumps(body).encode()

    def forget(self, key: str) -> None:
        self.forgotten.append(key)

    async def close(self) -> None:
        """Nothing listens."""


class ScriptedTraces:
    """Says each of `states`, the last one again and again; so of `records`."""

    def __init__(self, states: Any, records: Any = (None,)) -> None:
        self.states, self.records = list(states), list(records)
        self.state_keys: list[str] = []
        self.record_keys: list[str] = []

    async def state(self, key: str) -> TraceState:
        said = self.states[min(len(self.state_keys), len(self.states) - 1)]
        self.state_keys.append(key)
        said = await _coming(said)
        return said if isinstance(said, TraceState) else TraceState(said)

    async def record(self, key: str) -> Any:
        said = self.records[min(len(self.record_keys), len(self.records) - 1)]
        self.record_keys.append(key)
        return await _coming(said)


async def _coming(said: Any) -> Any:
    await asyncio.sleep(0.001)
    if said is NEVER:
        await asyncio.Event().wait()
    if isinstance(said, Exception):
        raise said
    return said
