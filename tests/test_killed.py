"""A process killed between any two steps or at any time, and started again."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from repurpose.core.source import Source
from repurpose.formats import FORMATS
from repurpose.sources import load_path
from repurpose.stores.sqlite import open_store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL is a POSIX signal"),
]

SEED = 40_10
KILLS = 10
SOURCES = 10
CALLS = SOURCES * len(FORMATS)
SIX_ROWS = [
    ("summary", "default"),
    ("faq", "default"),
    ("social", "linkedin"),
    ("social", "x"),
    ("social", "instagram"),
    ("newsletter", "default"),
]

Call = tuple[str, str]
"""A format and the digest of a source."""


class Starter:
    """Starts processes, one at a time; see `killed_run.py`."""

    def __init__(self, root: Path) -> None:
        article = root / "fixtures" / "sources" / "article.md"
        self._process = subprocess.Popen(
            [sys.executable, str(root / "tests" / "killed_run.py"), str(article)],
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, *arguments: object) -> int:
        """The number of a process that has begun."""
        assert self._process.stdin is not None
        self._process.stdin.write("\t".join(map(str, arguments)) + "\n")
        self._process.stdin.flush()
        return self._told()

    def ended(self) -> int:
        """Its exit code, when it has ended."""
        return self._told()

    def close(self) -> None:
        self._process.communicate(timeout=60)

    def _told(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@pytest.fixture(scope="module")
def starter(root: Path) -> Iterator[Starter]:
    started = Starter(root)
    yield started
    started.close()


@dataclass
class Work:
    """Sources to run in a process that dies, with what every death left behind."""

    starter: Starter
    folder: Path
    sources: Sequence[Path]
    seen: list[tuple[int, set[Call]]] = field(default_factory=list)
    """After each death: how long the ledger was, and which calls' replies were stored."""

    @property
    def database(self) -> Path:
        return self.folder / "runs.db"

    def run(self, moment: str, *, seconds: float = 0.0, killed_after: float | None = None) -> int:
        """The exit code of a process, after a look at what it left."""
        ledger = self.folder / "ledger"
        number = self.starter.start(moment, seconds, self.database, ledger, *self.sources)
        if killed_after is not None:
            threading.Event().wait(killed_after)
            os.kill(number, signal.SIGKILL)
        code = self.starter.ended()
        if code != 0:
            self.seen.append((len(self.ledger()), self.stored()))
        return code

    def ledger(self) -> list[Call]:
        """Every call in the order it was sent."""
        path = self.folder / "ledger"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [(name, digest) for name, digest in (line.split() for line in lines)]

    def stored(self) -> set[Call]:
        """The calls whose replies are stored, each once, in a database that is whole."""
        with closing(open_store(self.database)), closing(sqlite3.connect(self.database)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            calls = db.execute(
                "SELECT format, source_id FROM calls WHERE reply IS NOT NULL"
            ).fetchall()
            parts = db.execute(
                "SELECT format, count(*) FROM rows GROUP BY run_id, format"
            ).fetchall()
        assert len(set(calls)) == len(calls)
        assert all(count == Counter(name for name, _ in SIX_ROWS)[name] for name, count in parts)
        return set(calls)

    def in_flight(self) -> int:
        """How many deaths came between a call and the storing of its reply."""
        ledger, before, lost = self.ledger(), 0, 0
        for length, stored in self.seen:
            lost += length > before and ledger[length - 1] not in stored
            before = length
        return lost


@pytest.fixture
def work(root: Path, tmp_path: Path, starter: Starter) -> Callable[[int], Work]:
    """Work on so many articles that differ in their first line."""
    text = (root / "fixtures" / "sources" / "article.md").read_text(encoding="utf-8")

    def prepared(count: int) -> Work:
        paths = [tmp_path / f"{number}.md" for number in range(count)]
        for number, path in enumerate(paths):
            path.write_text(f"# Edition {number}\n\n{text}", encoding="utf-8")
        return Work(starter, tmp_path, paths)

    return prepared


def assert_nothing_paid_twice_and_no_row_lost_or_doubled(work: Work) -> None:
    ledger = work.ledger()
    for length, stored in work.seen:
        assert not stored & set(ledger[length:]), "a stored reply was paid again"
    assert len(ledger) == len(work.sources) * len(FORMATS) + work.in_flight()
    assert len(work.stored()) == len(work.sources) * len(FORMATS)
    with closing(open_store(work.database)) as store:
        newest: dict[str, str] = {}
        for run in store.runs():
            newest.setdefault(run.source_id, run.id)
        loaded: list[Source] = [load_path(path, None) for path in work.sources]
        assert set(newest) == {source.digest for source in loaded}
        for run_id in newest.values():
            assert store.run(run_id).status == "done"
            rows = store.rows(run_id)
            assert [(row.format, row.variant) for row in rows] == SIX_ROWS
            assert all(row.status == "done" and row.text for row in rows)


STEPS = [
    ("start_run", 1),
    *((step, n) for n in range(1, 5) for step in ("keep_call", "keep_result")),
]


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(("step", "number"), [*STEPS, ("finish_run", 1)])
def test_no_finished_call_is_paid_twice_and_no_row_is_lost(
    work: Callable[[int], Work], side: str, step: str, number: int
) -> None:
    one = work(1)
    assert one.run(f"{side} {step} {number}") == -9
    assert one.run("never") == 0
    # A reply that never reached the store was in flight: that one call, and no other, is repeated.
    assert one.in_flight() == int(side == "before" and step == "keep_call")
    assert_nothing_paid_twice_and_no_row_lost_or_doubled(one)


def test_no_row_is_lost_or_doubled_after_a_kill_behind_any_sql_statement(
    work: Callable[[int], Work], tmp_path: Path
) -> None:
    """From the first statement of an empty database to the last of a run."""
    one = work(1)
    for number in range(1, 1000):
        killed = replace(one, folder=tmp_path / str(number), seen=[])
        killed.folder.mkdir()
        if killed.run(f"after execute {number}") == 0:
            break
        assert killed.run("never") == 0
        assert_nothing_paid_twice_and_no_row_lost_or_doubled(killed)
    assert number > 40  # a run of four formats takes more statements than that


def random_steps() -> list[str]:
    """Ten moments: three soon after a start, seven spread over the forty calls."""
    chance = random.Random(SEED)
    early = [f"step {chance.randint(1, 200)}" for _ in range(3)]
    calls = sorted(chance.sample(range(CALLS - 1), KILLS - len(early)))
    moments = [f"call {call} {chance.randint(1, 30)}" for call in calls]
    for moment in early:
        moments.insert(chance.randint(0, len(moments)), moment)
    return moments


def test_ten_kills_at_random_steps_of_forty_calls(work: Callable[[int], Work]) -> None:
    many = work(SOURCES)
    moments = random_steps()
    print(f"seed {SEED}: {moments}")  # noqa: T201 - shown where the test fails
    for moment in moments:
        assert many.run(moment) == -9, moment
    assert many.run("never") == 0
    assert len(many.seen) == KILLS
    assert_nothing_paid_twice_and_no_row_lost_or_doubled(many)


def test_ten_kills_from_outside_at_random_times_of_forty_calls(
    work: Callable[[int], Work],
) -> None:
    """An answer takes 0.04 s, so the kills come before the forty calls' 1.6 s are over."""
    many = work(SOURCES)
    chance = random.Random(SEED)
    delays = [chance.uniform(0, 0.15) for _ in range(KILLS)]
    print(f"seed {SEED}: {delays}")  # noqa: T201 - shown where the test fails
    for delay in delays:
        assert many.run("never", seconds=0.04, killed_after=delay) == -9
    assert many.run("never") == 0
    assert many.in_flight() <= KILLS
    assert_nothing_paid_twice_and_no_row_lost_or_doubled(many)
