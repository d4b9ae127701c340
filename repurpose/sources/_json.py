"""JSON files that other programs wrote: read as they come, and as far as they are whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from repurpose.errors import SourceError
from repurpose.sources._raw import Raw, shown

__all__ = ["Listed", "damage", "json_value", "list_in", "number"]

_MOST_RESTARTS = 20  # each may read to the end of the text
_MOST_OBJECTS = 500_000  # words of fifty hours; each costs a kilobyte and ten microseconds
_BETWEEN = re.compile(r"[\s,]*+")


_Test = Callable[[dict[str, object]], bool]


@dataclass(frozen=True, slots=True)
class Listed:
    """The objects of one list in a JSON object, and the object's other values."""

    entries: tuple[dict[str, object], ...]
    around: dict[str, object]
    """The object itself; empty where it could not be read as a whole."""
    damaged: bool = False
    """Whether the text is no whole JSON, so that some entries may be missing."""


def json_value(text: str) -> object:
    """The value at the beginning of `text`; what follows it is ignored.

    Not the strict intake of answers: line breaks in strings, equal keys and lone surrogates are
    what programs write, and harm nobody here.

    Raises:
        ValueError: there is no JSON value.
    """
    try:
        value: object = json.JSONDecoder(strict=False).raw_decode(text.lstrip("\ufeff \t\r\n"))[0]
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def list_in(raw: Raw, text: str, key: str, is_entry: _Test) -> Listed:
    """The objects in the list under `key` of the object in `text`, the content of `raw`.

    Of a damaged or incomplete text, the objects that can still be read and are entries.

    Raises:
        SourceError: `corrupt` where there is no such list; `too-large` where it would take
            hundreds of megabytes of memory.
    """
    if text.count("{") + text.count("[") > _MOST_OBJECTS:
        raise SourceError("too-large", f"{shown(raw.origin)}: too many parts; split the file")
    try:
        value = json_value(text)
    except ValueError:
        return _salvaged(raw, text, key, is_entry)
    if not isinstance(value, dict) or not isinstance(value.get(key), list):
        raise _no_list(raw, key)
    return Listed(
        tuple(one for one in value[key] if isinstance(one, dict) and is_entry(one)), value
    )


def damage(found: Listed) -> tuple[str, ...]:
    """A warning where `found` comes from a damaged text."""
    return ("the file is damaged or incomplete; some of it is missing",) if found.damaged else ()


def number(value: object) -> float | None:
    """A finite number that is not negative, also where it is written as a string; else None."""
    if isinstance(value, str) and len(value) <= 30:  # seconds with all their digits
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e9 else None


def _no_list(raw: Raw, key: str) -> SourceError:
    return SourceError(
        "corrupt",
        f"{shown(raw.origin)}: no transcript: it has no {key} that can be read; download it again",
    )


def _salvaged(raw: Raw, text: str, key: str, is_entry: _Test) -> Listed:
    begin = re.search(rf'"{re.escape(key)}"\s{{0,99}}:\s{{0,99}}\[', text)
    if begin is None:
        raise _no_list(raw, key)
    decoder = json.JSONDecoder(strict=False)
    entries: list[dict[str, object]] = []
    at, restarts = begin.end(), 0
    while restarts < _MOST_RESTARTS:
        gap = _BETWEEN.match(text, at)
        at = gap.end() if gap else at
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at, restarts = text.find("{", at + 1), restarts + 1
            if at < 0:
                break
            continue
        if isinstance(value, dict) and is_entry(value):
            entries.append(value)
    if not entries:
        raise _no_list(raw, key)
    return Listed(tuple(entries), {}, damaged=True)
