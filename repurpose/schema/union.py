"""One schema for the answers of several formats, for servers that put it before the messages.

There, calls with different schemas never begin alike. So all calls for a source are sent the same
one: an object with a field for each format, of which a call fills its own and leaves the others
null. Chosen over alternatives under one key, since a field's name says which shape is meant, and
since strict mode refuses alternatives whose first keys are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.remembered import remembered
from repurpose.errors import SchemaError
from repurpose.schema.intake import decode
from repurpose.schema.wire import check_strict

__all__ = ["SHARED_NAME", "inner_answer", "is_shared", "shared_schema"]

SHARED_NAME = "answers"
"""What a server is told that the schema is called."""


def shared_schema(wires: Sequence[tuple[str, JsonObject]]) -> JsonObject | None:
    """The schema under which each of these named formats can be answered, or None for none.

    `wires` are names with what `wire_schema` makes. There is none where fewer than two formats are
    given, where strict mode would refuse it, and where it could be taken for a format's own.
    Equal formats give the same object, whatever the source.

    >>> memo = {"type": "object", "properties": {"text": {"type": "string"}},
    ...         "required": ["text"], "additionalProperties": False}
    >>> both = shared_schema([("memo", memo), ("note", memo)])
    >>> (both["required"], both["properties"]["note"]["anyOf"][1])
    (['memo', 'note'], {'type': 'null'})
    """
    return _shared(tuple((name, _text(wire)) for name, wire in wires))


_text = remembered(json.dumps)


@lru_cache(maxsize=16)  # one object for all sources of a run, as what is made of it is remembered
def _shared(wires: tuple[tuple[str, str], ...]) -> JsonObject | None:
    shapes = {name: decode(text) for name, text in wires}
    if len(shapes) < 2:
        return None
    if any(isinstance(one, Mapping) and _fields(one) == shapes.keys() for one in shapes.values()):
        return None
    properties: JsonObject = {
        name: {"anyOf": [shape, {"type": "null"}]} for name, shape in shapes.items()
    }
    schema: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    try:
        check_strict(schema, SHARED_NAME)
    except SchemaError:
        return None
    return schema


def is_shared(format: str, schema: JsonObject, wire: JsonObject) -> bool:
    """Whether `wire`, sent for this format of this full schema, is one that formats share.

    Exact, since a format's own wire schema declares the same fields as its full one.
    """
    fields = _fields(wire)
    return format in fields and fields != _fields(schema)


def inner_answer(value: JsonValue, format: str) -> JsonValue:
    """The format's own answer in an object with a field for each: null in an answer of another one.

    What has no such field is left as it is, for the validator to judge.
    """
    return value[format] if isinstance(value, Mapping) and format in value else value


def _fields(schema: Mapping[str, JsonValue]) -> set[str]:
    properties = schema.get("properties")
    return set(properties) if isinstance(properties, Mapping) else set()
