"""The prose of a plain text: paragraphs, list items, and the headings that can be told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from repurpose.core.source import Block, Source
from repurpose.engines._extract_parts import (
    Part,
    PartKind,
    Piece,
    joins_without_space,
    part_of,
)

__all__ = ["plain_parts"]

_HEADING_WIDTH = 90
"""A line that stands alone, ends openly and is no longer than this is a heading."""
_TAIL = 20
"""The end of a text that is looked at to see how it ends."""
_CLOSED = re.compile(r"[.!?…:;,。！？：；、．।॥؟۔]\W*$")
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
_LIST_MARK = re.compile(r"\s*(?:[-*•‣–]|\d{1,3}[.)])\s")
# A line this long was broken because it was full, not because something ended.
_FULL_LINE = 45
_LONGEST_NAME = 120


def plain_parts(source: Source) -> list[Part]:
    """The prose of a plain text; a short open line above a paragraph is a heading."""
    parts = list(_plain_runs(source))
    for place, (part, following) in enumerate(pairwise(parts)):
        if (
            part.kind == "paragraph"
            and _width(part.text) <= _HEADING_WIDTH
            and not _CLOSED.search(part.text[-_TAIL:])
            and not part.text.isupper()
            and part.text.lstrip("\"'“„«「¿")[:1].isalnum()
            and following.kind == "paragraph"
            and _CLOSED.search(following.text[-_TAIL:])
        ):
            parts[place] = replace(part, kind="heading", level=2 if place else 1)
    return parts


def _plain_runs(source: Source) -> Iterator[Part]:
    """By its loader's blocks or else by blank lines."""
    text = source.text
    for block in source.blocks:
        if block.kind == "turn":
            yield from _lines(text, _spoken(text, block), block.end, "paragraph", 0)
        elif block.kind != "code" and block.kind != "table":
            yield from _lines(text, block.start, block.end, block.kind, block.level)
    if source.blocks:
        return
    begin = 0
    for gap in _BLANK_LINES.finditer(text):
        yield from _lines(text, begin, gap.start(), "paragraph", 0)
        begin = gap.end()
    yield from _lines(text, begin, len(text), "paragraph", 0)


def _spoken(text: str, turn: Block) -> int:
    """Where the words of a turn begin, behind the name of who says them."""
    colon = text.find(": ", turn.start, min(turn.end, turn.start + _LONGEST_NAME))
    return turn.start if colon < 0 else colon + 2


def _lines(text: str, start: int, end: int, kind: PartKind, level: int) -> Iterator[Part]:
    """One block as parts: full lines are joined, a line that ended early stays by itself."""
    begin = start
    run: list[tuple[int, int]] = []
    while begin < end:
        newline = text.find("\n", begin, end)
        stop = newline if newline >= 0 else end
        if run and (_width(text[run[-1][0] : run[-1][1]]) < _FULL_LINE or _marks(text[begin:stop])):
            yield _joined(text, run, kind, level)
            run = []
        run.append((begin, stop))
        begin = stop + 1
    if run:
        yield _joined(text, run, kind, level)


def _marks(line: str) -> bool:
    return _LIST_MARK.match(line) is not None


def _width(line: str) -> int:
    """About how wide a line is: characters of East Asian scripts are twice as wide."""
    return sum(2 if "\u1100" <= char <= "\uffef" and char > "\u2e7f" else 1 for char in line)


def _joined(text: str, run: Sequence[tuple[int, int]], kind: PartKind, level: int) -> Part:
    first = run[0][0]
    mark = _LIST_MARK.match(text, first, run[0][1])
    if mark and kind in ("paragraph", "list"):
        first, kind = mark.end(), "list"
    pieces: list[Piece] = []
    for begin, stop in [(first, run[0][1]), *run[1:]]:
        line = text[begin:stop]
        if pieces and line and not joins_without_space(pieces[-1].text[-1], line[0]):
            pieces.append(Piece(" ", begin - 1, begin))
        if line:
            pieces.append(Piece(line, begin, stop))
    return part_of(kind, pieces, first, run[-1][1], level=level)
