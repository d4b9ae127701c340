"""One connection to one file: what every group of tables is read and written through."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Literal, TypeVar

from sqlite_utils import Database

from repurpose.stores._connection import immediate, through_to_disk
from repurpose.stores._faults import database_faults
from repurpose.stores._rows import Columns, cleaned_text

__all__ = ["Tables", "insert", "listed"]

Made = TypeVar("Made")
Table = Literal["sources", "runs", "calls", "rows"]

_SHOWN = 4  # how many records an ambiguous beginning of an id is answered with


class Tables:
    """Tables over one connection, which one thread uses at a time."""

    def __init__(self, place: str, db: Database) -> None:
        self._place = place
        self._db = db
        self._lock = threading.RLock()

    def close(self) -> None:
        """Let go of the database; a second time does nothing."""
        with self._lock, database_faults(self._place):
            self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[Database]:
        with self._lock, database_faults(self._place), immediate(self._db):
            yield self._db

    @contextmanager
    def _writing_through(self) -> Iterator[Database]:
        with self._lock, database_faults(self._place), through_to_disk(self._db):
            yield self._db

    def _found(self, query: str, values: Columns) -> list[Columns]:
        with self._lock, database_faults(self._place):
            # Not through sqlite-utils, which reads each statement first to see what it does.
            cursor = self._db.conn.execute(query, values)
            found = cursor.fetchall()
            if not found:  # as for most of what is looked up before a call
                return []
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in found]

    def _mapped(self, make: Callable[[Columns], Made], found: list[Columns]) -> tuple[Made, ...]:
        with database_faults(self._place):
            return tuple(make(columns) for columns in found)

    def _begins(self, table: Table, beginning: str) -> list[Columns]:
        """What has this id first, then a few whose ids begin so, newest first; none for none."""
        if not beginning:
            return []
        # The table's name is our own constant; every value is bound.
        return self._found(
            f"SELECT * FROM {table} WHERE substr(id, 1, length(:id)) = :id"  # noqa: S608
            " ORDER BY id = :id DESC, number DESC LIMIT :limit",
            {"id": cleaned_text(beginning), "limit": _SHOWN},
        )


def insert(db: Database, table: Table, columns: Columns, *, once: bool = False) -> None:
    """Add one row to a table; with `once`, a row with this id stays as it is."""
    # By place, which SQLite binds faster than by name; and see `_found`.
    db.conn.execute(_insertion(table, tuple(columns), once), tuple(columns.values()))


@cache
def _insertion(table: Table, names: tuple[str, ...], once: bool) -> str:
    kept = " ON CONFLICT (id) DO NOTHING" if once else ""
    places = ", ".join("?" * len(names))
    # Table and column names are our own constants; every value is bound.
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places}){kept}"  # noqa: S608


def listed(ids: Sequence[str]) -> str:
    """A few ids, and a mark where there may be more."""
    return ", ".join(ids) + (", …" if len(ids) == _SHOWN else "")
