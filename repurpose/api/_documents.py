"""Documents as files: whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from repurpose.errors import UsageError

__all__ = ["refuse_taken", "write_document"]


def refuse_taken(path: Path) -> None:
    """Raise UsageError where a file stands at `path`, or its folder is not there."""
    if path.exists():
        raise _taken(path)
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {path.parent}")


def write_document(path: Path, text: str, *, overwrite: bool = False) -> None:
    """Write `text` to `path`: all of it or nothing, whatever ends the process.

    A file that is there already stays as it is, unless it holds the same or `overwrite` says so.

    Raises:
        UsageError: there is another file, or it cannot be written.
    """
    beside = path.parent / f".{path.name}.{secrets.token_hex(6)}"
    try:
        if not overwrite and path.exists():
            if path.read_bytes() == text.encode():
                return
            raise _taken(path)
        try:
            with beside.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if overwrite:
                beside.replace(path)
            else:
                _placed(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except FileExistsError:
        raise _taken(path) from None
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror or 'unknown'}") from fault


def _placed(beside: Path, path: Path) -> None:
    """Give the file its name; FileExistsError where another process was first."""
    try:
        path.hardlink_to(beside)
    except FileExistsError:
        raise
    except OSError:  # a file system without links, where two processes at once are not told apart
        if path.exists():
            raise FileExistsError(str(path)) from None
        beside.replace(path)


def _taken(path: Path) -> UsageError:
    return UsageError(
        f"{path} exists and is not overwritten", hint="name another one, or add --overwrite"
    )
