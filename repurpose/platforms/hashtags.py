"""Hashtags as platforms read them: in a list, at the end of a text, and inside it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

import regex

__all__ = ["MAX_HASHTAGS", "hashtags_apart", "hashtags_marked", "normalised_hashtags"]

MAX_HASHTAGS: Final = 30
"""The longest list of hashtags we keep, whatever the platform; platforms may allow fewer."""

_LETTERS = r"\p{L}\p{Nd}_"
_JOINED = r"(?:[\p{Mn}\p{Mc}--[\uFE00-\uFE0F]]|[\u200C\u200D](?=\p{L}))"
"""What belongs to the letter before it: vowel signs, accents, and joiners inside a word."""
_TAG = rf"(?:[{_LETTERS}]{_JOINED}*+)"
_TAG_PARTS = regex.compile(rf"{_TAG}++", regex.VERSION1)
_TAG_BREAKS = regex.compile(r"[\s#＃]++")
_HASHTAG = regex.compile(
    rf"(?<![{_LETTERS}\p{{M}}&/#＃])[#＃]++(?=[\p{{Nd}}_]*+\p{{L}}){_TAG}++", regex.VERSION1
)
"""A hashtag inside a text. `#1` is none on any platform, nor is the end of `page.html#part`."""
_ONE_HASHTAG = regex.compile(rf"[#＃](?=[\p{{Nd}}_]*+\p{{L}}){_TAG}++", regex.VERSION1)
_WORDS_BACKWARDS = regex.compile(r"(?r)\S++")
_CLOSING = frozenset(".!?…。！？｡؟।\"'”’»)）」』")
"""What the text before a block of hashtags ends with, if the block is not part of a sentence."""


def normalised_hashtags(items: Iterable[str]) -> tuple[str, ...]:
    """`items` as hashtags: one `#`, then letters, digits and underscores, each tag once.

    An item may hold several. What differs in case only counts as the same, and the first
    spelling wins. Whatever a platform would end the tag at is left out: `AI-driven` would
    become `#AI` there.

    >>> normalised_hashtags(["AI-driven", "growth #Leipzig", "#Growth", "#-!"])
    ('#AIdriven', '#growth', '#Leipzig')
    """
    found: dict[str, str] = {}
    for item in items:
        if item.isascii() and item.isalnum():  # most are
            found.setdefault(item.lower(), f"#{item}")
            continue
        for word in _TAG_BREAKS.split(unicodedata.normalize("NFC", item)):
            tag = "".join(_TAG_PARTS.findall(word))
            if tag.strip("_"):
                found.setdefault(tag.casefold(), f"#{tag}")
    return tuple(found.values())


def hashtags_apart(body: str) -> tuple[str, tuple[str, ...]]:
    """`body` without the block of hashtags that ends it, and these hashtags.

    A hashtag that is a word of the last sentence (`See you at #OpenDay`) is no block, and a body
    of hashtags alone is left as it is. Reads no more than the block and the word before it.

    >>> hashtags_apart("We open. #growth #Leipzig")
    ('We open.', ('#growth', '#Leipzig'))
    """
    if "#" not in body and "＃" not in body:
        return body, ()
    block: list[str] = []
    start = len(body)
    for word in _WORDS_BACKWARDS.finditer(body):
        if not _ONE_HASHTAG.fullmatch(word.group()):
            before = word.end()
            break
        block.append(word.group())
        start = word.start()
    else:
        return body, ()
    if not block or ("\n" not in body[before:start] and body[before - 1] not in _CLOSING):
        return body, ()
    return body[:before], tuple(reversed(block))


def hashtags_marked(body: str, most: int) -> tuple[str, int, int]:
    """`body` with at most `most` hashtags, how many it has, and how many lost their `#`.

    >>> hashtags_marked("The #choir and the #town met.", 1)
    ('The #choir and the town met.', 1, 1)
    """
    if "#" not in body and "＃" not in body:
        return body, 0, 0
    marks = [match.span() for match in _HASHTAG.finditer(body)]
    parts: list[str] = []
    position = 0
    for start, end in marks[most:]:
        parts += [body[position:start], body[start:end].lstrip("#＃")]
        position = end
    parts.append(body[position:])
    kept = min(most, len(marks))
    return "".join(parts), kept, len(marks) - kept
