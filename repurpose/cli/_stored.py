"""The database for commands that only read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from repurpose.api.adapters import open_store
from repurpose.cli._settings import database_path
from repurpose.ports import BatchStore

__all__ = ["opened"]


@contextmanager
def opened(database: str | None) -> Iterator[BatchStore]:
    """The store that `--db`, the environment or the settings file names, closed afterwards."""
    store = open_store(database_path(database))
    try:
        yield store
    finally:
        store.close()
