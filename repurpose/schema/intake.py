"""From the text of a reply to one JSON object: the only JSON decoder there is.

Strict where JSON leaves room: the standard decoder accepts NaN, turns 1e999 into infinity, keeps
the last of two equal keys, lets lone surrogates through that no database stores, and crashes on
100,000 brackets. Lenient where models are sloppy and the answer is plain all the same: reasoning
before it, a code fence around it, prose around it, one key wrapped around it. What was passed
over is noted, nothing is guessed, nothing is evaluated, and the time is linear in the text.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import NoReturn, TypeAlias

from repurpose.core.finding import Finding
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.schema._scan import (
    groups,
    inside_fence,
    is_deeper,
    reasoning_block,
    reasoning_ends,
)
from repurpose.schema._wording import syntax_fault

__all__ = ["MAX_DEPTH", "MAX_DIGITS", "Intake", "IntakeError", "decode", "said", "take_in"]

MAX_DEPTH = 64
"""How deeply arrays and objects may be nested; no format comes near it."""
MAX_DIGITS = 100
"""How long a number may be written; at 4,300 digits Python stops with an error of its own."""

Validates: TypeAlias = Callable[[JsonValue], bool]

_BOM = "\ufeff"
_SUSPECT_ESCAPE = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
_UNSTORABLE = re.compile("[\ud800-\udfff\x00]")
_OBJECT_BEGINS = re.compile(r'\{\s*+["}]')

_FENCE_REMOVED = "code fence removed"
_REASONING_REMOVED = "reasoning block removed"
_FROM_PROSE = "JSON taken from the text around it"
_FROM_BLOCK = "JSON taken from the reasoning block"
_FROM_FIELD = "JSON taken from the reasoning field"
_UNWRAPPED = "one-key wrapper removed"


class IntakeError(ValueError):
    """A text that is not the JSON wanted. The message says what is wrong and quotes nothing."""

    @property
    def finding(self) -> Finding:
        """The same as a finding of kind `parse`."""
        return Finding("parse", "", str(self))


class _NotWantedError(IntakeError):
    """JSON to a lenient reader, but not what is wanted: to search on would be to guess."""


class _NothingFoundError(IntakeError):
    """No object stands in the text."""


@dataclass(frozen=True, slots=True)
class Intake:
    """The object that a reply holds, and what was passed over to get at it."""

    value: JsonObject
    notes: tuple[str, ...] = ()
    """One line for each deviation from plain JSON; holds no text of the reply."""


def decode(text: str) -> JsonValue:
    """The value of a JSON text (RFC 8259), with every float finite and every string storable.

    A byte order mark is passed over.

    Raises:
        IntakeError: the text is not JSON, or it holds NaN, an infinity or a number beyond the
            floats, a number of more than 100 characters, a key twice in one object, a lone
            surrogate, NUL, or more than 64 levels. Nothing else is raised, whatever the text.

    >>> decode('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    text = text.removeprefix(_BOM)
    if text.lstrip()[:1] in ("{", "[") and is_deeper(text, MAX_DEPTH):
        raise _NotWantedError(f"the JSON is nested more than {MAX_DEPTH} deep")
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise IntakeError(syntax_fault(error)) from None
    except RecursionError:  # the caller stands deep in the stack
        raise _NotWantedError("the JSON is nested too deeply") from None
    _check_storable(text, value)
    return value


def take_in(text: str, *, validates: Validates, reasoning: str | None = None) -> Intake:
    r"""The one JSON object that a reply holds.

    Tried in this order: the whole text; what follows a leading reasoning block; the inside of
    one outer code fence; the only top-level object in prose; the only object in a reasoning block
    that nothing follows; and `reasoning`, a field of its own, where the text is blank. An object
    with one key gives way to the object under it where only that one validates. An object from
    prose or reasoning is taken only where it validates; any other is taken as it is, for the
    validator to judge.

    Raises:
        IntakeError: none of these gives an object; the message says what the reply is instead.

    >>> take_in('```json\n{"a": 1}\n```', validates=lambda value: True)
    Intake(value={'a': 1}, notes=('code fence removed',))
    """
    body = _trimmed(text)
    if body:
        return _from_text(body, validates)
    found = _from_field(_trimmed(reasoning or ""), validates)
    if found is None:
        raise IntakeError("the reply is empty")
    return _noted(found, _FROM_FIELD)


def said(text: str) -> str:
    """What a reply says where no JSON is asked for: the text without a reasoning block before it.

    Empty where nothing but reasoning is there. A closing tag without an opening one ends a
    block, too, since some chat templates put the opening one into the prompt. What no database
    stores (NUL, half of a surrogate pair) becomes U+FFFD.

    >>> said("<think>hm</think> Bees like roofs.")
    'Bees like roofs.'
    """
    body = _trimmed(text)
    block = reasoning_block(body)
    if block is not None:
        body = block[1]
    elif tag := next(reasoning_ends(body), None):
        body = body[tag[1] :]
    return _UNSTORABLE.sub("\ufffd", body).strip()


def _from_field(body: str, validates: Validates) -> Intake | None:
    """The object in a reasoning field, only where it validates."""
    try:
        found = _from_text(body, validates)
    except IntakeError:
        return None
    return found if validates(found.value) else None


def _from_text(body: str, validates: Validates) -> Intake:
    block = reasoning_block(body)
    if block is None:
        return _after_reasoning(body, validates)
    inside, rest = block
    if rest:
        return _noted(_after_reasoning(rest, validates), _REASONING_REMOVED)
    return _noted(_only_object(inside, validates), _FROM_BLOCK)


def _after_reasoning(body: str, validates: Validates) -> Intake:
    """The object that a text is, or that stands after a closing tag or in its prose."""
    try:
        return _plain(body, validates)
    except _NotWantedError:
        raise
    except IntakeError as error:
        syntax = error
    tag = next(reasoning_ends(body), None)  # the first only, or the time would be quadratic
    if tag is not None:
        with suppress(IntakeError):
            return _noted(_plain(body[tag[1] :].strip(), validates), _REASONING_REMOVED)
    try:
        return _noted(_only_object(body, validates), _FROM_PROSE)
    except _NothingFoundError:
        if body.startswith(("{", "[", "`", "~")):
            raise syntax from None
        raise


def _plain(body: str, validates: Validates) -> Intake:
    """The object that a text is, or that its one outer code fence holds."""
    fenced = inside_fence(body)
    value = decode(body if fenced is None else fenced)
    if not isinstance(value, dict):
        raise _NotWantedError("the reply is JSON, but not a JSON object")
    found = _unwrapped(value, validates)
    return found if fenced is None else _noted(found, _FENCE_REMOVED)


def _only_object(text: str, validates: Validates) -> Intake:
    """The one object that stands at the top level of a text and validates."""
    objects = _objects(text)
    reasoned = max((tag for _, tag in reasoning_ends(text) if not _within(tag, objects)), default=0)
    answers = [found for found in objects if found[0] >= reasoned] or objects
    if not answers:
        raise _NothingFoundError("the reply holds no JSON object")
    if len(answers) > 1:
        raise IntakeError("the reply holds more than one JSON object")
    found = _unwrapped(answers[0][2], validates)
    if not validates(found.value):
        raise IntakeError("the JSON stands inside other text and is not of the declared shape")
    return found


def _within(position: int, objects: list[tuple[int, int, JsonObject]]) -> bool:
    """Whether a position lies inside one of these objects, which are in order."""
    nearest = bisect_right(objects, position, key=itemgetter(0)) - 1
    return nearest >= 0 and position < objects[nearest][1]


def _objects(text: str) -> list[tuple[int, int, JsonObject]]:
    """Every top-level object of a text with its place; prose in brackets is passed over."""
    found: list[tuple[int, int, JsonObject]] = []
    for start, end in groups(text):
        piece = text[start:end]
        if not (_OBJECT_BEGINS.match(piece) or (piece[0] == "[" and "{" in piece)):
            continue
        try:
            value = decode(piece)
        except _NotWantedError:
            raise
        except IntakeError:
            continue
        if not isinstance(value, dict):
            raise _NotWantedError("the reply holds a JSON array where one object is wanted")
        found.append((start, end, value))
    return found


def _unwrapped(value: JsonObject, validates: Validates) -> Intake:
    """The object, or the one under its only key where only that one validates."""
    if len(value) == 1:
        (inner,) = value.values()
        if isinstance(inner, dict) and not validates(value) and validates(inner):
            return Intake(inner, (_UNWRAPPED,))
    return Intake(value)


def _noted(found: Intake, note: str) -> Intake:
    return Intake(found.value, (note, *found.notes))


def _trimmed(text: str) -> str:
    return text.strip().removeprefix(_BOM).strip()


def _check_storable(text: str, value: JsonValue) -> None:
    """Refuse strings that SQLite cannot store (lone surrogates) or that it cuts short (NUL)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _NotWantedError("a string holds half of a surrogate pair") from None
    if _SUSPECT_ESCAPE.search(text) is None:
        return
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if _UNSTORABLE.search(part):
                raise _NotWantedError("a string holds NUL or half of a surrogate pair")
        elif isinstance(part, dict):
            waiting.extend(part)
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _NotWantedError("an object has the same key twice")
    return made


def _whole_number(literal: str) -> int:
    if len(literal) > MAX_DIGITS:
        raise _NotWantedError(f"a number has more than {MAX_DIGITS} digits")
    return int(literal)


def _finite_number(literal: str) -> float:
    if len(literal) > MAX_DIGITS:
        raise _NotWantedError(f"a number has more than {MAX_DIGITS} digits")
    number = float(literal)
    if math.isinf(number):
        raise _NotWantedError("a number is too large")
    return number


def _refuse_constant(_literal: str) -> NoReturn:
    raise _NotWantedError("NaN and Infinity are not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys,
    parse_int=_whole_number,
    parse_float=_finite_number,
    parse_constant=_refuse_constant,
)
