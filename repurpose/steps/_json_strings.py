"""Reads the strings of a JSON object, with where they stand, while the object is still coming.

A state machine that looks at each character once and keeps nothing but the place where it is. It
judges nothing: what it cannot follow it stops at, since whether a reply is valid is decided when
the reply is complete.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["MAX_DEPTH", "Growth", "JsonStrings", "Path"]

MAX_DEPTH = 64
"""As in `repurpose.schema.intake`, which refuses what is nested more deeply."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys and places in lists, from the outermost object on."""

_MARK = re.compile(r'["{}\[\],:]')
_PLAIN = re.compile(r'[^"\\\x00\ud800-\udfff]+')
_SPACE = re.compile(r"\s*+")
_HEX = frozenset("0123456789abcdefABCDEF")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
"""Any other escaped character stands for itself."""
_LOST = "\ufffd"
"""In place of what no database stores: half of a surrogate pair, and NUL."""


@dataclass(frozen=True, slots=True)
class Growth:
    """More of one string."""

    number: int
    """Which string of the object it is, from 1, so that two under one key are told apart."""
    path: Path
    text: str


class _Level:
    """An object or a list that is open, and the place in it."""

    __slots__ = ("at", "awaits_key", "is_object")

    def __init__(self, *, is_object: bool) -> None:
        self.is_object = self.awaits_key = is_object
        self.at: str | int = "" if is_object else 0


class JsonStrings:
    """The strings of the first object in a text that comes in pieces.

    The object begins where a brace is followed by a quote or the closing brace. How the text is
    cut changes nothing but how often a string grows. Never raises; its time is linear in the text.
    """

    def __init__(self) -> None:
        self._state: Literal["prose", "brace", "json", "over"] = "prose"
        self._levels: list[_Level] = []
        self._string: _String | None = None
        self._is_key = False
        self._path: Path = ()
        self._count = 0

    def feed(self, text: str) -> Iterator[Growth]:
        """What grew with this piece, in order."""
        place = 0
        while place < len(text) and self._state != "over":
            if self._string is not None:
                place = yield from self._in_string(self._string, text, place)
            elif self._state == "json":
                place = self._in_json(text, place)
            else:
                place = self._before(text, place)

    def _before(self, text: str, place: int) -> int:
        """Pass over what stands before the object."""
        if self._state == "prose":
            brace = text.find("{", place)
            if brace < 0:
                return len(text)
            self._state = "brace"
            return brace + 1
        space = _SPACE.match(text, place)
        place = space.end() if space else place
        if place == len(text) or text[place] == "{":
            return place + 1
        if text[place] in '"}':
            self._state = "json"
            self._levels.append(_Level(is_object=True))
        else:
            self._state = "prose"
        return place

    def _in_json(self, text: str, place: int) -> int:
        """Go on to the next mark between strings; numbers and names are passed over."""
        mark = _MARK.search(text, place)
        if mark is None:
            return len(text)
        level = self._levels[-1]
        match mark[0]:
            case '"':
                self._begin_string(level)
            case "{" | "[":
                self._open(level, is_object=mark[0] == "{")
            case "}" | "]":
                self._close(level, is_object=mark[0] == "}")
            case ",":
                level.awaits_key = level.is_object
                level.at = level.at + 1 if isinstance(level.at, int) else level.at
            case _:
                level.awaits_key = False
        return mark.end()

    def _begin_string(self, level: _Level) -> None:
        self._string = _String()
        self._is_key = level.awaits_key
        if self._is_key:
            level.at = ""
        else:
            self._count += 1
            self._path = tuple(each.at for each in self._levels)

    def _open(self, level: _Level, *, is_object: bool) -> None:
        if level.awaits_key or len(self._levels) == MAX_DEPTH:
            self._state = "over"
        else:
            self._levels.append(_Level(is_object=is_object))

    def _close(self, level: _Level, *, is_object: bool) -> None:
        self._levels.pop()
        if not self._levels or level.is_object != is_object:
            self._state = "over"

    def _in_string(self, string: _String, text: str, place: int) -> Generator[Growth, None, int]:
        """Read on in the open string, up to its end or that of the piece; returns where it was."""
        grown: list[str] = []
        place = string.read(text, place, grown)
        more = "".join(grown)
        if self._is_key:
            level = self._levels[-1]
            string.key.append(more)
            if string.is_closed:
                level.at = "".join(string.key)
        elif more:
            yield Growth(self._count, self._path, more)
        if string.is_closed:
            self._string = None
        return place


class _String:
    """One string, between its quotes."""

    __slots__ = ("_escape", "_high", "is_closed", "key")

    def __init__(self) -> None:
        self._escape = ""
        """An escape that has begun: a backslash, and what followed it."""
        self._high = ""
        """The first half of a surrogate pair, which waits for the second."""
        self.is_closed = False
        self.key: list[str] = []
        """Its parts, where it is a key."""

    def read(self, text: str, place: int, grown: list[str]) -> int:
        """Add what the text says from `place` on, and return where it was left."""
        while place < len(text) and not self.is_closed:
            if self._escape:
                place += self._escaped(text[place], grown)
                continue
            plain = _PLAIN.match(text, place)
            if plain is not None:
                self._end_pair(grown)
                grown.append(plain[0])
                place = plain.end()
                continue
            place = self._special(text, place, grown)
        return place

    def _special(self, text: str, place: int, grown: list[str]) -> int:
        character = text[place]
        if character == '"':
            self._end_pair(grown)
            self.is_closed = True
        elif character == "\\":
            self._escape = "\\"
        else:
            self._add(character, grown)
        return place + 1

    def _escaped(self, character: str, grown: list[str]) -> int:
        """One more character of an escape; returns 0 where it is no part of it."""
        if self._escape == "\\":
            self._escape = "\\u" if character == "u" else ""
            if not self._escape:
                self._add(_ESCAPES.get(character, character), grown)
            return 1
        if character not in _HEX:
            self._escape = ""
            self._end_pair(grown)
            grown.append(_LOST)
            return 0
        self._escape += character
        if len(self._escape) == len("\\u0000"):
            digits, self._escape = self._escape[2:], ""
            self._add(chr(int(digits, 16)), grown)
        return 1

    def _add(self, character: str, grown: list[str]) -> None:
        """One character, which may be half of a pair."""
        if self._high and "\udc00" <= character <= "\udfff":
            pair = (self._high + character).encode("utf-16", "surrogatepass")
            grown.append(pair.decode("utf-16"))
            self._high = ""
            return
        self._end_pair(grown)
        if "\ud800" <= character <= "\udbff":
            self._high = character
        else:
            is_lost = character == "\0" or "\udc00" <= character <= "\udfff"
            grown.append(_LOST if is_lost else character)

    def _end_pair(self, grown: list[str]) -> None:
        """A first half that no second one followed."""
        if self._high:
            grown.append(_LOST)
            self._high = ""
