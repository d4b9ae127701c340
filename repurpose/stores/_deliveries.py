"""The tables of posted bodies: who may post, what was posted, and who took it.

Bodies are taken by key, oldest first. The update that marks a body as taken is the moment from
which it is nobody else's, also where whoever took it is killed the moment after.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlite_utils import Database

from repurpose.stores._rows import Columns

__all__ = ["KEPT_SECONDS", "REMEMBERED_SECONDS", "SqliteDeliveries"]

KEPT_SECONDS = 3_600.0
"""How long a body waits to be taken; whoever waits for it looks twice a second."""
REMEMBERED_SECONDS = 7 * 86_400.0
"""How long tickets take bodies, and events are known again. A signature is good for minutes, but
a provider sends an event that was not acknowledged for days, signed anew under its old id
(https://platform.openai.com/docs/guides/webhooks: up to 72 hours)."""

_WAITING = """
    SELECT number FROM deliveries WHERE key = :key AND claimed_at IS NULL AND NOT EXISTS
        (SELECT 1 FROM tickets WHERE tickets.key = :key AND forgotten_at IS NOT NULL)
    ORDER BY number LIMIT 1
"""
_CLAIM = f"""
    UPDATE deliveries SET claimed_at = :now WHERE number = ({_WAITING}) RETURNING body
"""  # noqa: S608 - both parts are our own constants


@dataclass(frozen=True, slots=True)
class SqliteDeliveries:
    """`Deliveries` over the connection of a store."""

    writing: Callable[[], AbstractContextManager[Database]]
    """A transaction that survives the end of the process."""
    found: Callable[[str, Columns], list[Columns]]
    """What a query finds."""

    def issue(self, key: str, now: float) -> None:
        """Take bodies under this key from now on."""
        with self.writing() as db:
            _sweep(db, now)
            db.conn.execute("INSERT INTO tickets (key, issued_at) VALUES (?, ?)", [key, now])

    def issued(self, key: str) -> bool:
        """Whether bodies are taken under this key, if only to be thrown away."""
        return bool(self.found("SELECT 1 FROM tickets WHERE key = :key", {"key": key}))

    def deliver(self, key: str, body: bytes, now: float) -> bool:
        """Keep a body; False, and nothing kept, where its key was never issued."""
        with self.writing() as db:
            _sweep(db, now)
            kept = db.conn.execute(
                "INSERT INTO deliveries (key, delivered_at, body)"
                " SELECT key, :now, :body FROM tickets WHERE key = :key",
                {"key": key, "now": now, "body": body},
            )
        return kept.rowcount == 1

    def deliver_event(self, event_id: str, key: str, body: bytes, now: float) -> bool:
        """Keep the body of an event; False, and nothing kept, where the event was seen before."""
        with self.writing() as db:
            _sweep(db, now)
            new = db.conn.execute(
                "INSERT INTO webhook_events (id, seen_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [event_id, now],
            )
            if new.rowcount == 1:
                db.conn.execute(
                    "INSERT INTO deliveries (key, delivered_at, body) VALUES (?, ?, ?)",
                    [key, now, body],
                )
        return new.rowcount == 1

    def claim(self, key: str, now: float) -> bytes | None:
        """The oldest body under a key that nobody has taken, taken now; None where there is none.

        Looks without a lock first, since there is nothing most of the times.
        """
        if not self.found(_WAITING, {"key": key}):
            return None
        with self.writing() as db:
            taken = db.conn.execute(_CLAIM, {"key": key, "now": now}).fetchall()
        return bytes(taken[0][0]) if taken else None

    def forget(self, key: str, now: float) -> None:
        """Give to nobody what was posted under a key and is still posted there."""
        with self.writing() as db:
            db.conn.execute(
                "INSERT INTO tickets (key, issued_at, forgotten_at) VALUES (:key, :now, :now)"
                " ON CONFLICT (key) DO UPDATE SET forgotten_at = excluded.forgotten_at",
                {"key": key, "now": now},
            )


def _sweep(db: Database, now: float) -> None:
    """Remove what was taken, and what nobody will come for any more."""
    db.conn.execute("DELETE FROM deliveries WHERE claimed_at IS NOT NULL")
    db.conn.execute("DELETE FROM deliveries WHERE delivered_at < ?", [now - KEPT_SECONDS])
    for table, moment in (("tickets", "issued_at"), ("webhook_events", "seen_at")):
        # The names are our own constants.
        db.conn.execute(
            f"DELETE FROM {table} WHERE {moment} < ?",  # noqa: S608 - see above
            [now - REMEMBERED_SECONDS],
        )
