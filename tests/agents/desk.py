"""A folder in which a user runs `repurpose` with an agent as the writer, and what came of it."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repurpose.cli import main

TOKEN = "tok-of-the-writer-5Zq"  # the tests' own; it must be found nowhere


@dataclass
class Desk:
    """A folder with an article and settings, and what a user does in it."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    code: int | str | None = None
    out: str = ""
    err: str = ""

    def settings(self, text: str) -> None:
        (self.folder / "repurpose.toml").write_text(
            f'database = "{self.database.name}"\n{text}', encoding="utf-8"
        )

    def run(self, *, formats: str = "summary", folder: str = ".") -> None:
        """`repurpose run article.md --engine endpoint:agent`; what it said is kept."""
        command = ["run", "article.md", "--engine", "endpoint:agent", "--formats", formats]
        with self.monkeypatch.context() as process:
            process.setattr(sys, "argv", ["repurpose", *command])
            process.chdir(self.folder / folder)
            with pytest.raises(SystemExit) as ended:
                main()
        said = self.capsys.readouterr()
        self.code, self.out, self.err = ended.value.code, said.out, said.err

    @property
    def database(self) -> Path:
        return self.folder / "texts.db"

    def stored(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table, in the order they were stored."""
        with closing(sqlite3.connect(self.database)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY number")]

    def row(self) -> dict[str, Any]:
        """The only row."""
        (row,) = self.stored("rows")
        return row

    def knows(self, secret: str) -> bool:
        """Whether a secret stands in anything that was said or written."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        written = b"".join(path.read_bytes() for path in files if path.suffix != ".toml")
        return secret in self.out or secret in self.err or secret.encode() in written


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until it is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        threading.Event().wait(0.01)
