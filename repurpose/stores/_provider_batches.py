"""The tables of provider batches: what waits, what was sent where, and what came of it.

A waiting call is a row of `calls` without a reply; its reply is filled in there, so that the next
run over its source finds it as it finds any reply that was paid for and not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace

from sqlite_utils import Database

from repurpose.core.provider_batch import (
    Answered,
    BatchRequest,
    Lost,
    Outcome,
    Pending,
    ProviderBatch,
    QueuedBody,
    Refusal,
)
from repurpose.core.record import CallRecord
from repurpose.errors import StillWorking
from repurpose.ports import Engine
from repurpose.stores._rows import Columns, call_columns, cleaned, reply_columns

__all__ = ["SqliteProviderBatches"]

_BATCH = tuple(field.name for field in fields(ProviderBatch))


class _Taken(Exception):  # noqa: N818 - not an error: the other one sends it
    """Another process has put a queued call into a batch of its own."""


@dataclass(frozen=True, slots=True)
class SqliteProviderBatches:
    """`ProviderBatches` over the connection of a store."""

    writing: Callable[[], AbstractContextManager[Database]]
    """A transaction that survives the end of the process."""
    writing_through: Callable[[], AbstractContextManager[Database]]
    """One that survives a power cut, too."""
    found: Callable[[str, Columns], list[Columns]]
    """What a query finds."""

    def keep_waiting(self, record: CallRecord, body: str, wanted_at: str) -> bool:
        """Queue a call that has no reply yet; False where an equal one waits already."""
        with self.writing() as db:
            known = db.conn.execute(
                "UPDATE provider_requests SET wanted_at = ?"
                " WHERE key = ? AND state IN ('queued', 'batched')",
                [wanted_at, record.key],
            )
            if known.rowcount:
                return False
            waiting = replace(
                record, error="waits for a provider's batch", error_kind="waiting", cost=0.0
            )
            _insert(db, "calls", cleaned(call_columns(waiting)))
            request = {
                "call_id": record.id,
                "key": record.key,
                "body": body,
                "state": "queued",
                "wanted_at": wanted_at,
            }
            _insert(db, "provider_requests", request)
        return True

    def queued(
        self, engine: Engine, *, after: int, limit: int, wanted_since: str | None
    ) -> tuple[QueuedBody, ...]:
        """The next bodies in line, of calls to this engine, with its model and parameters."""
        rows = self.found(
            "SELECT requests.number AS place, requests.call_id, requests.body"
            " FROM provider_requests AS requests JOIN calls ON calls.id = requests.call_id"
            " WHERE requests.state = 'queued' AND requests.number > :after"
            " AND requests.wanted_at >= :since AND calls.engine = :engine"
            " AND calls.model IS :model AND calls.parameters = :parameters"
            " ORDER BY requests.number LIMIT :limit",
            {
                "after": after,
                "since": wanted_since or "",
                **cleaned(
                    {
                        "engine": engine.name,
                        "model": engine.model,
                        "parameters": engine.parameters,
                    }
                ),
                "limit": limit,
            },
        )
        return tuple(QueuedBody(**row) for row in rows)

    def prepare(self, batch: ProviderBatch, call_ids: Sequence[str]) -> bool:
        """Keep a new batch with these queued calls; all of them, or none and False."""
        try:
            with self.writing_through() as db:
                _insert(db, "provider_batches", cleaned(_columns(batch)))
                taken = db.conn.executemany(
                    "UPDATE provider_requests SET state = 'batched', batch = ?, line = ?,"
                    " sends = sends + 1 WHERE call_id = ? AND state = 'queued'",
                    [(batch.id, line, call_id) for line, call_id in enumerate(call_ids, start=1)],
                )
                if taken.rowcount != len(call_ids):
                    raise _Taken  # noqa: TRY301 - so that the transaction is undone
                # From now on they may have been paid, and whether they were is not known.
                db.conn.execute(
                    "UPDATE calls SET cost = NULL"
                    " WHERE id IN (SELECT call_id FROM provider_requests WHERE batch = ?)",
                    [batch.id],
                )
        except _Taken:
            return False
        return True

    def note(self, batch: ProviderBatch) -> None:
        """Keep what has become of a batch; one that has ended stays as it is."""
        with self.writing_through() as db:
            _update(db, batch)

    def batches(self, endpoint: str | None = None) -> tuple[ProviderBatch, ...]:
        """Those that have not ended, oldest first; of one endpoint, or all."""
        rows = self.found(
            "SELECT * FROM provider_batches WHERE state <> 'ended'"
            " AND (:endpoint IS NULL OR endpoint = :endpoint) ORDER BY number",
            {"endpoint": endpoint},
        )
        return tuple(ProviderBatch(**{name: row[name] for name in _BATCH}) for row in rows)

    def bodies(self, batch_id: str, *, after: int, limit: int) -> tuple[tuple[int, str, str], ...]:
        """Line, call and body of a batch's requests behind the line `after`."""
        rows = self.found(
            "SELECT line, call_id, body FROM provider_requests"
            " WHERE batch = :batch AND line > :after ORDER BY line LIMIT :limit",
            {"batch": batch_id, "after": after, "limit": limit},
        )
        return tuple((row["line"], row["call_id"], row["body"]) for row in rows)

    def requests(self, batch_id: str) -> tuple[BatchRequest, ...]:
        """A batch's requests in the order of their lines."""
        rows = self.found(
            "SELECT requests.call_id, requests.line, requests.state, calls.format, sources.origin"
            " FROM provider_requests AS requests JOIN calls ON calls.id = requests.call_id"
            " JOIN sources ON sources.id = calls.source_id"
            " WHERE requests.batch = :batch ORDER BY requests.line",
            {"batch": batch_id},
        )
        return tuple(BatchRequest(**row) for row in rows)

    def keep_outcomes(self, batch_id: str, outcomes: Sequence[Outcome]) -> int:
        """Keep replies and refusals with their calls, each once; how many were new."""
        with self.writing() as db:
            return sum(_kept(db, batch_id, outcome) for outcome in outcomes)

    def end(self, batch: ProviderBatch, *, most_sends: int | None) -> tuple[int, int]:
        """Keep a batch that is over; how many of its requests are queued again, and given up."""
        with self.writing_through() as db:
            if not _update(db, replace(batch, state="ended")):
                return 0, 0
            given_up = 0
            if most_sends is None:
                db.conn.execute(
                    "UPDATE provider_requests SET sends = sends - 1"
                    " WHERE batch = ? AND state = 'batched'",
                    [batch.id],
                )
            else:
                given_up = _given_up(db, batch.id, most_sends)
            db.conn.execute(
                "UPDATE calls SET cost = 0"
                " WHERE id IN (SELECT call_id FROM provider_requests"
                " WHERE batch = ? AND state = 'batched')",
                [batch.id],
            )
            again = db.conn.execute(
                "UPDATE provider_requests SET state = 'queued', batch = NULL, line = NULL"
                " WHERE batch = ? AND state = 'batched'",
                [batch.id],
            )
            return again.rowcount, given_up

    def take_refusal(self, call_key: str) -> Refusal | None:
        """How a provider refused this request, for the one caller that is told so."""
        rows = self.found(
            "SELECT calls.id, calls.error, calls.error_kind, requests.hint, calls.cost"
            " FROM provider_requests AS requests JOIN calls ON calls.id = requests.call_id"
            " WHERE requests.key = :key AND requests.state = 'refused'"
            " ORDER BY requests.number DESC LIMIT 1",
            {"key": call_key},
        )
        if not rows:
            return None
        with self.writing() as db:
            taken = db.conn.execute(
                "UPDATE provider_requests SET state = 'told' WHERE key = ? AND state = 'refused'",
                [call_key],
            )
        row = rows[0]
        refusal = Refusal(
            row["id"], row["error"], row["error_kind"], row["hint"], paid=row["cost"] is None
        )
        return refusal if taken.rowcount else None

    def pending(self) -> Pending:
        """What waits, of all endpoints."""
        rows = self.found(
            "SELECT batch, count(*) AS requests FROM provider_requests"
            " WHERE state IN ('queued', 'batched') GROUP BY batch",
            {},
        )
        counts = {row["batch"]: row["requests"] for row in rows}
        return Pending(counts.pop(None, 0), self.batches(), counts)


