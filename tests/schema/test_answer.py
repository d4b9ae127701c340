"""From a reply's text to an accepted answer or to findings, through every step."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.schema.answer import Accepted, Rejected, read_answer
from repurpose.schema.validate import compile_schema

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 20},
        "price": {"type": "number"},
        "note": {"type": "string"},
    },
    "required": ["title", "price"],
    "additionalProperties": False,
}
OFFER = compile_schema(SCHEMA, "offer")


def test_a_valid_answer_is_accepted_as_it_is() -> None:
    assert read_answer('{"title": "Lamp", "price": 5}', OFFER) == Accepted(
        {"title": "Lamp", "price": 5}
    )


def test_a_numeric_text_is_converted_and_recorded_and_is_no_mismatch() -> None:
    assert read_answer('{"title": "Lamp", "price": "15.83"}', OFFER) == Accepted(
        {"title": "Lamp", "price": 15.83}, coerced=("price",)
    )


@pytest.mark.parametrize("price", ["15,83", "", "NaN"])
def test_a_text_that_is_no_number_is_a_mismatch(price: str) -> None:
    found = read_answer(json.dumps({"title": "Lamp", "price": price}), OFFER)
    assert isinstance(found, Rejected)
    assert found.type_mismatched == ("price",)


def test_conversion_can_be_switched_off() -> None:
    found = read_answer('{"title": "Lamp", "price": "1"}', OFFER, coerce_numbers=False)
    assert isinstance(found, Rejected)
    assert [finding.kind for finding in found.findings] == ["type_mismatch"]


def test_a_number_is_never_converted_to_the_declared_text() -> None:
    assert isinstance(read_answer('{"title": 5, "price": 5}', OFFER), Rejected)


@pytest.mark.parametrize("text", ['{"price": 1}', '{"title": null, "price": 1}'])
def test_absent_and_null_are_missing(text: str) -> None:
    found = read_answer(text, OFFER)
    assert isinstance(found, Rejected)
    assert found.missing_required == ("title",)


def test_an_empty_text_is_not_missing() -> None:
    assert isinstance(read_answer('{"title": "", "price": 1}', OFFER), Accepted)


def test_a_text_where_an_object_is_declared_is_a_finding_and_no_crash() -> None:
    faq = compile_schema({"type": "object", "properties": {"faq": {"type": "array"}}}, "faq")
    found = read_answer('{"faq": "x"}', faq)
    assert isinstance(found, Rejected)
    assert found.type_mismatched == ("faq",)


def test_undeclared_keys_are_rejected_by_default_and_dropped_where_the_format_says_so() -> None:
    text = '{"title": "Lamp", "price": 1, "colour": "red"}'
    rejected = read_answer(text, OFFER)
    assert isinstance(rejected, Rejected)
    assert rejected.findings[0].kind == "constraint"
    assert read_answer(text, OFFER, extra="drop") == Accepted(
        {"title": "Lamp", "price": 1}, dropped=("colour",)
    )


def test_null_for_an_optional_property_is_taken_as_absent() -> None:
    assert read_answer('{"title": "Lamp", "price": 1, "note": null}', OFFER) == Accepted(
        {"title": "Lamp", "price": 1}
    )


def test_prose_and_a_wrapper_are_judged_after_conversion_too() -> None:
    found = read_answer('Here: {"offer": {"title": "Lamp", "price": "1"}}', OFFER)
    assert found == Accepted(
        {"title": "Lamp", "price": 1},
        coerced=("price",),
        notes=("JSON taken from the text around it", "one-key wrapper removed"),
    )


def test_the_reasoning_field_serves_where_the_content_is_empty() -> None:
    found = read_answer("", OFFER, reasoning='{"title": "Lamp", "price": 1}')
    assert isinstance(found, Accepted)
    assert found.notes == ("JSON taken from the reasoning field",)


@pytest.mark.parametrize("text", ["", "null", "5", "[]", "Sorry.", '{"a": NaN}'])
def test_what_is_no_json_object_is_one_parse_finding(text: str) -> None:
    found = read_answer(text, OFFER)
    assert isinstance(found, Rejected)
    assert [finding.kind for finding in found.findings] == ["parse"]
    assert found.message == found.findings[0].message


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=80)
    | st.dictionaries(
        st.sampled_from(["title", "price", "note", "x"]),
        st.none() | st.booleans() | st.integers() | st.text(max_size=25),
    ).map(json.dumps)
)
def test_no_reply_raises_and_what_is_accepted_is_valid(text: str) -> None:
    for extra in ("reject", "drop"):
        found = read_answer(text, OFFER, extra=extra)  # type: ignore[arg-type]
        if isinstance(found, Accepted):
            assert OFFER.findings(found.answer) == []
        else:
            assert found.findings
        assert read_answer(text, OFFER, extra=extra) == found  # type: ignore[arg-type]
