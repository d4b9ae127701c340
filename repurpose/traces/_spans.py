"""Spans as OpenTelemetry writes them to JSON, read into plain JSON.

Field names may be in camelCase, as the OTLP specification asks, or in snake_case, as protobuf's
own names are and as MLflow writes them.
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.schema.intake import IntakeError, decode

__all__ = [
    "attributes_of",
    "begin_of",
    "field_of",
    "has_ended",
    "has_failed",
    "is_root",
    "objects",
    "plain_span",
    "read_text",
]

_NO_SPAN = frozenset({None, "", "0" * 16, "AAAAAAAAAAA="})
"""What stands for no parent: nothing, or eight zero bytes in hex or in base64."""


def objects(value: JsonValue) -> Iterator[JsonObject]:
    """The objects in a list; nothing of what is no list, and no other items."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (item for item in value if isinstance(item, Mapping))


def field_of(value: JsonObject, name: str) -> JsonValue:
    """A field by its name in snake_case, or as that is in camelCase."""
    if name in value:
        return value[name]
    first, *rest = name.split("_")
    return value.get(first + "".join(map(str.capitalize, rest)))


def read_text(value: JsonValue) -> JsonValue:
    """The value; a text that is a JSON object or array is read.

    >>> read_text('{"answer": 1}'), read_text("12"), read_text("{no}")
    ({'answer': 1}, '12', '{no}')
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return decode(value)
        except IntakeError:
            return value
    return value


def attributes_of(value: JsonValue) -> dict[str, JsonValue]:
    """Attributes in plain JSON, texts in them read where they are objects or arrays.

    They may be a list of keys and values, or, as MLflow keeps them in files, an object with each
    value as a JSON text.

    >>> attributes_of([{"key": "n", "value": {"intValue": "7"}}])
    {'n': 7}
    >>> attributes_of({"n": "7", "t": '"seven"'})
    {'n': 7, 't': 'seven'}
    """
    if isinstance(value, Mapping):
        return {key: _unpacked(each) for key, each in value.items()}
    return {
        key: read_text(_plain(each.get("value")))
        for each in objects(value)
        if isinstance(key := each.get("key"), str)
    }


def begin_of(span: JsonObject) -> int:
    """When it began, in nanoseconds since 1970; 0 where it does not say."""
    return _nanoseconds(field_of(span, "start_time_unix_nano"))


def has_ended(span: JsonObject) -> bool:
    """Whether it has an end."""
    return _nanoseconds(field_of(span, "end_time_unix_nano")) > 0


def has_failed(span: JsonObject) -> bool:
    """Whether its status is that of an error."""
    return _status_of(span) == "error"


def is_root(span: JsonObject) -> bool:
    """Whether it has no parent."""
    parent = field_of(span, "parent_span_id")
    return not isinstance(parent, Mapping | Sequence | int | float) or parent in _NO_SPAN


def plain_span(span: JsonObject) -> dict[str, JsonValue]:
    """A span in plain JSON, with names that do not depend on who wrote it."""
    return {
        "name": span.get("name"),
        "span_id": field_of(span, "span_id"),
        "parent_span_id": None if is_root(span) else field_of(span, "parent_span_id"),
        "status": _status_of(span),
        "started_at": begin_of(span),
        "ended_at": _nanoseconds(field_of(span, "end_time_unix_nano")) or None,
        "attributes": attributes_of(span.get("attributes")),
        "events": [
            {"name": event.get("name"), "attributes": attributes_of(event.get("attributes"))}
            for event in objects(span.get("events"))
        ],
    }


def _status_of(span: JsonObject) -> str:
    status = span.get("status")
    match status.get("code") if isinstance(status, Mapping) else None:
        case 2 | "STATUS_CODE_ERROR" | "ERROR":
            return "error"
        case 1 | "STATUS_CODE_OK" | "OK":
            return "ok"
        case _:
            return "unset"


def _plain(value: JsonValue) -> JsonValue:
    """What an `AnyValue` says. It nests no deeper than the JSON it was read from."""
    if not isinstance(value, Mapping):
        return None
    if (whole := field_of(value, "int_value")) is not None:
        return _whole(whole)
    if isinstance(items := field_of(value, "array_value"), Mapping):
        return [_plain(each) for each in objects(items.get("values"))]
    if isinstance(pairs := field_of(value, "kvlist_value"), Mapping):
        return {
            str(each.get("key")): _plain(each.get("value")) for each in objects(pairs.get("values"))
        }
    kinds = ("string_value", "bool_value", "double_value", "bytes_value")
    return next((said for kind in kinds if (said := field_of(value, kind)) is not None), None)


def _whole(value: JsonValue) -> JsonValue:
    """A whole number, which JSON of protobuf writes as a text where it may have 64 bits."""
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) <= 20:
        return int(value)
    return value


def _unpacked(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    try:
        return read_text(decode(value))
    except IntakeError:
        return value


def _nanoseconds(value: JsonValue) -> int:
    found = _whole(value)
    return int(found) if isinstance(found, int | float) else 0
