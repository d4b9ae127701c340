"""Findings of the fence, in offsets of the original text, and what is to be put in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repurpose.text._confusables import DEFUSED_CLOSE, DEFUSED_OPEN
from repurpose.text._escapes import Span

__all__ = ["Collection", "Hit", "Kind", "defusing"]

Kind = Literal["tag", "token"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that reads as a tag or token, in offsets of the original text."""

    kind: Kind
    start: int
    end: int
    opening: tuple[Span, ...]
    """Its opening brackets, or the escapes that stand for them."""
    closing: tuple[Span, ...] = ()
    """Its closing brackets, for a token."""


class Collection:
    """Hits so far, and which of them each bracket belongs to."""

    __slots__ = ("hits", "owner")

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.owner: dict[Span, int] = {}

    def add(self, hit: Hit) -> None:
        new = [bracket for bracket in hit.opening if bracket not in self.owner]
        place = len(self.hits)
        if len(new) == len(hit.opening):
            self.hits.append(hit)
        elif new:  # another reading of the same tag shows more of its brackets
            place = next(self.owner[bracket] for bracket in hit.opening if bracket in self.owner)
            self.hits[place] = _merged(self.hits[place], hit)
        for bracket in new:
            self.owner[bracket] = place


def _merged(one: Hit, other: Hit) -> Hit:
    """One hit with the brackets of both."""
    return Hit(
        kind=one.kind,
        start=min(one.start, other.start),
        end=max(one.end, other.end),
        opening=tuple(sorted({*one.opening, *other.opening})),
        closing=tuple(sorted({*one.closing, *other.closing})),
    )


def defusing(hits: Sequence[Hit]) -> list[tuple[Span, str]]:
    """What to put in the place of which spans so that none of `hits` is left."""
    marks = dict.fromkeys((span for hit in hits for span in hit.closing), DEFUSED_CLOSE)
    marks.update(dict.fromkeys((span for hit in hits for span in hit.opening), DEFUSED_OPEN))
    # Of two escapes that start together, the longer one holds the other.
    return sorted(marks.items(), key=lambda change: (change[0][0], -change[0][1]))
