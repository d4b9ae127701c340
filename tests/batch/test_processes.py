"""Batches that are killed at any moment, and several of them at once."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from batch_nights import write
from repurpose.stores.sqlite import open_store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL is a POSIX signal"),
]

SEED = 11
KILLS = 10
LANES = 4
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Work:
    """A folder of sources, a database, and the ledger of all calls."""

    folder: Path
    count: int

    @property
    def database(self) -> Path:
        return self.folder / "batch.db"

    @property
    def calls(self) -> int:
        return 2 * self.count

    def start(self, seconds: float) -> subprocess.Popen[str]:
        arguments = [self.database, self.folder / "ledger", seconds, LANES, self.folder / "posts"]
        return subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "batch_process.py"), *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ledger(self) -> list[tuple[str, str]]:
        path = self.folder / "ledger"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [(name, digest) for name, digest in (line.split() for line in lines)]

    def stored(self) -> Counter[tuple[str, str]]:
        """The calls whose replies are stored."""
        with closing(sqlite3.connect(self.database)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            found = db.execute("SELECT format, source_id FROM calls WHERE reply IS NOT NULL")
            return Counter(found.fetchall())

    def assert_whole(self) -> None:
        """Every item is done, with one row for each format of it and no other."""
        with closing(open_store(self.database)) as store:
            assert store.item_counts() == {"todo": 0, "done": self.count, "failed": 0, "parked": 0}
            assert store.planned(store.batch("last").id, 0, 1) == ()
        with closing(sqlite3.connect(self.database)) as db:
            rows = db.execute(
                "SELECT source_id, format, count(*) FROM rows WHERE reused_from IS NULL"
                " AND status = 'done' GROUP BY 1, 2"
            ).fetchall()
            held = "SELECT name FROM leases WHERE name NOT LIKE 'batch %'"
            assert db.execute(held).fetchall() == []
        assert len(rows) == self.calls
        assert {count for _, _, count in rows} == {1}


@pytest.fixture
def work(tmp_path: Path) -> Callable[[int], Work]:
    def prepared(count: int) -> Work:
        (tmp_path / "posts").mkdir()
        for number in range(count):
            write(tmp_path / "posts" / f"{number:03}.md", f"Edition {number}")
        return Work(tmp_path, count)

    return prepared


def ended(running: subprocess.Popen[str]) -> str:
    """What a process said that ended well."""
    said, wrong = running.communicate(timeout=120)
    assert running.returncode == 0, wrong
    assert "locked" not in wrong
    return said


def test_ten_kills_at_random_moments_repeat_at_most_what_was_in_flight(
    work: Callable[[int], Work],
) -> None:
    """The same command goes on at once: a dead process's leases are taken over."""
    many = work(50)
    chance = random.Random(SEED)
    moments = sorted(chance.sample(range(1, many.calls - LANES), KILLS))
    print(f"seed {SEED}: {moments}")  # noqa: T201 - shown where the test fails
    lost = 0
    for calls in moments:
        running = many.start(0.02)
        while len(set(many.ledger())) < calls:
            threading.Event().wait(0.005)
            assert running.poll() is None
        threading.Event().wait(chance.uniform(0, 0.04))
        running.kill()
        running.communicate()
        paid, before = many.stored(), len(many.ledger())
        assert max(paid.values(), default=1) == 1
        assert 0 <= before - sum(paid.values()) - lost <= LANES, "more than was in flight"
        lost = before - sum(paid.values())
    ended(many.start(0.0))
    many.assert_whole()
    assert len(many.ledger()) == many.calls + lost
    assert set(many.stored().values()) == {1}


def test_two_batches_at_once_make_no_call_twice(work: Callable[[int], Work]) -> None:
    many = work(40)
    running = [many.start(0.02) for _ in range(2)]
    said = [ended(each) for each in running]
    assert len(many.ledger()) == len(set(many.ledger())) == many.calls
    assert all(each.startswith("done ") for each in said)
    many.assert_whole()


def test_a_second_batch_waits_for_what_the_first_one_holds_and_takes_over_where_it_dies(
    work: Callable[[int], Work],
) -> None:
    many = work(4)
    first = many.start(60)
    while len(many.ledger()) < LANES:
        threading.Event().wait(0.005)
    second = many.start(0.0)
    threading.Event().wait(2.5)
    assert second.poll() is None
    first.kill()
    first.communicate()
    ended(second)
    assert len(many.ledger()) == many.calls + LANES
    many.assert_whole()


def test_eight_batches_on_one_database_never_find_it_locked(work: Callable[[int], Work]) -> None:
    many = work(60)
    running = [many.start(0.005) for _ in range(8)]
    for each in running:
        ended(each)
    assert len(many.ledger()) == len(set(many.ledger())) == many.calls
    many.assert_whole()
