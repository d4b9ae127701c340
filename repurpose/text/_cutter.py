"""The places where a text may be cut, and which of them fit."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from repurpose.text._boundaries import ends_with_stop
from repurpose.text.counting import grapheme_starts, unbreakable_spans
from repurpose.text.sentences import primary_language, sentence_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from repurpose.text.counting import Measure
    from repurpose.text.sentences import Segmenter

__all__ = ["ELLIPSIS", "Cutter", "last_fitting"]

ELLIPSIS = "…"

# Dropped before an ellipsis: what announces more, and the full stop that the ellipsis takes in.
_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200C))
)
_DROPPED = (
    _WHITE
    + ",;:.…‥-‐‒–—―·、，；：。｡．،؛।([{<„‹（「『【《〈〔［｛¿¡"
    + "\u200e\u200f\u061c\u202a\u202b\u202d\u202e\u2066\u2067\u2068"  # marks and opened runs
)
_CLAUSE_MARKS = frozenset("、，；：,;:،؛")
_CLOSE_CLAUSE = 0.9
"""A clause end with spaces around it is better than a word only where it costs this little."""

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


class Cutter:
    """The places where one text may be cut, and which of them fit."""

    def __init__(
        self,
        text: str,
        limit: int,
        measure: Measure,
        length: int,
        runs: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.text = text
        self.limit = limit
        self.measure = measure
        self.whole = length
        self.measured = ("", 0)
        self.starts = grapheme_starts(text)
        self.safe = _outside(self.starts, unbreakable_spans(text))
        """Where a cut is allowed: between graphemes, and not within a token."""
        if runs:
            self.safe = _outside(self.safe, runs)

    def length(self, text: str) -> int:
        """How long a text is; the same one is often asked about twice."""
        if text != self.measured[0]:
            self.measured = (text, self.measure(text))
        return self.measured[1]

    def fits(self, text: str) -> bool:
        return self.length(text) <= self.limit

    def keeps_half(self, text: str) -> bool:
        return self.length(text) * 2 >= self.limit

    def horizon(self) -> int:
        """A place beyond which nothing fits, found with as few measures as possible."""
        last = len(self.safe) - 1
        place = min(last, int(1.2 * len(self.safe) * self.limit / self.whole) + 20)
        while place < last and self.fits(self.text[: self.safe[place]]):
            place = min(last, 2 * place)
        return self.safe[place] if place < last else len(self.text)

    def before_half(self, horizon: int) -> int:
        """A place before which no cut keeps half, or 0 where none was found at once."""
        place = self.safe[bisect_right(self.safe, 0.4 * horizon) - 1]
        return 0 if self.keeps_half(self.text[:place]) else place

    @cached_property
    def reach(self) -> int:
        """The last safe place up to which the text fits.

        Guesses in proportion first, so that a measure runs a few times and over little more than
        what fits, however long the text is.
        """
        good, good_length = 0, 0
        bad, bad_length = len(self.safe), self.whole
        tries = 0
        while bad - good > 1:
            tries += 1
            share = (self.limit - good_length) / max(1, bad_length - good_length)
            step = int(share * (bad - good))
            if tries % 3 == 0:  # the guess may creep: double what is known to fit, or halve
                step = min((bad - good) // 2, max(16, good))
            middle = min(max(good + step, good + 1), bad - 1)
            found = self.length(self.text[: self.safe[middle]])
            if found <= self.limit:
                good, good_length = middle, found
            else:
                bad, bad_length = middle, found
        return self.safe[good]

    def at_sentence(self, language: str | None, segmenter: Segmenter | None) -> str | None:
        """The text up to the last sentence end that fits, if that keeps half of the allowance."""
        horizon = self.horizon()
        line_end = self.text.find("\n", horizon)
        window = self.text[: horizon + _LOOK_AHEAD]
        if line_end >= 0:
            window = window[:line_end]
        code = primary_language(language)
        half = self.before_half(horizon)
        ends = {*sentence_ends(window, half, horizon, language, segmenter=segmenter)}
        ends.update(found.end() for found in _TRAILING_OFF.finditer(window, half))
        candidates = sorted(
            end
            for end in ends
            if end <= horizon
            and self.is_safe(end)
            and ends_with_stop(self.text[max(0, end - _TAIL) : end], code)
        )
        end = last_fitting(candidates, lambda end: self.fits(self.text[:end]))
        if end is None or not self.keeps_half(self.text[:end]):
            return None
        return self.text[:end]

    def is_safe(self, place: int) -> bool:
        """Whether a cut is allowed at this place of the text."""
        index = bisect_left(self.safe, place)
        return index < len(self.safe) and self.safe[index] == place

    def at_word(self) -> str | None:
        """The text up to the last word that fits, with an ellipsis."""
        text = self.text
        ends = [end for end in self.safe if 0 < end <= self.reach and _ends_word(text, end)]
        end = last_fitting(ends, lambda end: self.fits(self.broken_off(end)))
        if end is None:
            return None
        spaced = _is_space(text[end])
        clause = self.last_clause(
            ends[: bisect_right(ends, end)], _CLOSE_CLAUSE if spaced else 0.5, spaced=spaced
        )
        shortened = self.broken_off(end if clause is None else clause)
        return shortened if shortened != ELLIPSIS else None

    def last_clause(self, ends: Sequence[int], share: float, *, spaced: bool) -> int | None:
        """The last of these word ends that ends a clause too, if that keeps `share` of the room."""
        for end in reversed(ends):
            if self.text[end - 1] in _CLAUSE_MARKS or (not spaced and _is_space(self.text[end])):
                shortened = self.broken_off(end)
                # On X a shorter text may weigh more: without what follows, a host is a link.
                keeps = self.length(shortened) >= share * self.limit
                return end if keeps and self.fits(shortened) else None
        return None

    def break_place(self) -> int | None:
        """Where the text is best parted without an ellipsis, or None if it cannot be."""
        inner = [end for end in self.safe if 0 < end <= self.reach]
        words = [end for end in inner if _ends_word(self.text, end)]
        place = last_fitting(words, lambda end: self.fits(self.text[:end]))
        for end in reversed(words[: bisect_right(words, place or 0)]):
            if self.text[end - 1] in _CLAUSE_MARKS:
                kept = self.text[:end]
                if self.keeps_half(kept) and self.fits(kept):
                    place = end
                break
        if place is not None:
            return place
        for places in (inner, [end for end in self.starts if 0 < end <= self.reach + self.limit]):
            place = last_fitting(places, lambda end: self.fits(self.text[:end]))
            if place is not None:
                return place
        return None

    def at_grapheme(self) -> str:
        """The text up to the last grapheme that fits, with an ellipsis where there is room."""
        reached = self.safe[: bisect_right(self.safe, self.reach)]
        # No grapheme weighs less than one unit, but for those within a link.
        inside = self.starts[: bisect_right(self.starts, self.reach) + self.limit]
        for places in (reached, inside):
            end = last_fitting(places, lambda end: self.fits(self.broken_off(end)))
            if end is not None and (shortened := self.broken_off(end)) != ELLIPSIS:
                return shortened
        if self.fits(ELLIPSIS):
            return ELLIPSIS
        end = last_fitting(self.starts, lambda end: self.fits(self.text[:end]))
        return self.text[: end or 0].rstrip()

    def broken_off(self, end: int) -> str:
        """The text up to `end` with an ellipsis in place of what would dangle before it."""
        kept = len(_without_dangling(self.text[:end]))
        place = bisect_left(self.safe, end)
        whole = self.safe if self.safe[place : place + 1] == [end] else self.starts
        return self.text[: whole[bisect_left(whole, kept)]] + ELLIPSIS


def last_fitting(places: Sequence[int], fits: Callable[[int], bool]) -> int | None:
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
