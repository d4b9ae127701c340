"""Texts shortened to a limit, in whatever unit the limit is counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from repurpose.text._cutter import ELLIPSIS, Cutter, last_fitting
from repurpose.text._directions import closers, closing, directional_spans
from repurpose.text.counting import code_points

if TYPE_CHECKING:
    from repurpose.text.counting import Measure
    from repurpose.text.sentences import Segmenter

__all__ = ["ELLIPSIS", "Cut", "CutMode", "beginning", "break_place", "closed", "cut"]

CutMode = Literal["none", "sentence", "word"]
"""How a text was shortened: not at all, after a sentence, or within one."""

_BEYOND = 10_000
"""Units by which a beginning exceeds a limit before the rest is left unread. A link of X weighs 23
and may have 4,096 characters of weight 2, so what is cut off may make a text that much lighter."""


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
    text begins with one that does not fit. Nor does one go through a run of the other writing
    direction (Unicode's isolates and embeddings) unless half of the room would be lost; then the
    run is closed by the control that it lacks, so that nothing after the text is turned round.

    A line break alone ends no sentence here. In scripts without spaces a word may end at any
    grapheme, best after a clause. Where not even one grapheme and the ellipsis fit, the ellipsis
    alone is the result.

    Raises ValueError for a limit below 2.

    >>> cut("Why? Because! And more text here.", 20).text
    'Why? Because!'
    >>> cut("Revenue 12.5 percent up today", 20)
    Cut(text='Revenue 12.5…', mode='word', length=13)
    """
    if limit < 2:
        raise ValueError(f"a limit of {limit} leaves no room for a character and an ellipsis")
    text = beginning(text.strip(), limit, measure)
    length = measure(text)
    if length <= limit:
        return Cut(text, "none", length)
    runs = directional_spans(text)
    shortened = _shortened(Cutter(text, limit, measure, length, runs), language, segmenter)
    if closers(shortened.text) or (runs and 2 * shortened.length < limit):
        whole = Cutter(text, limit, closing(measure), length)
        shortened = _shortened(whole, language, segmenter)
    return replace(shortened, text=closed(shortened.text))


def closed(text: str) -> str:
    """`text` with the controls at its end that close what its writing directions left open."""
    return text + closers(text)


def beginning(text: str, limit: int, measure: Measure) -> str:
    """As much of a text as a cut at `limit` can need; all of it where that is not long.

    Whatever the length of the text, the time this takes and the text that it leaves grow with
    what `limit` units can hold.
    """
    size = 2 * (limit + _BEYOND)
    while size < len(text):
        if measure(text[:size]) > limit + _BEYOND:
            return text[:size]
        size *= 2
    return text


def break_place(text: str, limit: int, measure: Measure) -> int:
    """Where to part a text that is too long so that nothing is lost: an offset above 0.

    What comes before it has at most `limit` units. After the last clause that keeps half, else
    the last word, else the last grapheme; within one only where not even one fits.

    >>> break_place("alpha beta, gamma delta", 18, code_points)
    11
    """
    part = beginning(text, limit, measure)
    length = measure(part)
    if runs := directional_spans(part):
        place = Cutter(part, limit, measure, length, runs).break_place()
        if place and 2 * measure(part[:place]) >= limit:
            return place
    whole = Cutter(part, limit, closing(measure), length)
    if place := whole.break_place():
        return place
    return last_fitting(range(1, len(part)), lambda end: whole.fits(part[:end])) or 1


def _shortened(cutter: Cutter, language: str | None, segmenter: Segmenter | None) -> Cut:
    """The best cut that this cutter finds."""
    shortened = cutter.at_sentence(language, segmenter)
    if shortened is not None:
        return Cut(shortened, "sentence", cutter.length(shortened))
    shortened = cutter.at_word() or cutter.at_grapheme()
    return Cut(shortened, "word", cutter.length(shortened))
