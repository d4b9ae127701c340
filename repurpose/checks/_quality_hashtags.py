"""Hashtags that are none: links, numbers, broken characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["sound_hashtags"]

_ADDRESS = re.compile(
    r"://|^#?www\.|^#?[\w-]{1,60}(?:\.[\w-]{1,60}){0,4}\.[a-z]{2,6}/", re.IGNORECASE
)
_PARTS = re.compile(r"[\s#＃]++")
_MOJIBAKE = re.compile("[ÂÃ][\u0080-\u00bf]|â€|ï¿½")
"""UTF-8 that was read as Latin-1 or Windows-1252."""
_BROKEN_KINDS = frozenset({"Cc", "Cn", "Co", "Cs"})
_SHOWN = 20


def sound_hashtags(items: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The hashtags of `items` that a platform can link, and what became of the others.

    An item may hold several, with or without `#`; those that are kept come apart. Each reason
    fits behind the platform's name, as in `x: hashtag #123 is digits only, dropped`.

    >>> sound_hashtags(["tools #repair", "#123", "https://example.org/"])
    (('tools', 'repair'), ('hashtag #123 is digits only, dropped', 'a hashtag is a link, dropped'))
    """
    kept: list[str] = []
    reasons: list[str] = []
    for item in items:
        if _ADDRESS.search(item.strip()):
            reasons.append("a hashtag is a link, dropped")
            continue
        for word in filter(None, _PARTS.split(item)):
            reason = _unsound(word)
            if reason is None:
                kept.append(word)
            else:
                reasons.append(reason)
    return tuple(kept), tuple(dict.fromkeys(reasons))


def _unsound(word: str) -> str | None:
    """Why no platform links this as a hashtag, or only part of it."""
    if word == "\ufeff" or "\ufffd" in word or _MOJIBAKE.search(word) or _has_broken(word):
        return "a hashtag holds broken characters, dropped"
    bare = word.strip("_")
    if bare and not any(map(str.isalpha, bare)) and any(map(str.isdigit, bare)):
        if len(bare) > _SHOWN:
            return "a hashtag is digits only, dropped"
        return f"hashtag #{bare} is digits only, dropped"
    return None


def _has_broken(word: str) -> bool:
    return any(unicodedata.category(sign) in _BROKEN_KINDS for sign in word)
