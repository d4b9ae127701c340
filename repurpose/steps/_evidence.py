"""Where in a text stands what somebody says that it says, letter for letter.

Letters, digits and their marks count, their case does not; white space, punctuation and markup
are passed over. So a passage is found although its line breaks, its quotation marks or its emphasis
were copied in another way, and what is given back is always the text's own wording.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

import regex

from repurpose.core.call import Quote

__all__ = ["Letters"]

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_DIGITS = re.compile(r"\d+")
_BREAK = re.compile(r"\s*\n[\s>]*")  # the marks of a quotation's lines are no part of its words
_MARKUP = re.compile(r"[*`]++|(?<!\w)_++|_++(?!\w)")
_CLOSING = re.compile(r"[.!?…。！？؟।]{0,3}")


class Letters:
    """The letters of `text[start:end]`, each with its place."""

    def __init__(self, text: str, start: int, end: int, *, plain: bool) -> None:
        self._text = text
        self._end = end
        self._plain = plain
        words = list(_WORD.finditer(text, start, end))
        folded = [_folded(word[0]) for word in words]
        self._starts = [word.start() for word in words]
        self._before = list(accumulate(map(len, folded), initial=0))
        self._letters = "".join(folded)
        self._digits = set(_DIGITS.findall(text, start, end))

    def hold(self, words: str) -> bool:
        """Whether these words stand there, each letter after the other."""
        wanted = _letters_of(words)
        return bool(wanted) and wanted in self._letters

    def hold_number(self, figure: str) -> bool:
        """Whether all digits of a figure stand there; of one without digits, its words."""
        digits = _DIGITS.findall(figure)
        return self._digits.issuperset(digits) if digits else self.hold(figure)

    def quote(self, passage: str) -> Quote | None:
        """Where the passage stands, in the text's own wording; None where it does not."""
        wanted = _letters_of(passage)
        first = self._letters.find(wanted) if wanted else -1
        if first < 0:
            return None
        start, last = self._place(first), self._place(first + len(wanted) - 1)
        closing = _CLOSING.match(self._text, last + 1, self._end)
        end = closing.end() if closing else last + 1
        return Quote(self._shown(self._text[start:end]), start, end)

    def _place(self, letter: int) -> int:
        """Where in the text a letter stands."""
        word = bisect_right(self._before, letter) - 1
        return self._starts[word] + letter - self._before[word]

    def _shown(self, passage: str) -> str:
        words = _BREAK.sub(" ", passage)
        return " ".join((words if self._plain else _MARKUP.sub("", words)).split())


def _letters_of(words: str) -> str:
    return "".join(map(_folded, _WORD.findall(words)))


def _folded(word: str) -> str:
    """The word in lower case; a letter that becomes two stays, so that places stay true."""
    low = word.lower()
    if len(low) == len(word):
        return low
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in word)
