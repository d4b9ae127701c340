"""The strict subset of JSON Schema that a format's shape is written in.

A schema outside it is refused before the first call, since an unknown or misread keyword would
let a bad answer through, or reject every answer after it was paid. Fail closed: what is not
listed here is refused, wherever it stands.

Inside, of draft 2020-12: `type`, `enum`, `const`; `minLength`, `maxLength`, `pattern`;
`minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf` (whole numbers);
`items`, `prefixItems`, `minItems`, `maxItems`, `uniqueItems`; `properties`, `required`,
`additionalProperties`; `anyOf`, `oneOf`, `allOf`, `not`; and the annotations `title`,
`description`, `default`, `examples`, `$comment` beside an assertion, `$schema` and `$id` at the
top. Outside: references, conditions, and `format`, which draft 2020-12 does not assert.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TypeGuard

from repurpose.errors import SchemaError
from repurpose.schema._paths import dot_path
from repurpose.schema._patterns import pattern_fault
from repurpose.schema._shape import ANNOTATIONS, PathParts, Schema, children, is_list

__all__ = ["MAX_SCHEMA_DEPTH", "check_subset"]

MAX_SCHEMA_DEPTH = 32
"""How deeply subschemas and values may be nested; providers stop at ten levels of objects."""

_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TOP_ONLY = ("$schema", "$id")
_PAIRS = (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum"))
_MAX_BITS = 332  # a hundred decimal digits, the longest number that intake lets through

_ADVICE = {
    "$ref": "write the shape out where it is used",
    "$defs": "write the shape out where it is used",
    "definitions": "write the shape out where it is used",
    "if": "describe the alternatives with anyOf",
    "then": "describe the alternatives with anyOf",
    "else": "describe the alternatives with anyOf",
    "format": "nothing would check it; use pattern, or say it in the description",
    "nullable": 'write the type as a list such as ["string", "null"]',
    "patternProperties": "declare the keys under properties",
    "additionalItems": "use prefixItems and items",
}


def check_subset(schema: object, name: str) -> None:
    """Return quietly where `schema` lies inside the strict subset and describes an object.

    Costs no call and reads nothing but the schema. `name` is how the user knows the schema.

    Raises:
        SchemaError: with one line that names the schema, the place as a dot path, and what to do.

    >>> check_subset({"type": "object", "properties": {"a": {"type": "text"}}}, "memo")
    Traceback (most recent call last):
    ...
    repurpose.errors.SchemaError: schema "memo", properties.a: type "text" is none of object, \
