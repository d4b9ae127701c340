"""OpenDocument texts (.odt), as LibreOffice and Google Docs write them.

Source: OASIS ODF 1.3, part 2 (packages) and part 3 (schema).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from repurpose.core.source import Source
from repurpose.sources._archive import Archive
from repurpose.sources._document import (
    Declared,
    Piece,
    add,
    counted,
    flatten,
    raised,
    source_of,
    title_of,
)
from repurpose.sources._markup import markdown_of
from repurpose.sources._odf_styles import TEXT, Styles, styles_of
from repurpose.sources.base import Raw, one_line

__all__ = ["load"]

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_MANIFEST = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_STYLE_NAME = f"{TEXT}style-name"
_DEEPEST = 6  # levels of headings in HTML and Markdown; ODF has ten
_MOST_REPEATED = 5_000  # cells in a document; a single one may stand for a million
_SPACE = re.compile(r"[ \t\r\n]+")  # what is one space in text (6.1.2)
# Deletions, indexes that repeat the headings, and what stands in the margin.
_NOT_TEXT = (
    f"{TEXT}tracked-changes",
    f"{TEXT}table-of-content",
    f"{TEXT}illustration-index",
    f"{TEXT}table-index",
    f"{TEXT}alphabetical-index",
    f"{TEXT}ruby-text",
    f"{TEXT}page-number",
    f"{_OFFICE}annotation",
    f"{_OFFICE}annotation-end",
    f"{_OFFICE}forms",
)
_SPACES = {f"{TEXT}tab": " ", f"{TEXT}s": " ", f"{TEXT}line-break": "\n"}
_ROWS = (f"{_TABLE}table-header-rows", f"{_TABLE}table-rows", f"{_TABLE}table-row-group")
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")


@dataclass(slots=True)
class _Reader:
    """One pass over the text, which writes a page."""

    styles: Styles
    hidden: int = 0
    title: str | None = None
    """The words of the first paragraph, if it is in the style Title."""
    begun: bool = False
    _notes: list[etree._Element] = field(default_factory=list)
    _frames: list[etree._Element] = field(default_factory=list)
    """Drawings in the paragraph that is being read; text boxes among them."""
    _repeated: int = 0

    def blocks(self, parent: etree._Element, page: HtmlElement) -> None:
        """Write what stands in `parent`, block after block."""
        for one in parent:
            if one.tag in (f"{TEXT}h", f"{TEXT}p"):
                self._paragraph(one, page)
            elif one.tag == f"{TEXT}list":
                self._list(one, page, one.get(_STYLE_NAME, ""), 1)
            elif one.tag == f"{_TABLE}table":
                self._table(one, page)
            elif one.tag == f"{TEXT}section" and self._is_hidden(one):
                self._hide(one)
            elif one.tag not in _NOT_TEXT:
                self.blocks(one, page)

    def notes(self, page: HtmlElement) -> None:
        """Write the notes met so far, as a list whose numbers are those in the text."""
        notes = add(page, "ol") if self._notes else page
        for note in list(self._notes):  # notes hold no notes of their own
            self.blocks(note, add(notes, "li"))

    def _paragraph(self, one: etree._Element, page: HtmlElement) -> None:
        style = one.get(_STYLE_NAME, "")
        if self.styles.hides("paragraph", style) or self._is_hidden_by_field(one):
            self._hide(one)
            return
        words = self._words(one)
        tag = "p"
        if one.tag == f"{TEXT}h":
            level = one.get(f"{TEXT}outline-level", "1")
            tag = f"h{min(int(level), _DEEPEST) if level in tuple('123456789') else _DEEPEST}"
        elif self.styles.is_title(style):
            tag = "h1"
        if words.strip():
            if not self.begun and tag == "h1" and one.tag == f"{TEXT}p":
                self.title = one_line(words)
            self.begun = True
            add(page, tag, words)
        frames, self._frames = self._frames, []
        for frame in frames:
            self.blocks(frame, page)

    def _words(self, parent: etree._Element) -> str:
        parts: list[str] = []
        self._collect(parent, parts)
        return "".join(parts)

    def _collect(self, parent: etree._Element, parts: list[str]) -> None:
        parts.append(_SPACE.sub(" ", parent.text or ""))
        for one in parent:
            if one.tag not in _NOT_TEXT:
                self._inline(one, parts)
            parts.append(_SPACE.sub(" ", one.tail or ""))

    def _inline(self, one: etree._Element, parts: list[str]) -> None:
        style = one.get(_STYLE_NAME, "")
        if one.tag in _SPACES:
            parts.append(_SPACES[one.tag])
        elif one.tag == f"{TEXT}note":
            parts.append(self._note(one))
        elif one.tag.startswith(_DRAW):
            self._frames.append(one)
        elif one.tag == f"{TEXT}hidden-text" or self.styles.hides("text", style):
            self._hide(one)
        elif one.tag == f"{TEXT}span" and self.styles.raises(style):
            parts.append(raised(self._words(one)))
        else:
            self._collect(one, parts)

    def _note(self, note: etree._Element) -> str:
        body = note.find(f"{TEXT}note-body")
        if body is None:
            return ""
        self._notes.append(body)
        return f"[{len(self._notes)}]"

    def _list(self, one: etree._Element, page: HtmlElement, style: str, level: int) -> None:
        made = add(page, "ol" if self.styles.is_numbered(style, level) else "ul")
        for item in one.iterchildren(f"{TEXT}list-header", f"{TEXT}list-item"):
            inner = add(made, "li")
            for child in item:
                if child.tag == f"{TEXT}list":
                    self._list(child, inner, child.get(_STYLE_NAME, style), level + 1)
                elif child.tag in (f"{TEXT}h", f"{TEXT}p"):
                    self._paragraph(child, inner)
                else:
                    self.blocks(child, inner)

    def _table(self, table: etree._Element, page: HtmlElement) -> None:
        made = add(page, "table")
        for row in _rows(table):
            line = add(made, "tr")
            for cell in row.iterchildren(*_CELLS):
                inner = add(line, "td")
                self.blocks(cell, inner)
                flatten(inner)
                for _ in range(self._further(cell)):
                    add(line, "td", str(inner.text_content()))

    def _further(self, cell: etree._Element) -> int:
        """How often a cell is repeated, within the bounds of the document."""
        declared = cell.get(f"{_TABLE}number-columns-repeated") or ""
        wanted = int(declared) - 1 if re.fullmatch("[1-9][0-9]{0,8}", declared) else 0
        count = min(wanted, _MOST_REPEATED - self._repeated)
        self._repeated += count
        return count

    def _is_hidden(self, section: etree._Element) -> bool:
        display = section.get(f"{TEXT}display")
        is_hidden = section.get(f"{TEXT}is-hidden")
        return bool(display == "none" or (display == "condition" and is_hidden == "true"))

    def _is_hidden_by_field(self, paragraph: etree._Element) -> bool:
        fields = paragraph.iter(f"{TEXT}hidden-paragraph")
        return any(one.get(f"{TEXT}is-hidden") == "true" for one in fields)

    def _hide(self, element: etree._Element) -> None:
        said = (element.get(f"{TEXT}string-value", ""), *element.itertext())
        self.hidden += any(text.strip() for text in said)


def load(raw: Raw) -> Source:
    """A source from an OpenDocument text.

    Footnotes and endnotes stand at the end, their numbers in brackets. Deletions, comments,
    tables of contents, headers and pictures are no text; hidden text is left out and counted.

    Raises:
        SourceError: `corrupt`, `encrypted`, `no-text` or `too-large`.
    """
    archive = Archive(raw)
    manifest = archive.xml("META-INF/manifest.xml")
    if (
        manifest is not None
        and next(manifest.iter(f"{_MANIFEST}encryption-data"), None) is not None
    ):
        raise archive.encrypted()
    content = archive.xml("content.xml")
    body = None if content is None else content.find(f"{_OFFICE}body/{_OFFICE}text")
    if body is None:
        raise archive.corrupt("the part that holds its text is missing or damaged")
    reader = _Reader(styles_of(archive.xml("styles.xml"), content))
    page = lxml.html.Element("div")
    reader.blocks(body, page)
    reader.notes(page)
    declared = _declared(archive)
    warnings = list(archive.warnings)
    if reader.hidden:
        warnings.append(f"hidden text was left out: {counted(reader.hidden, 'piece')}")
    return source_of(
        raw,
        "odt",
        [Piece(markdown_of(page))],
        replace(declared, title=title_of(declared.title) or reader.title),
        hidden=reader.hidden,
        warnings=warnings,
    )


def _declared(archive: Archive) -> Declared:
    root = archive.xml("meta.xml")
    if root is None:
        return Declared()

    def value(*tags: str) -> str | None:
        found = (root.findtext(f".//{tag}", "").strip() for tag in tags)
        return next((one for one in found if one), None)

    return Declared(
        title=value(f"{_DC}title"),
        author=value(f"{_META}initial-creator", f"{_DC}creator"),
        date=value(f"{_META}creation-date"),
        language=value(f"{_DC}language"),
    )


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    for one in table:
        if one.tag == f"{_TABLE}table-row":
            yield one
        elif one.tag in _ROWS:
            yield from _rows(one)