def _insert(db: Database, table: str, columns: Columns) -> None:
    # Table and column names are our own constants; every value is bound.
    db.conn.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",  # noqa: S608
        tuple(columns.values()),
    )


def _columns(batch: ProviderBatch) -> Columns:
    return {name: getattr(batch, name) for name in _BATCH}


def _update(db: Database, batch: ProviderBatch) -> bool:
    """Write every column of a batch, unless it has ended."""
    columns = cleaned(_columns(batch))
    names = [name for name in columns if name != "id"]
    values = [columns[name] for name in names]
    # The names are those of our own fields; every value is bound.
    changed = db.conn.execute(
        f"UPDATE provider_batches SET {', '.join(f'{name} = ?' for name in names)}"  # noqa: S608
        " WHERE id = ? AND state <> 'ended'",
        [*values, batch.id],
    )
    return changed.rowcount == 1


def _kept(db: Database, batch_id: str, outcome: Outcome) -> bool:
    """Whether this was the first outcome of its request, which is stored then."""
    match outcome:
        case Lost():
            return False
        case Answered(call_id, reply, cost):
            state, hint = "answered", None
            columns: Columns = {
                **reply_columns(reply),
                "cost": cost,
                "error": None,
                "error_kind": None,
            }
        case Refusal(call_id, message, kind, hint, paid):
            state = "refused"
            columns = {"error": message, "error_kind": kind, "cost": None if paid else 0.0}
    first = db.conn.execute(
        "UPDATE provider_requests SET state = ?, hint = ?, body = NULL"
        " WHERE call_id = ? AND batch = ? AND state = 'batched'",
        [state, hint, call_id, batch_id],
    )
    if first.rowcount != 1:
        return False
    columns = cleaned(columns)
    places = ", ".join(f"{name} = ?" for name in columns)
    # The names are our own constants; every value is bound.
    db.conn.execute(f"UPDATE calls SET {places} WHERE id = ?", [*columns.values(), call_id])  # noqa: S608
    return True


def _given_up(db: Database, batch_id: str, most_sends: int) -> int:
    """Refuse the requests of a batch that were sent so often without an answer."""
    db.conn.execute(
        "UPDATE calls SET error = ?, error_kind = ?"
        " WHERE id IN (SELECT call_id FROM provider_requests"
        " WHERE batch = ? AND state = 'batched' AND sends >= ?)",
        [f"no answer in {most_sends} batches", StillWorking.kind, batch_id, most_sends],
    )
    given_up = db.conn.execute(
        "UPDATE provider_requests SET state = 'refused', body = NULL"
        " WHERE batch = ? AND state = 'batched' AND sends >= ?",
        [batch_id, most_sends],
    )
    return given_up.rowcount
