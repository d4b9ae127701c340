"""The tables of batches: items, the plan of a running batch, and leases.

Every value is bound; what is put into a query's text is our own, or a number of places.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from sqlite_utils import Database

from repurpose.core.item import Batch, BatchStatus, Decision, Item, ItemState, Planned
from repurpose.core.json_types import JsonObject
from repurpose.core.source import Source
from repurpose.errors import UsageError
from repurpose.ports import Observed
from repurpose.stores._rows import (
    Columns,
    batch_columns,
    batch_from,
    cleaned,
    cleaned_text,
    item_columns,
    item_from,
    source_columns,
)
from repurpose.stores._tables import Tables

__all__ = ["BatchTables"]

_LATEST = 2_000  # calls, which stand for all: the table holds prompts, and is not read whole

_SEEN = """
    INSERT INTO items (key, origin, state, digest, title, within, entry_id, stat, done, tries,
        error, error_kind, run_id, batch_id, seen_at)
    VALUES (:key, :origin, 'todo', :digest, :title, :within, :entry_id, :stat, '{}', 0,
        NULL, NULL, NULL, NULL, :seen_at)
    ON CONFLICT (key) DO UPDATE SET origin = excluded.origin, title = excluded.title,
        stat = excluded.stat, seen_at = excluded.seen_at, digest = excluded.digest,
        state = iif(digest IS excluded.digest, state, 'todo'),
        done = iif(digest IS excluded.digest, done, '{}'),
        tries = iif(digest IS excluded.digest, tries, 0),
        error = iif(digest IS excluded.digest, error, NULL),
        error_kind = iif(digest IS excluded.digest, error_kind, NULL)
"""
_SETTLED = """
    INSERT INTO items (key, origin, state, digest, title, within, entry_id, stat, done, tries,
        error, error_kind, run_id, batch_id, seen_at)
    VALUES (:key, :origin, :state, :digest, :title, :within, :entry_id, :stat, :done, :tries,
        :error, :error_kind, :run_id, :batch_id, :seen_at)
    ON CONFLICT (key) DO UPDATE SET state = excluded.state, done = excluded.done,
        tries = excluded.tries, error = excluded.error, error_kind = excluded.error_kind,
        run_id = excluded.run_id, batch_id = excluded.batch_id, seen_at = excluded.seen_at,
        stat = excluded.stat
    WHERE digest IS excluded.digest OR digest IS NULL OR excluded.digest IS NULL
