"""From the lines of PDF pages to Markdown: paragraphs joined again, lists and headings marked.

A PDF file knows places of letters, not paragraphs. A line ends one where it ends a sentence and
leaves room, where it is much shorter than its neighbours, or where a list item follows.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from repurpose.sources._escaping import escaped
from repurpose.sources._pdf_lines import Line

__all__ = ["Paragraph", "markdown_of", "paragraphs_of"]

_SENTENCE_END = re.compile(r"[.!?…。！？।؟۔][\"'”’»)\]」』）]{0,3}(?:\d{1,3})?$")
_OPEN_ENDS = frozenset(",;:&–—([/-")
_BULLET = re.compile(r"[•▪◦‣●■□▶➢✓·∙○]\s*(?=\S)")
_WEAK_ITEM = re.compile(
    r"[-*+]\s+(?=\w)|[–—]\s+(?=\w)|(?:\d{1,2}|[a-zA-Z])[.)]\s+(?=\S)|\((?:\d{1,2}|[a-z]|[ivx]{2,4})\)\s"
)
_DASH = re.compile(r"[-*+]\s+")
_NUMBERED = re.compile(r"\d{1,2}[.)]\s")
_HYPHENS = ("-", "\u2010", "\u00ad")
_LONGEST_WORD = 60
_LAST_WORD = re.compile(r"\w{1,60}$")
_WORD = re.compile(r"\w+(?:[-\u2010]\w+)*")
_FULL = "\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_FULL_WIDTH = re.compile(f"[{_FULL}]")
_HANGUL = re.compile("[\uac00-\ud7af]")
# After a hyphen that stays, as in pre- and post-war.
_AND = frozenset({"and", "or", "und", "oder", "bzw", "sowie", "et", "ou", "y"})
_ROOM = 0.82  # of the usual length; a line below ends a paragraph if it ends a sentence
_ROOM_FULL = 0.95  # likewise for lines of full-width characters, which are equally long
_SHORT = 0.6  # a line below that stands for itself if what follows begins like a new one
_DENSE = 0.4  # share of lines with a gap above, from which on gaps mean nothing
_FEW_LINES = 5
_TAIL = 12  # characters of a line that tell how it ends

_HEADING_LENGTH = 150
_HEADING_LINES = 3
_HEADING_SIZE = 1.18  # times the size of the text
_HEADING_SHARE = 0.12  # of the characters; with more, size does not tell headings from text


@dataclass(slots=True)
class Paragraph:
    """A paragraph, a list item or a heading."""

    parts: list[str]
    page: int
    """The page where it begins, counted from 0."""
    kind: Literal["text", "item", "heading"] = "text"
    level: int = 0

    @property
    def text(self) -> str:
        """Its words on one line."""
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What lines of one page are compared with."""

    width: float
    gaps: bool


def paragraphs_of(
    pages: Sequence[Sequence[Line]], bookmarks: Sequence[tuple[int, str, int]] = ()
) -> list[Paragraph]:
    """The paragraphs on `pages`; one that goes on over the page belongs to where it begins."""
    lines = [line for page in pages for line in page]
    words = Counter(one.casefold() for line in lines for one in _WORD.findall(line.text))
    levels = _heading_levels(pages, bookmarks)
    everywhere = _shape(lines)
    shapes = [_shape(page) if len(page) >= _FEW_LINES else everywhere for page in pages]
    shape_of = {id(line): shape for page, shape in zip(pages, shapes, strict=True) for line in page}
    found: list[Paragraph] = []
    before: Line | None = None
    for line, following in zip_longest(lines, lines[1:]):
        level = levels.get(id(line), 0)
        here = None
        if before is not None:
            here = _Place(before, line, following, shape_of[id(before)])
        if here is None or _begins(found[-1], here, level):
            found.append(_opened(line, level))
        else:
            _join(found[-1].parts, here, words)
        before = line
    return found


