"""What the strict mode of OpenAI-compatible servers takes, checked before a call is paid.

Source: OpenAI's guide "Structured Outputs", supported schemas and limits, read in November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from repurpose.errors import SchemaError
from repurpose.schema._paths import dot_path
from repurpose.schema._shape import PathParts, children

__all__ = ["check_strict"]

_ALLOWED = frozenset(
    {
        *("type", "enum", "const", "anyOf", "title", "description"),
        *("properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"),
    }
)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_PROPERTIES = 5_000
_MAX_LEVELS = 10
_MAX_ENUM_VALUES = 1_000
_MAX_TEXT = 120_000  # characters of all property names, enum values and const values together
_LONG_ENUM = 250
_MAX_LONG_ENUM_TEXT = 15_000  # characters of the values of one enum with more than 250

_ADVICE = {
    "allOf": "write its parts as one schema",
    "not": "say it in the description; it cannot be sent",
    "oneOf": "use anyOf",
    "prefixItems": "declare an object with one property for each place",
}


def check_strict(wire: object, name: str = "schema") -> None:
    """Return quietly where a server's strict mode will take `wire`, as `wire_schema` makes it.

    `name` is what the server is told, so it is checked too.

    Raises:
        SchemaError: with one line that names the schema, the place as a dot path, and what to do.

    >>> check_strict({"type": "object", "properties": {}}, "memo")
    Traceback (most recent call last):
    ...
    repurpose.errors.SchemaError: schema "memo", top: an object must have \
"additionalProperties": false; declare all its keys
    """
    if not _NAME.fullmatch(name):
        raise _error(name, (), "a name has 1 to 64 letters, digits, _ and -; rename the format")
    if not isinstance(wire, Mapping) or wire.get("type") != "object" or "anyOf" in wire:
        raise _error(name, (), "the top must be an object without anyOf; wrap it in one")
    nodes = list(_nodes(wire, ()))
    for path, node in nodes:
        words = _node_fault(node) or _shape_fault(node)
        if _levels(path) > _MAX_LEVELS:
            words = f"stands more than {_MAX_LEVELS} levels deep; flatten the schema"
        if words is not None:
            raise _error(name, path, words)
    _check_sizes([node for _, node in nodes], name)


def _error(name: str, path: PathParts, words: str) -> SchemaError:
    return SchemaError(f'schema "{name[:64]}", {dot_path(path) or "top"}: {words}')


def _nodes(schema: Mapping[str, Any], path: PathParts) -> Iterator[tuple[PathParts, Any]]:
    """The schema and all its parts; what nests too deeply is given without its parts."""
    yield path, schema
    if _levels(path) > _MAX_LEVELS:
        return
    for step, part in children(schema):
        if isinstance(part, Mapping):
            yield from _nodes(part, (*path, *step))


def _levels(path: PathParts) -> int:
    """How many objects and arrays stand around a place, itself counted.

    A property that is called `items` counts once too often, which errs on the safe side.
    """
    return 1 + sum(step in {"properties", "items"} for step in path)


def _node_fault(node: Mapping[str, Any]) -> str | None:
    for keyword in node:
        if keyword not in _ALLOWED:
            advice = _ADVICE.get(keyword, "remove it")
            return f'"{keyword[:60]}" is not taken by a strict mode; {advice}'
    if "type" not in node and "anyOf" not in node:
        return "has neither type nor anyOf; give it a type"
    return None


def _shape_fault(node: Mapping[str, Any]) -> str | None:
    named = node.get("type", ())
    types = (named,) if isinstance(named, str) else tuple(named)
    if "array" in types and "items" not in node:
        return "an array must say what its items are; add items"
    if "object" not in types:
        return None
    if node.get("additionalProperties") is not False:
        return 'an object must have "additionalProperties": false; declare all its keys'
    if not node.get("properties"):
        return "declares no properties, so a model could answer {} only; declare some"
    if list(node.get("required", ())) != list(node["properties"]):
        return "every property must be required, in order; let optional ones be null"
    return None


def _check_sizes(nodes: list[Mapping[str, Any]], name: str) -> None:
    enums = [_values(node) for node in nodes]
    properties = [key for node in nodes for key in node.get("properties", ())]
    text = sum(map(len, properties)) + sum(map(_text_length, enums))
    if any(len(one) > _LONG_ENUM and _text_length(one) > _MAX_LONG_ENUM_TEXT for one in enums):
        words = f"an enum with over {_LONG_ENUM} values has over {_MAX_LONG_ENUM_TEXT:,} characters"
    elif len(properties) > _MAX_PROPERTIES:
        words = f"has more than {_MAX_PROPERTIES:,} properties"
    elif sum(map(len, enums)) > _MAX_ENUM_VALUES:
        words = f"has more than {_MAX_ENUM_VALUES:,} enum values"
    elif text > _MAX_TEXT:
        words = f"has more than {_MAX_TEXT:,} characters of names and values"
    else:
        return
    raise _error(name, (), f"{words}; shorten it")


def _values(node: Mapping[str, Any]) -> list[Any]:
    return [*node.get("enum", ()), *([node["const"]] if "const" in node else ())]


def _text_length(values: list[Any]) -> int:
    return sum(len(str(value)) for value in values)
