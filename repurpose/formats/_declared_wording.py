"""How what is wrong with a declaration is said: the key at fault, and the nearest right one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

__all__ = ["label_of", "meant", "unknown_key"]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def meant(word: object, known: Iterable[str]) -> str:
    """The nearest of `known` as a question, or an empty text where none is near.

    >>> meant("max_lenght", ["max_length", "max_items"])
    'did you mean max_length?'
    """
    near = difflib.get_close_matches(str(word)[:60], list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""


def unknown_key(given: Iterable[object], known: Collection[str]) -> str | None:
    """What is wrong with the first key that is not known, or None.

    >>> unknown_key(["labl"], ["label", "prompt"])
    'unknown key "labl"; did you mean label?'
    """
    for key in given:
        if key not in known:
            advice = meant(key, known) or f"known: {', '.join(known)}"
            return f'unknown key "{str(key)[:60]}"; {advice}'
    return None


def label_of(name: str) -> str:
    """What a person reads for the name of a field or a format.

    >>> label_of("callToAction"), label_of("meta_title"), label_of("release-notes")
    ('Call to action', 'Meta title', 'Release notes')
    """
    words = _HUMP.sub(" ", name).replace("_", " ").replace("-", " ").split()
    shown = " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words)
    return shown[:1].upper() + shown[1:]
