"""The lines of PDF pages without what repeats on every page: heads, feet, page and line numbers.

Letters are brought from the forms that fonts use to those that people write. That is not NFKC:
it would make 102 of 10², 1⁄2 of ½ and half-width marks of Japanese punctuation.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repurpose.sources._pdf_process import Page
from repurpose.text.cleaning import clean

__all__ = ["Cleaning", "Line", "lines_of", "plain_letters", "unmapped_share"]

_EDGE = 3  # lines at the top and at the foot of a page
_FEWEST = 3  # pages that can show what recurs
_MOST_NUMBERS = 8  # in a line that counts as equal to one with other numbers
_LARGER = 1.15  # times the size of a running head: the title that it repeats
_COLUMN = 8  # bare numbers below each other
_NUMBERED = 20  # lines of a page that begin with their number

# Unicode blocks of letters as fonts join and place them: Latin, Armenian and Hebrew ligatures,
# Arabic presentation forms, Kangxi radicals. Each has one meaning, and readers type that.
_FORMS = re.compile("[\u2e80-\u2fd5\ufb00-\ufdff\ufe70-\ufefc\uff61-\uff9f]+")
_SYMBOLS = str.maketrans({
    "\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf0a8": "▪", "\uf02d": "-",
    "\uf0e0": "→", "\uf0b0": "°", "\uf0b1": "±", "\uf0b3": "≥", "\uf0a3": "≤", "\uf0b4": "×"
})  # fmt: skip
# PDFium writes U+0002 or U+FFFE for a hyphen at the end of a line, and mostly joins the lines.
_CUT = re.compile("[\x02\ufffe\u00ad](?=[ \t]*\n)")
_JOINT = re.compile("[\x02\ufffe\u00ad][ \t]*")
_UNMAPPED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd\ufff0-\ufff8]")
_GLYPH_NAMES = re.compile(r"(?:/[A-Za-z]{1,3}\d{1,5}){4,}+|\(cid:\d{1,6}\)")
_PAGE_NUMBER = re.compile(
    r"[^\w\n]{0,4}(?:(?:page|seite|p[áa]gina|pagina|стр\.?|p\.)\s{0,3})?"
    r"(?:\d{1,4}|[ivxl]{1,8}|\d{1,3}[-–]\d{1,3})(?:\s{0,3}(?:/|of|von|de|di|sur|из)\s{0,3}\d{1,4})?"
    r"[^\w\n]{0,4}",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_BARE = re.compile(r"\d{1,3}")
_LED = re.compile(r"(\d{1,3})(?:\s+|$)(?![.):])")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page."""

    text: str
    """Without space around it; never empty."""
    page: int
    """Counted from 0."""
    size: float = 0.0
    """Of its letters; 0 where it is not known."""
    gap: bool = False
    """Whether an empty line stands above it."""
    spaced: bool = False
    """Whether it ends with a space, which in Korean tells a word's end from a break within."""


@dataclass(slots=True)
class Cleaning:
    """What was taken out of a text, counted."""

    hidden: int = 0
    """Characters that no reader sees."""
    unmapped: int = 0
    """Characters for which the file names no letter."""


def unmapped_share(text: str) -> float:
    """How much of `text` stands for no letter: 0 to 1. Text above a third is not readable."""
    whole = sum(map(len, text.split()))
    return _count_unmapped(text) / whole if whole else 0.0


def _count_unmapped(text: str) -> int:
    glyphs = sum(len(one) for one in _GLYPH_NAMES.findall(text))
    return len(_UNMAPPED.findall(text)) + glyphs


def plain_letters(text: str) -> str:
    """`text` with ligatures and placed forms as the letters they stand for.

    >>> plain_letters("ﬁnal 10² ½ ﻼ"), plain_letters("⼈（１）")
    ('final 10² ½ لا', '人（１）')
    """
    if text.isascii():
        return text
    plain = _FORMS.sub(lambda one: unicodedata.normalize("NFKC", one[0]), text)
    return unicodedata.normalize("NFC", plain)


def lines_of(pages: Mapping[int, Page], counts: Cleaning) -> list[list[Line]]:
    """The lines of each page in order, without heads, feet and numbers; adds to `counts`."""
    found = [_page_lines(number, pages[number], counts) for number in sorted(pages)]
    found = [_without_number_column(page) for page in found]
    found = _without_line_numbers(found)
    return [_without_page_number(page) for page in _without_running_lines(found)]


def _page_lines(number: int, page: Page, counts: Cleaning) -> list[Line]:
    text = page.text.translate(_SYMBOLS)
    joined = _JOINT.sub("", _CUT.sub("\u2010", text))
    counts.unmapped += _count_unmapped(joined)
    cleaned = clean(plain_letters(_GLYPH_NAMES.sub(" ", _UNMAPPED.sub("", joined))))
    counts.hidden += cleaned.removed
    raw = cleaned.text.split("\n")
    sizes = page.sizes if len(page.sizes) == len(raw) else (0.0,) * len(raw)
    lines: list[Line] = []
    gap = False
    for text, size in zip(raw, sizes, strict=True):
        words = " ".join(text.split())
        if words:
            lines.append(Line(words, number, size, gap, text.endswith((" ", "\t"))))
        gap = not words
    return lines


