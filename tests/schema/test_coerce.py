"""Which texts become numbers, which keys are dropped, and that nothing is changed in place."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from repurpose.schema.coerce import coerce, drop_undeclared, without_null_options

NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}


def coerced(text: object, part: dict[str, Any]) -> object:
    done = coerce({"v": text}, {"type": "object", "properties": {"v": part}})  # type: ignore[dict-item]
    answer = done.answer
    assert isinstance(answer, dict)
    assert done.coerced == (() if answer["v"] is text else ("v",))
    return answer["v"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("15.83", 15.83),
        ("15", 15),
        ("-7", -7),
        ("0", 0),
        ("15.830", 15.83),
        ("1e3", 1000.0),
        ("-2.5E-1", -0.25),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_a_numeric_text_becomes_the_declared_number(text: str, number: float) -> None:
    found = coerced(text, NUMBER)
    assert found == number
    assert type(found) is type(number)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "15,83",
            "",
            "NaN",
            "Infinity",
            " 1 ",
            "1 ",
            "+1",
            "1e999",
            "1e-999",
            "١٢",
            "１２",
            "0x10",
        ),
        *("01", "1_000", ".5", "5.", "-", "-0", "true", "1\n", "9" * 41, "1e99999999999999999999"),
        *("0.1000000000000000055511151231257827", "12345678901234567890.5", "10000000000000000.1"),
    ],
)
def test_a_text_that_json_would_not_read_as_this_very_number_stays(text: str) -> None:
    assert coerced(text, NUMBER) is text


@pytest.mark.parametrize("text", ["5.0", "1e3", "1.5", "", "x", "٥"])
def test_only_whole_digits_become_an_integer(text: str) -> None:
    assert coerced(text, INTEGER) is text
    assert coerced("5", INTEGER) == 5


@pytest.mark.parametrize(
    "part",
    [
        {"type": "boolean"},
        {"type": "string"},
        {"type": ["string", "number"]},
        {"anyOf": [NUMBER, {"type": "string"}]},
        {"anyOf": [NUMBER, {"minLength": 1}]},
        {"enum": [1]},
        {"type": "null"},
        {"type": "array", "items": {"type": "string"}},
    ],
)
def test_where_no_number_is_declared_a_text_stays(part: dict[str, Any]) -> None:
    assert coerced("1", part) == "1"


@pytest.mark.parametrize(
    "part", [{"type": ["number", "null"]}, {"anyOf": [INTEGER, {"type": "null"}]}]
)
def test_a_nullable_number_is_a_declared_number(part: dict[str, Any]) -> None:
    assert coerced("1", part) == 1


@pytest.mark.parametrize("value", [True, None, [], {}, 1, 1.5])
def test_nothing_but_text_is_converted(value: object) -> None:
    assert coerced(value, NUMBER) is value


NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "anyOf": [{"type": "object", "properties": {"n": INTEGER}}, {"type": "null"}]
            },
        },
        "pair": {"type": "array", "prefixItems": [NUMBER, {"type": "string"}]},
        "map": {"type": "object", "additionalProperties": NUMBER},
    },
}


def test_conversion_reaches_lists_maps_and_alternatives_and_records_each_path() -> None:
    answer = {"rows": [None, {"n": "1"}, {"n": 2}], "pair": ["3", "4"], "map": {"a": "5"}}
    before = copy.deepcopy(answer)
    done = coerce(answer, NESTED)
    assert done.answer == {"rows": [None, {"n": 1}, {"n": 2}], "pair": [3, "4"], "map": {"a": 5}}
    assert done.coerced == ("rows.1.n", "pair.0", "map.a")
    assert answer == before


def test_without_a_conversion_the_same_answer_comes_back() -> None:
    answer = {"rows": [{"n": 1}]}
    assert coerce(answer, NESTED).answer is answer


def test_an_answer_of_another_shape_comes_back_as_it_is() -> None:
    for answer in ([1], "1", None, {"rows": {"n": "1"}, "pair": "1"}):
        assert coerce(answer, NESTED).answer == answer  # type: ignore[arg-type]


CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {
            "type": "array",
            "items": {"properties": {"b": NUMBER}, "additionalProperties": False},
        },
        "free": {"properties": {"b": NUMBER}, "additionalProperties": True},
        "map": {"properties": {"b": NUMBER}, "additionalProperties": NUMBER},
    },
}


def test_undeclared_keys_are_dropped_everywhere_and_recorded() -> None:
    answer = {"a": [{"b": 1, "x": 2}], "secret word": 1, "free": {"x": 1}, "map": {"x": 1}}
    before = copy.deepcopy(answer)
    done = drop_undeclared(answer, CLOSED)  # type: ignore[arg-type]
    assert done.answer == {"a": [{"b": 1}], "free": {"x": 1}, "map": {"x": 1}}
    assert done.dropped == ("*", "a.0.x")
    assert answer == before


def test_null_for_an_optional_property_means_absent() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "must": {"type": "string"},
            "may": {"type": "string"},
            "null is a value": {"type": ["string", "null"]},
            "one of": {"enum": ["a"]},
            "inner": {"properties": {"may": {"type": "object"}}},
        },
        "required": ["must"],
    }
    answer = dict.fromkeys(schema["properties"]) | {"inner": {"may": None}, "extra": None}
    assert without_null_options(answer, schema) == {
        "must": None,
        "null is a value": None,
        "inner": {},
        "extra": None,
    }
