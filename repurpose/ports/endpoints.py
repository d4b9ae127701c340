"""What completion modes ask of the outside: a wire, a place to meet deliveries, a trace source."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from repurpose.core.endpoint import Ticket, TraceState
from repurpose.core.exchange import Request, Response
from repurpose.core.json_types import JsonValue

__all__ = ["Deliveries", "Rendezvous", "Streaming", "TraceSource", "Wire"]


class Streaming(Protocol):
    """A response whose body is still coming."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """By name in lower case."""

    def chunks(self) -> AsyncIterator[bytes]:
        """The body in pieces as they come, cut anywhere. Raises `WireError` where it breaks."""


class Wire(Protocol):
    """Sends requests to one server, each once, with the headers that this server is sent.

    Redirects are not followed. Both methods raise `WireError` where no response came, and
    `TimeoutError` where it did not come within `timeout` seconds, and `BrokenReply` where it is
    larger than the wire takes; a cancelled one lets go of its socket.
    """

    async def send(self, request: Request, timeout: float) -> Response:  # noqa: ASYNC109 - it reaches the socket
        """The response with its whole body."""

    def stream(self, request: Request, timeout: float) -> AbstractAsyncContextManager[Streaming]:
        """The response as soon as its head is there; `timeout` is for all of it."""


class Rendezvous(Protocol):
    """Where a posted body meets the one who waits for it, in this process or in another.

    Raises `StoreError` where it is kept in a database that fails.
    """

    async def ticket(self) -> Ticket:
        """A fresh address, for one attempt; whatever listens there does so when this returns."""

    async def wait(self, key: str, timeout: float) -> bytes | None:  # noqa: ASYNC109 - whoever waits has a clock of its own
        """The oldest body under `key` that nobody has taken, taken now; None after `timeout` s."""

    def forget(self, key: str) -> None:
        """Nobody waits under `key` any more: what still comes is given to nobody."""

    async def close(self) -> None:
        """Let go of what listens in the running event loop; a later ticket begins anew."""


class Deliveries(Protocol):
    """Posted bodies in a store, which one process keeps and another takes.

    Each goes to exactly one taker. Moments are seconds since 1970. All raise `StoreError`, and
    nothing else, where the database fails.
    """

    def issue(self, key: str, now: float) -> None:
        """Take bodies under this key from now on, for a week."""

    def issued(self, key: str) -> bool:
        """Whether bodies are taken under this key, be it to be given to nobody."""

    def deliver(self, key: str, body: bytes, now: float) -> bool:
        """Keep a body; False, and nothing kept, where its key was never issued.

        Sweeps what was taken, and what nobody has taken within an hour.
        """

    def deliver_event(self, event_id: str, key: str, body: bytes, now: float) -> bool:
        """Keep a body under a key that needs no ticket, once for each event.

        False, and nothing kept, where the event was seen within a week. Sweeps likewise.
        """

    def claim(self, key: str, now: float) -> bytes | None:
        """The oldest body under `key` that nobody has taken, taken now; None where there is none.

        When this returns, it is taken: nobody gets it again, should its taker die.
        """

    def forget(self, key: str, now: float) -> None:
        """Nobody takes under `key` any more. What is posted there is kept, and swept in time."""


class TraceSource(Protocol):
    """Knows of runs by a key. Both raise `WireError` where it cannot be asked just now."""

    async def state(self, key: str) -> TraceState:
        """Whether the run with this key has ended."""

    async def record(self, key: str) -> JsonValue:
        """The trace of a run that has ended, as `result_path` reads it; None before it is there."""
