"""A batch whose calls a provider answers, many at once and at half the price, hours later.

One round is: collect what is answered, work through the plan, submit what is still without a
reply. A night is one round, and the next one goes on from there; who waits makes rounds until
nothing is left at the provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repurpose.api.adapters import SystemClock
from repurpose.api.provider_batches import POLL_SECONDS, collect, pending, submit
from repurpose.batch.leases import Leases, new_owner
from repurpose.core.provider_batch import Collected, Pending, Submitted
from repurpose.ports import BatchStore, Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from repurpose.config import Settings

__all__ = ["AtProvider"]


@dataclass(frozen=True, slots=True)
class AtProvider:
    """The provider's side of a batch; its requests are kept in `store`."""

    settings: Settings
    store: BatchStore
    clock: Clock

    @classmethod
    def of(cls, settings: Settings, store: BatchStore) -> AtProvider:
        """In real time."""
        return cls(settings, store, SystemClock())

    async def collected(
        self,
        *,
        wait: bool,
        stopping: Callable[[], bool] = lambda: False,
        poll_seconds: float = POLL_SECONDS,
    ) -> Collected:
        """Store what is answered; with `wait`, when all of it is.

        Raises:
            UsageError: the chosen engine has no such batches.
            StoreError: the database fails.
        """
        async with self._claims() as claims:
            return await collect(
                self.settings,
                self.store,
                claims,
                wait=wait,
                stopping=stopping,
                poll_seconds=poll_seconds,
                clock=self.clock,
            )

    async def submitted(self, wanted_since: str) -> Submitted:
        """Send what the runs since that time are waiting for.

        Raises:
            UsageError: the chosen engine has no such batches.
            StoreError: the database fails.
        """
        async with self._claims() as claims:
            return await submit(
                self.settings, self.store, claims, wanted_since=wanted_since, clock=self.clock
            )

    @property
    def pending(self) -> Pending:
        """What waits now."""
        return pending(self.store)

    @asynccontextmanager
    async def _claims(self) -> AsyncGenerator[Leases, None]:
        """Leases that are renewed while this process is busy, which an upload may be for long."""
        leases = Leases(self.store, new_owner(), self.clock)
        beat = asyncio.ensure_future(leases.keep())
        try:
            yield leases
        finally:
            beat.cancel()
            with suppress(asyncio.CancelledError):
                await beat
