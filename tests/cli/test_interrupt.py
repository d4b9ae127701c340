"""Ctrl-C, once and twice, against a server that takes its time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mock_server import MockServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal to a process"),
]


@pytest.fixture
def working(
    mock_server: MockServer, root: Path, tmp_path: Path, article: Path
) -> Iterator[subprocess.Popen[str]]:
    """A run of two formats, one after the other, whose first call is in flight."""
    mock_server.plan("hold", "ok")
    arguments = ["--formats", "summary,faq", "--concurrency", "1", "--model", "m"]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "repurpose",
            "run",
            str(article),
            *arguments,
            "--base-url",
            mock_server.url,
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert mock_server.asked.wait(30)
    yield process
    process.kill()
    process.communicate()


def stderr_until(process: subprocess.Popen[str], word: str) -> str:
    """What the process said on standard error, up to and with the line that holds `word`."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if word in line:
            return said
    raise AssertionError(f"{word!r} was never said: {said}")


def test_once_finishes_what_is_in_flight_stores_it_and_begins_nothing_new(
    working: subprocess.Popen[str], mock_server: MockServer
) -> None:
    working.send_signal(signal.SIGINT)
    stderr_until(working, "stopping")
    mock_server.released.set()
    stdout, stderr = working.communicate(timeout=30)
    assert working.returncode == 130, stderr
    assert stdout.startswith("# Summary")
    assert "# FAQ" not in stdout
    assert len(mock_server.requests) == 1
    assert "interrupted" in stderr


def test_twice_stops_at_once(working: subprocess.Popen[str]) -> None:
    working.send_signal(signal.SIGINT)
    stderr_until(working, "stopping")
    working.send_signal(signal.SIGINT)
    stdout, stderr = working.communicate(timeout=8)  # the server holds its answer for ten seconds
    assert working.returncode == 130
    assert stdout == ""
    assert "Traceback" not in stderr
