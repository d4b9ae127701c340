"""The command line as a user runs it, in this process, with an empty home."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from repurpose.cli import main


@dataclass(frozen=True)
class Done:
    """What a command said and how it ended."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@pytest.fixture
def repurpose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run `repurpose` with these arguments in an empty folder; `stdin` by keyword."""

    def run(*arguments: str | Path, stdin: str = "") -> Done:
        out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        with monkeypatch.context() as process, redirect_stdout(out), redirect_stderr(err):
            process.setattr(sys, "argv", ["repurpose", *map(str, arguments)])
            process.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            process.chdir(tmp_path)
            with pytest.raises(SystemExit) as ended:
                main()
        out.flush()
        err.flush()
        said = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]  # they are BytesIO
        code = ended.value.code
        assert isinstance(code, int)
        return Done(code, *said)

    return run


@pytest.fixture
def article(root: Path) -> Path:
    """The English example article."""
    return root / "fixtures" / "sources" / "article.md"
