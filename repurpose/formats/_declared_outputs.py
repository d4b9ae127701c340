"""From a list of declared outputs to the JSON Schema that says the same.

The list is what somebody writes who knows no JSON Schema. It can say nothing that a schema file
cannot, and both go the same way from here on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from repurpose.core.json_types import JsonObject
from repurpose.errors import SchemaError
from repurpose.formats._declared_wording import meant, unknown_key
from repurpose.text.counting import MEASURES

__all__ = ["UNIT", "schema_of"]

UNIT = "unit: "
"""How a `$comment` begins that names the unit of `maxLength`; without one it is code points."""

_SCALARS = ("string", "number", "integer", "boolean")
_TYPES = (*_SCALARS, "array", "object")
_KEYS = {
    "name": _TYPES,
    "type": _TYPES,
    "required": _TYPES,
    "label": _TYPES,
    "description": _TYPES,
    "enum": _SCALARS,
    "max_length": ("string",),
    "unit": ("string",),
    "max_items": ("array",),
    "items": ("array",),
    "fields": ("object",),
}
"""Each key of an output, and the types it goes with; an array may have those of its items."""
_NAME = re.compile(r"[a-z][A-Za-z0-9_]{0,63}")
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}
_DEEPEST = 8
"""Levels of fields within fields; strict modes of providers stop at ten levels of objects."""


def schema_of(outputs: Sequence[object], name: str) -> JsonObject:
    """The schema that declares these outputs; `name` is the format's, for messages.

    An output has a `name`, a `type` and perhaps `required` (not by default), `label`,
    `description`, `enum`, `max_length` with `unit` (code_points by default), `max_items`, `items`
    (a type) and `fields` (outputs again). What says something about a text may stand with an
    array of texts and holds for each of them.

    Raises:
        SchemaError: with one line that names the output and the key.

    >>> schema_of([{"name": "title", "type": "string", "required": True, "max_length": 60}], "meta")
    {'type': 'object', 'properties': {'title': {'type': 'string', 'maxLength': 60}}, \
'required': ['title'], 'additionalProperties': False}
    """
    if not outputs:
        raise SchemaError(f"format {name}: outputs is empty; declare some, or leave it out")
    return _Reader(name).fields(outputs, ())


class _Reader:
    """Reads the outputs of one format."""

    def __init__(self, name: str) -> None:
        self._name = name

    def fields(self, outputs: object, path: tuple[str, ...]) -> dict[str, Any]:
        """The schema of an object with these fields."""
        if not _is_list(outputs) or not outputs:
            raise self._fault(path, "must list at least one field as a table with name and type")
        if len(path) > _DEEPEST:
            raise self._fault(path, f"is nested more than {_DEEPEST} deep; flatten it")
        properties: dict[str, Any] = {}
        required: list[str] = []
        for number, entry in enumerate(outputs, start=1):
            if not isinstance(entry, Mapping):
                raise self._fault((*path, str(number)), "is no table with name and type")
            field = self._named(entry, (*path, str(number)))
            if field in properties:
                raise self._fault((*path, field), "is declared twice")
            properties[field] = self._field(entry, (*path, field))
            if self._flag(entry, "required", (*path, field)):
                required.append(field)
        made = {"type": "object", "properties": properties, "required": required}
        return {**made, "additionalProperties": False}

    def _named(self, entry: Mapping[str, Any], path: tuple[str, ...]) -> str:
        field = entry.get("name")
        if not isinstance(field, str):
            raise self._fault(path, "has no name")
        if not _NAME.fullmatch(field):
            words = "begin with a small letter and have letters, digits and _ only"
            raise self._fault(path, f"is named {field[:40]!r}; a name must {words}")
        return field

    def _field(self, entry: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        """The schema of one field."""
        fault = unknown_key(entry, _KEYS)
        if fault:
            raise self._fault(path, fault)
        kind = self._type(entry, "type", path)
        items = self._items(entry, path) if kind == "array" else None
        for key in entry:
            if kind not in _KEYS[key] and (items is None or items not in _KEYS[key]):
                what = kind if items is None else f"{kind} of {items}s"
                raise self._fault(path, f"{key} says nothing about type {what}; remove it")
        made = self._annotated(entry, path) | {"type": kind}
        if items is None:
            return made | self._about(entry, kind, path)
        if "max_items" in entry:
            made["maxItems"] = self._count(entry, "max_items", 1, path)
        return made | {"items": {"type": items} | self._about(entry, items, path)}

    def _about(self, entry: Mapping[str, Any], kind: str, path: tuple[str, ...]) -> dict[str, Any]:
        """What an entry says about one value of a type."""
        made: dict[str, Any] = {}
        if "enum" in entry:
            made["enum"] = self._enum(entry["enum"], kind, path)
        if "max_length" in entry:
            made["maxLength"] = self._count(entry, "max_length", 2, path)
        if "unit" in entry:
            made["$comment"] = UNIT + self._unit(entry, path)
        return made | self.fields(entry.get("fields"), path) if kind == "object" else made

    def _annotated(self, entry: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, keyword in (("label", "title"), ("description", "description")):
            if key in entry:
                if not isinstance(entry[key], str) or not entry[key].strip():
                    raise self._fault(path, f"{key} must be a text")
                made[keyword] = entry[key].strip()
        return made

    def _type(self, entry: Mapping[str, Any], key: str, path: tuple[str, ...]) -> str:
        kind = entry.get(key, "object" if key == "items" and "fields" in entry else None)
        if kind is None:
            raise self._fault(path, f"has no {key}; it is one of {', '.join(_TYPES)}")
        if kind not in _TYPES:
            advice = meant(kind, _TYPES) or f"it is one of {', '.join(_TYPES)}"
            raise self._fault(path, f'{key} "{str(kind)[:40]}" is not known; {advice}')
        return str(kind)

    def _items(self, entry: Mapping[str, Any], path: tuple[str, ...]) -> str:
        items = self._type(entry, "items", path)
        if items == "array":
            raise self._fault(path, "an array of arrays needs a schema file; see schema_file")
        return items

    def _enum(self, given: object, kind: str, path: tuple[str, ...]) -> list[Any]:
        if not _is_list(given) or not given:
            raise self._fault(path, "enum must list at least one value")
        for value in given:
            is_kind = isinstance(value, _PYTHON_TYPES[kind])
            if not is_kind or (isinstance(value, bool) and kind != "boolean"):
                raise self._fault(path, f"enum holds a value that is no {kind}")
        return list(given)

    def _count(self, entry: Mapping[str, Any], key: str, least: int, path: tuple[str, ...]) -> int:
        count = entry[key]
        if not isinstance(count, int) or isinstance(count, bool) or count < least:
            raise self._fault(path, f"{key} must be a whole number from {least} up")
        return count

    def _unit(self, entry: Mapping[str, Any], path: tuple[str, ...]) -> str:
        if "max_length" not in entry:
            raise self._fault(path, "unit is that of max_length, which is not given")
        unit = entry["unit"]
        if unit not in MEASURES:
            advice = meant(unit, MEASURES) or f"known: {', '.join(MEASURES)}"
            raise self._fault(path, f'unit "{str(unit)[:40]}" is not known; {advice}')
        return str(unit)

    def _flag(self, entry: Mapping[str, Any], key: str, path: tuple[str, ...]) -> bool:
        value = entry.get(key, False)
        if not isinstance(value, bool):
            raise self._fault(path, f"{key} must be true or false")
        return value

    def _fault(self, path: tuple[str, ...], words: str) -> SchemaError:
        where = f"output {'.'.join(path)}" if path else "outputs"
        return SchemaError(f"format {self._name}, {where}: {words}")


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
