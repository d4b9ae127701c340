"""Paragraphs, lists, tables and footnotes as they come, put together as HTML elements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import lxml.html
from lxml.html import HtmlElement

from repurpose.sources._document import add

__all__ = ["RtfTree"]

_LEVELS = 6
_NUMBERED = re.compile(r"\W{0,2}(\d{1,9})[.):]?")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class RtfTree:
    """A document that grows at its end; `root` is whole after `end`."""

    root: HtmlElement = field(default_factory=lambda: lxml.html.Element("div"))
    _line: list[str] = field(default_factory=list)
    _marker: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)
    _notes: list[list[str]] = field(default_factory=list)

    def put(self, text: str, note: int) -> None:
        """Go on with the paragraph, or with footnote `note` where that is not 0."""
        (self._notes[note - 1] if note else self._line).append(text)

    def put_marker(self, text: str) -> None:
        """What stands before the paragraph as the number or sign of a list item."""
        self._marker.append(text)

    def begin_note(self) -> int:
        """The number of a new footnote, which is put into the paragraph as well."""
        self._notes.append([])
        self._line.append(f"[{len(self._notes)}]")
        return len(self._notes)

    def end_cell(self) -> None:
        self._cells.append(_joined(self._line))
        self._line.clear()
        self._marker.clear()

    def end_row(self) -> None:
        if self._cells:
            self._rows.append(self._cells)
            self._cells = []

    def end_paragraph(self, level: int, *, listed: bool) -> None:
        """Finish the paragraph; `level` is that of a heading, or anything else."""
        words, marker = _joined(self._line), _joined(self._marker)
        self._line.clear()
        self._marker.clear()
        if not words:
            return
        self._end_table()
        if 1 <= level <= _LEVELS:
            add(self.root, f"h{level}", words)
        elif marker or listed:
            self._add_item(words, marker)
        else:
            add(self.root, "p", words)

    def end(self) -> None:
        """Finish what was begun, and put the footnotes at the end."""
        self.end_paragraph(0, listed=False)
        self._end_table()
        for number, note in enumerate(self._notes, 1):
            words = _joined(note)
            if words:
                add(self.root, "p", f"[{number}] {words}")

    def _add_item(self, words: str, marker: str) -> None:
        """Add to the list at the end of the tree, or begin one."""
        number = _NUMBERED.fullmatch(marker)
        tag = "ol" if number else "ul"
        last = self.root[-1] if len(self.root) else None
        owner = last if last is not None and last.tag == tag else add(self.root, tag)
        # A marker that is neither a number nor a sign, such as a), is a word of the item.
        kept = number is None and any(map(str.isalnum, marker))
        item = add(owner, "li", f"{marker} {words}" if kept else words)
        if number is not None:
            item.set("value", number[1])

    def _end_table(self) -> None:
        self.end_row()
        if not self._rows:
            return
        table = add(self.root, "table")
        for cells in self._rows:
            row = add(table, "tr")
            for cell in cells:
                add(row, "td", cell)
        self._rows = []


def _joined(parts: list[str]) -> str:
    """The text in `parts` with surrogate pairs joined and without blank lines."""
    text = "".join(parts)
    if _HALF_PAIR.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    # What XML cannot hold would be an error in a tree.
    text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", text)
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())
