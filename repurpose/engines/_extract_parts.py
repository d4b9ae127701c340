"""A run of prose without its markup, and the way back to where it stands in the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Part", "PartKind", "Piece", "joins_without_space", "part_of"]

PartKind = Literal["heading", "paragraph", "list", "quote"]

_NO_SPACE_SCRIPT = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


class Piece(NamedTuple):
    """Text without markup that comes from one stretch of the source.

    Where the two are equally long they are the same, character for character. Else the text
    stands for the stretch as a whole, as `é` does for `&eacute;`.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Part:
    """A heading, a paragraph or a list item's paragraph: one run of prose, markup removed."""

    kind: PartKind
    text: str
    start: int
    """Where the part begins in the source, markup at its edge included."""
    end: int
    level: int = 0
    """1 to 6 for a heading, else 0."""
    list_number: int = 0
    """Which list of the text an item belongs to, from 1; 0 outside lists."""
    caption: bool = False
    """Whether it looks like the caption of an image: beside one, and emphasised as a whole."""
    forged: bool = False
    """Whether it holds tags, outside of code, that frame texts for machines: `<system>`."""
    pieces: tuple[Piece, ...] = ()
    offsets: tuple[int, ...] = ()
    """Where each piece begins in `text`."""

    def source_start(self, at: int) -> int:
        """Where in the source the character `text[at]` begins."""
        piece, inside = self._piece(at)
        return piece.start + inside if _same_length(piece) else piece.start

    def source_end(self, at: int) -> int:
        """Where in the source the character `text[at]` ends, exclusive."""
        piece, inside = self._piece(at)
        return piece.start + inside + 1 if _same_length(piece) else piece.end

    def _piece(self, at: int) -> tuple[Piece, int]:
        number = bisect_right(self.offsets, at) - 1
        return self.pieces[number], at - self.offsets[number]


def part_of(
    kind: PartKind,
    pieces: Sequence[Piece],
    start: int,
    end: int,
    *,
    level: int = 0,
    list_number: int = 0,
    caption: bool = False,
    forged: bool = False,
) -> Part:
    """The part whose text is that of its pieces in order; none of them may be empty."""
    offsets: list[int] = []
    length = 0
    for piece in pieces:
        offsets.append(length)
        length += len(piece.text)
    text = "".join(piece.text for piece in pieces)
    return Part(
        kind, text, start, end, level, list_number, caption, forged, tuple(pieces), tuple(offsets)
    )


def joins_without_space(before: str, after: str) -> bool:
    """Whether a line break between two characters is nothing to a reader.

    So it is between Chinese or Japanese characters, where a space would be a mistake.
    """
    return bool(_NO_SPACE_SCRIPT.match(before) and _NO_SPACE_SCRIPT.match(after))


def _same_length(piece: Piece) -> bool:
    return piece.end - piece.start == len(piece.text)
