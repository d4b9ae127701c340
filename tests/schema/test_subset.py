"""What the strict subset lets in, and that everything else is refused with a line that helps."""

from __future__ import annotations

import pytest

from repurpose.errors import SchemaError, UsageError
from repurpose.schema.subset import check_subset


def holding(part: object) -> dict[str, object]:
    """An object schema with `part` as its one property."""
    return {"type": "object", "properties": {"value": part}}


ALLOWED = {
    "plain object": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    "object without properties": {"type": "object"},
    "annotations beside an assertion": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "memo",
        "$comment": "for editors",
        "title": "Memo",
        "description": "A memo.",
        "default": {},
        "examples": [{}],
        "type": "object",
    },
    "enum": holding({"enum": ["a", 1, None, {"b": [True]}]}),
    "const": holding({"const": None}),
    "pattern": holding({"type": "string", "pattern": r"^[A-Z]{2}-\d+(?:\.\d+)?$"}),
    "pattern that backtracks in other engines": holding({"pattern": "^(a+)+$"}),
    "pattern of 1,000 characters": holding({"pattern": "a" * 1_000}),
    "numeric bounds": holding({"minimum": 0, "maximum": 9.5, "multipleOf": 3}),
    "exclusive bounds": holding({"exclusiveMinimum": 0, "exclusiveMaximum": 1}),
    "lengths": holding({"type": "string", "minLength": 0, "maxLength": 0}),
    "array": holding(
        {
            "type": "array",
            "prefixItems": [{"type": "string"}],
            "items": {"type": "integer"},
            "minItems": 1,
            "maxItems": 3,
            "uniqueItems": True,
        }
    ),
    "combinators": holding(
        {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "oneOf": [{"type": "string"}, {"type": "null"}],
            "allOf": [{"maxLength": 3}],
            "not": {"const": "no"},
        }
    ),
    "further keys of one shape": {"type": "object", "additionalProperties": {"type": "number"}},
    "list of types": holding({"type": ["string", "null"]}),
    "a property named like a keyword": {
        "type": "object",
        "properties": {"$ref": {"type": "string"}, "title": {"type": "string"}},
    },
}


@pytest.mark.parametrize("schema", ALLOWED.values(), ids=ALLOWED.keys())
def test_a_schema_inside_the_subset_passes(schema: object) -> None:
    check_subset(schema, "memo")


