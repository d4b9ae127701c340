"""From what SQLite says to one line that a user can act on; no SQL and no stored text in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from repurpose.errors import StoreError

__all__ = ["FAULTS", "Unstorable", "database_faults", "is_busy", "reason_of"]


class Unstorable(ValueError):  # noqa: N818 - named for what the value is, as in `errors`
    """A value that no database column can hold; the message says which and why."""


FAULTS: tuple[type[Exception], ...] = (
    sqlite3.Error,
    Unstorable,
    OverflowError,  # sqlite3: an integer beyond 64 bits, or a text beyond 2 GB
    UnicodeEncodeError,  # sqlite3: a lone surrogate in a value that was looked up
)
"""Everything that reading and writing a database raises."""

_WORDS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: (
        "it is locked by another process",
        "wait until the other program has written, or close what has the file open",
    ),
    sqlite3.SQLITE_LOCKED: (
        "it is locked by another process",
        "wait until the other program has written, or close what has the file open",
    ),
    sqlite3.SQLITE_READONLY: (
        "it cannot be written",
        "make the file and its folder writable for you, or choose another place",
    ),
    sqlite3.SQLITE_PERM: (
        "access is denied",
        "make the file and its folder writable for you, or choose another place",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened",
        "name a file in a folder where you may write",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk reports an error",
        "check the disk, and keep the database on a local one",
    ),
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "free some space and run again; finished formats are not called again",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the file is damaged",
        "restore a copy, or move the file away to begin with an empty database",
    ),
    sqlite3.SQLITE_NOTADB: (
        "the file is not a database",
        "name another file, or move this one away",
    ),
    sqlite3.SQLITE_TOOBIG: (
        "a text is too long for a database column",
        "split the source",
    ),
    sqlite3.SQLITE_CONSTRAINT: (
        "it does not fit what is stored already",
        "its id is taken, or the run or source that it names is not stored",
    ),
}
"""By primary result code (https://www.sqlite.org/rescode.html): the reason and what to do."""


def reason_of(fault: Exception) -> tuple[str, str | None]:
    """Why the database failed, in our own words, and what to do about it where that is known."""
    match fault:
        case Unstorable():
            return str(fault), None
        case OverflowError():
            return "a value is too large for a database column", None
        case UnicodeEncodeError():
            return "a value holds half of a surrogate pair", None
        case sqlite3.Error():
            named = getattr(fault, "sqlite_errorname", None)
            plain = "the database failed" + (f" ({named})" if named else "")
            return _WORDS.get(_primary_code(fault), (plain, None))
        case _:
            return "the database failed", None


def is_busy(fault: sqlite3.Error) -> bool:
    """Whether another connection holds the lock that was wanted."""
    return _primary_code(fault) == sqlite3.SQLITE_BUSY


@contextmanager
def database_faults(place: str) -> Iterator[None]:
    """Turns whatever the database raises inside into a `StoreError` that names `place`."""
    try:
        yield
    except FAULTS as fault:
        reason, hint = reason_of(fault)
        raise StoreError(f"database {place}: {reason}", hint=hint) from fault


def _primary_code(fault: sqlite3.Error) -> int:
    """The low byte of the result code; the rest only refines it. -1 where there is none."""
    code = getattr(fault, "sqlite_errorcode", None)  # absent where sqlite3 itself complains
    return code & 0xFF if isinstance(code, int) else -1
