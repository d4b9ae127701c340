"""Leases of processes that live, sleep or died."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

from repurpose.batch.leases import Leases, is_dead, new_owner

AWAY = "another-machine - 1 1 abcd"
"""A process of which nobody here can say whether it lives."""


@pytest.fixture
def ours(store, clock):
    return Leases(store, new_owner(), clock)


def test_one_of_two_gets_a_lease_until_it_is_given_up(store, clock, ours):
    other = Leases(store, AWAY, clock)
    assert ours.claim("a") is None
    assert other.claim("a") is not None
    ours.release("a")
    assert other.claim("a") is None


def test_a_lease_of_a_process_elsewhere_ends_after_a_minute(store, clock, ours):
    Leases(store, AWAY, clock).claim("a")
    clock.seconds = 59
    assert ours.claim("a") == AWAY
    clock.seconds = 60
    assert ours.claim("a") is None


def test_a_lease_is_kept_by_renewing_it(store, clock, ours):
    async def kept() -> None:
        beat = asyncio.ensure_future(ours.keep())
        await clock.sleep(1)
        for _ in range(600):
            await asyncio.sleep(0)
        beat.cancel()
        assert clock.seconds > 600

    ours.claim("a")
    asyncio.run(kept())
    assert Leases(store, AWAY, clock).claim("a") is not None
    assert not ours.lost


def test_a_process_that_slept_too_long_notices_what_it_lost(store, clock, ours):
    ours.claim("a")
    clock.seconds = 61
    Leases(store, AWAY, clock).claim("a")
    ours.renew()
    assert ours.lost


@pytest.mark.skipif(os.name != "posix", reason="processes are looked for as POSIX has them")
def test_a_process_of_this_machine_that_is_gone_is_dead_at_once(store, clock, ours, root):
    program = "from repurpose.batch.leases import new_owner; print(new_owner())"
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    gone = told.stdout.strip()
    assert is_dead(gone)
    Leases(store, gone, clock).claim("a")
    assert ours.claim("a") is None


def test_a_process_that_lives_or_may_live_is_not_dead():
    assert not is_dead(new_owner())
    assert not is_dead(AWAY)
    assert not is_dead("")
