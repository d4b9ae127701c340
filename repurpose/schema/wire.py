"""The copy of a schema that goes to a provider, and the check that a provider will take it.

Computed from the full schema, which stays the judge of every answer. Written for the strict mode
of OpenAI-compatible servers ("Structured Outputs", November 2026): every property required,
every object closed, and none of the keywords that such servers refuse. Left out on top of that,
and told in words, is every bound. A decoder constrained by `maxLength` or `maxItems` stops in
mid-word; by `minItems` it pads a thin source; by a numeric bound it clamps to a value that the
model did not mean; `pattern` is read differently by each server. In words they guide the
model, and the full schema and the post-validators enforce them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from repurpose.core.json_types import JsonObject
from repurpose.schema._shape import ANNOTATIONS, Schema, accepts_null, json_type
from repurpose.schema._strict import check_strict
from repurpose.schema._wording import counted

__all__ = ["check_strict", "wire_schema"]

_IN_WORDS: Mapping[str, Callable[[Any], str]] = {
    "minLength": lambda least: f"at least {counted(least, 'character')}",
    "maxLength": lambda most: f"at most {counted(most, 'character')}",
    "pattern": lambda pattern: f"matches the pattern {pattern}",
    "minimum": lambda bound: f"at least {bound}",
    "maximum": lambda bound: f"at most {bound}",
    "exclusiveMinimum": lambda bound: f"more than {bound}",
    "exclusiveMaximum": lambda bound: f"less than {bound}",
    "multipleOf": lambda step: f"a multiple of {step}",
    "minItems": lambda least: f"at least {counted(least, 'item')}",
    "maxItems": lambda most: f"at most {counted(most, 'item')}",
    "uniqueItems": lambda wanted: "no item twice" if wanted else "",
}
_TYPE_OF_KEYWORD = {
    "properties": "object",
    "required": "object",
    "items": "array",
    "prefixItems": "array",
    "minItems": "array",
    "maxItems": "array",
    "uniqueItems": "array",
    "pattern": "string",
    "minLength": "string",
    "maxLength": "string",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
}


def wire_schema(full: JsonObject) -> JsonObject:
    """The schema to send: the shape of `full`, with its bounds told in descriptions.

    Where `full` closes its objects and names its types, every answer with all properties that is
    valid by it is valid by the copy. Keys stay in their order. A property that may be absent
    becomes required and nullable: `read_answer` takes null there as absent. What strict mode
    cannot say (`allOf`, `not`, open maps) is left
    standing, so that `check_strict` can name it. The same schema gives the same copy, always.

    >>> wire_schema({"type": "string", "maxLength": 60, "description": "Subject line"})
    {'type': 'string', 'description': 'Subject line. At most 60 characters.'}
    """
    wire: dict[str, Any] = {}
    for keyword, value in _with_type(full).items():
        if keyword in _IN_WORDS or (keyword in ANNOTATIONS and keyword != "description"):
            continue
        wire |= _translated(keyword, value, full)
    words = _words(full)
    if words:
        wire["description"] = _sentence(wire.get("description", ""), words)
    if "object" in _type_names(wire):
        wire |= _closed(wire)
    return wire


def _translated(keyword: str, value: Any, full: Schema) -> dict[str, Any]:  # noqa: ANN401 - the value of any keyword
    """One keyword as strict mode has it."""
    match keyword:
        case "properties":
            required = full.get("required", ())
            wired = {name: wire_schema(part) for name, part in value.items()}
            return {
                keyword: {
                    name: part if name in required else _nullable(part)
                    for name, part in wired.items()
                }
            }
        case "items" if "prefixItems" not in full:
            return {keyword: wire_schema(value)}
        case "prefixItems":
            return {"items": _any_item([*value, *([full["items"]] if "items" in full else [])])}
        case "items":
            return {}
        case "anyOf" | "allOf":
            return {keyword: [wire_schema(part) for part in value]}
        case "oneOf" if "anyOf" not in full:
            return {"anyOf": [wire_schema(part) for part in value]}
        case "additionalProperties":
            return {keyword: wire_schema(value) if isinstance(value, Mapping) else False}
        case _:
            return {keyword: value}


def _any_item(schemas: list[Schema]) -> dict[str, Any]:
    """One schema for items that have a schema each by their place."""
    wired: list[Any] = []
    for schema in schemas:
        part = wire_schema(schema)
        if part not in wired:
            wired.append(part)
    return wired[0] if len(wired) == 1 else {"anyOf": wired}


def _closed(wire: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords that close an object: all properties required and, but for maps, no others."""
    properties = wire.get("properties", {})
    extra = wire.get("additionalProperties", False)
    return {"properties": properties, "required": list(properties), "additionalProperties": extra}


def _nullable(wire: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with null let through as well."""
    if accepts_null(wire):
        return dict(wire)
    opened = dict(wire)
    if "anyOf" in wire:
        opened["anyOf"] = [*wire["anyOf"], {"type": "null"}]
    if "const" in wire:
        opened["enum"] = [opened.pop("const"), None]
    elif "enum" in wire:
        opened["enum"] = [*wire["enum"], None]
    if "type" in wire:
        opened["type"] = [*_type_names(wire), "null"]
    return opened


def _with_type(full: Schema) -> Schema:
    """The schema with its type first where it leaves it to be inferred.

    Strict mode wants a type everywhere. Where the full schema names none, its other keywords
    say nothing about values of further types, so that the narrower copy loses nothing meant.
    """
    if "type" in full or "anyOf" in full or "oneOf" in full:
        return full
    values = full["enum"] if "enum" in full else [full["const"]] if "const" in full else None
    if values is not None:
        names = list(dict.fromkeys(map(json_type, values)))
        return {"type": names[0] if len(names) == 1 else names, **full}
    named = next((_TYPE_OF_KEYWORD[key] for key in full if key in _TYPE_OF_KEYWORD), None)
    return full if named is None else {"type": named, **full}


def _words(full: Schema) -> list[str]:
    """The keywords that are left out, each in words, in the order of the schema."""
    words = [_IN_WORDS[key](value) for key, value in full.items() if key in _IN_WORDS]
    if "prefixItems" in full:
        words.append(f"in this order: {', '.join(map(_item_words, full['prefixItems']))}")
    return [one for one in words if one]


def _item_words(schema: Schema) -> str:
    named = _type_names(schema)
    return schema.get("description") or schema.get("title") or " or ".join(named) or "any value"


def _sentence(description: str, words: list[str]) -> str:
    text = description.rstrip()
    if text and text[-1] not in ".!?:;。":
        text += "."
    told = "; ".join(words)
    return f"{text} {told[0].upper()}{told[1:]}.".lstrip()


def _type_names(schema: Schema) -> list[str]:
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)
