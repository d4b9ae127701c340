"""Both kinds of rendezvous, each with a receiver that is asked over a socket of loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from receivers import Meeting, QuickClock, received
from repurpose.api._rendezvous import deliveries_in
from repurpose.ports.endpoints import Rendezvous
from repurpose.receiving.memory import MemoryRendezvous
from repurpose.receiving.stored import StoredRendezvous


@pytest.fixture(params=["memory", "stored"])
def meeting(request: pytest.FixtureRequest, tmp_path: Path) -> Meeting:
    """Runs a test's coroutine with a rendezvous of each kind."""
    clock = QuickClock()

    async def in_memory(test: Callable[[Rendezvous], Awaitable[None]]) -> None:
        rendezvous = MemoryRendezvous(clock)
        await test(rendezvous)
        await rendezvous.close()

    async def in_store(test: Callable[[Rendezvous], Awaitable[None]]) -> None:
        path = tmp_path / "some.db"
        async with received(path, clock) as url:
            await test(StoredRendezvous(lambda: deliveries_in(path), url, clock))

    kind = in_memory if request.param == "memory" else in_store
    return lambda test: asyncio.run(kind(test))
