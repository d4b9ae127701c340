"""From the parts of a document, each in Markdown, to a source; and what documents share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lxml.etree import SubElement, strip_tags
from lxml.html import Element, HtmlElement

from repurpose.core.source import Block, Source
from repurpose.errors import SourceError
from repurpose.sources._blocks import outline
from repurpose.sources.base import (
    Raw,
    hidden_warning,
    iso_date,
    language_of,
    one_line,
    prose_of,
    shown,
)
from repurpose.text.cleaning import Cleaned, clean

__all__ = [
    "Declared",
    "Piece",
    "add",
    "author_of",
    "counted",
    "date_of",
    "flatten",
    "raised",
    "source_of",
    "title_of",
]

# What programs put in the place of a title: names of files, of empty documents, of print jobs.
_JUNK_TITLE = re.compile(
    r"""(?: (?:document|dokument|documento|presentation|pr[äé]sentation|presentaci[óo]n|untitled
          |untitled\ document|ohne\ titel|unbenannt|sans\ titre|sin\ t[íi]tulo|unknown)\ ?\d{0,4}
      | powerpoint[ -](?:presentation|pr[äa]sentation) | pr[ée]sentation\ powerpoint
      | presentaci[óo]n\ de\ powerpoint | presentazione\ (?:standard\ )?di\ powerpoint
      | apresenta[çc][ãa]o\ do\ powerpoint | microsoft\ (?:office\ )?(?:word|powerpoint)\ -.{0,300}
      | \S{1,200}\.(?:docx?|docm|dotx?|pptx?|odt|rtf|pdf|exe|tmp|wps|indd|html?)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_JUNK_AUTHORS = frozenset({
    "admin", "administrator", "author", "microsoft office user", "owner", "unknown",
    "unknown author", "user", "windows user"
})  # fmt: skip
_UNDEFINED_DATE = "0101-01-01"  # what calibre writes where there is none
_MOST_LINES = 150_000  # a thousand pages are a third of it
_TABLE_LINE = 3  # further lines that finding the cells of a row takes as long as
_LINES = ("h1", "h2", "h3", "h4", "h5", "h6", "li", "p")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")


@dataclass(frozen=True, slots=True)
class Declared:
    """What a document says of itself, as it says it."""

    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text, in Markdown, and the page or slide it stands on."""

    markdown: str
    page: int | None = None


def source_of(
    raw: Raw,
    kind: str,
    pieces: Sequence[Piece],
    declared: Declared,
    *,
    hidden: int,
    warnings: Sequence[str],
) -> Source:
    """The source that `pieces` make, with those values of `declared` that mean something.

    `hidden` counts what was taken out before. The headings of one page say nothing of the next.

    Raises:
        SourceError: `no-text` where no piece holds a word; `too-large`.
    """
    cleaned = [clean(one.markdown) for one in pieces]
    kept = [
        replace(piece, markdown=one.text)
        for piece, one in zip(pieces, cleaned, strict=True)
        if one.text.strip()
    ]
    text = "\n\n".join(one.markdown for one in kept)
    before = "".join(one.markdown for one in pieces)
    whole = Cleaned(text, sum(one.removed for one in cleaned))
    if not any(char.isalnum() for char in text):
        raise SourceError(
            "no-text",
            f"{shown(raw.origin)}: holds no text, perhaps pictures of it; save it with its text",
        )
    if text.count("\n") + _TABLE_LINE * text.count("\n|") > _MOST_LINES:
        raise SourceError(
            "too-large",
            f"{shown(raw.origin)}: holds more than {_MOST_LINES:,} lines; split it into parts",
        )
    paged = any(one.page is not None for one in kept)
    blocks = tuple(_paged(kept)) if paged else outline(text).blocks
    language, doubts = language_of(declared.language, prose_of(text, blocks))
    return Source(
        text=text,
        origin=raw.origin,
        kind=kind,
        blocks=blocks,
        title=title_of(declared.title),
        author=author_of(declared.author),
        date=date_of(declared.date),
        language=language,
        hidden=hidden + whole.removed,
        warnings=(*warnings, *hidden_warning(before, whole), *doubts),
    )


def _paged(pieces: Sequence[Piece]) -> Iterator[Block]:
    start = 0
    for piece in pieces:
        for block in outline(piece.markdown).blocks:
            yield replace(block, start=start + block.start, end=start + block.end, page=piece.page)
        start += len(piece.markdown) + 2


def title_of(value: str | None) -> str | None:
    """A declared title, or None where it is only what a program puts in its place.

    >>> title_of("Ferry report"), title_of("Microsoft Word - x.doc"), title_of("Document1")
    ('Ferry report', None, None)
    """
    title = one_line(value)
    return None if title is None or _JUNK_TITLE.fullmatch(title) else title


def author_of(value: str | None) -> str | None:
    """A declared author, or None where it is only the name of an account."""
    author = one_line(value)
    return None if author is None or author.lower() in _JUNK_AUTHORS else author


def date_of(value: str | None) -> str | None:
    """The date of an ISO 8601 date or time, or None where it is no date or an undefined one."""
    date = iso_date(value)
    return None if date == _UNDEFINED_DATE else date


def add(parent: HtmlElement, tag: str, text: str | None = None) -> HtmlElement:
    """A new last child of `parent`, with line breaks of `text` as `br`."""
    element = SubElement(parent, tag)
    first, *further = (text or "").split("\n")
    element.text = first
    for line in further:
        SubElement(element, "br").tail = line
    return element


def flatten(cell: HtmlElement) -> None:
    """Make lines of the paragraphs and lists of a cell: a table of values has none of its own."""
    if cell.find(".//table") is not None:
        return
    for block in list(cell.iterdescendants(*_LINES))[1:]:
        block.addprevious(Element("br"))
    strip_tags(cell, *_LINES, "blockquote", "ol", "ul")


def counted(count: int, what: str) -> str:
    """A number and what it counts: 1 slide, 2 slides."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def raised(text: str) -> str:
    """Superscript `text` with its digits raised, so that 10⁶ does not become 106.

    >>> raised("6"), raised("th")
    ('⁶', 'th')
    """
    return text.translate(_RAISED) if re.fullmatch(r"[0-9+\-−]{1,20}", text) else text
