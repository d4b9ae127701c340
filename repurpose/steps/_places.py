"""Where a text may be cut, and what each cut costs a reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from repurpose.core.source import Block, Source
from repurpose.text.boundary import forged_spans
from repurpose.text.counting import grapheme_starts
from repurpose.text.sentences import sentence_spans
from repurpose.text.tokens import reach, token_weight

__all__ = ["BORDER", "STRANDED", "TURN", "Place", "heading_cost", "inner_places"]

# A further part costs 1, so one is added where that turns a cut between paragraphs into one before
# a heading. Measured on 21 documents in seven languages, in parts of 1,000 tokens: 9 of 10 parts
# begin at a heading and are 73 percent full.
TURN = 0.2
"""Before somebody else speaks."""
BORDER = 1.15
"""Between two blocks under one heading."""
_SENTENCE = 1.8
_LINE = 2.5
_CLAUSE = 3.0
_WORD = 5.0
_GRAPHEME = 10.0
STRANDED = 40.0
"""After a heading, which would be left without what it is the heading of."""

_CLAUSE_END = re.compile(r"[,;:–—،؛](?=\s)[^\S\n]{0,4}|[、，；：]")
_WORD_END = re.compile(r"\s+")
_LINE_END = re.compile(r"\n")
_WHOLE_SHARE = 0.8  # of the limit, for what stands between two places; the rest is room for a lead
_FINE = 32  # pieces a part, for words and graphemes: more places would help nobody

Cutter = Callable[[str], Iterator[int]]
"""From a stretch of text to the places within it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place where a part may begin."""

    at: int
    """In code points of the text."""
    cost: float
    block: Block
    """The block that begins here, or that the place is in."""
    inside: bool = False
    """Whether the block has begun before."""


def heading_cost(level: int) -> float:
    """What a cut before a heading costs: the less, the more begins with it."""
    return 0.02 * level


def inner_places(source: Source, block: Block, begin: int, limit: int) -> Iterator[Place]:
    """Places within a block, after `begin`, so close that a part can end at one of them.

    The ends of sentences, or of the lines of code and tables. Between two of these that are too
    far apart: lines, clauses, words, graphemes, each only where the one before does not do.
    """
    levels = _levels(source, block, limit)
    most = _WHOLE_SHARE * limit
    for at, cost in _within(source.text, begin, block.end, levels, most):
        yield Place(at, cost, block, inside=True)


def _within(
    text: str, begin: int, end: int, levels: Sequence[tuple[float, Cutter]], most: float
) -> Iterator[tuple[int, float]]:
    """The places of the first level, and finer ones between two that are too far apart."""
    if not levels:
        return
    cost, cutter = levels[0]
    last = begin
    stretch = text[begin:end]
    for place in [*cutter(stretch), len(stretch)]:
        at = begin + place
        if token_weight(text[last:at]) > most:
            yield from _within(text, last, at, levels[1:], most)
        if last < at < end:
            yield at, cost
        last = at


def _levels(source: Source, block: Block, limit: int) -> Sequence[tuple[float, Cutter]]:
    by_line = (_LINE, _ends_of(_LINE_END))
    first = by_line if block.kind in ("code", "table") else (_SENTENCE, _sentences(source.language))
    fine = limit / _FINE
    return (
        first,
        by_line,
        (_CLAUSE, _ends_of(_CLAUSE_END)),
        (_WORD, _spaced(_ends_of(_WORD_END), fine)),
        (_GRAPHEME, _graphemes(fine)),
    )


def _sentences(language: str | None) -> Cutter:
    def cutter(stretch: str) -> Iterator[int]:
        # A line break would end a sentence, and most paragraphs are only wrapped there.
        spans = sentence_spans(stretch.replace("\n", " "), language)
        yield from (start for start, _ in spans[1:])

    return cutter


def _ends_of(pattern: re.Pattern[str]) -> Cutter:
    def cutter(stretch: str) -> Iterator[int]:
        tags = iter([*forged_spans(stretch), (len(stretch), len(stretch))])
        start, end = next(tags)
        for found in pattern.finditer(stretch):
            while end <= found.end():
                start, end = next(tags, (len(stretch), len(stretch) + 1))
            # Half a tag in each of two parts would be defused in neither.
            if not start < found.end() < end:
                yield found.end()

    return cutter


def _spaced(cutter: Cutter, tokens: float) -> Cutter:
    """Not every place of `cutter`, but one about every so many tokens."""

    def spaced(stretch: str) -> Iterator[int]:
        last = previous = 0
        for place in cutter(stretch):
            if previous > last and token_weight(stretch[last:place]) > tokens:
                yield previous
                last = previous
            previous = place
        if previous > last:
            yield previous

    return spaced


def _graphemes(tokens: float) -> Cutter:
    def cutter(stretch: str) -> Iterator[int]:
        last = 0
        while (far := reach(stretch, tokens, last)) < len(stretch):
            # One grapheme may be as long as the whole; then it is cut all the same.
            starts = grapheme_starts(stretch[last : far + 1])
            step = starts[-1] if len(starts) > 1 else max(far - last, 1)
            last += step
            yield last

    return cutter