"""
# The last condition: another process may meanwhile have planned a newer text of this item.


class BatchTables(Tables):
    """What `BatchStore` adds to `Store`."""

    def begin_batch(self, batch: Batch, now: float) -> None:
        """Keep a batch that begins; one that died is noted as interrupted, and its plan forgotten.

        A batch lives as long as its own lease, which is named after it.
        """
        columns = cleaned(batch_columns(batch))
        with self._writing() as db:
            db.conn.execute(
                "UPDATE batches SET status = 'interrupted' WHERE status = 'running' AND NOT EXISTS"
                " (SELECT 1 FROM leases WHERE name = 'batch ' || batches.id AND until > ?)",
                [now],
            )
            db.conn.execute("DELETE FROM leases WHERE until <= ?", [now])
            db.conn.execute(
                "DELETE FROM planned WHERE batch_id IN"
                " (SELECT id FROM batches WHERE status != 'running')"
            )
            _insert(db, "batches", columns)

    def note_plan(self, batch_id: str, plan: JsonObject) -> None:
        """Keep the figures of a batch's plan."""
        with self._writing() as db:
            db.conn.execute(
                "UPDATE batches SET plan = ? WHERE id = ?", [json.dumps(plan), batch_id]
            )

    def end_batch(
        self, batch_id: str, status: BatchStatus, ended_at: str, summary: JsonObject
    ) -> None:
        """Note how a batch ended, forget its plan, and release all that its owner held."""
        with self._writing() as db:
            db.conn.execute(
                "UPDATE batches SET status = ?, ended_at = ?, summary = ? WHERE id = ?",
                [status, ended_at, json.dumps(summary), batch_id],
            )
            db.conn.execute("DELETE FROM planned WHERE batch_id = ?", [batch_id])
            db.conn.execute(
                "DELETE FROM leases WHERE owner = (SELECT owner FROM batches WHERE id = ?)",
                [batch_id],
            )

    def batch(self, batch_id: str) -> Batch:
        """The batch with this id, with this unique beginning of an id, or `last`.

        Raises:
            UsageError: no batch or more than one is meant.
        """
        values = {"id": cleaned_text(batch_id)}
        if batch_id == "last":
            found = self._found("SELECT * FROM batches ORDER BY number DESC LIMIT 1", {})
        else:
            found = self._found(
                "SELECT * FROM batches WHERE :id != '' AND substr(id, 1, length(:id)) = :id"
                " ORDER BY id = :id DESC, number DESC LIMIT 2",
                values,
            )
        if not found:
            what = "no batch is stored yet" if batch_id == "last" else f"no batch {batch_id!r}"
            raise UsageError(what, hint="start one: repurpose batch FOLDER")
        if len(found) > 1 and found[0]["id"] != batch_id:
            raise UsageError(
                f"several batches begin with {batch_id!r}", hint="give more letters, or `last`"
            )
        return self._mapped(batch_from, found[:1])[0]

    def items(self, keys: Sequence[str]) -> dict[str, Item]:
        """Those of these items that are known, by key."""
        if not keys:
            return {}
        # A key that cannot be stored as it is would be found under its cleaned form only.
        clean = {cleaned_text(key): key for key in keys}
        found = self._found(
            f"SELECT * FROM items WHERE key IN ({_places(clean)})",  # noqa: S608 - places only
            _numbered(clean),
        )
        items = self._mapped(item_from, found)
        return {clean[item.key]: replace(item, key=clean[item.key]) for item in items}

    def items_of(
        self, batch_id: str, states: Sequence[ItemState], limit: int | None = None
    ) -> tuple[Item, ...]:
        """Items that a batch left in one of these states."""
        found = self._found(
            "SELECT * FROM items WHERE batch_id = :batch AND state IN"  # noqa: S608 - places only
            f" ({_places(states)}) ORDER BY number LIMIT :limit",
            {**_numbered(states), "batch": batch_id, "limit": -1 if limit is None else limit},
        )
        return self._mapped(item_from, found)

    def item_counts(self, batch_id: str | None = None) -> dict[ItemState, int]:
        """How many items are in which state: of one batch, or of all."""
        chosen = "" if batch_id is None else "WHERE batch_id = :batch "
        found = self._found(
            f"SELECT state, count(*) AS count FROM items {chosen}GROUP BY state",  # noqa: S608
            {} if batch_id is None else {"batch": batch_id},
        )
        counts = {each["state"]: each["count"] for each in found}
        return {state: counts.get(state, 0) for state in get_args(ItemState)}

    def keep_planned(
        self, batch_id: str, planned: Sequence[Planned], sources: Sequence[Source]
    ) -> tuple[str | None, ...]:
        """Keep a part of a plan, with the sources that were read for it, in one transaction."""
        with self._writing() as db:
            for source in sources:
                columns = cleaned(source_columns(source.digest, source))
                _insert(db, "sources", columns, once="id")
            return tuple(_kept(db, batch_id, each) for each in planned)

    def planned(self, batch_id: str, after: int, limit: int) -> tuple[Planned, ...]:
        """Items of a plan that have something to do, in its order, behind the number `after`."""
        found = self._found(
            "SELECT items.*, planned.number AS place, planned.action, planned.reason,"
            " planned.formats FROM planned JOIN items ON items.key = planned.key"
            " WHERE planned.batch_id = :batch AND planned.number > :after"
            " AND planned.formats != '[]' ORDER BY planned.number LIMIT :limit",
            {"batch": batch_id, "after": after, "limit": limit},
        )
        return self._mapped(_planned_from, found)

    def settle_item(self, item: Item) -> None:
        """Keep what became of an item, unless its text was meanwhile planned anew."""
        with self._writing() as db:
            db.conn.execute(_SETTLED, cleaned(item_columns(item)))

    def retry_items(self, keys: Sequence[str]) -> None:
        """Have failed and parked items tried again, their failed tries forgotten."""
        with self._writing() as db:
            for key in keys:
                db.conn.execute(
                    "UPDATE items SET state = 'todo', tries = 0, stat = NULL WHERE key = ?"
                    " AND state IN ('failed', 'parked')",
                    [cleaned_text(key)],
                )

    def known_sources(self, digests: Sequence[str]) -> set[str]:
        """Those of these texts over which there was a run before."""
        found = self._found(
            "SELECT DISTINCT source_id FROM runs WHERE source_id IN"  # noqa: S608 - places only
            f" ({_places(digests)})",
            _numbered(digests),
        )
        return {each["source_id"] for each in found}

    def observed(self, model: str | None, engine: str) -> dict[str, Observed]:
        """By format, what the latest calls to a model took."""
        found = self._found(
            "SELECT format, count(*) AS calls, sum(attempt > 1) AS repairs,"
            " avg(completion_tokens) AS tokens FROM (SELECT format, attempt, completion_tokens,"
            " model, engine FROM calls WHERE reply IS NOT NULL ORDER BY number DESC LIMIT :latest)"
            " WHERE model IS :model AND engine = :engine GROUP BY format",
            {"latest": _LATEST, "model": model, "engine": engine},
        )
        return {
            each["format"]: Observed(each["calls"], each["repairs"], each["tokens"])
            for each in found
        }

    def claim(self, name: str, owner: str, now: float, until: float) -> str | None:
        """Take a lease, or learn who has it: None means that `owner` has it now."""
        with self._writing() as db:
            taken = db.conn.execute(
                "INSERT INTO leases (name, owner, until) VALUES (?, ?, ?) ON CONFLICT (name)"
                " DO UPDATE SET owner = excluded.owner, until = excluded.until"
                " WHERE leases.until <= ? OR leases.owner = excluded.owner",
                [name, owner, until, now],
            )
            if taken.rowcount == 1:
                return None
            [[holder]] = db.conn.execute("SELECT owner FROM leases WHERE name = ?", [name])
        return str(holder)

    def renew(self, owner: str, until: float) -> int:
        """Prolong all leases of `owner`; returns how many it still has."""
        with self._writing() as db:
            changed = db.conn.execute("UPDATE leases SET until = ? WHERE owner = ?", [until, owner])
        return changed.rowcount

    def release(self, owner: str, name: str | None = None) -> None:
        """Give up one lease of `owner`, or all of them."""
        with self._writing() as db:
            db.conn.execute(
                "DELETE FROM leases WHERE owner = :owner AND (:name IS NULL OR name = :name)",
                {"owner": owner, "name": name},
            )

    def holder(self, name: str, now: float) -> str | None:
        """Who has a lease that is not over, or None."""
        found = self._found(
            "SELECT owner FROM leases WHERE name = :name AND until > :now",
            {"name": name, "now": now},
        )
        return found[0]["owner"] if found else None

    def owners(self) -> tuple[str, ...]:
        """All that have a lease."""
        return tuple(each["owner"] for each in self._found("SELECT DISTINCT owner FROM leases", {}))


