"""A store in one SQLite file: tables that any SQLite browser shows.

Each method is one transaction. A method that returned has written: a process killed after it
loses nothing, a power cut at most the last moments. Several threads and processes may use one
file, on a local disk (https://www.sqlite.org/wal.html: WAL does not work over a network).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlite_utils import Database

from repurpose.core.call import Reply
from repurpose.core.record import CallRecord, Row, Run, RunStatus
from repurpose.core.source import Source
from repurpose.core.statistics import Grouping, Tally
from repurpose.errors import StoreError, UsageError
from repurpose.ports import BatchStore
from repurpose.stores._batches import BatchTables
from repurpose.stores._connection import connect
from repurpose.stores._deliveries import SqliteDeliveries
from repurpose.stores._faults import FAULTS, database_faults, reason_of
from repurpose.stores._migrations import upgrade
from repurpose.stores._provider_batches import SqliteProviderBatches
from repurpose.stores._revisions import (
    CURRENT_ROWS,
    RevisionTables,
    conclude_again,
    numbered,
)
from repurpose.stores._rows import (
    call_columns,
    call_from,
    cleaned,
    refuse_unclean,
    reply_from,
    row_columns,
    row_from,
    run_columns,
    run_from,
    source_columns,
    source_from,
)
from repurpose.stores._statistics import question, tallies_from
from repurpose.stores._tables import insert, listed

__all__ = ["open_store"]


def open_store(path: Path | str) -> BatchStore:
    """The store in the file `path`, made if it is missing; `:memory:` keeps nothing.

    The file of an older version is brought up to date first.

    Raises:
        StoreError: the file cannot be made, opened or read, is no database of ours, or was
            written by a newer version. It is then left as it was.
    """
    place = str(path)
    with database_faults(place):
        db = connect(place)
        try:
            upgrade(db, place)
        except BaseException:
            db.close()
            raise
    return _SqliteStore(place, db)


class _SqliteStore(BatchTables, RevisionTables):
    """`BatchStore` over one connection, which one thread uses at a time."""

    def start_run(self, run: Run, source: Source) -> None:
        """Keep a run and its source; one that is kept already stays as it was first loaded."""
        with self._writing() as db:
            insert(db, "sources", cleaned(source_columns(run.source_id, source)), once=True)
            insert(db, "runs", cleaned(run_columns(run)))

    def finish_run(self, run_id: str, status: RunStatus, finished_at: str) -> None:
        """Note how a run ended."""
        with self._writing() as db:
            changed = db.conn.execute(
                "UPDATE runs SET status = ?, finished_at = ? WHERE id = ?",
                [status, finished_at, run_id],
            )
            if changed.rowcount != 1:
                raise StoreError(f"database {self._place}: it holds no run {run_id}")

    def done_rows(self, idempotency_key: str) -> tuple[Row, ...]:
        """The newest complete result with this key; a run where one variant failed has none."""
        found = self._found(
            """
            SELECT * FROM rows WHERE idempotency_key = :key AND action = 'made' AND run_id = (
                SELECT rows.run_id FROM rows JOIN runs ON runs.id = rows.run_id
                WHERE rows.idempotency_key = :key AND rows.action = 'made'
                GROUP BY rows.run_id HAVING min(rows.status = 'done')
                ORDER BY max(runs.number) DESC LIMIT 1
            ) ORDER BY number
            """,
            {"key": idempotency_key},
        )
        return self._mapped(row_from, found)

    def unsettled_reply(self, call_key: str) -> tuple[str, Reply] | None:
        """The newest reply to this request that led to no stored result, with its call's id."""
        found = self._found(
            "SELECT * FROM calls WHERE key = :key AND settled = 0 AND reply IS NOT NULL"
            " ORDER BY number DESC LIMIT 1",
            {"key": call_key},
        )
        replies = self._mapped(reply_from, found)
        return (found[0]["id"], replies[0]) if replies else None

    def keep_call(self, record: CallRecord) -> None:
        """Keep a call; a character that no column can hold becomes U+FFFD, so nothing is lost."""
        with self._writing() as db:
            insert(db, "calls", cleaned(call_columns(record)))

    def keep_result(self, rows: Sequence[Row], *, settles: Sequence[str]) -> tuple[Row, ...]:
        """Keep all rows or none; a single one that cannot be written becomes a failed row.

        Then the calls stay unsettled, so that their replies are used again and not paid again.
        """
        with self._writing() as db:
            stored = tuple(_kept(db, numbered(db, row)) for row in rows)
            if all(new.status == row.status for new, row in zip(stored, rows, strict=True)):
                for call_id in settles:
                    db.conn.execute("UPDATE calls SET settled = 1 WHERE id = ?", [call_id])
            for run_id in {row.run_id for row in stored if row.action != "made"}:
                conclude_again(db, run_id)
        return stored

    def runs(self, limit: int | None = None) -> tuple[Run, ...]:
        """Runs, newest first."""
        found = self._found(
            "SELECT * FROM runs ORDER BY number DESC LIMIT :limit",
            {"limit": -1 if limit is None else max(0, limit)},
        )
        return self._mapped(run_from, found)

    def run(self, run_id: str) -> Run:
        """The run with this id, with this unique beginning of an id, or `last`.

        Raises:
            UsageError: no run or more than one is meant.
        """
        if run_id == "last":
            newest = self.runs(1)
            if not newest:
                raise UsageError("no run is stored yet", hint="start one: repurpose run FILE")
            return newest[0]
        begins = self._mapped(run_from, self._begins("runs", run_id))
        exact = [run for run in begins if run.id == run_id]
        if exact or len(begins) == 1:
            return (exact or begins)[0]
        if not begins:
            raise UsageError(
                f"no run begins with {run_id!r}", hint="see the ids with: repurpose list"
            )
        raise UsageError(
            f"several runs begin with {run_id!r}: {listed([run.id for run in begins])}",
            hint="give more letters of the id, or `last`",
        )

    def source(self, source_id: str) -> Source:
        """A kept source; its blocks and warnings included."""
        found = self._found("SELECT * FROM sources WHERE id = :id", {"id": source_id})
        if not found:
            raise StoreError(f"database {self._place}: it holds no source {source_id}")
        return self._mapped(source_from, found)[0]

    def rows(self, run_id: str) -> tuple[Row, ...]:
        """A run's current rows, in the order in which their first revisions were stored."""
        found = self._found(CURRENT_ROWS, {"id": run_id})
        return self._mapped(row_from, found)

    def calls(self, run_id: str) -> tuple[CallRecord, ...]:
        """A run's calls in the order they were made; each call's source is the stored one."""
        found = self._found(
            "SELECT * FROM calls WHERE run_id = :id ORDER BY started_at, number", {"id": run_id}
        )
        sources = {name: self.source(name) for name in {call["source_id"] for call in found}}
        with database_faults(self._place):
            return tuple(call_from(call, sources[call["source_id"]]) for call in found)

    def call(self, call_id: str) -> CallRecord:
        """The call with this id, or with this unique beginning of an id.

        Raises:
            UsageError: no call or more than one is meant.
        """
        begins = self._begins("calls", call_id)
        found = [call for call in begins if call["id"] == call_id] or begins
        if not found:
            raise UsageError(
                f"no call begins with {call_id!r}",
                hint="see the ids with: repurpose show RUN --calls",
            )
        if len(found) > 1:
            raise UsageError(
                f"several calls begin with {call_id!r}: {listed([call['id'] for call in found])}",
                hint="give more letters of the id",
            )
        source = self.source(found[0]["source_id"])
        return self._mapped(lambda columns: call_from(columns, source), found)[0]

    def statistics(self, by: Grouping, since: str = "") -> tuple[Tally, ...]:
        """What calls took and which results failed, from an ISO 8601 moment in UTC on."""
        return tallies_from(self._found(question(by), {"since": since}))

    @property
    def provider_batches(self) -> SqliteProviderBatches:
        """The calls that wait for a provider's batch."""
        return SqliteProviderBatches(self._writing, self._writing_through, self._found)

    @property
    def deliveries(self) -> SqliteDeliveries:
        """What is posted to us."""
        return SqliteDeliveries(self._writing, self._found)