def _shape(lines: Sequence[Line]) -> _Shape:
    if not lines:
        return _Shape(0, gaps=False)
    lengths = sorted(len(line.text) for line in lines)
    gaps = sum(line.gap for line in lines)
    return _Shape(lengths[9 * (len(lengths) - 1) // 10], gaps=gaps < _DENSE * len(lines))


def _opened(line: Line, level: int) -> Paragraph:
    if level:
        return Paragraph([line.text], line.page, "heading", level)
    bullet = _BULLET.match(line.text) or _DASH.match(line.text)
    if bullet:
        return Paragraph([line.text[bullet.end() :]], line.page, "item")
    return Paragraph([line.text], line.page)


@dataclass(frozen=True, slots=True)
class _Place:
    """Between two lines, the one after them, and how the lines of this page look."""

    before: Line
    line: Line
    following: Line | None
    shape: _Shape

    @property
    def goes_on(self) -> bool:
        """Whether a word is cut in two, whatever stands between the lines."""
        return self.before.text.endswith(_HYPHENS) and self.line.text[:1].islower()

    @property
    def ended(self) -> bool:
        """Whether the line above ends a sentence."""
        return _SENTENCE_END.search(self.before.text[-_TAIL:]) is not None

    def shorter(self, share: float) -> bool:
        """Whether the line above is shorter than that share of the usual length."""
        return len(self.before.text) < share * self.shape.width

    @property
    def before_heading(self) -> bool:
        """Whether the line below is short, no sentence, and something new follows it."""
        if self.following is None or len(self.line.text) >= _SHORT * self.shape.width:
            return False
        closed = _SENTENCE_END.search(self.line.text[-_TAIL:]) or self.line.text[-1] in _OPEN_ENDS
        return not closed and not self.following.text[:1].islower()


def _begins(last: Paragraph, here: _Place, level: int) -> bool:
    """Whether the line below begins something new."""
    before, line = here.before, here.line
    if level or last.kind == "heading":
        return not (level == last.level and before.page == line.page and not line.gap)
    if here.goes_on:
        return False
    if _BULLET.match(line.text):
        return True
    # The gap above the first line of a page is the edge of the page.
    if line.gap and here.shape.gaps and before.page == line.page:
        return True
    return _follows_as_item(last, here) if _WEAK_ITEM.match(line.text) else _stands_alone(here)


def _follows_as_item(last: Paragraph, here: _Place) -> bool:
    """Whether what looks like a list item is one, and not a dash or a number in a sentence."""
    opens = here.before.text.endswith((":", ";")) or here.shorter(_ROOM)
    return here.ended or opens or last.kind == "item"


def _stands_alone(here: _Place) -> bool:
    before = here.before.text
    if here.ended and here.before.page != here.line.page:
        return True
    if here.ended:
        full = _FULL_WIDTH.match(before[-1]) is not None
        return here.shorter(_ROOM_FULL if full else _ROOM) or here.before_heading
    if before[-1] in _OPEN_ENDS:
        return before.endswith(":") and here.shorter(_SHORT)
    return here.shorter(_SHORT) and not here.line.text[:1].islower()


def _join(parts: list[str], here: _Place, words: Counter[str]) -> None:
    """Add the line below to the `parts` of a paragraph, which end with the line above."""
    before, after = here.before.text, here.line.text
    if before.endswith(_HYPHENS) and len(before) > 1 and before[-2].isalnum():
        _join_halves(parts, after, words)
        return
    close = _FULL_WIDTH.match(before[-1]) and _FULL_WIDTH.match(after)
    within = _HANGUL.match(before[-1]) and _HANGUL.match(after) and not here.before.spaced
    parts.append(after if close or within else f" {after}")


def _join_halves(parts: list[str], after: str, words: Counter[str]) -> None:
    """Join a word from its two halves; the rest of the text tells whether it has a hyphen."""
    start = _LAST_WORD.search(parts[-1][:-1][-_LONGEST_WORD:])
    following = _WORD.match(after)
    head, rest = start[0] if start else "", following[0] if following else after[:1]
    whole, hyphened = words[f"{head}{rest}".casefold()], words[f"{head}-{rest}".casefold()]
    lower = after[:1].islower()
    if rest.casefold() in _AND and not whole:
        parts.append(f" {after}")
        return
    if lower and not head[-1:].isdigit() and whole >= hyphened:
        parts[-1] = parts[-1][:-1]
    parts.append(after if after[:1].isalnum() else f" {after}")


def _heading_levels(
    pages: Sequence[Sequence[Line]], bookmarks: Sequence[tuple[int, str, int]]
) -> dict[int, int]:
    """The level of each line that is a heading, by the identity of the line.

    What the file lists as its headings counts; else the size of the letters, where it is known.
    """
    listed = _listed(pages, bookmarks)
    return listed or _larger(pages)


def _compared(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _listed(
    pages: Sequence[Sequence[Line]], bookmarks: Sequence[tuple[int, str, int]]
) -> dict[int, int]:
    """Lines that are, alone or with those after them, the words of a bookmark of their page."""
    by_page = {page[0].page: page for page in pages if page}
    levels: dict[int, int] = {}
    for level, title, number in bookmarks:
        wanted, page = _compared(title), by_page.get(number)
        if not wanted or page is None or len(title) > _HEADING_LENGTH:
            continue
        for at in range(len(page)):
            run = _run_that_is(wanted, page, at)
            if run:
                levels.update((id(line), min(max(level, 1), 6)) for line in page[at : at + run])
                break
    return levels


def _run_that_is(wanted: str, page: Sequence[Line], at: int) -> int:
    """How many lines from `at` on are the words `wanted`; a number may stand before them."""
    together = ""
    for count, line in enumerate(page[at : at + _HEADING_LINES], 1):
        together += _compared(line.text)
        if together == wanted or (together.lstrip("0123456789") == wanted):
            return count
        if len(together) > len(wanted) + 9:
            return 0
    return 0


def _larger(pages: Sequence[Sequence[Line]]) -> dict[int, int]:
    lines = [line for page in pages for line in page if line.size]
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    if not sizes:
        return {}
    usual = statistics.median_low(sorted(line.size for line in lines for _ in line.text[::10]))
    found = [one for one in lines if one.size >= _HEADING_SIZE * usual and _may_head(one.text)]
    if sum(len(one.text) for one in found) > _HEADING_SHARE * sizes.total():
        return {}
    ranks = sorted({one.size for one in found}, reverse=True)
    return {id(one): min(ranks.index(one.size) + 1, _HEADING_LINES) for one in found}


def _may_head(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return len(text) <= _HEADING_LENGTH and 2 * letters > len(text) and letters > 2


def markdown_of(paragraphs: Sequence[Paragraph]) -> tuple[str, list[tuple[int, int]]]:
    """Markdown, and where in it each paragraph begins with its page, counted from 1."""
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    before: Paragraph | None = None
    for one in paragraphs:
        if before is not None:
            gap = "\n" if one.kind == before.kind == "item" else "\n\n"
            parts.append(gap)
            at += len(gap)
        written = _written(one)
        places.append((at, one.page + 1))
        parts.append(written)
        at += len(written)
        before = one
    return "".join(parts), places


def _written(one: Paragraph) -> str:
    text = one.text
    if one.kind == "heading":
        return f"{'#' * one.level} {text}"
    if one.kind == "item":
        return f"- {escaped(text)}"
    return text if _NUMBERED.match(text) else escaped(text)
