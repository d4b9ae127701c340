"""Which rendezvous the settings choose."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from repurpose.api._rendezvous import rendezvous_for
from repurpose.api.adapters import SystemClock, open_store
from repurpose.config import Settings
from repurpose.errors import UsageError


def test_with_a_base_address_tickets_are_in_the_database(tmp_path: Path) -> None:
    settings = Settings(database=tmp_path / "some.db", callback_base_url="https://example.org/in/")
    for reachable in (True, False):
        rendezvous = rendezvous_for(settings, SystemClock(), reachable_on_loopback=reachable)
        ticket = asyncio.run(rendezvous.ticket())
        assert ticket.url.startswith("https://example.org/in/callbacks/")
        store = open_store(settings.database)
        assert store.deliveries.issued(ticket.key)
        store.close()


def test_without_one_this_process_listens_for_those_who_reach_it(tmp_path: Path) -> None:
    async def test() -> None:
        settings = Settings(database=tmp_path / "some.db")
        rendezvous = rendezvous_for(settings, SystemClock(), reachable_on_loopback=True)
        ticket = await rendezvous.ticket()
        assert ticket.url.startswith("http://127.0.0.1:")
        await rendezvous.close()

    asyncio.run(test())
    assert not (tmp_path / "some.db").exists()


def test_who_cannot_reach_it_needs_the_setting(tmp_path: Path) -> None:
    settings = Settings(database=tmp_path / "some.db")
    with pytest.raises(UsageError, match="callback_base_url is not set"):
        rendezvous_for(settings, SystemClock(), reachable_on_loopback=False)


def test_a_database_that_no_other_process_sees_is_refused() -> None:
    settings = Settings(database=Path(":memory:"), callback_base_url="http://127.0.0.1:8410")
    with pytest.raises(UsageError, match="database in a file"):
        rendezvous_for(settings, SystemClock(), reachable_on_loopback=True)
