"""Laws over random schemas and answers, with two validators of other makes as judges."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from repurpose.schema.answer import Accepted, read_answer
from repurpose.schema.coerce import coerce, drop_undeclared, without_null_options
from repurpose.schema.subset import check_subset
from repurpose.schema.validate import MAX_FINDINGS, compile_schema
from repurpose.schema.wire import check_strict, wire_schema

KEYS = st.sampled_from(["a", "b", "title", "ä b", "</x>"])
TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"]
PATTERNS = st.sampled_from(["^a", "a$", "^[a-z]{2}$", "^(a+)+$", "[^b]", "ä|b", r"^\d+$"])
COUNTS = st.integers(0, 3)

Strategy = st.SearchStrategy[Any]


def values(numbers: Strategy) -> Strategy:
    scalars = st.none() | st.booleans() | numbers | st.text("ab1ä😀\n", max_size=4)
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=6,
    )


# Whole floats are where the strict reading and the standard part, so some laws leave them out.
ANY_NUMBER = st.sampled_from(
    [-1, 0, 1, 2, 3, 5, 10**20, -1.0, 0.0, -0.0, 0.5, 1.0, 2.0, 3.0, 1e300]
)
UNDISPUTED = st.sampled_from([-1, 0, 1, 2, 3, 5, -0.5, 0.5, 1.5])


def schemas(numbers: Strategy) -> Strategy:
    """Schemas inside the subset, object or not, contradictions between bounds left out."""

    def optional(**keywords: Strategy) -> Strategy:
        return st.fixed_dictionaries({}, optional=keywords)

    def with_type(name: str, keywords: Strategy) -> Strategy:
        return keywords.map(lambda found: {"type": name, **found})

    leaves = st.one_of(
        st.sampled_from(TYPES).map(lambda name: {"type": name}),
        st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True).map(
            lambda names: {"type": names}
        ),
        st.lists(values(numbers), min_size=1, max_size=3).map(lambda found: {"enum": found}),
        values(numbers).map(lambda found: {"const": found}),
        with_type("string", optional(minLength=COUNTS, pattern=PATTERNS)),
        COUNTS.map(lambda most: {"maxLength": most}),
        with_type("number", optional(minimum=numbers, exclusiveMaximum=numbers)),
        st.integers(1, 3).map(lambda step: {"multipleOf": step}),
    )

    def deeper(inner: Strategy) -> Strategy:
        properties = st.dictionaries(KEYS, inner, max_size=3)
        objects = properties.flatmap(
            lambda found: with_type(
                "object",
                optional(
                    properties=st.just(found),
                    required=st.lists(st.sampled_from([*found, "a"]), max_size=2, unique=True),
                    additionalProperties=st.just(True) | inner,
                ),
            )
        )
        closed = properties.map(
            lambda found: {
                "type": "object",
                "properties": found,
                "required": list(found)[:1],
                "additionalProperties": False,
            }
        )
        arrays = with_type(
            "array",
            optional(
                items=inner,
                prefixItems=st.lists(inner, min_size=1, max_size=2),
                minItems=COUNTS,
                uniqueItems=st.booleans(),
            ),
        )
        branches = st.lists(inner, min_size=1, max_size=3)
        combined = st.sampled_from(["anyOf", "oneOf", "allOf"]).flatmap(
            lambda name: branches.map(lambda found: {name: found})
        )
        return objects | closed | arrays | combined | inner.map(lambda found: {"not": found})

    return st.recursive(leaves, deeper, max_leaves=6)


def holding(part: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": part}, "required": ["v"]}


CASES = st.tuples(schemas(ANY_NUMBER).map(holding), values(ANY_NUMBER).map(lambda v: {"v": v}))


def law(examples: int) -> Callable[[Any], Any]:
    return settings(max_examples=examples, deadline=None)


@law(60)
@given(CASES)
def test_what_we_accept_every_standard_validator_accepts(case: tuple[Any, Any]) -> None:
    schema, answer = case
    if compile_schema(schema, "any").accepts(answer):
        assert Draft202012Validator(schema).is_valid(answer)


@law(60)
@given(schemas(UNDISPUTED).map(holding), values(UNDISPUTED).map(lambda v: {"v": v}))
def test_without_whole_floats_a_validator_of_another_make_agrees(schema: Any, answer: Any) -> None:
    assert compile_schema(schema, "any").accepts(answer) == jsonschema_rs.is_valid(schema, answer)


@law(30)
@given(CASES, values(ANY_NUMBER))
def test_no_value_makes_the_validator_raise_and_findings_are_few(
    case: tuple[Any, Any], value: Any
) -> None:
    validator = compile_schema(case[0], "any")
    for answer in (case[1], value):
        findings = validator.findings(answer)
        assert (findings == []) is validator.accepts(answer)
        assert len(findings) <= MAX_FINDINGS + 1


@law(30)
@given(CASES)
def test_no_step_changes_the_answer_in_place(case: tuple[Any, Any]) -> None:
    schema, answer = case
    before = json.dumps(answer)
    coerce(answer, schema)
    drop_undeclared(answer, schema)
    without_null_options(answer, schema)
    assert json.dumps(answer) == before


@law(30)
@given(CASES)
def test_what_is_valid_stays_valid_through_conversion(case: tuple[Any, Any]) -> None:
    """Conversion serves answers that fail; it must not spoil one that does not."""
    schema, answer = case
    if compile_schema(schema, "any").accepts(answer):
        assert coerce(answer, schema).answer == answer


@law(30)
@given(CASES)
def test_reading_a_reply_accepts_what_the_validator_accepts(case: tuple[Any, Any]) -> None:
    schema, answer = case
    validator = compile_schema(schema, "any")
    found = read_answer(json.dumps(answer), validator, coerce_numbers=False)
    if validator.accepts(answer):
        assert isinstance(found, Accepted)


@law(30)
@given(schemas(ANY_NUMBER).map(holding))
def test_the_copy_to_send_is_inside_the_subset_and_made_alike_each_time(schema: Any) -> None:
    wired = wire_schema(schema)
    check_subset(wired, "wire")
    assert json.dumps(wired) == json.dumps(wire_schema(schema))
    assert not {"minLength", "maxItems", "pattern", "minimum"} & set(_keywords(wired))


def _keywords(schema: Any) -> list[str]:
    """Every keyword; what stands under `not` stays as it is, since less there rules out more."""
    found = list(schema)
    for keyword, value in schema.items():
        parts = value if isinstance(value, list) else [value]
        if keyword == "properties":
            parts = list(value.values())
        if keyword not in ("enum", "const", "type", "required", "not"):
            found += [word for part in parts if isinstance(part, dict) for word in _keywords(part)]
    return found


PLAIN_PARTS = st.recursive(
    st.one_of(
        st.sampled_from(["string", "number", "integer", "boolean"]).map(lambda n: {"type": n}),
        COUNTS.map(lambda most: {"type": "string", "maxLength": most}),
        st.just({"type": "string", "enum": ["a", "b"]}),
    ),
    lambda inner: st.one_of(
        inner.map(lambda part: {"type": "array", "items": part, "maxItems": 2}),
        st.tuples(st.dictionaries(st.sampled_from("abc"), inner, min_size=1), COUNTS).map(
            lambda found: {
                "type": "object",
                "properties": found[0],
                "required": list(found[0])[: found[1]],
                "additionalProperties": False,
            }
        ),
    ),
    max_leaves=5,
)


@law(30)
@given(PLAIN_PARTS.map(holding), st.data())
def test_a_plain_schema_is_taken_and_its_full_answers_fit_the_copy(
    schema: Any, data: st.DataObject
) -> None:
    wired = wire_schema(schema)
    check_strict(wired, "plain")
    answer = data.draw(_answers(schema))
    if compile_schema(schema, "full").accepts(answer):
        assert compile_schema(wired, "wire").accepts(answer)


def _answers(schema: Any) -> Strategy:
    """Answers with every property, of the declared types."""
    match schema["type"]:
        case "object":
            parts = {name: _answers(part) for name, part in schema["properties"].items()}
            return st.fixed_dictionaries(parts)
        case "array":
            return st.lists(_answers(schema["items"]), max_size=3)
        case "string":
            return st.sampled_from(["a", "b", "ab", "abcd"])
        case "boolean":
            return st.booleans()
        case _:
            return st.integers(-3, 3)