def _kept(db: Database, row: Row) -> Row:
    """The row as it was stored: itself, or a failed row that says why it was not."""
    if row.status == "failed":
        return _kept_failed(db, row)
    try:
        # No savepoint: a statement that fails leaves nothing behind of itself, and of the ones
        # before it everything (https://www.sqlite.org/lang_conflict.html, ABORT).
        insert(db, "rows", refuse_unclean(row_columns(row)))
    except FAULTS as fault:
        if not db.conn.in_transaction:
            raise  # some faults, such as a full disk, may end the transaction with its siblings
        return _kept_failed(db, _unstored(row, reason_of(fault)[0]))
    return row


def _kept_failed(db: Database, row: Row) -> Row:
    """A failed row, with its words cleaned: nobody publishes them, so none is refused."""
    columns = cleaned(row_columns(row))
    insert(db, "rows", columns)
    return row_from(columns)


def _unstored(row: Row, reason: str) -> Row:
    """The failed row that stands for `row`; it holds nothing that could be taken for a result."""
    return replace(
        row,
        status="failed",
        action="made" if row.action == "made" else "proposed",
        message=f"{row.label} ({row.variant}) storage error: {reason}",
        kind=StoreError.kind,
        text=None,
        content=None,
        measures=None,
        quotes=(),
        coerced=(),
        dropped=(),
        notes=(),
    )
