"""Dot paths into JSON: `pairs.0.question`. They know nothing of formats or envelopes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

__all__ = ["MISSING", "Missing", "at", "text_at"]


class Missing(Enum):
    """That nothing is there, which is not the same as a null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING

# int() would take " 1", "+1" and the digits of other scripts for places as well.
_PLACE = re.compile(r"[0-9]{1,9}")


def at(value: object, path: str) -> object:
    """What stands at `path` in a JSON value, or `MISSING`.

    Parts are joined by dots; a part is a key of an object, or the place of an item in a list,
    counted from 0. A key that has dots itself is found as well, where no shorter one leads
    anywhere. A path into a text or a number finds nothing; the empty path finds `value`.

    >>> at({"pairs": [{"question": "Why?"}]}, "pairs.0.question")
    'Why?'
    >>> at({"x.2": {"length": 9}}, "x.2.length")
    9
    >>> at({"pairs": []}, "pairs.0.question"), at("text", "length")
    (MISSING, MISSING)
    """
    return _within(value, path.split(".")) if path else value


def text_at(value: object, path: str) -> object:
    """What stands at `path`, where `*` is every item of a list: their texts put together.

    A path that leads to one value finds it, whatever it is; one that leads to several finds
    something only where all of them are texts.

    >>> parts = {"parts": [{"text": "Two "}, {"data": 7}, {"text": "parts."}]}
    >>> text_at(parts, "parts.*.text")
    'Two parts.'
    >>> text_at(parts, "parts.*.data"), text_at(parts, "parts.*.url")
    (7, MISSING)
    """
    found = _every(value, path.split(".")) if "*" in path else [at(value, path)]
    if len(found) == 1:
        return found[0]
    texts = [each for each in found if isinstance(each, str)]
    return "".join(texts) if texts and len(texts) == len(found) else MISSING


def _every(value: object, parts: Sequence[str]) -> list[object]:
    if "*" not in parts:
        found = at(value, ".".join(parts))
        return [] if found is MISSING else [found]
    star = parts.index("*")
    items = at(value, ".".join(parts[:star]))
    if isinstance(items, str | bytes) or not isinstance(items, Sequence):
        return []
    return [found for item in items for found in _every(item, parts[star + 1 :])]


def _within(value: object, parts: Sequence[str]) -> object:
    if not parts:
        return value
    widest = len(parts) if isinstance(value, Mapping) else 1
    for count in range(1, widest + 1):
        step = _step(value, ".".join(parts[:count]))
        found = step if step is MISSING else _within(step, parts[count:])
        if found is not MISSING:
            return found
    return MISSING


def _step(value: object, part: str) -> object:
    if isinstance(value, Mapping):
        return value.get(part, MISSING)
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        return MISSING
    place = int(part) if _PLACE.fullmatch(part) else len(value)
    return value[place] if place < len(value) else MISSING
