"""A process killed between any two steps, and started again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from repurpose.formats import FORMATS
from repurpose.stores.sqlite import open_store

Killed = Callable[[str], int]


@pytest.fixture
def killed(root: Path, tmp_path: Path) -> Killed:
    """Run the article in a process that dies at this moment; returns its exit code."""

    def run(moment: str) -> int:
        return subprocess.run(
            [
                sys.executable,
                str(root / "tests" / "killed_run.py"),
                moment,
                str(root / "fixtures" / "sources" / "article.md"),
                str(tmp_path / "runs.db"),
                str(tmp_path / "ledger"),
            ],
            env={**os.environ, "PYTHONPATH": str(root)},
            capture_output=True,
            timeout=60,
            check=False,
        ).returncode

    return run


STEPS = [
    ("start_run", 1),
    *((step, n) for n in range(1, 5) for step in ("keep_call", "keep_result")),
]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is a POSIX signal")
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(("step", "number"), [*STEPS, ("finish_run", 1)])
def test_no_finished_call_is_paid_twice_and_no_row_is_lost(
    killed: Killed, tmp_path: Path, side: str, step: str, number: int
) -> None:
    assert killed(f"{side} {step} {number}") == -9
    assert killed("never") == 0
    paid = Counter((tmp_path / "ledger").read_text(encoding="utf-8").split())
    # A reply that never reached the store was in flight: that one call, and no other, is repeated.
    in_flight = int(side == "before" and step == "keep_call")
    assert sum(paid.values()) == len(FORMATS) + in_flight
    store = open_store(tmp_path / "runs.db")
    rows = store.rows(store.run("last").id)
    assert len(rows) == 6
    assert all(row.status == "done" for row in rows)
    store.close()