def _kept(db: Database, batch_id: str, planned: Planned) -> str | None:
    """Keep one item of a plan; the key of an earlier one with the same text, where there is one."""
    item, decision = planned.item, planned.decision
    columns = cleaned(item_columns(item))
    unread = decision.action in ("failed", "duplicate")
    entered = db.conn.execute(
        "INSERT INTO planned (batch_id, key, digest, action, reason, formats)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (batch_id, digest) DO NOTHING",
        [
            batch_id,
            columns["key"],
            None if unread else item.digest,
            decision.action,
            cleaned_text(decision.reason),
            json.dumps(decision.formats),
        ],
    )
    if entered.rowcount == 1:
        if not unread and decision.action != "parked":
            db.conn.execute(_SEEN, columns)
        return None
    [[first]] = db.conn.execute(
        "SELECT key FROM planned WHERE batch_id = ? AND digest = ?", [batch_id, item.digest]
    )
    return str(first)


def _planned_from(columns: Columns) -> Planned:
    formats = tuple(json.loads(columns["formats"]))  # noqa: TID251 - written by `_kept`
    decision = Decision(columns["action"], columns["reason"], formats)
    return Planned(item_from(columns), decision, columns["place"])


def _insert(db: Database, table: str, columns: Columns, *, once: str | None = None) -> None:
    names = ", ".join(columns)
    kept = f" ON CONFLICT ({once}) DO NOTHING" if once else ""
    # Table and column names are our own constants; every value is bound.
    db.conn.execute(
        f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))}){kept}",  # noqa: S608
        tuple(columns.values()),
    )


def _places(values: Sequence[str] | dict[str, str]) -> str:
    """As many named places as there are values."""
    return ", ".join(f":v{number}" for number, _ in enumerate(values))


def _numbered(values: Sequence[str] | dict[str, str]) -> Columns:
    """The values by the names of their places."""
    return {f"v{number}": value for number, value in enumerate(values)}
