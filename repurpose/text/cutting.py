"""Texts shortened to a limit, in whatever unit the limit is counted."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from repurpose.text._boundaries import ends_with_stop
from repurpose.text.counting import code_points, grapheme_starts, unbreakable_spans
from repurpose.text.sentences import primary_language, sentence_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from repurpose.text.counting import Measure
    from repurpose.text.sentences import Segmenter

__all__ = ["ELLIPSIS", "Cut", "CutMode", "cut"]

CutMode = Literal["none", "sentence", "word"]
"""How a text was shortened: not at all, after a sentence, or within one."""

ELLIPSIS = "…"

# Dropped before an ellipsis: what announces more, and the full stop that the ellipsis takes in.
_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200C))
)
_DROPPED = _WHITE + ",;:.…‥-‐‒–—―·、，；：。｡．،؛।([{<„‹（「『【《〈〔［｛¿¡"
_CLAUSE_MARKS = frozenset("、，；：,;:،؛")

# Scripts written without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, kana and
# ideographs with their punctuation. Full-width letters and digits form words like others.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00020000-\U0003ffff]"
)
# What may not begin or end a line there (JIS X 4051, UAX #14), nor stand beside a cut.
_NOT_BEFORE = frozenset(
    "、。，．・：；！？｡､ー々〻ゝゞヽヾぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ％‰）」』】》〉〕］｝”’…‥!?.,;:)]}%"
    "ะาำๅๆฯະາຳ"
)
_NOT_AFTER = frozenset("（「『【《〈〔［｛“‘([{$€£¥￥＃＠#@เแโใไເແໂໃໄ")

# An ellipsis of the author's own ends a thought, also where the sentence goes on after it.
_TRAILING_OFF = re.compile(r"(?:…|\.{2,})[\"'”’»)\]]*(?=\s)")
_TAIL = 50  # room for a stop with the quotes, brackets and emoji after it
_LOOK_AHEAD = 1000  # what may follow a sentence end without changing where it is


@dataclass(frozen=True, slots=True)
class Cut:
    """A text that fits its limit, and what was done to make it fit."""

    text: str
    mode: CutMode
    length: int
    """The length of `text`, as counted by the measure it was cut with."""

    @property
    def shortened(self) -> bool:
        """Whether anything but surrounding white space is missing."""
        return self.mode != "none"


def cut(
    text: str,
    limit: int,
    measure: Measure = code_points,
    language: str | None = None,
    segmenter: Segmenter | None = None,
) -> Cut:
    """Shorten `text` to at most `limit` units, ending where a reader would stop.

    Prefers the last sentence end that keeps half of the allowance, then the last word, then the
    last grapheme. The result never exceeds `limit` as counted by `measure`; it is a beginning of
    the text without surrounding white space, and cutting it again changes nothing. An ellipsis
    appears only when a sentence was broken, and it is counted.

    No cut goes through a grapheme, nor through a link, mention, hashtag or number unless the
    text begins with one that does not fit. A line break alone ends no sentence here. In scripts
    without spaces a word may end at any grapheme, best after a clause. Where not even one grapheme
    and the ellipsis fit, the ellipsis alone is the result.

    Raises ValueError for a limit below 2.

    >>> cut("Why? Because! And more text here.", 20).text
    'Why? Because!'
    >>> cut("Revenue 12.5 percent up today", 20)
    Cut(text='Revenue 12.5…', mode='word', length=13)
    """
    if limit < 2:
        raise ValueError(f"a limit of {limit} leaves no room for a character and an ellipsis")
    text = text.strip()
    length = measure(text)
    if length <= limit:
        return Cut(text, "none", length)
    cutter = _Cutter(text, limit, measure, length)
    shortened = cutter.at_sentence(language, segmenter)
    if shortened is not None:
        return Cut(shortened, "sentence", measure(shortened))
    shortened = cutter.at_word() or cutter.at_grapheme()
    return Cut(shortened, "word", measure(shortened))


class _Cutter:
    """The places where one text may be cut, and which of them fit."""

    def __init__(self, text: str, limit: int, measure: Measure, length: int) -> None:
        self.text = text
        self.limit = limit
        self.measure = measure
        self.starts = grapheme_starts(text)
        self.safe = _outside(self.starts, unbreakable_spans(text))
        """Where a cut is allowed: between graphemes, and not within a token."""
        self.reach = self.last_reachable(length)
        """The last safe place up to which the text fits."""

    def fits(self, text: str) -> bool:
        return self.measure(text) <= self.limit

    def keeps_half(self, text: str) -> bool:
        return self.measure(text) * 2 >= self.limit

    def last_reachable(self, length: int) -> int:
        """The last safe place up to which a text of this length fits.

        Guesses in proportion first, so that a measure runs a few times and over little more than
        what fits, however long the text is.
        """
        good, good_length = 0, 0
        bad, bad_length = len(self.safe), length
        tries = 0
        while bad - good > 1:
            tries += 1
            share = (self.limit - good_length) / max(1, bad_length - good_length)
            step = int(share * (bad - good))
            if tries % 3 == 0:  # the guess may creep: double what is known to fit, or halve
                step = min((bad - good) // 2, max(16, good))
            middle = min(max(good + step, good + 1), bad - 1)
            found = self.measure(self.text[: self.safe[middle]])
            if found <= self.limit:
                good, good_length = middle, found
            else:
                bad, bad_length = middle, found
        return self.safe[good]

    def at_sentence(self, language: str | None, segmenter: Segmenter | None) -> str | None:
        """The text up to the last sentence end that fits, if that keeps half of the allowance."""
        line_end = self.text.find("\n", self.reach)
        window = self.text[: self.reach + _LOOK_AHEAD]
        if line_end >= 0:
            window = window[:line_end]
        code = primary_language(language)
        ends = {end for _, end in sentence_spans(window, language, segmenter=segmenter)}
        ends.update(found.end() for found in _TRAILING_OFF.finditer(window))
        candidates = sorted(
            end
            for end in ends.intersection(self.safe)
            if end <= self.reach and ends_with_stop(self.text[max(0, end - _TAIL) : end], code)
        )
        end = _last_fitting(candidates, lambda end: self.fits(self.text[:end]))
        if end is None or not self.keeps_half(self.text[:end]):
            return None
        return self.text[:end]

    def at_word(self) -> str | None:
        """The text up to the last word that fits, with an ellipsis."""
        text = self.text
        ends = [end for end in self.safe if 0 < end <= self.reach and _ends_word(text, end)]
        end = _last_fitting(ends, lambda end: self.fits(self.broken_off(end)))
        if end is None:
            return None
        if not _is_space(text[end]):
            clause = self.last_clause(ends[: bisect_right(ends, end)])
            end = end if clause is None else clause
        shortened = self.broken_off(end)
        return shortened if shortened != ELLIPSIS else None

    def last_clause(self, ends: Sequence[int]) -> int | None:
        """The last of these word ends that ends a clause too, if that keeps half."""
        for end in reversed(ends):
            if self.text[end - 1] in _CLAUSE_MARKS or _is_space(self.text[end]):
                shortened = self.broken_off(end)
                # On X a shorter text may weigh more: without what follows, a host is a link.
                return end if self.keeps_half(shortened) and self.fits(shortened) else None
        return None

    def at_grapheme(self) -> str:
        """The text up to the last grapheme that fits, with an ellipsis where there is room."""
        reached = self.safe[: bisect_right(self.safe, self.reach)]
        # No grapheme weighs less than one unit, but for those within a link.
        inside = self.starts[: bisect_right(self.starts, self.reach) + self.limit]
        for places in (reached, inside):
            end = _last_fitting(places, lambda end: self.fits(self.broken_off(end)))
            if end is not None and (shortened := self.broken_off(end)) != ELLIPSIS:
                return shortened
        if self.fits(ELLIPSIS):
            return ELLIPSIS
        end = _last_fitting(self.starts, lambda end: self.fits(self.text[:end]))
        return self.text[: end or 0].rstrip()

    def broken_off(self, end: int) -> str:
        """The text up to `end` with an ellipsis in place of what would dangle before it."""
        kept = len(_without_dangling(self.text[:end]))
        place = bisect_left(self.safe, end)
        whole = self.safe if self.safe[place : place + 1] == [end] else self.starts
        return self.text[: whole[bisect_left(whole, kept)]] + ELLIPSIS


def _last_fitting(places: Sequence[int], fits: Callable[[int], bool]) -> int | None:
    """The last of these places that fits, or None where none does.

    Tries 1, 2, 4… places before the end, then halves: the caller hands over places that fit but
    for an ellipsis, so few tries are needed. What is returned was measured.
    """
    bad, back = len(places), 1
    while back <= len(places) and not fits(places[-back]):
        bad, back = len(places) - back, back * 2
    good = len(places) - back
    if good < 0:
        good = -1
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(places[middle]):
            good = middle
        else:
            bad = middle
    return places[good] if good >= 0 else None


def _outside(places: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Those places that are not inside one of the spans; the border of a span is outside."""
    outside: list[int] = []
    position = 0
    for start, end in spans:
        outside.extend(places[position : bisect_right(places, start)])
        position = max(position, bisect_left(places, end))
    return [*outside, *places[position:]]


def _ends_word(text: str, end: int) -> bool:
    """Whether a word ends at this place, which is neither the first nor the last of the text."""
    before, after = text[end - 1], text[end]
    if _is_space(after) or after == "—":
        return not _is_space(before)
    if not (_UNSPACED.match(before) or _UNSPACED.match(after)):
        return False
    return not _is_space(before) and before not in _NOT_AFTER and after not in _NOT_BEFORE


def _is_space(character: str) -> bool:
    return character.isspace() or character == "\u200b"  # a break that does not show


def _without_dangling(text: str) -> str:
    """The text without the white space, commas, dashes and opening marks at its end."""
    text = text.rstrip(_DROPPED)
    if text[-1:] in {"«", "“"} and text[-2:-1].isspace():  # else it closes, as in German
        text = text[:-1].rstrip(_DROPPED)
    return text