REFUSED = {
    "empty schema": ({}, "top", "give it a type"),
    "annotations only": ({"title": "Memo"}, "top", "give it a type"),
    "annotations only, nested": (holding({"description": "x"}), "properties.value", "type"),
    "no schema at all": ([], "top", "is not a schema"),
    "true": (True, "top", "is not a schema"),
    "text": ("{}", "top", "is not a schema"),
    "top is no object": ({"type": "array", "items": {"type": "string"}}, "top", "object"),
    "top without a type": ({"properties": {"a": {"type": "string"}}}, "top", "object"),
    "top may be null": ({"type": ["object", "null"]}, "top", "object"),
    "unknown keyword": ({"type": "object", "frobnicate": 1}, "top", '"frobnicate"'),
    "misspelt keyword": (holding({"minLenght": 1}), "properties.value", '"minLength"?'),
    "unknown keyword in items": (
        holding({"type": "array", "items": {"type": "string", "x": 1}}),
        "properties.value.items",
        '"x"',
    ),
    "unknown keyword in a combinator": (
        holding({"anyOf": [{"type": "string"}, {"contains": {}}]}),
        "properties.value.anyOf.1",
        '"contains"',
    ),
    "unknown keyword in further keys": (
        {"type": "object", "additionalProperties": {"type": "string", "x": 1}},
        "additionalProperties",
        '"x"',
    ),
    "reference": (holding({"$ref": "#/$defs/a"}), "properties.value", "write the shape out"),
    "definitions": ({"type": "object", "definitions": {}}, "top", "write the shape out"),
    "defs": ({"type": "object", "$defs": {}}, "top", "write the shape out"),
    "condition": ({"type": "object", "if": {"type": "object"}}, "top", "anyOf"),
    "format, which nothing would check": (
        holding({"format": "email"}),
        "properties.value",
        "pattern",
    ),
    "nullable": (holding({"type": "string", "nullable": True}), "properties.value", '"null"'),
    "unknown type": (holding({"type": "text"}), "properties.value", '"text"'),
    "unknown type in a list": (holding({"type": ["string", "any"]}), "properties.value", '"any"'),
    "no type in a list": (holding({"type": []}), "properties.value", "at least one"),
    "type of the wrong kind": (holding({"type": 1}), "properties.value", "is none of"),
    "empty enum": (holding({"enum": []}), "properties.value", "at least one value"),
    "enum that is no list": (holding({"enum": "ab"}), "properties.value", "at least one value"),
    "enum with NaN": (holding({"enum": [float("nan")]}), "properties.value", "not JSON"),
    "const that is no JSON": (holding({"const": {1, 2}}), "properties.value", "not a JSON value"),
    "negative minLength": (holding({"minLength": -1}), "properties.value", "from 0 up"),
    "fractional maxLength": (holding({"maxLength": 1.5}), "properties.value", "from 0 up"),
    "true as a count": (holding({"minItems": True}), "properties.value", "from 0 up"),
    "bound that is text": (holding({"minimum": "1"}), "properties.value", "must be a number"),
    "infinite bound": (holding({"maximum": float("inf")}), "properties.value", "must be a number"),
    "bound of 5,000 digits": (holding({"maximum": 10**5_000}), "properties.value", "number"),
    "multipleOf 0": (holding({"multipleOf": 0}), "properties.value", "above 0"),
    "multipleOf 0.1": (holding({"multipleOf": 0.1}), "properties.value", "whole number"),
    "pattern that does not compile": (holding({"pattern": "(a"}), "properties.value", "compile"),
    "empty pattern": (holding({"pattern": ""}), "properties.value", "is empty"),
    "pattern over 1,000 characters": (
        holding({"pattern": "a" * 1_001}),
        "properties.value",
        "1,000",
    ),
    "pattern that looks around": (holding({"pattern": "(?=a)a"}), "properties.value", "(?...)"),
    "pattern with a reference": (holding({"pattern": r"(a)\1"}), "properties.value", "escape"),
    "pattern with an anchor of Python": (
        holding({"pattern": r"a\Z"}),
        "properties.value",
        "escape",
    ),
    "possessive pattern": (holding({"pattern": "a*+b"}), "properties.value", "+ after a repeat"),
    "pattern with set operations": (holding({"pattern": "[a-z&&b]"}), "properties.value", "set"),
    "pattern that explodes": (
        holding({"pattern": "((a{999}){999}){99}"}),
        "properties.value",
        "compile",
    ),
    "pattern that is no text": (holding({"pattern": 1}), "properties.value", "text"),
    "draft-04 list of items": (
        holding({"type": "array", "items": [{"type": "string"}]}),
        "properties.value.items",
        "prefixItems",
    ),
    "boolean items": (
        holding({"type": "array", "items": False}),
        "properties.value.items",
        "items",
    ),
    "empty prefixItems": (holding({"prefixItems": []}), "properties.value", "at least one schema"),
    "empty anyOf": (holding({"anyOf": []}), "properties.value", "at least one schema"),
    "required that is no list": ({"type": "object", "required": "a"}, "top", "names"),
    "required twice": ({"type": "object", "required": ["a", "a"]}, "top", "twice"),
    "properties that are no map": ({"type": "object", "properties": []}, "top", "map"),
    "property that is no schema": (holding("string"), "properties.value", "not a schema"),
    "uniqueItems that is no boolean": (holding({"uniqueItems": 1}), "properties.value", "true or"),
    "another draft": ({"$schema": "http://json-schema.org/draft-04/schema#"}, "top", "2020-12"),
    "another base address below": (
        holding({"$id": "x", "type": "string"}),
        "properties.value",
        "top",
    ),
    "description that is no text": ({"type": "object", "description": 1}, "top", "text"),
    "key that is no text": ({"type": "object", 1: 2}, "top", "subset"),
    "minimum above maximum": (
        holding({"minLength": 5, "maxLength": 4}),
        "properties.value",
        "no value fits",
    ),
    "required key that a closed object does not declare": (
        {"type": "object", "required": ["a"], "additionalProperties": False},
        "top",
        "declare it",
    ),
}


@pytest.mark.parametrize(("schema", "place", "advice"), REFUSED.values(), ids=REFUSED.keys())
def test_a_schema_outside_the_subset_is_refused_with_place_and_advice(
    schema: object, place: str, advice: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        check_subset(schema, "memo")
    line = str(caught.value)
    assert line.startswith(f'schema "memo", {place}: ')
    assert advice in line
    assert "\n" not in line


def test_a_schema_nested_without_end_is_refused_and_does_not_exhaust_the_stack() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(5_000):
        schema = {"not": schema}
    with pytest.raises(SchemaError, match="deep; flatten it"):
        check_subset(holding(schema), "memo")


def test_a_refused_schema_has_an_error_of_its_own_below_usage() -> None:
    assert issubclass(SchemaError, UsageError)
    assert SchemaError.kind == "schema"
