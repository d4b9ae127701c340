"""Several processes on one file, and processes that are killed."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from repurpose.stores.sqlite import open_store

pytestmark = pytest.mark.slow

PRELUDE = """
import sys
from dataclasses import replace
from repurpose.core.call import Call, Reply
from repurpose.core.record import CallRecord, Row, Run
from repurpose.core.source import Source
from repurpose.stores.sqlite import open_store

SOURCE = Source("Bees dance.", "bees.txt", "text")
path, me = sys.argv[1:]

def run(id):
    return Run(id, SOURCE.digest, ("social",), "scripted", None, "2026-05-02T08:00:00Z")

def call(id, run):
    asked = Call("social", "s", "u", {}, {}, SOURCE)
    return CallRecord(id, run, SOURCE.digest, f"key of {id}", asked, "scripted", None, {},
                      "2026-05-02T08:00:00Z", 1.0, Reply("paid for"))

def posts(run, key):
    row = Row("", run, SOURCE.digest, "social", "Social posts", "", "done", "done", key, "scripted",
              "engine scripted", "2026-05-02T08:00:00Z", text="Bees dance.", content={"text": "."})
    return [replace(row, id=f"{key}-{name}", variant=name) for name in ("linkedin", "x", "ig")]

def told(word):
    print(word, flush=True)
    sys.stdin.readline()  # goes on when told to, or is killed here

"""


def process(script: str, path: Path, name: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, str(path), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(running: subprocess.Popen[str]) -> None:
    """Wait until the process has ended well."""
    _, said = running.communicate(timeout=120)
    assert running.returncode == 0, said


def killed(running: subprocess.Popen[str]) -> None:
    """Wait until the process has reached its word, then kill it."""
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == "here\n", running.communicate()[1]
        running.send_signal(signal.SIGKILL)


def test_eight_processes_write_fifty_results_each_and_nothing_is_lost_or_doubled(tmp_path):
    """All of them begin at the same moment, with a file that does not exist."""
    path = tmp_path / "repurpose.db"
    script = """
told("ready")
store = open_store(path)
store.start_run(run(me), SOURCE)
for n in range(50):
    store.keep_call(call(f"{me}-{n}", me))
    assert store.unsettled_reply(f"key of {me}-{n}")
    stored = store.keep_result(posts(me, f"{me}-{n}"), settles=[f"{me}-{n}"])
    assert len(store.done_rows(f"{me}-{n}")) == 3
store.finish_run(me, "done", "2026-05-02T08:00:00Z")
store.close()
"""
    running = [process(script, path, f"writer{n}") for n in range(8)]
    for one in running:
        assert one.stdout.readline() == "ready\n"
    for one in running:
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in running:
        ended(one)
    with closing(open_store(path)) as store:
        assert sorted(run.id for run in store.runs()) == [f"writer{n}" for n in range(8)]
        assert all(len(store.rows(f"writer{n}")) == 150 for n in range(8))
        assert all(row.status == "done" for row in store.rows("writer0"))
        assert all(run.status == "done" for run in store.runs())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*), sum(settled) FROM calls").fetchone() == (
            400,
            400,
        )
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_process_killed_between_reply_and_result_has_not_lost_the_reply(tmp_path):
    path = tmp_path / "repurpose.db"
    killed(
        process(
            """
store = open_store(path)
store.start_run(run("run1"), SOURCE)
store.keep_call(call("call1", "run1"))
told("here")
""",
            path,
        )
    )
    with closing(open_store(path)) as store:
        found = store.unsettled_reply("key of call1")
        assert found is not None
        assert (found[0], found[1].text) == ("call1", "paid for")
        assert store.rows("run1") == ()
        assert store.run("last").status == "running"


def test_a_process_killed_after_a_result_has_lost_nothing(tmp_path):
    path = tmp_path / "repurpose.db"
    killed(
        process(
            """
store = open_store(path)
store.start_run(run("run1"), SOURCE)
store.keep_call(call("call1", "run1"))
store.keep_result(posts("run1", "key"), settles=["call1"])
told("here")
""",
            path,
        )
    )
    with closing(open_store(path)) as store:
        assert len(store.done_rows("key")) == 3
        assert store.unsettled_reply("key of call1") is None


def test_a_process_killed_inside_a_transaction_leaves_all_of_it_undone(tmp_path):
    path = tmp_path / "repurpose.db"
    killed(
        process(
            """
from repurpose.stores import sqlite

store = open_store(path)
store.start_run(run("run1"), SOURCE)
store.keep_call(call("call1", "run1"))
kept, seen = sqlite._kept, []

def interrupted(db, row):
    stored = kept(db, row)
    seen.append(row)
    if len(seen) == 2:
        told("here")
    return stored

sqlite._kept = interrupted
store.keep_result(posts("run1", "key"), settles=["call1"])
""",
            path,
        )
    )
    with closing(open_store(path)) as store:
        assert store.rows("run1") == ()
        assert store.unsettled_reply("key of call1") is not None
