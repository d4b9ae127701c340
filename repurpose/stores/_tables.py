"""One connection to one file: what every group of tables is read and written through."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlite_utils import Database

from repurpose.stores._connection import immediate, through_to_disk
from repurpose.stores._faults import database_faults
from repurpose.stores._rows import Columns

__all__ = ["Tables"]

Made = TypeVar("Made")


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
