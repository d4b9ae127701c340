"""What the words of a text are compared by: stems, or pairs of characters."""

from __future__ import annotations

from collections.abc import Callable

import regex

from repurpose.engines._extract_language import language_named
from repurpose.engines._extract_words import words_of

__all__ = ["Terms"]

_SPACELESS_RUN = regex.compile(
    r"([\p{Han}\p{Hiragana}\p{Katakana}ー々]++|[\p{Hangul}]++|[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]++)"
)
_HIRAGANA_ONLY = regex.compile(r"[\p{Hiragana}ー]+")


class Terms:
    """From a text to its terms, for one article in one language.

    A term is a word's stem (NLTK's Snowball stemmers, sixteen languages), the word itself in
    other languages, or a pair of neighbouring characters where words have no spaces between
    them or carry their particles (Chinese, Japanese, Thai, Korean). Function words and numbers
    are no terms.
    """

    def __init__(self, language: str) -> None:
        self._stop = language_named(language).stop_words
        self._stem = _stemmer(language)
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, words: tuple[str, ...]) -> list[str]:
        """The terms of these words, in order and as often as they occur."""
        terms: list[str] = []
        for word in words:
            terms.extend(self.of_word(word))
        return terms

    def of_word(self, word: str) -> tuple[str, ...]:
        """The terms of one word: one, or several of a run without spaces, or none."""
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = tuple(self._terms(word))
        return found

    def of_text(self, text: str) -> list[str]:
        """The terms of a text that is not cut into words yet, such as a heading."""
        return self.of(tuple(words_of(text)))

    def _terms(self, word: str) -> list[str]:
        pieces = _SPACELESS_RUN.split(word)
        if len(pieces) == 1:
            return self._spaced(word)
        terms: list[str] = []
        for place, piece in enumerate(pieces):
            if place % 2 == 0:
                terms.extend(self._spaced(piece))
            elif piece not in self._stop:
                terms.extend(_pairs(piece))
        return terms

    def _spaced(self, word: str) -> list[str]:
        lower = word.lower()
        if len(lower) < 2 or lower in self._stop or lower.isdigit():
            return []
        return [self._stem(lower)]


def _pairs(run: str) -> list[str]:
    pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return [pair for pair in pairs if not _HIRAGANA_ONLY.fullmatch(pair)]


def _stemmer(language: str) -> Callable[[str], str]:
    name = language_named(language).stemmer
    if name is None:
        return str
    # nltk costs 0.2 s and 30 MB to import, which a language without a stemmer need not pay.
    from nltk.stem.snowball import SnowballStemmer  # noqa: PLC0415 - see above

    # A new one for each article: the Arabic stemmer keeps state from word to word.
    stem: Callable[[str], str] = SnowballStemmer(name).stem
    return stem
