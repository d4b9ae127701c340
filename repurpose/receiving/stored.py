"""A rendezvous over a store, so that one process takes posts and any other waits for them.

It works without any signal between processes: whoever waits looks into the store twice a second.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from repurpose.core.endpoint import Ticket
from repurpose.ports import Clock
from repurpose.ports.endpoints import Deliveries
from repurpose.receiving.tokens import NewToken, new_token, ticket_at

__all__ = ["LOOK_SECONDS", "StoredRendezvous"]

LOOK_SECONDS = 0.5
"""Between two looks for a body that is waited for."""


@dataclass(frozen=True, slots=True)
class StoredRendezvous:
    """A `Rendezvous` whose posts are taken by `repurpose serve-callbacks`."""

    opened: Callable[[], AbstractContextManager[Deliveries]]
    """Opens the store for as long as it is looked into: a millisecond for each wait, and nothing
    that outlives its event loop."""
    base_url: str = field(repr=False)
    """Where endpoints reach the receiver."""
    clock: Clock
    token: NewToken = new_token

    async def ticket(self) -> Ticket:
        """A fresh address, for one attempt; posts to it are taken when this returns."""
        ticket = ticket_at(self.base_url, self.token())
        with self.opened() as deliveries:
            deliveries.issue(ticket.key, self._now())
        return ticket

    async def wait(self, key: str, timeout: float) -> bytes | None:  # noqa: ASYNC109 - as the port says
        """The oldest body under `key` that nobody has taken, taken now; None after `timeout` s.

        Between the taking and the return nothing else happens in this loop, so that a wait that
        is cancelled has taken nothing.
        """
        until = self.clock.monotonic() + timeout
        with self.opened() as deliveries:
            while (body := deliveries.claim(key, self._now())) is None:
                left = until - self.clock.monotonic()
                if left <= 0:
                    break
                await self.clock.sleep(min(LOOK_SECONDS, left))
        return body

    def forget(self, key: str) -> None:
        """Nobody waits under `key` any more; posts to it are acknowledged and kept for nobody."""
        with self.opened() as deliveries:
            deliveries.forget(key, self._now())

    async def close(self) -> None:
        """Nothing listens here."""

    def _now(self) -> float:
        return self.clock.now().timestamp()
