"""What people do to stored rows: edit, approve, restore, compare, and have them made again.

What is always true here: nothing that was stored is changed or lost. Each act is a revision of its
own, in one transaction, with who and when; a row that somebody else changed meanwhile stays theirs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from repurpose.api._asked_again import Meant, meant_by, spelled_platforms
from repurpose.api._authors import checked_author
from repurpose.api._comparing import (
    Difference,
    current_of,
    difference,
    proposal_in,
    refuse_failed,
    revisions_of,
)
from repurpose.api._regenerating import Regenerated, aregenerate, regenerate
from repurpose.api.adapters import SystemClock, new_id
from repurpose.api.runs import platforms_for
from repurpose.asking import iso
from repurpose.config import Settings
from repurpose.core.compose import section_input
from repurpose.core.json_types import JsonObject
from repurpose.core.record import Row, RowAction
from repurpose.errors import ChangedMeanwhile, UsageError
from repurpose.formats import Formats, format_named, known_formats
from repurpose.formats.base import FinishContext, Format
from repurpose.platforms import PLATFORMS
from repurpose.ports import Store
from repurpose.steps import editing
from repurpose.text.sentences import segmenter_named

__all__ = [
    "Difference",
    "Regenerated",
    "approve",
    "aregenerate",
    "current_of",
    "difference",
    "edit",
    "editing_kind",
    "proposal_in",
    "regenerate",
    "release",
    "restore",
    "revisions_of",
    "row_of",
]


# --- editing ------------------------------------------------------------------------------------


def editing_kind(row: Row, known: Formats | None = None) -> Literal["text", "content"]:
    """Whether a row is edited as its text or as its fields; without `known`, as if it were known.

    A format that is not known any more has only its text.
    """
    is_known = known is None or row.format in known.names()
    return editing.editing_kind(row, known=is_known)


def edit(
    store: Store,
    settings: Settings,
    row_id: str,
    *,
    text: str | None = None,
    content: JsonObject | None = None,
    by: str,
) -> Row:
    """The row with what a person made of it, stored as a revision and locked from then on.

    Either `text` or `content` is given, as `editing_kind` says. What is written is kept as it is,
    but for white space at its ends, or refused. Measures, hashtags and the posts of a thread are
    found anew. A row that stays the same is returned as it is, and nothing is stored.

    Raises:
        UsageError: no such row, or an edit that cannot be kept: the text is too long for its
            platform, nothing is left of it, or the fields are not of the format's shape.
        ChangedMeanwhile: the row is not the current one any more.
        StoreError: the text holds what cannot be stored.
    """
    by = checked_author(by)
    row = _current(store, row_id, "edit")
    format = _format_of(row, settings)
    context = _context(row, settings)
    if (text is None) == (content is None):
        raise UsageError("give either the text or the content of a row")
    if text is not None:
        edited = editing.edited_text(row, text, format=format, context=context)
    elif content is not None and format is not None:
        edited = editing.edited_content(row, content, format=format, context=context)
    else:
        raise UsageError(
            f"format {row.format} is not known any more", hint="edit its text, not its content"
        )
    if edited is None:
        return row
    revision = editing.revised(row, edited, row_id=new_id(), by=by, now=_now())
    return store.keep_revision(revision, over=row.id)


def _format_of(row: Row, settings: Settings) -> Format | None:
    """The row's format; None where it is not known any more."""
    known = known_formats(settings.formats_dir, settings.declared, beside=settings.folder)
    return format_named(row.format, known) if row.format in known.names() else None


def _context(row: Row, settings: Settings) -> FinishContext:
    """What post-validation knows of a row: its platform with the limit that it was held to."""
    name = row.variant.partition(".")[0]
    wanted = spelled_platforms(settings, (name,), (row,)) if name in PLATFORMS else ()
    return FinishContext(
        language=row.language,
        platforms=platforms_for(replace(settings, platforms=wanted)) if wanted else {},
        segmenter=segmenter_named(settings.segmenter),
        voice=settings.voice,
    )


# --- deciding -----------------------------------------------------------------------------------


def approve(store: Store, row_id: str, by: str) -> Row:
    """The current row as this person approved it, so that nothing replaces it from then on.

    Raises:
        UsageError: no such row, or a failed one.
        ChangedMeanwhile: the row is not the current one any more.
    """
    row = _current(store, row_id, "approve")
    return row if row.action == "approved" else _decided(store, row, row, "approved", by)


def release(store: Store, row_id: str, by: str) -> Row:
    """The current row, not locked any more; one that was not is returned as it is.

    Raises:
        UsageError: no such row, or a failed one.
        ChangedMeanwhile: the row is not the current one any more.
    """
    row = _current(store, row_id, "release")
    return _decided(store, row, row, "released", by) if row.locked else row


def restore(store: Store, row_id: str, by: str) -> Row:
    """An earlier or a proposed revision as the current one, locked from then on.

    The current one is returned as it is.

    Raises:
        UsageError: no such row, or a failed one.
        ChangedMeanwhile: somebody changed the current row in this moment.
    """
    row = store.row(row_id)
    refuse_failed(row, "restore")
    current = current_of(store, row)
    if current.id == row.id:
        return row
    return _decided(store, row, current, "restored", by)


def _decided(store: Store, row: Row, over: Row, action: RowAction, by: str) -> Row:
    """The row's text as a revision over the current one."""
    revision = replace(
        row,
        id=new_id(),
        action=action,
        author=checked_author(by),
        created_at=_now(),
        instruction=None,
    )
    return store.keep_revision(revision, over=over.id)


# --- finding ------------------------------------------------------------------------------------


def row_of(store: Store, settings: Settings, run_id: str, section: str) -> Row:
    """The current row of a run's section: `faq`, `social.linkedin`.

    Raises:
        UsageError: no such run or section, or a section with several rows.
    """
    run = store.run(run_id)
    meant: Meant = meant_by(store, run, section, settings)
    rows = meant.shown or meant.rows
    if not rows:
        raise UsageError(f"run {run.id} has no row of {section} yet")
    if len(rows) > 1:
        names = ", ".join(map(section_input, rows))
        raise UsageError(f"{section} has several rows", hint=f"choose one: {names}")
    return rows[0]


def _current(store: Store, row_id: str, act: str) -> Row:
    """The row, which is the current one and has a text."""
    row = store.row(row_id)
    refuse_failed(row, act)
    if row.action == "proposed":
        raise UsageError(
            f"row {row.id} is only proposed", hint=f"take it first: repurpose restore {row.id}"
        )
    if row.id != current_of(store, row).id:
        raise ChangedMeanwhile(
            f"{section_input(row)} was changed meanwhile",
            hint=f"look at it again: repurpose show {row.run_id} --history",
        )
    return row


def _now() -> str:
    return iso(SystemClock().now())
