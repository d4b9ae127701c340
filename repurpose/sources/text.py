"""Plain text: paragraphs as they stand, and nothing invented.

A short first line may be a title or not; the file does not say, so there is no title. Typed
entities such as `&amp;` stay as typed.
"""

from __future__ import annotations

import re

from repurpose.core.source import Block, Source
from repurpose.sources.base import Raw, decode, hidden_warning, language_of, require_words
from repurpose.text.cleaning import clean

__all__ = ["load"]

_PARAGRAPH = re.compile(r"\S[^\n]*+(?:\n[^\S\n]*+\S[^\n]*+)*+")


def load(raw: Raw) -> Source:
    """A source whose blocks are the paragraphs between blank lines.

    Raises:
        SourceError: `empty`, `binary`, `too-large` or `unreadable`.
    """
    decoded, warnings = decode(raw)
    cleaned = clean(decoded)
    text = require_words(cleaned.text.strip(), raw)
    language, doubts = language_of(None, text)
    return Source(
        text=text,
        origin=raw.origin,
        kind="text",
        blocks=tuple(_paragraphs(text)),
        language=language,
        hidden=cleaned.removed,
        warnings=(*warnings, *hidden_warning(decoded, cleaned), *doubts),
    )


def _paragraphs(text: str) -> list[Block]:
    return [
        Block("paragraph", one.start(), one.start() + len(one[0].rstrip()))
        for one in _PARAGRAPH.finditer(text)
    ]
