"""What is sent to a provider: the shape without bounds, closed, in order, and takeable."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from repurpose.errors import SchemaError
from repurpose.schema.answer import Accepted, read_answer
from repurpose.schema.subset import check_subset
from repurpose.schema.validate import compile_schema
from repurpose.schema.wire import check_strict, wire_schema

MEMO: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "memo",
    "title": "Memo",
    "type": "object",
    "properties": {
        "subject": {"type": "string", "description": "Subject line", "maxLength": 60},
        "kind": {"enum": ["news", "alert"], "examples": ["news"]},
        "lines": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "pattern": "^[A-Z]"},
            "minItems": 2,
            "maxItems": 5,
            "uniqueItems": True,
        },
        "price": {"type": "number", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 2},
        "sender": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "role": {"type": "string"}},
            "required": ["name"],
        },
    },
    "required": ["subject", "kind", "lines"],
    "additionalProperties": False,
}


def part(name: str) -> Any:
    """A property of the memo as it is sent."""
    wired: Any = wire_schema(MEMO)
    return wired["properties"][name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("subject", {"type": "string", "description": "Subject line. At most 60 characters."}),
        ("kind", {"type": "string", "enum": ["news", "alert"]}),
        (
            "lines",
            {
                "type": "array",
                "items": {
                    "type": "string",
                    "description": "At least 1 character; matches the pattern ^[A-Z].",
                },
                "description": "At least 2 items; at most 5 items; no item twice.",
            },
        ),
        (
            "price",
            {
                "type": ["number", "null"],
                "description": "At least 0; less than 10; a multiple of 2.",
            },
        ),
        (
            "sender",
            {
                "type": ["object", "null"],
                "properties": {"name": {"type": "string"}, "role": {"type": ["string", "null"]}},
                "required": ["name", "role"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_a_property_is_sent_without_bounds_and_with_them_in_words(name: str, expected: Any) -> None:
    assert part(name) == expected


def test_every_property_is_required_in_its_order_and_the_object_is_closed() -> None:
    wired = wire_schema(MEMO)
    names = ["subject", "kind", "lines", "price", "sender"]
    assert list(wired) == ["type", "properties", "required", "additionalProperties"]
    assert list(wired["properties"]) == names  # type: ignore[arg-type]
    assert wired["required"] == names
    assert wired["additionalProperties"] is False


def test_the_copy_is_the_same_every_time_and_the_schema_stays_as_it_was() -> None:
    before = copy.deepcopy(MEMO)
    assert json.dumps(wire_schema(MEMO)) == json.dumps(wire_schema(MEMO))
    assert before == MEMO


def test_the_copy_of_the_copy_is_the_copy() -> None:
    wired = wire_schema(MEMO)
    assert wire_schema(wired) == wired


def test_the_copy_lies_in_the_subset_and_a_strict_mode_takes_it() -> None:
    wired = wire_schema(MEMO)
    check_subset(wired, "memo")
    check_strict(wired, "memo")


def test_an_answer_to_the_copy_with_null_for_what_may_be_absent_is_valid() -> None:
    answer = {"subject": "a", "kind": "news", "lines": ["A", "B"], "price": None, "sender": None}
    assert compile_schema(wire_schema(MEMO), "wire").accepts(answer)
    assert read_answer(json.dumps(answer), compile_schema(MEMO, "memo")) == Accepted(
        {"subject": "a", "kind": "news", "lines": ["A", "B"]}
    )


@pytest.mark.parametrize(
    ("full", "wired"),
    [
        ({"const": "x"}, {"type": ["string", "null"], "enum": ["x", None]}),
        ({"enum": ["x", 1]}, {"type": ["string", "integer", "null"], "enum": ["x", 1, None]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "number"}]},
            {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
        ),
    ],
)
def test_an_optional_property_of_any_kind_becomes_nullable(full: Any, wired: Any) -> None:
    sent: Any = wire_schema({"type": "object", "properties": {"v": full}})
    assert sent["properties"]["v"] == wired


@pytest.mark.parametrize(
    ("full", "wired"),
    [
        (
            {"oneOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]},
            {
                "anyOf": [
                    {"type": "string", "description": "At most 1 character."},
                    {"type": "null"},
                ]
            },
        ),
        ({"minLength": 2}, {"type": "string", "description": "At least 2 characters."}),
        ({"const": 5}, {"type": "integer", "const": 5}),
        (
            {
                "type": "array",
                "prefixItems": [{"type": "string", "title": "name"}, {"type": "integer"}],
                "items": {"type": "integer"},
            },
            {
                "type": "array",
                "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "description": "In this order: name, integer.",
            },
        ),
        (
            {"type": "object", "properties": {}, "additionalProperties": True},
            {"type": "object", "properties": {}, "additionalProperties": False, "required": []},
        ),
        (
            {"type": "string", "description": "Why?", "minLength": 2},
            {"type": "string", "description": "Why? At least 2 characters."},
        ),
    ],
)
def test_what_a_strict_mode_says_differently_is_translated(full: Any, wired: Any) -> None:
    assert wire_schema(full) == wired


def test_properties_named_like_keywords_are_kept() -> None:
    full: Any = {
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
    }
    sent: Any = wire_schema(full)
    assert list(sent["properties"]) == ["title"]


def strict(part: object) -> dict[str, Any]:
    """A strict object with one property."""
    return {
        "type": "object",
        "properties": {"v": part},
        "required": ["v"],
        "additionalProperties": False,
    }


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = strict(schema)
    return schema


TAKEN = [
    strict({"type": "string", "pattern": "^a$"}),
    strict({"type": "number", "minimum": 1}),
    strict({"type": "array", "items": {"type": "string"}, "maxItems": 3}),
    strict({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    strict({"type": "string", "enum": ["a"] * 1_000}),
    nested(9),
]


@pytest.mark.parametrize("wire", TAKEN)
def test_what_the_guide_lists_is_taken(wire: object) -> None:
    check_strict(wire)


REFUSED = [
    (strict({"allOf": [{"type": "string"}]}), "properties.v", "allOf"),
    (strict({"oneOf": [{"type": "string"}]}), "properties.v", "use anyOf"),
    (strict({"not": {"type": "string"}, "type": "string"}), "properties.v", '"not"'),
    (strict({"type": "string", "minLength": 1}), "properties.v", '"minLength"'),
    (strict({"type": "string", "default": "x"}), "properties.v", '"default"'),
    (strict({"type": "array"}), "properties.v", "items"),
    (strict({"type": "array", "items": {"type": "string"}, "uniqueItems": True}), "v", "unique"),
    (strict({"type": "array", "prefixItems": []}), "properties.v", "prefixItems"),
    (strict({"description": "anything"}), "properties.v", "type"),
    (strict({"type": "object"}), "properties.v", "additionalProperties"),
    (
        strict({"type": "object", "properties": {}, "additionalProperties": False}),
        "properties.v",
        "no properties",
    ),
    ({**strict({"type": "string"}), "required": []}, "top", "required"),
    ({**strict({"type": "string"}), "additionalProperties": True}, "top", "additionalProperties"),
    ({"anyOf": [strict({"type": "string"})], "type": "object"}, "top", "anyOf"),
    ({"type": "array", "items": {"type": "string"}}, "top", "object"),
    ([], "top", "object"),
    (strict({"type": "string", "enum": ["a"] * 1_001}), "top", "1,000"),
    (strict({"type": "string", "enum": ["a" * 100] * 251}), "top", "15,000"),
    (strict({"type": "string", "const": "a" * 120_001}), "top", "120,000"),
    (nested(12), "properties.v.properties.v", "levels"),
]


@pytest.mark.parametrize(("wire", "place", "words"), REFUSED)
def test_what_a_strict_mode_refuses_is_found_before_it_costs(
    wire: object, place: str, words: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        check_strict(wire, "memo")
    assert str(caught.value).startswith('schema "memo", ')
    assert place in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "ä", "a\n", "x" * 65])
def test_a_name_that_a_server_refuses_is_found_too(name: str) -> None:
    with pytest.raises(SchemaError, match="rename"):
        check_strict(strict({"type": "string"}), name)
