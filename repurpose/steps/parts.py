"""A long source as parts that fit a limit, cut where a reader would make a pause.

What is always true here: every character of the text stands in exactly one part, in order, and no
part is estimated at more tokens than the limit. A part repeats what a reader needs to know where
it stands: the headings above its beginning, and who is speaking.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from repurpose.core.source import Block, Source
from repurpose.steps._places import BORDER, STRANDED, TURN, Place, heading_cost, inner_places
from repurpose.text.tokens import estimated_tokens, token_weight

__all__ = ["LEAST_LIMIT", "Part", "parts_of"]

LEAST_LIMIT = 64
"""Tokens below which a part would hold no thought; a smaller limit is taken for this one."""

_PARAGRAPH = re.compile(r"\S[^\n]*+(?:\n[^\S\n]*+\S[^\n]*+)*+")
_SPEAKER = re.compile(r"[^\n:]{1,100}: (?=\S)")
_SLOTS = 64  # places a part that are looked at; a finer grid would fill 1 percent better at most
_LEAD_SHARE = 8  # of a part, for what it repeats; text matters more than where it stands
_WHOLE_SHARE = 2  # of a part: a block up to this is not broken
_PART_COST = 1.0
_BALANCE = 0.05
"""For equal numbers of parts, parts of equal length are better read than a full one and a rest."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a source that one call reads."""

    start: int
    """Where it begins in `Source.text`, in code points."""
    end: int
    """Where the next one begins."""
    text: str
    """What is read: the stretch, after the headings above it and the name of who is speaking."""
    headings: tuple[str, ...] = ()
    """The headings above its beginning, outermost first."""
    tokens: int = 0
    """The estimate for `text`."""


def parts_of(source: Source, limit: int, *, start: int = 0) -> tuple[Part, ...]:
    r"""The text from `start` on as parts of at most `limit` estimated tokens each.

    Cuts before headings and turns of speech where it can, else between blocks, else at the ends of
    sentences; only a sentence that is too long is cut at a line, a clause, a word or at last a
    grapheme. As few parts as that allows, of much the same length; none ends with a heading. A
    source without blocks is cut by its paragraphs. Equal arguments give equal parts.

    >>> text = "# A\n\nOne two three.\n\n# B\n\nFour five six."
    >>> [part.text for part in parts_of(Source(text, "-", "markdown"), 1000)] == [text]
    True
    """
    limit = max(limit, LEAST_LIMIT)
    places = list(_places(source, limit, start))
    if not places:
        return ()
    ends = [place.at for place in places[1:]] + [len(source.text)]
    weights = [
        token_weight(source.text[place.at : end]) for place, end in zip(places, ends, strict=True)
    ]
    kept = _thinned(places, weights, limit)
    before = [0.0]
    for weight in weights:
        before.append(before[-1] + weight)
    leads = [_lead(source, places[index], limit) for index in kept]
    walk = _Walk(
        costs=[places[index].cost for index in kept],
        before=[before[index] for index in kept] + [before[-1]],
        leads=[token_weight(lead) for lead in leads],
        limit=limit,
    )
    chosen = walk.starts()
    bounds = [places[kept[index]].at for index in chosen] + [len(source.text)]
    return tuple(
        _part(source, begin, end, leads[index], places[kept[index]].block)
        for index, (begin, end) in zip(chosen, pairwise(bounds), strict=True)
    )


def _part(source: Source, begin: int, end: int, lead: str, block: Block) -> Part:
    body = source.text[begin:end].strip("\n").rstrip()
    text = lead + body
    return Part(begin, end, text, block.headings, estimated_tokens(text))


def _blocks(source: Source) -> Sequence[Block]:
    """The source's blocks; those of a source that has none are its paragraphs."""
    if source.blocks:
        return source.blocks
    found = _PARAGRAPH.finditer(source.text)
    return [Block("paragraph", one.start(), one.end()) for one in found]


def _places(source: Source, limit: int, start: int) -> Iterator[Place]:
    """Where a part may begin, in order; the first one is `start` itself."""
    before: Block | None = None
    is_first = True
    for block in _blocks(source):
        if block.end <= start:
            before = block
            continue
        inside = block.start < start
        begin = start if inside or is_first else block.start
        yield Place(begin, _border_cost(source, before, block), block, inside=inside)
        is_first = False
        # A block that begins at the part's first character may still be broken further on.
        long = token_weight(source.text[max(begin, block.start) : block.end]) > limit / _WHOLE_SHARE
        if long:
            yield from inner_places(source, block, begin, limit)
        before = block


def _border_cost(source: Source, before: Block | None, block: Block) -> float:
    """What a cut before `block` costs a reader."""
    if before is not None and before.kind == "heading":
        return STRANDED
    if block.kind == "heading":
        return heading_cost(block.level)
    if block.kind == "turn":
        return TURN
    announced = before is not None and source.text[before.start : before.end].endswith((":", "："))
    goes_on = before is not None and before.kind == block.kind == "list"
    return BORDER + 0.3 * announced + 0.1 * goes_on


def _lead(source: Source, place: Place, limit: int) -> str:
    """What a part that begins here repeats, and never more than an eighth of the limit."""
    room = limit / _LEAD_SHARE
    lead = ""
    if place.inside and place.block.kind == "turn":
        speaker = _SPEAKER.match(source.text, place.block.start, place.block.end)
        lead = speaker[0] if speaker and token_weight(speaker[0]) <= room else ""
    room -= token_weight(lead)
    path = list(enumerate(place.block.headings, start=1))
    for depth, words in reversed(path):  # the nearest ones tell the most
        line = f"{'#' * min(depth, 6)} {words}\n\n" if not source.plain else f"{words}\n\n"
        room -= token_weight(line)
        if room < 0:
            break
        lead = line + lead
    return lead


def _thinned(places: Sequence[Place], weights: Sequence[float], limit: int) -> list[int]:
    """The indices of the places that are worth looking at: the best of each 64th of a part."""
    best: dict[int, int] = {}
    before = 0.0
    for index, place in enumerate(places):
        slot = int(before * _SLOTS / limit)
        if slot not in best or place.cost <= places[best[slot]].cost:
            best[slot] = index
        before += weights[index]
    return sorted({0, *best.values()})


@dataclass(frozen=True, slots=True)
class _Walk:
    """From place to place through the text, in as few and as harmless steps as can be."""

    costs: Sequence[float]
    """What a cut at each place costs."""
    before: Sequence[float]
    """The tokens before each place, and at last those of the whole text."""
    leads: Sequence[float]
    """The tokens that a part beginning at each place repeats."""
    limit: int

    def starts(self) -> list[int]:
        """The places where parts begin."""
        count = len(self.costs)
        best = [0.0] + [math.inf] * count
        back = [0] * (count + 1)
        for end in range(1, count + 1):
            cut = self.costs[end] if end < count else 0.0
            for begin in range(end - 1, -1, -1):
                tokens = self.before[end] - self.before[begin]
                if tokens > self.limit:
                    break
                filled = (tokens + self.leads[begin]) / self.limit
                cost = best[begin] + cut + _PART_COST + _BALANCE * filled * filled
                if filled <= 1 and cost < best[end]:
                    best[end], back[end] = cost, begin
            if best[end] == math.inf:  # a single word may be too long; the nearest place is left
                best[end], back[end] = best[end - 1] + STRANDED, end - 1
        chosen = [back[count]]
        while chosen[-1]:
            chosen.append(back[chosen[-1]])
        return chosen[::-1]
