"""`repurpose batch`, `status` and `retry` as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from batch_nights import write
from mock_server import MockServer

Lines = list[dict[str, object]]


def lines(text: str) -> Lines:
    return [json.loads(line) for line in text.splitlines()]  # noqa: TID251 - our own output


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    folder = tmp_path / "posts"
    folder.mkdir()
    for n in range(3):
        write(folder / f"{n}.md", f"Edition {n}")
    return folder


def test_a_batch_tells_its_plan_its_items_and_its_end(repurpose, posts):
    done = repurpose("batch", posts, "--formats", "summary")
    assert done.returncode == 0
    assert "3 sources: 3 new\nResults to make: 3\n" in done.stdout
    assert ": 3 done" in done.stdout
    assert "Results: 3 done, 0 of them reused, 0 repaired; 3 calls;" in done.stdout
    assert sorted(line[:5] for line in done.stderr.splitlines()) == ["[1/3]", "[2/3]", "[3/3]"]


def test_the_same_command_again_has_nothing_to_do(repurpose, posts):
    repurpose("batch", posts, "--formats", "summary")
    done = repurpose("batch", posts, "--formats", "summary")
    assert "3 sources: 3 done\n" in done.stdout
    assert "done: nothing to do" in done.stdout
    assert done.stderr == ""


def test_a_dry_run_shows_each_item_and_stores_nothing(repurpose, posts):
    done = repurpose("batch", posts, "--formats", "summary", "--dry-run")
    assert done.stdout.count("new       ") == 3
    assert repurpose("status").returncode == 2
    assert repurpose("list").stdout == ""


def test_json_lines_tell_the_plan_the_items_and_the_summary(repurpose, posts):
    done = repurpose("batch", posts, "--formats", "summary", "--json")
    told = lines(done.stdout)
    assert [line["event"] for line in told] == ["plan", "ended", "ended", "ended", "summary"]
    assert told[0]["least"]["calls"] == 3
    assert {line["state"] for line in told[1:4]} == {"done"}
    assert told[-1]["formats"]["done"] == 3


def test_a_plan_as_json_lines_has_one_for_each_item(repurpose, posts):
    told = lines(repurpose("batch", posts, "--formats", "summary", "--dry-run", "--json").stdout)
    assert [line["event"] for line in told] == ["planned"] * 3 + ["plan"]
    assert told[0]["action"] == "new"
    assert told[0]["formats"] == ["summary"]


def test_quiet_says_nothing_where_nothing_failed(repurpose, posts):
    done = repurpose("batch", posts, "--quiet", "--formats", "summary")
    assert (done.stdout, done.stderr) == ("", "")


def test_a_source_that_cannot_be_read_is_told_and_the_others_are_made(repurpose, posts):
    done = repurpose("batch", posts, "missing.md", "--formats", "summary", "--quiet")
    assert done.returncode == 1
    assert "missing.md: no such file" in done.stderr
    status = repurpose("status")
    assert "3 of 3 items done, 1 failed, 0 parked" in status.stdout
    assert "missing.md: no such file" in status.stdout


def test_nothing_that_can_be_read_is_exit_code_3(repurpose):
    assert repurpose("batch", "missing.md").returncode == 3


def test_an_unknown_format_is_exit_code_2(repurpose, posts):
    assert repurpose("batch", posts, "--formats", "nothing").returncode == 2


def test_a_report_is_written_for_programs(repurpose, posts, tmp_path):
    repurpose("batch", posts, "--formats", "summary", "--report", "report.json", "--quiet")
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))  # noqa: TID251 - ours
    assert (report["status"], report["exit_code"], report["failed"]) == ("done", 0, [])
    assert report["result"]["items"]["done"] == 3


def test_status_as_json_is_one_object(repurpose, posts):
    repurpose("batch", posts, "--formats", "summary", "--quiet")
    (status,) = lines(repurpose("status", "--json").stdout)
    assert status["status"] == "done"
    assert status["items"] == {"todo": 0, "done": 3, "failed": 0, "parked": 0}


def test_a_retry_makes_what_failed_in_the_formats_of_its_batch(
    repurpose, posts, mock_server: MockServer
):
    model = ("--model", "m", "--base-url", mock_server.url)
    mock_server.plan("refusal")
    done = repurpose("batch", posts, "--formats", "faq", *model, "--quiet")
    assert done.returncode == 4
    assert "failed 3" in repurpose("status").stdout or "3 failed" in repurpose("status").stdout
    mock_server.plan("ok")
    done = repurpose("retry", "last", "--only", "failed", *model)
    assert done.returncode == 0
    assert "Results to make: 3\n" in done.stdout


def test_faults_of_a_server_leave_every_row_true(repurpose, posts, mock_server: MockServer):
    """A rate limit, a server error, a lost connection, a repair, and one that stays bad."""
    model = ("--model", "m", "--base-url", mock_server.url)
    mock_server.plan("429=0", "ok", schema="summary")
    mock_server.plan("500", "reset", "ok", schema="faq")
    mock_server.plan("missing", "ok", schema="newsletter")
    mock_server.plan("malformed", schema="social")
    told = lines(repurpose("batch", posts, *model, "--json").stdout)
    summary = told[-1]
    assert summary["exit_code"] == 1
    assert summary["formats"] == {
        "done": 9,
        "reused": 0,
        "repaired": 1,
        "failed": 3,
        "failed_by_kind": {"invalid_answer": 3},
    }
    usage = summary["usage"]
    assert usage["calls"] == 9 + 1 + 2 * 3  # one repair, and two attempts that failed for each
    assert usage["requests"]["known"] == usage["calls"] + 3 == len(mock_server.requests)


def test_a_reached_budget_is_exit_code_5_and_the_next_night_goes_on(
    repurpose, posts, mock_server: MockServer
):
    command = ("batch", posts, "--formats", "faq", "--model", "m", "--base-url", mock_server.url)
    done = repurpose(*command, "--max-calls", "2")
    assert done.returncode == 5
    assert "budget" in done.stdout
    assert len(mock_server.requests) == 2
    assert repurpose(*command, "--max-calls", "2").returncode == 0
    assert len(mock_server.requests) == 3


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_what_is_in_flight_end_and_the_next_run_goes_on(
    repurpose, posts, mock_server: MockServer, tmp_path, number
):
    for n in range(3, 12):
        write(posts / f"{n:02}.md", f"Edition {n}")
    mock_server.plan("hold", "ok")
    arguments = ["batch", posts, "--formats", "summary", "--model", "m", "--concurrency", 2]
    arguments += ["--base-url", mock_server.url, "--db", tmp_path / "b.db"]
    running = subprocess.Popen(
        [sys.executable, "-m", "repurpose", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert mock_server.asked.wait(60)
    threading.Event().wait(0.3)
    running.send_signal(number)
    threading.Event().wait(0.3)
    mock_server.released.set()
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "stopping after what is in flight" in err
    assert "interrupted" in out
    assert repurpose(*arguments).returncode == 0
    assert len(mock_server.requests) == 12
