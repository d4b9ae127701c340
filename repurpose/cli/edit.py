"""`repurpose edit`: a stored text as a person wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options, _revising

if TYPE_CHECKING:
    from repurpose.config import Settings
    from repurpose.core.json_types import JsonObject
    from repurpose.core.record import Row
    from repurpose.ports import Store

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose edit last --section social.linkedin
  repurpose edit last --section faq --file faq.json
  echo "A better post." | repurpose edit 019a3f2c7b --file - --by anna
"""
)
@click.argument("target", metavar="ROW|RUN")
@_revising.section
@click.option("--file", "file", metavar="FILE", help="The new text, or - ; else your editor.")
@_revising.by
@click.option("--voice", metavar="NAME", help="A voice whose banned words are looked for.")
@_options.formats_dir
@_options.as_json
@_options.database
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    target: str,
    section: str | None,
    file: str | None,
    by: str | None,
    as_json: bool,
    database: str | None,
    **_: object,
) -> None:
    """Change a stored text by hand, in $EDITOR or from a file.

    The text is a row by its id, or a section of a run. Posts, summaries and other single texts
    are edited as they are; a FAQ, a newsletter and whatever has several fields, as JSON. What is
    too long for its platform is refused and never cut. The text before stays in the history, and
    nothing replaces the edited one: regenerating it only proposes another.
    """
    from repurpose.api.revising import editing_kind
    from repurpose.cli._settings import formats_of, settings_of
    from repurpose.cli._stored import opened

    settings = settings_of(ctx)
    person = _revising.author(by)
    with opened(database) as store:
        row = _revising.target_row(store, settings, target, section)
        as_content = editing_kind(row, formats_of(settings)) == "content"
        if file is not None:
            edited = _stored(store, settings, row, _read(file), person, as_content=as_content)
        else:
            edited = _by_hand(store, settings, row, person, as_content=as_content)
    _revising.tell_row(edited, row, as_json=as_json)


def _by_hand(store: Store, settings: Settings, row: Row, by: str, *, as_content: bool) -> Row:
    """The row as it comes from the editor; what cannot be stored stays in a file.

    Raises:
        UsageError: it cannot be stored; the hint says where it is.
    """
    import json

    from repurpose.errors import UsageError

    shown = row.text or ""
    if as_content:
        shown = json.dumps(row.content, ensure_ascii=False, indent=2)
    written = click.edit(f"{shown}\n", extension=".json" if as_content else ".txt")
    if written is None:
        return row
    try:
        return _stored(store, settings, row, written, by, as_content=as_content)
    except UsageError as error:
        place = _rescued(written, ".json" if as_content else ".txt")
        hint = f"what you wrote is in {place}; then: repurpose edit {row.id} --file {place}"
        raise type(error)(error.message, hint=hint) from error


def _rescued(written: str, extension: str) -> str:
    """Where a text is kept that could not be stored, for its owner alone to read."""
    import tempfile
    from pathlib import Path

    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="repurpose-", suffix=extension, delete=False
    ) as file:
        file.write(written)
    return str(Path(file.name))


def _stored(
    store: Store, settings: Settings, row: Row, written: str, by: str, *, as_content: bool
) -> Row:
    from repurpose.api.revising import edit

    if as_content:
        return edit(store, settings, row.id, content=_fields(written), by=by)
    return edit(store, settings, row.id, text=written, by=by)


def _fields(written: str) -> JsonObject:
    """The JSON object that was written.

    Raises:
        UsageError: it is none.
    """
    from repurpose.errors import UsageError
    from repurpose.schema.intake import IntakeError, decode

    try:
        fields = decode(written)
    except IntakeError as error:
        raise UsageError(f"this is no JSON: {error.finding.message}") from error
    if not isinstance(fields, dict):
        raise UsageError("the fields are one JSON object")
    return fields


def _read(file: str) -> str:
    """The text in a file, or on standard input.

    Raises:
        UsageError: it cannot be read.
    """
    from repurpose.errors import UsageError

    try:
        with click.open_file(file, encoding="utf-8") as opened:
            text: str = opened.read()
    except (OSError, UnicodeDecodeError) as fault:
        reason = getattr(fault, "strerror", None) or "it is not UTF-8"
        raise UsageError(f"{file} cannot be read: {reason}") from fault
    return text