def _without_number_column(page: list[Line]) -> list[Line]:
    """Without runs of bare numbers that count up: line numbers set apart from their lines."""
    kept: list[Line] = []
    at = 0
    while at < len(page):
        end = at
        while end < len(page) and _counts_up(page, at, end):
            end += 1
        if end - at < _COLUMN:
            end = at + 1
            kept.append(page[at])
        at = end
    return kept


def _counts_up(page: Sequence[Line], first: int, at: int) -> bool:
    begin, here = page[first].text, page[at].text
    if not (_BARE.fullmatch(begin) and _BARE.fullmatch(here)):
        return False
    return int(here) == int(begin) + at - first


def _without_line_numbers(pages: list[list[Line]]) -> list[list[Line]]:
    """Without numbers before the lines, where at least two pages count theirs from one on."""
    runs = [_numbered_run(page) for page in pages]
    if sum(1 for first, end in runs if end - first >= _NUMBERED) < 2:
        return pages
    return [
        [
            _unnumbered(line) if first <= at < end and end - first >= _NUMBERED // 2 else line
            for at, line in enumerate(page)
            if not (first <= at < end and _BARE.fullmatch(line.text))
        ]
        for page, (first, end) in zip(pages, runs, strict=True)
    ]


def _numbered_run(page: Sequence[Line]) -> tuple[int, int]:
    """The lines that begin with 1, 2, 3 and so on."""
    first = next((at for at, one in enumerate(page) if _leading_number(one) == 1), len(page))
    end = first
    while end < len(page) and _leading_number(page[end]) == end - first + 1:
        end += 1
    return first, end


def _leading_number(line: Line) -> int | None:
    found = _LED.match(line.text)
    return int(found[1]) if found else None


def _unnumbered(line: Line) -> Line:
    text = _LED.sub("", line.text, count=1).lstrip()
    return Line(text or line.text, line.page, line.size, line.gap, line.spaced)


def _without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """Without the lines that recur at the edges of at least half of the pages.

    Digits count as equal, but for lines full of them: those may be rows of a table. Left and
    right pages may have lines of their own.
    """
    if len(pages) < _FEWEST:
        return pages
    seen = [Counter({_masked(page[at].text) for at in _edges(page)}) for page in pages]
    running: set[str] = set()
    for part in (seen, seen[::2], seen[1::2]):
        if len(part) >= _FEWEST:
            total = sum(part, Counter())
            running |= {one for one, count in total.items() if 2 * count >= len(part) > 1}
    running = {one for one in running if sum(one in page for page in seen) >= _FEWEST}
    sizes = _sizes_of(running, pages)
    return [
        _kept(page, lambda one: _masked(one.text) in running and not _is_title(one, sizes))
        for page in pages
    ]


def _edges(page: Sequence[Line]) -> set[int]:
    return {*range(min(_EDGE, len(page))), *range(max(0, len(page) - _EDGE), len(page))}


def _masked(text: str) -> str:
    """What lines with other numbers share; a number may stand on the left or on the right."""
    words, numbers = _DIGITS.subn(" ", text.casefold())
    if numbers > _MOST_NUMBERS:
        return text
    return " ".join(words.split()).strip(" .,|·•–—-") or "0"


def _sizes_of(running: set[str], pages: list[list[Line]]) -> dict[str, float]:
    """The size that each running line has on most pages."""
    sizes: dict[str, Counter[float]] = {one: Counter() for one in running}
    for page in pages:
        for at in _edges(page):
            key = _masked(page[at].text)
            if key in sizes:
                sizes[key][page[at].size] += 1
    return {key: counted.most_common(1)[0][0] for key, counted in sizes.items()}


def _is_title(line: Line, sizes: Mapping[str, float]) -> bool:
    """Whether it is the heading that the heads of other pages repeat."""
    usual = sizes[_masked(line.text)]
    return usual > 0 and line.size > _LARGER * usual


def _kept(page: list[Line], drops: Callable[[Line], bool]) -> list[Line]:
    edges = _edges(page)
    return [one for at, one in enumerate(page) if not (at in edges and drops(one))]


def _without_page_number(page: list[Line]) -> list[Line]:
    """Without a lone number as the first or the last line, or near them where it is the page's."""
    edges = _edges(page)
    outer = {0, len(page) - 1}
    return [
        one
        for at, one in enumerate(page)
        if not (at in outer and len(page) > 1 and _PAGE_NUMBER.fullmatch(one.text))
        and not (at in edges and one.text == str(one.page + 1))
    ]
