"""What differs between two texts, word by word, and what two people made of a third.

What is always true here: the equal and deleted pieces are the text before, the equal and inserted
ones the text after, letter for letter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

import regex

__all__ = ["Change", "ThreeWay", "three_way", "word_changes"]

Change: TypeAlias = tuple[Literal["equal", "insert", "delete"], str]
"""What became of a piece of text, and the piece."""

_APART = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts without a space between words; there each character counts by itself."""
_PIECE = regex.compile(
    rf"(?:[[\w]--[{_APART}]](?:\p{{M}}|['’](?=\w))*+)++\s*+|\s++|\X\s*+", regex.VERSION1
)
"""A word or one other character, with the white space after it: so a changed line break shows,
and a blank between two changed words does not part them."""
_LINE = regex.compile(r"[^\n]*+\n++|[^\n]++")
_MOST_PAIRS = 500_000
"""Pairs of equal pieces that difflib may have to look at; its time grows with them."""


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """What two texts made of the one that both come from."""

    mine: tuple[Change, ...]
    theirs: tuple[Change, ...]


def three_way(base: str, mine: str, theirs: str) -> ThreeWay:
    """How `mine` and how `theirs` differ from `base`."""
    return ThreeWay(word_changes(base, mine), word_changes(base, theirs))


def word_changes(before: str, after: str) -> tuple[Change, ...]:
    """How `after` differs from `before`, in words; a deletion stands before what replaces it.

    Long texts that have the same words in another order everywhere are compared by lines, or as
    wholes, so that no text takes longer than about a second.

    >>> word_changes("We open in May.", "We open in June.")
    (('equal', 'We open in '), ('delete', 'May'), ('insert', 'June'), ('equal', '.'))
    """
    return tuple(_joined(_changes(before, after, (_PIECE.findall, _LINE.findall))))


def _changes(
    before: str, after: str, ways: Sequence[Callable[[str], list[str]]]
) -> Iterator[Change]:
    """The changes, by the first of the ways to part a text that is not too slow."""
    for parted in ways:
        old, new = parted(before), parted(after)
        start, end = _alike_around(old, new)
        middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
        if _pairs(middle_old, middle_new) <= _MOST_PAIRS:
            yield "equal", "".join(old[:start])
            yield from _matched(middle_old, middle_new)
            yield "equal", "".join(old[len(old) - end :])
            return
    yield "delete", before
    yield "insert", after


def _alike_around(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many pieces both begin with, and how many of the others both end with."""
    most = min(len(old), len(new))
    start = next((place for place in range(most) if old[place] != new[place]), most)
    rest = most - start
    end = next((place for place in range(rest) if old[-1 - place] != new[-1 - place]), rest)
    return start, end


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    counted = Counter(new)
    return sum(count * counted[piece] for piece, count in Counter(old).items())


def _matched(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        removed, added = "".join(old[old_start:old_end]), "".join(new[new_start:new_end])
        if tag == "equal":
            yield "equal", removed
        else:
            yield "delete", removed
            yield "insert", added


def _joined(changes: Iterator[Change]) -> Iterator[Change]:
    """The same without empty pieces, and neighbors of a kind as one."""
    held: Change | None = None
    for kind, text in changes:
        if not text:
            continue
        if held is not None and held[0] == kind:
            held = (kind, held[1] + text)
            continue
        if held is not None:
            yield held
        held = (kind, text)
    if held is not None:
        yield held
