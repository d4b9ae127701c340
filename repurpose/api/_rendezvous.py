"""Where an endpoint's post meets whoever waits for it: in this process, or in the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from repurpose.api.adapters import open_store
from repurpose.api.callbacks import without_base_url
from repurpose.config import Settings
from repurpose.core.table import member
from repurpose.errors import UsageError
from repurpose.ports import Clock
from repurpose.ports.endpoints import Deliveries, Rendezvous

__all__ = ["deliveries_in", "rendezvous_for"]


def rendezvous_for(settings: Settings, clock: Clock, *, reachable_on_loopback: bool) -> Rendezvous:
    """What waits for posts under these settings; nothing listens before it is asked for a ticket.

    With `callback_base_url`, posts come through `repurpose serve-callbacks` and the database.
    Without it, this process listens on loopback, where whoever posts can reach that.

    Raises:
        UsageError: `callback_base_url` is needed and not set, or the database is no file.
    """
    if settings.callback_base_url is not None:
        if str(settings.database) == ":memory:":
            raise UsageError(
                "callback_base_url needs a database in a file, which the receiver shares",
                hint="name one with --db",
            )
        stored: Rendezvous = member("repurpose.receiving.stored:StoredRendezvous")(
            partial(deliveries_in, settings.database), settings.callback_base_url, clock
        )
        return stored
    if not reachable_on_loopback:
        raise without_base_url("and others have no address to post to")
    inside: Rendezvous = member("repurpose.receiving.memory:MemoryRendezvous")(clock)
    return inside


@contextmanager
def deliveries_in(database: Path) -> Iterator[Deliveries]:
    """What is posted to a store, which is closed again.

    Raises:
        StoreError: it cannot be opened.
    """
    store = open_store(database)
    try:
        yield store.deliveries
    finally:
        store.close()
