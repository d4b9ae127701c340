"""What a store keeps of posts: each is taken once, and none is kept for long."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repurpose.errors import StoreError
from repurpose.ports import Store
from repurpose.ports.endpoints import Deliveries
from repurpose.stores.sqlite import open_store

NOON, HOUR, DAY = 1_795_000_000.0, 3_600.0, 86_400.0


@pytest.fixture
def deliveries(store: Store) -> Deliveries:
    return store.deliveries


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.db"


@pytest.fixture
def here(path: Path) -> Iterator[Deliveries]:
    """In a file that a test looks into."""
    with closing(open_store(path)) as opened:
        yield opened.deliveries


def count(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        [[rows]] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(rows)


def test_a_body_is_taken_once_oldest_first_byte_for_byte(deliveries: Deliveries) -> None:
    deliveries.issue("a", NOON)
    bodies = (b"\x00\xff", b"", b"{}")
    assert all(deliveries.deliver("a", body, NOON) for body in bodies)
    assert [deliveries.claim("a", NOON) for _ in range(4)] == [*bodies, None]


def test_only_a_key_that_was_issued_takes_bodies(deliveries: Deliveries) -> None:
    assert not deliveries.issued("a")
    assert not deliveries.deliver("a", b"guessed", NOON)
    deliveries.issue("a", NOON)
    assert deliveries.issued("a")
    assert deliveries.claim("a", NOON) is None


def test_a_key_is_issued_once(deliveries: Deliveries) -> None:
    deliveries.issue("a", NOON)
    with pytest.raises(StoreError):
        deliveries.issue("a", NOON)


def test_bodies_of_other_keys_stay(deliveries: Deliveries) -> None:
    for key in ("a", "b"):
        deliveries.issue(key, NOON)
        deliveries.deliver(key, key.encode(), NOON)
    assert deliveries.claim("b", NOON) == b"b"
    assert deliveries.claim("b", NOON) is None
    assert deliveries.claim("a", NOON) == b"a"


def test_what_comes_after_forgetting_is_kept_and_given_to_nobody(
    here: Deliveries, path: Path
) -> None:
    here.issue("a", NOON)
    here.deliver("a", b"too early to be late", NOON)
    here.forget("a", NOON)
    assert here.issued("a")
    assert here.deliver("a", b"late", NOON)
    assert here.claim("a", NOON) is None
    assert count(path, "deliveries") == 2
    here.issue("b", NOON + HOUR + 1)
    here.deliver("b", b"another", NOON + HOUR + 1)
    assert count(path, "deliveries") == 1


def test_a_key_without_a_ticket_can_be_forgotten_as_well(deliveries: Deliveries) -> None:
    deliveries.forget("openai:resp_1", NOON)
    assert deliveries.deliver_event("wh_1", "openai:resp_1", b"{}", NOON)
    assert deliveries.claim("openai:resp_1", NOON) is None


def test_a_delivery_sweeps_what_was_taken_and_what_is_an_hour_old(
    here: Deliveries, path: Path
) -> None:
    for key in ("a", "b", "c"):
        here.issue(key, NOON)
        here.deliver(key, b"body", NOON)
    here.claim("a", NOON)
    assert count(path, "deliveries") == 3
    here.deliver("c", b"second", NOON + HOUR - 1)
    assert count(path, "deliveries") == 3, "that of a is gone"
    here.deliver("c", b"third", NOON + HOUR + 1)
    assert count(path, "deliveries") == 2, "the first of b and c are gone"
    assert here.claim("b", NOON + HOUR + 1) is None
    assert here.claim("c", NOON + HOUR + 1) == b"second"


def test_a_ticket_is_good_for_a_week(here: Deliveries, path: Path) -> None:
    here.issue("a", NOON)
    assert here.deliver("a", b"body", NOON + 7 * DAY)
    assert not here.deliver("a", b"body", NOON + 7 * DAY + 1)
    assert count(path, "tickets") == 0


def test_an_event_counts_once_even_when_it_was_taken(deliveries: Deliveries) -> None:
    assert deliveries.deliver_event("wh_1", "openai:batch_1", b"1", NOON)
    assert not deliveries.deliver_event("wh_1", "openai:batch_1", b"2", NOON)
    assert not deliveries.deliver_event("wh_1", "openai:batch_2", b"3", NOON + 3 * DAY)
    assert deliveries.claim("openai:batch_1", NOON) is None, "swept after an hour"
    assert deliveries.claim("openai:batch_2", NOON) is None
    assert deliveries.deliver_event("wh_2", "openai:batch_1", b"4", NOON + 3 * DAY)
    assert deliveries.claim("openai:batch_1", NOON + 3 * DAY) == b"4"


def test_events_are_remembered_for_a_week(here: Deliveries, path: Path) -> None:
    here.deliver_event("wh_1", "openai:batch_1", b"1", NOON)
    here.deliver_event("wh_2", "openai:batch_1", b"1", NOON + 7 * DAY + 1)
    assert count(path, "webhook_events") == 1


def test_what_one_connection_keeps_another_takes(path: Path, here: Deliveries) -> None:
    with closing(open_store(path)) as other:
        here.issue("a", NOON)
        assert other.deliveries.claim("a", NOON) is None
        here.deliver("a", b"body", NOON)
        assert other.deliveries.claim("a", NOON) == b"body"
        assert here.claim("a", NOON) is None


def test_a_body_that_another_takes_between_look_and_claim_is_nobody_else_s(
    path: Path, here: Deliveries
) -> None:
    here.issue("a", NOON)
    here.deliver("a", b"body", NOON)
    with closing(open_store(path)) as other:
        deliveries = other.deliveries

        def found(query: str, values: dict[str, Any]) -> list[dict[str, Any]]:
            rows = deliveries.found(query, values)
            assert here.claim("a", NOON) == b"body"
            return rows

        assert replace(deliveries, found=found).claim("a", NOON) is None


def test_takers_of_one_key_at_the_same_time_share_its_bodies(path: Path, here: Deliveries) -> None:
    here.issue("a", NOON)
    bodies = [str(number).encode() for number in range(300)]
    for body in bodies:
        here.deliver("a", body, NOON)
    begun = threading.Barrier(4)

    def take() -> list[bytes]:
        with closing(open_store(path)) as own:
            begun.wait(20)
            return list(iter(lambda: own.deliveries.claim("a", NOON), None))

    with ThreadPoolExecutor(4) as pool:
        taken = [each.result(60) for each in [pool.submit(take) for _ in range(4)]]
    assert sorted(itertools.chain(*taken)) == sorted(bodies)
    assert all(each == sorted(each, key=int) for each in taken)
