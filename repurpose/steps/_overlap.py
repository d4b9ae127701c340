"""Which of many short statements say the same, in any language.

Two statements are the same where nine tenths of their runs of three words are, and all their
figures. In a sentence of up to forty words, one word more, such as "not", breaks enough of them to
keep both; a duplicate that stays costs a few tokens, a lost negation the truth.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import regex

__all__ = ["repetitions"]

_RUN = 3
_ALIKE = 0.9
_BEGINNING = range(4, 101)
"""Words: a shorter beginning may go on to say anything, and no point has more."""

# Scripts without spaces between words: each character counts as one.
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
_WORD = regex.compile(rf"(?V1){_UNSPACED}\p{{M}}*+|[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]++")

Run = tuple[str, ...]


def repetitions(statements: Sequence[str]) -> dict[int, int]:
    """For each statement that another one says too: the index of that other, which stays.

    The longer one stays, and of two of one length the first. A statement that only begins as a
    longer one does is said by it.

    >>> repetitions(["Bees like city roofs a lot.", "Owls do not.", "Bees like city roofs, a lot!"])
    {2: 0}
    >>> repetitions(["The plan was approved.", "The plan was not approved."])
    {}
    """
    words = [tuple(_WORD.findall(statement.casefold())) for statement in statements]
    figures = [_figures(each) for each in words]
    runs = [frozenset(_runs(each)) for each in words]
    common = Counter(run for each in runs for run in each)
    known: dict[Run, list[int]] = defaultdict(list)
    beginnings: dict[Run, int] = {}
    said: dict[int, int] = {}
    for index in _longest_first(words):
        telling = _telling(runs[index], common)
        alike = (
            other
            for other in dict.fromkeys(each for run in telling for each in known[run])
            if figures[other] == figures[index] and _same(runs[other], runs[index])
        )
        other = beginnings.get(words[index], next(alike, None))
        if other is not None:
            said[index] = other
            continue
        for run in telling:
            known[run].append(index)
        for end in _BEGINNING[: max(0, len(words[index]) - _BEGINNING[0] + 1)]:
            beginnings.setdefault(words[index][:end], index)
    return said


def _telling(runs: frozenset[Run], common: Counter[Run]) -> list[Run]:
    """The rarest runs, of which two statements that are alike have at least one in common."""
    rarest = sorted(runs, key=lambda run: (common[run], run))
    return rarest[: len(runs) - math.ceil(_ALIKE * len(runs)) + 1]


def _same(one: frozenset[Run], other: frozenset[Run]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)


def _longest_first(words: Sequence[Sequence[str]]) -> list[int]:
    return sorted(range(len(words)), key=lambda index: (-len(words[index]), index))


def _runs(words: Sequence[str]) -> Iterator[Run]:
    """Every run of three words; a statement of fewer is one run."""
    for start in range(max(1, len(words) - _RUN + 1)):
        yield tuple(words[start : start + _RUN])


def _figures(words: Sequence[str]) -> Counter[str]:
    return Counter(word for word in words if any(map(str.isdigit, word)))
