"""What a schema says about the shape of a value, read without a value to validate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from repurpose.core.json_types import JsonValue

__all__ = [
    "ANNOTATIONS",
    "PathParts",
    "Schema",
    "accepted_types",
    "accepts_null",
    "children",
    "is_list",
    "json_type",
    "plain_copy",
    "rewritten",
]

PathParts: TypeAlias = tuple[str | int, ...]
Schema: TypeAlias = Mapping[str, Any]
"""A schema that `check_subset` has let through, or a part of one."""

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$comment", "$schema", "$id"}
)
"""Keywords that assert nothing; allowed beside an assertion."""

_ONE_SCHEMA = ("items", "not")
_EXTRA = "additionalProperties"
_SCHEMA_LISTS = ("prefixItems", "anyOf", "oneOf", "allOf")
_PARTS = frozenset({"properties", _EXTRA, "items", "prefixItems"})
_JSON_TYPES: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}


def json_type(value: object) -> str:
    """The JSON type of a decoded value; 5.0 is a number, not an integer.

    >>> json_type(True), json_type(5), json_type(5.0)
    ('boolean', 'integer', 'number')
    """
    return _JSON_TYPES.get(type(value), "unknown")


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Whether `value` is a sequence that stands for a JSON array."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def plain_copy(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A copy of a JSON value as dicts and lists, which is what equality compares."""
    if isinstance(value, Mapping):
        return {key: plain_copy(part) for key, part in value.items()}
    if is_list(value):
        return [plain_copy(part) for part in value]
    return value


def children(schema: Schema) -> Iterator[tuple[PathParts, object]]:
    """Every direct subschema with its path, in the order in which the schema has them.

    A boolean `additionalProperties` is no subschema. Shapes are not checked: what stands where
    a list or a map of schemas belongs, but is none, yields nothing.
    """
    for keyword, value in schema.items():
        if keyword in _ONE_SCHEMA or (keyword == _EXTRA and not isinstance(value, bool)):
            yield (keyword,), value
        elif keyword in _SCHEMA_LISTS and is_list(value):
            for index, part in enumerate(value):
                yield (keyword, index), part
        elif keyword == "properties" and isinstance(value, Mapping):
            for name, part in value.items():
                yield (keyword, name), part


def accepted_types(schema: Schema) -> frozenset[str] | None:
    """The JSON types that a schema names, its alternatives included; None where it names none.

    >>> sorted(accepted_types({"anyOf": [{"type": "number"}, {"type": "null"}]}) or ())
    ['null', 'number']
    """
    named = schema.get("type")
    if named is not None:
        return frozenset((named,) if isinstance(named, str) else named)
    found: frozenset[str] = frozenset()
    branches = _alternatives(schema)
    for branch in branches:
        types = accepted_types(branch)
        if types is None:
            return None
        found |= types
    return found if branches else None


def accepts_null(schema: Schema) -> bool:
    """Whether null is a value that the schema lets through; `not` is not looked at."""
    types = accepted_types({"type": schema["type"]} if "type" in schema else {})
    if types is not None and "null" not in types:
        return False
    if None not in schema.get("enum", (None,)) or schema.get("const") is not None:
        return False
    if not all(accepts_null(part) for part in schema.get("allOf", ())):
        return False
    branches = _alternatives(schema)
    return not branches or any(accepts_null(branch) for branch in branches)


def rewritten(
    value: JsonValue,
    schema: Schema,
    change: Callable[[JsonValue, Schema, PathParts], JsonValue],
    path: PathParts = (),
) -> JsonValue:
    """`value` with `change` applied to every part that the schema declares, outer parts first.

    Nothing is changed in place; without a change the same value comes back. Goes no deeper than
    the schema does. Where alternatives leave open which shape is meant, the part stays as it is.
    """
    value = change(value, schema, path)
    if not isinstance(value, dict | list):
        return value
    schema = _meant(schema, value)
    changed: dict[str | int, JsonValue] = {}
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        declared = _part_schema(schema, key)
        if declared is not None:
            new = rewritten(part, declared, change, (*path, key))
            if new is not part:
                changed[key] = new
    if not changed:
        return value
    if isinstance(value, dict):
        return {key: changed.get(key, part) for key, part in value.items()}
    return [changed.get(index, part) for index, part in enumerate(value)]


def _alternatives(schema: Schema) -> list[Schema]:
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]


def _meant(schema: Schema, value: JsonValue) -> Schema:
    """The schema or the one alternative that describes the parts of `value`; else an empty one."""
    wanted = json_type(value)
    while not schema.keys() & _PARTS:
        fitting = [
            branch
            for branch in _alternatives(schema)
            if wanted in (accepted_types(branch) or (wanted,))
        ]
        if len(fitting) != 1:
            return {}
        schema = fitting[0]
    return schema


def _part_schema(schema: Schema, key: str | int) -> Schema | None:
    """What a schema declares for one key or one index."""
    if isinstance(key, str):
        part = schema.get("properties", {}).get(key, schema.get(_EXTRA))
    else:
        prefix = schema.get("prefixItems", ())
        part = prefix[key] if key < len(prefix) else schema.get("items")
    return part if isinstance(part, Mapping) else None
