"""Open stores for whoever answers a request: lent out one by one, and opened as they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from repurpose.api.adapters import open_store
from repurpose.ports import BatchStore

__all__ = ["Stores"]

_MOST_IDLE = 4


class Stores:
    """Stores of one database, each used by one thread at a time."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._idle: list[BatchStore] = []
        self._closed = False
        self._lock = Lock()

    @contextmanager
    def lent(self) -> Iterator[BatchStore]:
        """A store for as long as this context lasts.

        Raises:
            StoreError: the database cannot be opened.
        """
        with self._lock:
            store = self._idle.pop() if self._idle else None
        store = store or open_store(self._database)
        try:
            yield store
        finally:
            self._taken_back(store)

    def _taken_back(self, store: BatchStore) -> None:
        with self._lock:
            if len(self._idle) < _MOST_IDLE and not self._closed:
                self._idle.append(store)
                return
        store.close()

    def close(self) -> None:
        """Close those that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._closed = True
        for store in idle:
            store.close()
