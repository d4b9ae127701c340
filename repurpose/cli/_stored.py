"""The database for commands that only read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from repurpose.api.adapters import open_store
from repurpose.config import from_environment
from repurpose.ports import Store

__all__ = ["opened"]


@contextmanager
def opened(database: str | None) -> Iterator[Store]:
    """The store that `--db` or the environment names, closed afterwards."""
    store = open_store(from_environment(os.environ, database=database).database)
    try:
        yield store
    finally:
        store.close()
