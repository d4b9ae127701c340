"""The command in a process of its own: what only a process can show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_run_in_a_process_gives_utf8_and_no_escape_codes(root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "repurpose", "run", str(root / "fixtures" / "sources" / "kiji.md")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "。" in done.stdout.decode("utf-8")
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="uses a POSIX shell")
def test_a_reader_that_leaves_early_is_no_error(root: Path, tmp_path: Path) -> None:
    article = root / "fixtures" / "sources" / "article.md"
    done = subprocess.run(
        f"{sys.executable} -m repurpose run {article} --quiet --json | head -c 1",
        shell=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == b"{"
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr
