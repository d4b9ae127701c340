"""What is wrong with an answer: which required fields are missing, which types do not match."""

from __future__ import annotations

from typing import Any

import pytest

from repurpose import Validation, validate
from repurpose.core.finding import Finding
from repurpose.errors import SchemaError

TYPES: dict[str, dict[str, Any]] = {
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "string": {"type": "string"},
    "array": {"type": "array", "items": {"type": "string"}},
    "object": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    },
}


def declaring(**fields: dict[str, Any]) -> dict[str, Any]:
    """A schema in which all of these fields are required."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


MISMATCHES = [
    ("number", "15,83"),
    ("number", ""),
    ("number", "NaN"),
    ("number", "twelve"),
    ("number", " 1"),
    ("number", True),
    ("number", []),
    ("integer", "1.5"),
    ("integer", 1.5),
    ("integer", 5.0),
    ("boolean", "true"),
    ("boolean", 1),
    ("string", 1),
    ("string", ["text"]),
    ("array", "a, b"),
    ("array", {"0": "a"}),
    ("object", "name"),
    ("object", ["name"]),
]


@pytest.mark.parametrize(("declared", "value"), MISMATCHES)
def test_a_value_of_another_type_that_cannot_be_converted_is_a_mismatch(
    declared: str, value: Any
) -> None:
    found = validate({"field": value}, declaring(field=TYPES[declared]))
    assert not found.ok
    assert (found.missing_required, found.type_mismatched) == ((), ("field",))
    assert found.answer is None


CONVERTED = [
    ("number", "15.83", 15.83),
    ("number", "15", 15),
    ("number", "-3", -3),
    ("number", "1e3", 1000.0),
    ("integer", "12", 12),
]


@pytest.mark.parametrize(("declared", "text", "number"), CONVERTED)
def test_a_numeric_text_becomes_the_number_and_is_recorded(
    declared: str, text: str, number: float
) -> None:
    found = validate({"field": text}, declaring(field=TYPES[declared]))
    assert found == Validation((), {"field": number}, coerced=("field",))
    assert found.answer is not None
    assert type(found.answer["field"]) is type(number)


def test_conversion_can_be_switched_off() -> None:
    found = validate({"field": "15.83"}, declaring(field=TYPES["number"]), coerce=False)
    assert found.type_mismatched == ("field",)


@pytest.mark.parametrize("answer", [{}, {"field": None}])
def test_absent_and_null_are_missing(answer: dict[str, Any]) -> None:
    found = validate(answer, declaring(field=TYPES["string"]))
    assert (found.missing_required, found.type_mismatched) == (("field",), ())


def test_an_empty_text_is_not_missing() -> None:
    assert validate({"field": ""}, declaring(field=TYPES["string"])).ok


def test_the_lists_carry_paths_into_lists_and_objects() -> None:
    pair = declaring(question=TYPES["string"], answer=TYPES["string"])
    schema = declaring(pairs={"type": "array", "items": pair}, profile=TYPES["object"])
    answer = {"pairs": [{"question": "Why?", "answer": 1}, {"question": None}], "profile": {}}
    found = validate(answer, schema)
    assert found.missing_required == ("pairs.1.question", "pairs.1.answer", "profile.name")
    assert found.type_mismatched == ("pairs.0.answer",)
    assert "pairs.0.answer: must be a string, is an integer" in found.message


def test_what_is_valid_has_an_empty_message_and_empty_lists() -> None:
    found = validate({"field": "a"}, declaring(field=TYPES["string"]))
    assert (found.ok, found.message, found.missing_required) == (True, "", ())


def test_more_than_ten_are_counted_and_the_count_is_no_path() -> None:
    found = validate({}, declaring(**{f"f{n}": TYPES["string"] for n in range(15)}))
    assert found.missing_required == tuple(f"f{n}" for n in range(10))
    assert found.findings[-1] == Finding("missing_required", "", "and 5 more")


def test_a_text_is_read_as_a_reply_is() -> None:
    schema = declaring(field=TYPES["string"])
    assert validate('```json\n{"field": "a"}\n```', schema).answer == {"field": "a"}
    assert [each.kind for each in validate("I would rather not.", schema).findings] == ["parse"]
    assert not validate({"field": float("nan")}, declaring(field=TYPES["number"])).ok


def test_undeclared_keys_are_refused_or_dropped_and_named() -> None:
    schema = declaring(field=TYPES["string"])
    answer = {"field": "a", "mood": "glad"}
    assert [each.kind for each in validate(answer, schema).findings] == ["constraint"]
    assert validate(answer, schema, extra="drop") == Validation(
        (), {"field": "a"}, dropped=("mood",)
    )


def test_a_schema_outside_the_subset_is_refused() -> None:
    with pytest.raises(SchemaError):
        validate({}, {"$ref": "#/definitions/x"})
