"""Many sources against a server that fails in every way, at random.

A hundred of them in a minute; FAULTY_SOURCES=2000 makes it a night, which takes five.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from batch_nights import write

pytestmark = [pytest.mark.shared, pytest.mark.slow]

SOURCES = int(os.environ.get("FAULTY_SOURCES", "100"))
ROWS = 6
"""One summary, one FAQ, three posts, one newsletter."""
MIX = "429=.05,500=.02,reset=.01,malformed=.02,slow=.01"
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Server:
    """The mock server, with its own count of what it did."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def counts(self) -> dict[str, int]:
        address = f"http://127.0.0.1:{self.port}/__mock/stats"
        with urllib.request.urlopen(address, timeout=30) as reply:
            counts: dict[str, int] = json.load(reply)["counts"]  # noqa: TID251 - a server of ours
            return counts


@pytest.fixture
def server(shared: Path) -> Iterator[Server]:
    program = shared / "bench" / "mock_openai.py"
    arguments = ["--port", "0", "--latency-ms", "50", "--mix", MIX, "--seed", "3"]
    with subprocess.Popen(
        [sys.executable, str(program), *arguments], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        yield Server(int(running.stdout.readline().split()[-1]))
        running.kill()


def test_every_row_ends_done_or_truthfully_failed_and_no_call_is_repeated_in_vain(
    server: Server, tmp_path: Path
) -> None:
    posts = tmp_path / "posts"
    posts.mkdir()
    for number in range(SOURCES):
        write(posts / f"{number:05}.md", f"Edition {number}")
    arguments = ["batch", posts, "--model", "mock", "--base-url", server.url, "--concurrency", 64]
    arguments += ["--db", tmp_path / "b.db", "--report", tmp_path / "r.json", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "repurpose", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    report = json.loads((tmp_path / "r.json").read_text("utf-8"))  # noqa: TID251 - our own
    formats, usage = report["result"]["formats"], report["result"]["usage"]
    failed = formats["failed"]
    assert formats["done"] + failed == 4 * SOURCES
    assert set(formats["failed_by_kind"]) <= {"invalid_answer"}  # malformed twice in a row
    counts = server.counts()
    lost = {kind: counts.get(f"kind {kind}", 0) for kind in ("429", "500", "reset")}
    assert all(lost.values())
    assert usage["calls"] == 4 * SOURCES + formats["repaired"] + failed
    assert counts["/v1/chat/completions"] == usage["calls"] + sum(lost.values())
    assert counts["kind malformed"] == formats["repaired"] + 2 * failed
    with closing(sqlite3.connect(tmp_path / "b.db")) as db:
        rows = db.execute(
            "SELECT count(*), count(DISTINCT source_id || format || variant) FROM rows"
        ).fetchone()
        assert rows[0] == rows[1] >= ROWS * SOURCES - 2 * failed
        assert db.execute("SELECT count(*) FROM rows WHERE status = 'failed'").fetchone() == (
            failed,
        )
        assert db.execute("SELECT count(*) FROM calls WHERE settled = 0").fetchone() == (0,)