array, string, number, integer, boolean, null; use one of these
    """
    fault = _first_fault(schema, ())
    if fault is None and isinstance(schema, Mapping) and schema.get("type") != "object":
        fault = (), 'the top must be an object; give it "type": "object"'
    if fault is not None:
        path, words = fault
        raise SchemaError(f'schema "{name}", {dot_path(path) or "top"}: {words}')


def _first_fault(schema: object, path: PathParts) -> tuple[PathParts, str] | None:
    """The first thing wrong with a schema or its parts, with its place."""
    words = _node_fault(schema, path)
    if words is not None:
        return path, words
    if not isinstance(schema, Mapping):  # never: _node_fault answers for it
        return None
    for step, part in children(schema):
        fault = _first_fault(part, (*path, *step))
        if fault is not None:
            return fault
    return None


def _node_fault(schema: object, path: PathParts) -> str | None:
    """What is wrong with one schema, its parts aside."""
    if not isinstance(schema, Mapping):
        return _not_a_schema(path)
    if len(path) > 2 * MAX_SCHEMA_DEPTH:  # one level is two steps: properties and a name
        return f"nested more than {MAX_SCHEMA_DEPTH} deep; flatten it"
    for keyword, value in schema.items():
        words = _keyword_fault(keyword, value, at_top=not path)
        if words is not None:
            return words
    if not schema.keys() - ANNOTATIONS:
        return "says nothing about the value; give it a type"
    return _contradiction(schema)


def _not_a_schema(path: PathParts) -> str:
    if path and path[-1] == "items":
        return "items must be one schema; for a list of schemas use prefixItems"
    return "is not a schema; write an object with keywords"


def _keyword_fault(keyword: object, value: object, *, at_top: bool) -> str | None:
    shown = repr(str(keyword)[:60]).replace("'", '"')
    if keyword in _TOP_ONLY and not at_top:
        return f"{shown} may stand at the top only; remove it here"
    check = _CHECKS.get(keyword) if isinstance(keyword, str) else None
    if check is not None:
        return check(value)
    advice = _ADVICE.get(str(keyword)) or _advice_by_spelling(str(keyword))
    return f"{shown} is not in the supported subset; {advice}"


def _advice_by_spelling(keyword: str) -> str:
    close = get_close_matches(keyword[:60], _CHECKS, n=1, cutoff=0.8)
    return f'did you mean "{close[0]}"?' if close else "remove it"


def _contradiction(schema: Schema) -> str | None:
    """A rule that no answer could keep, so that every call would be paid in vain."""
    for low, high in _PAIRS:
        if low in schema and high in schema and schema[low] > schema[high]:
            return f"{low} is above {high}, so no value fits; correct one of them"
    if schema.get("additionalProperties") is False:
        undeclared = [
            key for key in schema.get("required", ()) if key not in schema.get("properties", {})
        ]
        if undeclared:
            return f"requires {undeclared[0]!r}, which properties does not declare; declare it"
    return None


# Each check answers with words that say what is wrong and what to do, or None.


def _anything(_value: object) -> None:
    return None


def _type(value: object) -> str | None:
    names = value if is_list(value) else [value]
    if not names:
        return "type names nothing; name at least one type"
    for one in names:
        if one not in _TYPES:
            return f'type "{str(one)[:60]}" is none of {", ".join(_TYPES)}; use one of these'
    return "type names one type twice; name it once" if len(set(names)) < len(names) else None


def _enum(value: object) -> str | None:
    if not is_list(value) or not value:
        return "enum must list at least one value; list the values, or remove it"
    return (
        None
        if all(_is_json(one) for one in value)
        else "enum holds a value that is not JSON; correct it"
    )


def _const(value: object) -> str | None:
    return None if _is_json(value) else "const is not a JSON value; correct it"


def _pattern(value: object) -> str | None:
    if not isinstance(value, str):
        return "pattern must be a text; correct it"
    fault = pattern_fault(value)
    return None if fault is None else f"the pattern {fault}"


def _count(value: object) -> str | None:
    if _is_whole(value) and value >= 0:
        return None
    return "a count must be a whole number from 0 up; correct it"


def _number(value: object) -> str | None:
    if _is_whole(value) or (isinstance(value, float) and math.isfinite(value)):
        return None
    return "a bound must be a number; correct it"


def _multiple(value: object) -> str | None:
    # Fractions such as 0.1 have no exact binary form, so that 0.3 would not be a multiple of it.
    if _is_whole(value) and value > 0:
        return None
    return "multipleOf must be a whole number above 0; correct it"


def _flag(value: object) -> str | None:
    return None if isinstance(value, bool) else "must be true or false; correct it"


def _names(value: object) -> str | None:
    if not is_list(value) or not all(isinstance(one, str) for one in value):
        return "required must list names of properties; correct it"
    return (
        "required names one property twice; name it once" if len(set(value)) < len(value) else None
    )


def _schemas(value: object) -> str | None:
    return (
        None if is_list(value) and value else "must list at least one schema; add one, or remove it"
    )


def _property_map(value: object) -> str | None:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return None
    return "properties must map names to schemas; correct it"


def _draft(value: object) -> str | None:
    if isinstance(value, str) and value.removesuffix("#") == _DRAFT:
        return None
    return f"$schema must be {_DRAFT}; correct or remove it"


def _text(value: object) -> str | None:
    return None if isinstance(value, str) else "an annotation must be a text; correct it"


def _is_whole(value: object) -> TypeGuard[int]:
    return (
        isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _MAX_BITS
    )


def _is_json(value: object, room: int = MAX_SCHEMA_DEPTH) -> bool:
    if isinstance(value, Mapping):
        return room > 0 and all(
            isinstance(key, str) and _is_json(part, room - 1) for key, part in value.items()
        )
    if is_list(value):
        return room > 0 and all(_is_json(part, room - 1) for part in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | bool) or _is_whole(value)


_CHECKS: dict[str, Callable[[object], str | None]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "minLength": _count,
    "maxLength": _count,
    "minimum": _number,
    "maximum": _number,
    "exclusiveMinimum": _number,
    "exclusiveMaximum": _number,
    "multipleOf": _multiple,
    "items": _anything,  # a schema; the walk over children checks it
    "prefixItems": _schemas,
    "minItems": _count,
    "maxItems": _count,
    "uniqueItems": _flag,
    "properties": _property_map,
    "required": _names,
    "additionalProperties": _anything,  # a boolean or a schema; the walk checks the schema
    "anyOf": _schemas,
    "oneOf": _schemas,
    "allOf": _schemas,
    "not": _anything,  # a schema; the walk over children checks it
    "title": _text,
    "description": _text,
    "default": _anything,
    "examples": _anything,
    "$comment": _text,
    "$schema": _draft,
    "$id": _text,
}
