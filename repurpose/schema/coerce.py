"""The conversions an answer may undergo before it is validated, each recorded by its path.

Three, and no more: a number written as text, where the schema declares a number; a key that the
schema does not declare, where the format drops such keys; and null for a property that may be
absent, since providers' strict modes have no other way to leave one out. The validator itself
converts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.schema._paths import dot_path, shown_key
from repurpose.schema._shape import (
    PathParts,
    Schema,
    accepted_types,
    accepts_null,
    children,
    rewritten,
)

__all__ = [
    "Coerced",
    "Dropped",
    "coerce",
    "drop_undeclared",
    "has_numbers",
    "has_options",
    "without_null_options",
]

_LONGEST_NUMBER = 40
"""In characters; a longer one is no count or measure, and hardly survives as a float."""

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*+)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Coerced:
    """An answer with its numeric texts converted."""

    answer: JsonValue
    coerced: tuple[str, ...] = ()
    """The dot paths of what was converted, in the order of the answer."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """An answer without undeclared keys."""

    answer: JsonValue
    dropped: tuple[str, ...] = ()
    """The dot paths of what was dropped; a key that is no short plain name reads `*`."""


def coerce(answer: JsonValue, schema: JsonObject) -> Coerced:
    """The answer with every numeric text converted that stands where a number is declared.

    Lossless only, and only what JSON itself would read as a number: no comma, no sign of plus,
    no spaces, no NaN, no other digits than 0 to 9, nothing that a float would round. Never where
    the schema takes text as well, never to a boolean. The answer itself is not changed.

    >>> coerce({"price": "15.83"}, {"properties": {"price": {"type": "number"}}})
    Coerced(answer={'price': 15.83}, coerced=('price',))
    """
    paths: list[str] = []

    def convert(value: JsonValue, declared: Schema, path: PathParts) -> JsonValue:
        if not isinstance(value, str):
            return value
        number = _number(value, accepted_types(declared) or frozenset(("string",)))
        if number is None:
            return value
        paths.append(dot_path(path))
        return number

    return Coerced(rewritten(answer, schema, convert), tuple(paths))


def has_numbers(schema: Schema) -> bool:
    """Whether `coerce` could convert anything: some part wants a number and takes no text."""
    types = accepted_types(schema) or frozenset(("string",))
    if "string" not in types and not types.isdisjoint(("integer", "number")):
        return True
    return any(has_numbers(part) for _, part in children(schema) if isinstance(part, Mapping))


def has_options(schema: Schema) -> bool:
    """Whether `without_null_options` could leave anything out: some property is optional."""
    if schema.get("properties", {}).keys() - set(schema.get("required", ())):
        return True
    return any(has_options(part) for _, part in children(schema) if isinstance(part, Mapping))


def _number(text: str, types: frozenset[str]) -> int | float | None:
    """The number that a text is written as, where `types` want one and lose nothing by it."""
    if "string" in types or len(text) > _LONGEST_NUMBER or text == "-0":
        return None
    if not types.isdisjoint(("integer", "number")) and _WHOLE.fullmatch(text):
        return int(text)
    if "number" in types and _DECIMAL.fullmatch(text):
        number = float(text)
        if Decimal(repr(number)) == Decimal(text):
            return number
    return None


def drop_undeclared(answer: JsonValue, schema: JsonObject) -> Dropped:
    """The answer without the keys that its schema does not declare, for formats that drop them.

    An object whose schema says what further keys hold, or welcomes them with
    `additionalProperties: true`, keeps them. The answer itself is not changed.

    >>> drop_undeclared({"a": 1, "b": 2}, {"properties": {"a": {"type": "integer"}}})
    Dropped(answer={'a': 1}, dropped=('b',))
    """
    paths: list[str] = []

    def drop(value: JsonValue, declared: Schema, path: PathParts) -> JsonValue:
        if not isinstance(value, dict) or "properties" not in declared:
            return value
        if declared.get("additionalProperties", False) is not False:
            return value
        extra = [key for key in value if key not in declared["properties"]]
        if not extra:
            return value
        paths.extend(dot_path((*path, shown_key(key) or "*")) for key in extra)
        return {key: part for key, part in value.items() if key in declared["properties"]}

    return Dropped(rewritten(answer, schema, drop), tuple(paths))


def without_null_options(answer: JsonValue, schema: JsonObject) -> JsonValue:
    """The answer without optional properties that are null where null is no value of theirs.

    What is sent to a provider makes every property required and the optional ones nullable, so
    null is how a model says "absent". The answer itself is not changed.

    >>> without_null_options({"a": None}, {"properties": {"a": {"type": "string"}}})
    {}
    """

    def leave_out(value: JsonValue, declared: Schema, _path: PathParts) -> JsonValue:
        if not isinstance(value, dict) or None not in value.values():
            return value
        properties = declared.get("properties", {})
        required = declared.get("required", ())
        absent = {
            key
            for key, part in value.items()
            if part is None
            and key in properties
            and key not in required
            and not accepts_null(properties[key])
        }
        return {key: part for key, part in value.items() if key not in absent} if absent else value

    return rewritten(answer, schema, leave_out)
