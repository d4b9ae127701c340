"""`repurpose stats`: what calls took."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repurpose.core.call import Call, Reply, Usage
from repurpose.core.record import CallRecord, Row, Run
from repurpose.core.source import Source
from repurpose.stores.sqlite import open_store

Command = Callable[..., Any]

SOURCE = Source("Bees dance.", "bees.md", "text")
CALL = CallRecord(
    id="c1",
    run_id="run1",
    source_id=SOURCE.digest,
    key="k",
    call=Call("faq", "SYSTEM", "USER", {}, {}, SOURCE),
    engine="openai",
    model="small",
    parameters={},
    started_at="2026-12-01T08:00:00.000Z",
    seconds=2.0,
    reply=Reply("REPLY", usage=Usage(1000, 100, 600, 0)),
    cost=0.25,
)
FAILED = Row(
    id="r1",
    run_id="run1",
    source_id=SOURCE.digest,
    format="faq",
    label="FAQ",
    variant="default",
    status="failed",
    message="no",
    idempotency_key="i",
    engine="openai",
    provenance="model small",
    created_at="2026-12-01T08:00:10.000Z",
    kind="invalid_answer",
    model="small",
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Two calls of one format, one of them a repair without a price, and one of another day."""
    path = tmp_path / "run.db"
    store = open_store(path)
    store.start_run(Run("run1", SOURCE.digest, ("faq",), "openai", "small", "2026-12-01"), SOURCE)
    repair = replace(CALL, id="c2", call=replace(CALL.call, attempt=2), cost=None, seconds=4.0)
    other = replace(
        CALL,
        id="c3",
        call=replace(CALL.call, format="summary"),
        started_at="2026-12-02T08:00:00.000Z",
        reply=Reply("REPLY", usage=Usage(500, 50)),
    )
    for record in (CALL, repair, other):
        store.keep_call(record)
    store.keep_result([FAILED], settles=())
    store.close()
    return path


def cells(line: str) -> str:
    """A line of a table without what aligns it."""
    return " ".join(line.split())


def test_a_line_for_each_format_and_one_for_all(repurpose: Command, database: Path) -> None:
    shown = repurpose("stats", "--db", database)
    assert shown.returncode == 0
    head, faq, summary, whole, *_ = shown.stdout.splitlines()
    assert cells(head) == "FORMAT CALLS AGAIN FAILED IN CACHED OUT REASONING US$ SECONDS"
    assert cells(faq) == "faq 2 100.0% 1 2,000 60.0% 200 0 0.250+ 3.0"
    assert cells(summary) == "summary 1 0.0% 0 500 - 50 - 0.250 2.0"
    assert cells(whole).startswith("all 3 50.0% 1 2,500 60.0% ")


def test_unknown_costs_and_failures_are_told_below(repurpose: Command, database: Path) -> None:
    shown = repurpose("stats", "--db", database).stdout
    assert "failed: invalid_answer 1" in shown
    assert "cost unknown: 1 of 3 calls has no price" in shown


def test_a_cost_that_nobody_knows_is_never_0(repurpose: Command, tmp_path: Path) -> None:
    path = tmp_path / "unpriced.db"
    store = open_store(path)
    store.start_run(Run("run1", SOURCE.digest, ("faq",), "openai", "small", "2026-12-01"), SOURCE)
    store.keep_call(replace(CALL, cost=None))
    store.close()
    line = repurpose("stats", "--db", path).stdout.splitlines()[1]
    assert cells(line) == "faq 1 0.0% 0 1,000 60.0% 100 0 - 2.0"


def test_by_day_and_since(repurpose: Command, database: Path) -> None:
    days = repurpose("stats", "--by", "day", "--db", database).stdout.splitlines()
    assert [line.split()[0] for line in days[1:4]] == ["2026-12-01", "2026-12-02", "all"]
    later = repurpose("stats", "--since", "2026-12-02", "--db", database).stdout
    assert "faq" not in later
    assert "summary" in later


def test_json_has_every_figure_and_ends_with_the_whole(repurpose: Command, database: Path) -> None:
    shown = repurpose("stats", "--by", "model", "--json", "--db", database).stdout
    small, whole = map(json.loads, shown.splitlines())  # noqa: TID251 - our own output
    assert (small["by"], small["model"], small["calls"]) == ("model", "small", 3)
    assert (small["hit_rate"], small["repair_rate"]) == (0.6, 0.5)
    assert small["cost"] == {"known": 0.5, "unknown": 1}
    assert small["cached_tokens"] == {"known": 1200, "unknown": 1}
    assert whole["model"] is None
    assert whole["failures"] == {"invalid_answer": 1}


def test_no_prompt_and_no_reply_is_shown(repurpose: Command, database: Path) -> None:
    for flags in ([], ["--json"]):
        shown = repurpose("stats", *flags, "--db", database).stdout
        assert not [word for word in ("SYSTEM", "USER", "REPLY", "Bees") if word in shown]


def test_a_date_that_is_none_is_refused(repurpose: Command) -> None:
    shown = repurpose("stats", "--since", "yesterday")
    assert shown.returncode == 2
    assert "write it like 2026-12-01" in shown.stderr


def test_an_empty_database_says_so(repurpose: Command, tmp_path: Path) -> None:
    shown = repurpose("stats", "--db", tmp_path / "new.db")
    assert (shown.returncode, shown.stdout) == (0, "")
    assert "no calls yet" in shown.stderr


def test_no_library_of_a_model_is_loaded(database: Path) -> None:
    program = (
        "import sys; sys.argv = ['repurpose', 'stats', '--db', sys.argv[1]]\n"
        "from repurpose.cli import cli\n"
        "cli.main(standalone_mode=False)\n"
        "heavy = {'openai', 'instructor', 'aiohttp', 'llama_cpp', 'nltk', 'pydantic', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(database)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
