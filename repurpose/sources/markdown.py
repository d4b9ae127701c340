"""Markdown: front matter, headings as context, and text that stays Markdown."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping

from repurpose.core.source import Source
from repurpose.sources._blocks import outline
from repurpose.sources._front_matter import split
from repurpose.sources._inline_html import decode_entities, without_html
from repurpose.sources.base import (
    Raw,
    declared_code,
    decode,
    hidden_warning,
    iso_date,
    language_of,
    one_line,
    prose_of,
    require_words,
    web_address,
)
from repurpose.text.cleaning import clean

__all__ = ["load"]


def load(raw: Raw) -> Source:
    """A source from Markdown with or without front matter in YAML, TOML or JSON.

    HTML is dropped and its text kept; entities are decoded; code stays as typed. Without a
    declared title the first heading is the title.

    Raises:
        SourceError: `empty`, `binary`, `too-large` or `unreadable`.
    """
    decoded, warnings = decode(raw)
    cleaned = clean(decoded)
    front = split(cleaned.text)
    stripped = without_html(front.body)
    again = clean(stripped.text)  # entities may stand for hidden characters
    text = require_words(_trimmed(again.text), raw)
    parts = outline(text)
    language, doubts = language_of(_language(front.fields), prose_of(text, parts.blocks))
    return Source(
        text=text,
        origin=raw.origin,
        kind="markdown",
        blocks=parts.blocks,
        title=_words(front.fields.get("title")) or one_line(parts.title),
        author=_author(front.fields),
        date=_date(front.fields.get("date")),
        language=language,
        url=_url(front.fields),
        hidden=cleaned.removed + again.removed + stripped.comments,
        warnings=(*warnings, *front.warnings, *hidden_warning(decoded, cleaned), *doubts),
    )


def _trimmed(text: str) -> str:
    """`text` without blank lines around it; the first line keeps its indentation."""
    text = text.rstrip()
    lead = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, lead) + 1 :]


def _words(value: object) -> str | None:
    """A title or name as plain text: YAML values may hold entities and tags."""
    if not isinstance(value, str):
        return None
    return one_line(decode_entities(without_html(value).text.replace("\\", "")))


def _author(fields: Mapping[str, object]) -> str | None:
    names = [*_names(fields.get("author")), *_names(fields.get("authors"))]
    return ", ".join(dict.fromkeys(names)) or None


def _names(value: object) -> Iterator[str]:
    """The names in a string, a list of them, or tables with a `name`."""
    for one in value if isinstance(value, list) else [value]:
        name = _words(one.get("name")) if isinstance(one, dict) else _words(one)
        if name is not None:
            yield name


def _date(value: object) -> str | None:
    if isinstance(value, datetime.date):  # TOML has dates of its own
        return value.isoformat()[:10]
    return iso_date(value)


def _language(fields: Mapping[str, object]) -> str | None:
    codes = (declared_code(fields.get(key)) for key in ("lang", "language", "locale"))
    return next((code for code in codes if code is not None), None)


def _url(fields: Mapping[str, object]) -> str | None:
    keys = ("canonical", "canonical_url", "url", "permalink")
    addresses = (web_address(fields.get(key)) for key in keys)
    return next((address for address in addresses if address is not None), None)
