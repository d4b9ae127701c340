"""A rendezvous within one process, which listens itself: on loopback, at a port that is free.

Each event loop has a receiver of its own, begun with its first ticket. Nothing is written anywhere,
so what was not waited for is gone with the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from aiohttp import web

from repurpose.core.endpoint import Ticket
from repurpose.ports import Clock
from repurpose.receiving.application import application, runner_of
from repurpose.receiving.tokens import NewToken, new_token, ticket_at

__all__ = ["MemoryRendezvous"]

_HOST = "127.0.0.1"


class MemoryRendezvous:
    """A `Rendezvous` that only endpoints on this machine can post to."""

    def __init__(self, clock: Clock, *, token: NewToken = new_token) -> None:
        self._clock = clock
        self._token = token
        self._open: dict[asyncio.AbstractEventLoop, _Receiver] = {}

    async def ticket(self) -> Ticket:
        """A fresh address, for one attempt; this loop listens there when this returns."""
        receiver = await self._receiver()
        ticket = ticket_at(receiver.url, self._token())
        receiver.inboxes[ticket.key] = asyncio.Queue()
        return ticket

    async def wait(self, key: str, timeout: float) -> bytes | None:  # noqa: ASYNC109 - as the port says
        """The oldest body under `key` that nobody has taken; None after `timeout` seconds."""
        receiver = self._open.get(asyncio.get_running_loop())
        inbox = receiver.inboxes.get(key) if receiver else None
        try:
            async with asyncio.timeout(timeout):
                # Where there is no inbox, nobody will ever post: time passes all the same.
                return await (inbox or asyncio.Queue[bytes]()).get()
        except TimeoutError:
            return None

    def forget(self, key: str) -> None:
        """Nobody waits under `key` any more; posts to it are acknowledged and thrown away."""
        receiver = self._open.get(asyncio.get_running_loop())
        if receiver and key in receiver.inboxes:
            receiver.inboxes[key] = None

    async def close(self) -> None:
        """Stop listening in the running loop; a later ticket begins anew."""
        receiver = self._open.get(asyncio.get_running_loop())
        if receiver is not None:
            await asyncio.wait([receiver.begun])
            await receiver.lifetime.aclose()

    async def _receiver(self) -> _Receiver:
        loop = asyncio.get_running_loop()
        receiver = self._open.get(loop)
        if receiver is None:
            # The loop closes its unfinished generators when it ends, and this one stops listening.
            receiver = self._open[loop] = _Receiver()
            receiver.lifetime = self._lifetime(loop, receiver)
            receiver.begun = asyncio.create_task(_first(receiver.lifetime))
        # Shielded: others may wait for the same receiver while this one is cancelled.
        await asyncio.shield(receiver.begun)
        return receiver

    async def _lifetime(
        self, loop: asyncio.AbstractEventLoop, receiver: _Receiver
    ) -> AsyncGenerator[None, None]:
        runner = runner_of(application(receiver, self._clock))
        try:
            await runner.setup()
            await web.TCPSite(runner, _HOST, 0).start()
            receiver.url = f"http://{_HOST}:{runner.addresses[0][1]}"
            yield
        finally:
            self._open.pop(loop, None)
            await runner.cleanup()


@dataclass(slots=True)
class _Receiver:
    """What listens in one loop, and what was posted to it: a `Sink`."""

    inboxes: dict[str, asyncio.Queue[bytes] | None] = field(default_factory=dict)
    """By key; None where nobody waits any more."""
    url: str = field(default="", repr=False)
    lifetime: AsyncGenerator[None, None] = field(init=False, repr=False)
    begun: asyncio.Task[None] = field(init=False, repr=False)
    """Done when posts are taken."""

    async def issued(self, key: str) -> bool:
        return key in self.inboxes

    async def deliver(self, key: str, body: bytes) -> bool:
        if inbox := self.inboxes.get(key):
            inbox.put_nowait(body)
        return key in self.inboxes

    async def deliver_event(self, event_id: str, key: str, body: bytes) -> bool:
        """Never asked: without a secret there are no webhooks."""
        raise NotImplementedError


async def _first(lifetime: AsyncGenerator[None, None]) -> None:
    await anext(lifetime)
