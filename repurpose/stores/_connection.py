"""The connection to a database file: how it is made, set up, and locked for writing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from repurpose.errors import StoreError
from repurpose.stores._faults import is_busy

__all__ = ["BUSY_SECONDS", "MEMORY", "connect", "immediate", "through_to_disk", "write_ahead"]

MEMORY = ":memory:"
"""The name of a database that lives as long as its connection."""

BUSY_SECONDS = 30.0
"""How long a write waits for another process; ours hold the lock for milliseconds."""

_WAL_TRIES = 50  # each one waits for a lock holder; more processes than this never start at once


def connect(place: str) -> Database:
    """An open database with the settings of a connection; the file is not changed by it.

    A missing file is made with mode 0600, missing folders with it: it holds prompts and texts.

    Raises:
        StoreError: the file or its folder cannot be made.
        sqlite3.Error: the file cannot be opened, or is no database.
    """
    if place != MEMORY:
        _make_file(Path(place))
    connection = sqlite3.connect(
        place,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # sqlite3 opens no transaction of its own that nobody would commit
        check_same_thread=False,  # the store lets one thread in at a time
    )
    try:
        # No plugins: what another tool's plugins add to its databases has no place in ours.
        db = Database(connection, execute_plugins=False)
        db.execute("PRAGMA foreign_keys = ON")
        # NORMAL: a killed process loses nothing, since the kernel keeps what was written; a
        # power cut loses at most the last commits and never damages the file. FULL would wait
        # for the disk at each commit.
        db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return db


@contextmanager
def immediate(db: Database) -> Iterator[None]:
    """A transaction that holds the write lock from its start, so that reads in it stay true.

    `Database.atomic()` begins without the lock. Once such a transaction has read, SQLite does
    not wait for other writers but fails at once with "database is locked". `atomic()` inside
    this one makes savepoints.
    """
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.commit()
    except BaseException:
        db.rollback()
        raise


@contextmanager
def through_to_disk(db: Database) -> Iterator[None]:
    """As `immediate`, but not even a power cut undoes what was committed.

    It costs a wait for the disk, so it is for the few facts that money hangs on.
    """
    db.execute("PRAGMA synchronous = FULL")  # outside: within a transaction it would do nothing
    try:
        with immediate(db):
            yield
    finally:
        db.execute("PRAGMA synchronous = NORMAL")


def write_ahead(db: Database) -> None:
    """Have the file write ahead (WAL), so that readers and a writer do not wait for each other.

    The setting stays in the file. The switch does not wait for other connections but fails at
    once, so between two tries we wait as SQLite does for every other write.
    """
    [[mode]] = db.execute("PRAGMA journal_mode").fetchall()
    if mode in ("wal", "memory"):
        return
    for _ in range(_WAL_TRIES):
        try:
            db.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as fault:
            if not is_busy(fault):
                raise
            with immediate(db):
                pass
        else:
            return
    db.execute("PRAGMA journal_mode = WAL").fetchall()


def _make_file(path: Path) -> None:
    if path == Path():
        # SQLite takes an empty name for a database that is gone when it is closed.
        raise StoreError("the database has no name", hint="name a file")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # An existing file is not opened here: closing it would drop the POSIX locks that other
        # connections of this process hold (https://www.sqlite.org/howtocorrupt.html, 2.2).
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path cannot be used"
        raise StoreError(
            f"database {path}: it cannot be created: {reason}",
            hint="name a file in a folder where you may write",
        ) from error
