"""The words of a sentence, and whether it leans on what was said before."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from repurpose.engines._extract_language import language_named

__all__ = ["glances_back", "leans", "words_of"]

_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*+")
_OPENING_MARKS = "「『“\"'（("


def words_of(text: str) -> list[str]:
    """The words of a text as they are written; a run without spaces counts as one.

    >>> words_of("It's 3 o'clock.")
    ['It', 's', '3', 'o', 'clock']
    """
    found: list[str] = _WORD.findall(text)
    return found


def leans(text: str, words: Sequence[str], language: str) -> bool:
    """Whether a sentence opens with a word that only the sentence before explains.

    >>> leans("This costs more.", ["This", "costs", "more"], "en")
    True
    >>> leans("Each loan costs more.", ["Each", "loan", "costs", "more"], "en")
    False
    """
    known = language_named(language)
    if known.spaceless:
        return text.lstrip(_OPENING_MARKS).startswith(tuple(known.openers))
    first = [word.lower() for word in words[:3]]
    if any(" ".join(first[:count]) in known.openers for count in (1, 2, 3)):
        return True
    # Behind the first word only small letters count: German "Sie" there is a polite "you".
    return any(
        word in known.pointers and (place == 0 or words[place] == word)
        for place, word in enumerate(first)
    )


def glances_back(text: str, words: Sequence[str], language: str) -> bool:
    """Whether a word behind the opening may refer to something said elsewhere.

    A weaker sign than `leans`: "The library solved it" needs the sentence before, "The drill
    has done its work" does not.

    >>> glances_back("The library solved it.", ["The", "library", "solved", "it"], "en")
    True
    """
    known = language_named(language)
    if known.spaceless:
        return any(word in text for word in known.elsewhere | known.far_pointers)
    return (
        not known.elsewhere.isdisjoint(words)
        or not known.connectives.isdisjoint(words[1:8])
        or not known.far_pointers.isdisjoint(words[3:7])
    )
