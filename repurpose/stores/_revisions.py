"""Revisions of rows, and composites with the names that their sections have for good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from sqlite_utils import Database

from repurpose.core.composed import ComposedRecord
from repurpose.core.record import Row, RunStatus
from repurpose.errors import ChangedMeanwhile, StoreError, UsageError
from repurpose.schema.intake import decode
from repurpose.stores._faults import FAULTS, reason_of
from repurpose.stores._rows import Columns, cleaned, refuse_unclean, row_columns, row_from
from repurpose.stores._tables import Tables, insert, listed

__all__ = ["CURRENT_ROWS", "RevisionTables", "conclude_again", "numbered"]

CURRENT_ROWS = """
    SELECT * FROM rows WHERE run_id = :id AND action != 'proposed' AND NOT EXISTS (
        SELECT 1 FROM rows AS later
        WHERE later.run_id = rows.run_id AND later.format = rows.format
            AND later.number > rows.number AND later.action NOT IN ('made', 'proposed')
            AND (later.variant = rows.variant
                OR rows.variant = 'default' AND rows.status = 'failed')
    ) ORDER BY (
        SELECT min(first.number) FROM rows AS first
        WHERE first.run_id = rows.run_id AND first.format = rows.format
            AND first.variant = rows.variant
    )
"""
"""Of each variant the newest revision that is not only proposed. A failed row of a whole format
(variant `default`) gives way to any variant that was made of it later."""


class RevisionTables(Tables):
    """What a person did to rows, and what was put together from them."""

    def row(self, row_id: str) -> Row:
        """The row with this id, or with this unique beginning of an id.

        Raises:
            UsageError: no row or more than one is meant.
        """
        begins = self._begins("rows", row_id)
        found = [row for row in begins if row["id"] == row_id] or begins
        if not found:
            raise UsageError(
                f"no row begins with {row_id!r}", hint="see the ids with: repurpose show RUN --json"
            )
        if len(found) > 1:
            raise UsageError(
                f"several rows begin with {row_id!r}: {listed([row['id'] for row in found])}",
                hint="give more letters of the id",
            )
        return self._mapped(row_from, found)[0]

    def history(self, run_id: str) -> tuple[Row, ...]:
        """Every revision of a run's rows, proposed ones included, oldest first."""
        found = self._found("SELECT * FROM rows WHERE run_id = :id ORDER BY number", {"id": run_id})
        return self._mapped(row_from, found)

    def keep_revision(self, row: Row, *, over: str) -> Row:
        """Keep a revision, made over the row with the id `over`; returned with its number.

        Raises:
            ChangedMeanwhile: that row is not the current one any more. Nothing is stored.
            StoreError: it holds what no column can hold.
        """
        with self._writing() as db:
            current = {each["id"] for each in self._found(CURRENT_ROWS, {"id": row.run_id})}
            if over not in current:
                raise ChangedMeanwhile(
                    f"{row.format} {row.variant} was changed meanwhile",
                    hint="look at it again: repurpose show RUN --history",
                )
            kept = numbered(db, row)
            try:
                insert(db, "rows", refuse_unclean(row_columns(kept)))
            except FAULTS as fault:
                raise StoreError(f"the text cannot be stored: {reason_of(fault)[0]}") from fault
        return kept

    def section_names(
        self, name: str, version: int, names: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """The names that this version of a composite has had from the first; `names` if new.

        Without `names` it is only looked, and empty where the version is new.
        """
        if names is not None:
            with self._writing() as db:
                db.conn.execute(
                    "INSERT INTO composite_versions (name, version, sections) VALUES (?, ?, ?)"
                    " ON CONFLICT (name, version) DO NOTHING",
                    [name, version, json.dumps(list(names), ensure_ascii=False)],
                )
        found = self._found(
            "SELECT sections FROM composite_versions WHERE name = :name AND version = :version",
            {"name": name, "version": version},
        )
        return tuple(decode(found[0]["sections"])) if found else ()  # type: ignore[arg-type]  # a list that we wrote

    def keep_composite(self, record: ComposedRecord) -> None:
        """Keep a composite as it was put together."""
        columns: Columns = cleaned(
            {name: getattr(record, name) for name in _COMPOSED} | {"payload": record.payload}
        )
        places = ", ".join("?" * len(columns))
        with self._writing() as db:
            db.conn.execute(
                f"INSERT INTO composites ({', '.join(columns)}) VALUES ({places})",  # noqa: S608 - our own names
                tuple(columns.values()),
            )

    def composites(self, run_id: str) -> tuple[ComposedRecord, ...]:
        """What was put together from a run, the newest of each name, in the order of names."""
        found = self._found(
            "SELECT * FROM composites WHERE run_id = :id AND number IN"
            " (SELECT max(number) FROM composites GROUP BY run_id, name) ORDER BY name",
            {"id": run_id},
        )
        return self._mapped(_composed_from, found)


_COMPOSED = ("run_id", "name", "version", "status", "message", "created_at")


def numbered(db: Database, row: Row) -> Row:
    """The row with the number of its revision; one that a run made has the first.

    What is made again over a row that a person decided on is only proposed. So is a failure over
    what can be published. It is decided here, where nobody can change that row in between.
    """
    if row.action == "made":
        return row
    (last,) = db.conn.execute(
        "SELECT coalesce(max(revision), 0) FROM rows"
        " WHERE run_id = ? AND format = ? AND variant = ?",
        [row.run_id, row.format, row.variant],
    ).fetchone()
    stays = row.action == "regenerated" and any(_stays(old, row) for old in _current(db, row))
    return replace(row, revision=last + 1, action="proposed" if stays else row.action)


def _stays(old: Row, new: Row) -> bool:
    """Whether a current row stays the current one although it was made again."""
    if new.status == "done":
        return old.variant == new.variant and old.locked
    return old.status == "done" and new.variant in ("default", old.variant)


def conclude_again(db: Database, run_id: str) -> None:
    """Note how a run has ended by now, where a format of it was made again; not while it runs.

    A format that was never begun leaves an interrupted run interrupted, and any other partial.
    """
    found = db.conn.execute("SELECT formats, status FROM runs WHERE id = ?", [run_id]).fetchone()
    if found is None or found[1] == "running":
        return
    rows = _rows_in(db, run_id)
    lacking = set(decode(found[0])) - {row.format for row in rows}  # type: ignore[arg-type]  # a list that we wrote
    status: RunStatus = "failed"
    if lacking and found[1] == "interrupted":
        status = "interrupted"
    elif not lacking and all(row.status == "done" for row in rows):
        status = "done"
    elif any(row.status == "done" for row in rows):
        status = "partial"
    db.conn.execute("UPDATE runs SET status = ? WHERE id = ?", [status, run_id])


def _current(db: Database, like: Row) -> list[Row]:
    """The current rows of the same run and format."""
    return [row for row in _rows_in(db, like.run_id) if row.format == like.format]


def _rows_in(db: Database, run_id: str) -> list[Row]:
    cursor = db.conn.execute(CURRENT_ROWS, {"id": run_id})
    names = [column[0] for column in cursor.description]
    return [row_from(dict(zip(names, values, strict=True))) for values in cursor.fetchall()]


def _composed_from(columns: Columns) -> ComposedRecord:
    payload = decode(columns["payload"])
    return ComposedRecord(**{name: columns[name] for name in _COMPOSED}, payload=payload)  # type: ignore[arg-type]  # an object that we wrote
