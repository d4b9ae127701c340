"""Formats from a list of outputs: their schema, and what becomes of a valid answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.core.policy import RetryOverrides
from repurpose.errors import SchemaError, UnusableOutput, UsageError
from repurpose.formats import declared_format
from repurpose.formats.base import FinishContext, Finished, Format
from repurpose.schema.answer import Accepted, read_answer
from repurpose.schema.validate import compile_schema
from repurpose.schema.wire import check_strict, wire_schema
from repurpose.text.counting import MEASURES

TITLE = {"name": "title", "type": "string", "required": True, "max_length": 60}
SCORE = {"name": "score", "type": "number"}
TAGS = {"name": "tags", "type": "array", "items": "string", "max_items": 8}


def made(*outputs: Any, **options: Any) -> Format:
    return declared_format("meta", prompt="Write.", outputs=outputs, **options)


def finished(format: Format, answer: dict[str, Any], language: str = "en") -> Finished:
    return format.finish(answer, FinishContext(language=language))


# --- the schema ---------------------------------------------------------------------------------


def test_outputs_become_a_closed_schema_without_the_bounds_that_are_cut_to() -> None:
    assert made(TITLE, SCORE, TAGS).schema == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "At most 60 characters."},
            "score": {"type": "number"},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "At most 8 items.",
            },
        },
        "required": ["title"],
        "additionalProperties": False,
    }


def test_an_output_is_optional_unless_it_says_otherwise_and_may_then_be_null_on_the_wire() -> None:
    wire = wire_schema(made(TITLE, SCORE).schema)
    assert wire["required"] == ["title", "score"]
    assert wire["properties"]["score"] == {"type": ["number", "null"]}  # type: ignore[index,call-overload]


def test_null_for_an_optional_output_is_absent_and_for_a_required_one_missing() -> None:
    format = made(TITLE, SCORE)
    judge = compile_schema(format.schema, "meta")
    assert read_answer('{"title": "T", "score": null}', judge) == Accepted({"title": "T"})
    assert "is required" in str(read_answer('{"title": null, "score": 1}', judge))


def test_nested_outputs_are_declared_by_fields() -> None:
    pairs = {
        "name": "pairs",
        "type": "array",
        "items": "object",
        "fields": [{"name": "question", "type": "string", "required": True}],
    }
    schema: Any = made(pairs).schema
    assert schema["properties"]["pairs"]["items"] == {
        "type": "object",
        "properties": {"question": {"type": "string"}},
        "required": ["question"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "outputs",
    [
        [TITLE, SCORE, TAGS],
        [{"name": "callToAction", "type": "string", "enum": ["a", "b"], "label": "Call"}],
        [{"name": "a", "type": "object", "fields": [TITLE, {"name": "b", "type": "integer"}]}],
        [{"name": "tags", "type": "array", "items": "string", "max_length": 20}],
        [{"name": "x", "type": "string", "max_length": 280, "unit": "x_weighted"}],
    ],
)
def test_every_declared_shape_is_taken_by_a_strict_mode(outputs: list[Any]) -> None:
    check_strict(wire_schema(made(*outputs).schema), "meta")


def test_the_data_of_its_envelope_are_its_outputs_in_order() -> None:
    assert made(TAGS, TITLE).declared == ("tags", "title")


def test_the_label_is_made_of_the_name_where_none_is_given() -> None:
    assert declared_format("release-notes", prompt="Write.").label == "Release notes"
    assert made(TITLE, label="Meta tags").label == "Meta tags"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({"type": "string"}, "output 1: has no name"),
        ({"name": "Title", "type": "string"}, "must begin with a small letter"),
        ({"name": "t"}, "output t: has no type; it is one of string, number"),
        ({"name": "t", "type": "strng"}, 'type "strng" is not known; did you mean string?'),
        (
            {"name": "t", "type": "string", "max_lenght": 9},
            'unknown key "max_lenght"; did you mean max_length?',
        ),
        ({"name": "t", "type": "string", "max_length": 1}, "max_length must be a whole number"),
        ({"name": "t", "type": "string", "max_length": True}, "max_length must be a whole number"),
        ({"name": "t", "type": "array"}, "output t: has no items"),
        ({"name": "t", "type": "array", "items": "array"}, "an array of arrays needs a schema"),
        ({"name": "t", "type": "array", "items": "string", "max_items": 0}, "from 1 up"),
        ({"name": "t", "type": "number", "max_length": 9}, "max_length says nothing about type"),
        ({"name": "t", "type": "object"}, "must list at least one field"),
        ({"name": "t", "type": "string", "required": 1}, "required must be true or false"),
        ({"name": "t", "type": "integer", "enum": [1, "2"]}, "enum holds a value that is no"),
        ({"name": "t", "type": "integer", "enum": [True]}, "enum holds a value that is no"),
        ({"name": "t", "type": "string", "max_length": 9, "unit": "chars"}, 'unit "chars"'),
        ("title", "output 1: is no table"),
    ],
)
def test_what_is_wrong_with_an_output_is_one_line_that_names_it(output: Any, said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        made(output)
    assert said in caught.value.message
    assert caught.value.message.startswith("format meta, output")
    assert "\n" not in caught.value.message


def test_two_outputs_of_one_name_are_refused() -> None:
    with pytest.raises(SchemaError, match="output title: is declared twice"):
        made(TITLE, TITLE)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({}, "says nothing about the value"),
        ({"description": "only words"}, "says nothing about the value"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}}, '"$ref" is not in the supported'),
        ({"type": "object", "definitions": {}}, '"definitions" is not in the supported'),
        ({"type": "object", "if": {}}, '"if" is not in the supported'),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, 'type "text"'),
        ({"type": "object", "properties": {"a": {"enum": []}}}, "enum must list at least one"),
        ({"type": "object", "properties": {"a": {"minLength": -1}}}, "whole number from 0"),
        ({"type": "object", "properties": {"a": {"multipleOf": 0.1}}}, "multipleOf must be"),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, "pattern"),
        ({"type": "object", "properties": {"a": {"type": "array", "items": [{}]}}}, "prefixItems"),
        ({"type": "array", "items": {"type": "string"}}, "top must be an object"),
        ({"type": "object"}, "declares no properties"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
            "requires 'b', which properties does not declare",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "maxLength": 1}}},
            "maxLength leaves no room",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "array", "maxItems": 0}}},
            "maxItems leaves nothing",
        ),
    ],
)
def test_a_schema_outside_the_subset_is_refused_when_it_is_declared(schema: Any, said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        declared_format("meta", prompt="Write.", schema=schema)
    assert said in caught.value.message
    assert "\n" not in caught.value.message


# --- names, places and numbers ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "Meta", "9x", "a_b", "../x", "a" * 41, "brief", "default"])
def test_a_name_that_no_format_may_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="format"):
        declared_format(name, prompt="Write.")


def test_an_unknown_place_is_refused_with_the_nearest_and_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        declared_format("meta", prompt="About {titel} for {audience}.")
    assert caught.value.message == "format meta: the prompt has the unknown place {titel}"
    assert "did you mean title?" in str(caught.value.hint)
    assert "language" in str(caught.value.hint)


def test_results_of_other_formats_are_known_as_what_it_needs() -> None:
    prompt = "From {faq.pairs.0.question}, {faq.pairs.1} and {faq.pairs.0.question}."
    assert declared_format("a", prompt=prompt).needs == ("faq.pairs.0.question", "faq.pairs.1")


def test_a_retry_setting_out_of_bounds_is_refused_with_the_formats_name() -> None:
    with pytest.raises(UsageError, match="format meta, retry: max_attempts is 6"):
        made(TITLE, retry=RetryOverrides(max_attempts=6))


def test_outputs_and_a_schema_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="say the same thing"):
        made(TITLE, schema={"type": "object"})


# --- what becomes of an answer ------------------------------------------------------------------


def test_texts_are_trimmed_at_any_depth() -> None:
    inner = {"name": "who", "type": "object", "fields": [{"name": "name", "type": "string"}]}
    end = finished(
        made(TITLE, TAGS, inner), {"title": " T ", "tags": [" a "], "who": {"name": "\nB"}}
    )
    assert end.fields == {"title": "T", "tags": ["a"], "who": {"name": "B"}}


def test_a_text_over_its_bound_is_cut_where_a_reader_would_stop_and_it_is_said() -> None:
    title = "Seven ways to lend a drill without losing it to the neighbours"
    end = finished(made(TITLE), {"title": title})
    assert end.fields["title"] == "Seven ways to lend a drill without losing it to the…"
    assert end.notes == ("title: shortened at a word to 52 of 60",)
    assert end.pieces[0].measures.shortened
    assert end.pieces[0].measures.cut_mode == "word"


def test_a_sentence_end_is_preferred_and_named() -> None:
    end = finished(
        made(TITLE),
        {"title": "A first sentence that stands alone here. And a second one follows it."},
    )
    assert end.fields["title"] == "A first sentence that stands alone here."
    assert end.notes == ("title: shortened at a sentence end to 40 of 60",)


def test_a_bound_is_counted_in_the_unit_that_is_named() -> None:
    x = {"name": "post", "type": "string", "max_length": 20, "unit": "x_weighted"}
    post = str(finished(made(x), {"post": "字" * 40}, "zh").fields["post"])
    assert 10 < MEASURES["x_weighted"](post) <= 20


def test_texts_within_lists_and_objects_are_cut_with_their_path_named() -> None:
    pairs = {
        "name": "pairs",
        "type": "array",
        "fields": [{"name": "a", "type": "string", "max_length": 10}],
        "items": "object",
    }
    tags = {**TAGS, "max_length": 5}
    end = finished(
        made(pairs, tags), {"pairs": [{"a": "one two three"}], "tags": ["ok", "a b c d"]}
    )
    assert [note.split(":")[0] for note in end.notes] == ["pairs.0.a", "tags.1"]


def test_a_list_over_its_bound_keeps_the_first_ones_and_it_is_said() -> None:
    end = finished(made(TAGS), {"tags": [f"t{n}" for n in range(12)]})
    assert end.fields["tags"] == [f"t{n}" for n in range(8)]
    assert end.notes == ("tags: 12 given, the first 8 kept",)


def test_blank_and_incomplete_items_are_dropped_before_a_list_is_capped() -> None:
    pairs = {
        "name": "pairs",
        "type": "array",
        "items": "object",
        "max_items": 1,
        "fields": [
            {"name": "q", "type": "string", "required": True},
            {"name": "a", "type": "string", "required": True},
        ],
    }
    given = [{"q": "Why?", "a": " "}, {"q": "How?", "a": "So."}, {"q": "Who?", "a": "She."}]
    end = finished(made(pairs), {"pairs": given})
    assert end.fields["pairs"] == [{"q": "How?", "a": "So."}]
    assert end.notes == (
        "pairs: 1 blank or incomplete dropped",
        "pairs: 2 given, the first 1 kept",
    )


@pytest.mark.parametrize(
    ("answer", "lacking"),
    [
        ({"title": "", "who": {"name": "B"}}, "title"),
        ({"title": " \u200b", "who": {"name": " "}}, "title, who.name"),
    ],
)
def test_a_blank_required_text_makes_an_answer_unusable(answer: Any, lacking: str) -> None:
    who = {
        "name": "who",
        "type": "object",
        "required": True,
        "fields": [{"name": "name", "type": "string", "required": True}],
    }
    with pytest.raises(UnusableOutput) as caught:
        finished(made(TITLE, who), answer)
    assert caught.value.message == f"the answer lacks {lacking}"


def test_a_required_list_of_blanks_is_lacking_but_an_empty_one_says_that_there_is_nothing() -> None:
    format = made(TITLE, {**TAGS, "required": True})
    assert finished(format, {"title": "T", "tags": []}).fields["tags"] == []
    with pytest.raises(UnusableOutput, match="lacks tags"):
        finished(format, {"title": "T", "tags": [" ", ""]})


def test_an_answer_with_nothing_to_read_is_unusable() -> None:
    with pytest.raises(UnusableOutput, match="nothing to publish"):
        finished(made(TAGS, {"name": "intro", "type": "string"}), {"tags": [], "intro": " "})


def test_an_optional_field_that_is_blank_or_absent_is_left_out_and_noted() -> None:
    end = finished(
        made(TITLE, SCORE, {"name": "intro", "type": "string"}), {"title": "T", "intro": " "}
    )
    assert end.fields == {"title": "T"}
    assert end.notes == ("score: left empty", "intro: left empty")


def test_a_choice_or_a_pattern_is_never_changed() -> None:
    schema: Any = {
        "type": "object",
        "properties": {"kind": {"enum": ["a ", ""]}, "code": {"type": "string", "pattern": "^x+"}},
    }
    format = declared_format("meta", prompt="Write.", schema=schema)
    assert finished(format, {"kind": "a ", "code": "xx "}).fields == {"kind": "a ", "code": "xx "}


@pytest.mark.parametrize(
    ("node", "kept"),
    [
        ({"type": "string", "maxLength": 9, "pattern": "^x+$"}, True),
        ({"type": "string", "maxLength": 9, "minLength": 8}, True),
        ({"type": "string", "maxLength": 9}, False),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 3, "minItems": 2}, False),
    ],
)
def test_a_bound_that_cutting_could_break_another_rule_by_stays_with_validation(
    node: Any, kept: bool
) -> None:
    schema: Any = {"type": "object", "properties": {"a": node}}
    judged: Any = declared_format("m", prompt="W.", schema=schema).schema["properties"]
    assert (judged["a"].keys() >= node.keys()) is kept


# --- plain text ---------------------------------------------------------------------------------


def test_the_text_of_a_row_is_labelled_lines_with_lists_as_bullets() -> None:
    outputs = [
        {"name": "metaTitle", "type": "string"},
        {"name": "score", "type": "number", "label": "Rating"},
        {"name": "body", "type": "string"},
        {"name": "tags", "type": "array", "items": "string"},
        {"name": "pairs", "type": "array", "items": "object", "fields": [TITLE, SCORE]},
        {"name": "who", "type": "object", "fields": [TITLE]},
        {"name": "free", "type": "boolean"},
    ]
    answer = {
        "free": True,
        "metaTitle": "Bees",
        "score": 1.5,
        "body": "One.\n\nTwo.",
        "tags": ["a", "b"],
        "pairs": [{"title": "P", "score": 1}],
        "who": {"title": "Dr."},
    }
    assert finished(made(*outputs), answer).pieces[0].text == (
        "Meta title: Bees\nRating: 1.5\n\nBody:\nOne.\n\nTwo.\n\nTags:\n- a\n- b\n\n"
        "Pairs:\n- Title: P\n  Score: 1\n\nWho:\n  Title: Dr.\n\nFree: true"
    )


def test_the_only_field_of_a_format_stands_without_a_label() -> None:
    assert finished(made(TITLE), {"title": "Bees"}).pieces[0].text == "Bees"


# --- laws ---------------------------------------------------------------------------------------

TEXTS = st.text(max_size=40) | st.sampled_from(["", " ", "One. Two. Three.", "字" * 30])
ANSWERS = st.fixed_dictionaries(
    {"title": TEXTS},
    optional={
        "score": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        "tags": st.lists(TEXTS, max_size=12),
        "pairs": st.lists(st.fixed_dictionaries({"q": TEXTS}, optional={"a": TEXTS}), max_size=5),
    },
)
ANY = made(
    {**TITLE, "max_length": 12},
    SCORE,
    {**TAGS, "max_length": 7},
    {
        "name": "pairs",
        "type": "array",
        "items": "object",
        "max_items": 2,
        "fields": [
            {"name": "q", "type": "string", "required": True, "max_length": 9},
            {"name": "a", "type": "string"},
        ],
    },
)
JUDGE = compile_schema(ANY.schema, "any")


@given(ANSWERS)
def test_any_valid_answer_is_published_within_its_bounds_or_unusable(answer: Any) -> None:
    assert JUDGE.accepts(answer)
    try:
        end = finished(ANY, answer)
    except UnusableOutput:
        return
    fields: Any = end.fields
    assert 0 < len(fields["title"]) <= 12
    assert all(0 < len(tag) <= 7 for tag in fields.get("tags", ()))
    assert len(fields.get("tags", ())) <= 8
    assert len(fields.get("pairs", ())) <= 2
    assert JUDGE.accepts(fields)
    assert end.pieces[0].text.strip()


@given(ANSWERS)
def test_finishing_twice_changes_nothing_more(answer: Any) -> None:
    try:
        once = finished(ANY, answer)
    except UnusableOutput:
        return
    assert finished(ANY, dict(once.fields)).fields == once.fields
