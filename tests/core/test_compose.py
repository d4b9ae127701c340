"""Composites: what may be declared, and what is put together from which rows."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.call import Quote
from repurpose.core.compose import citations_of, compose, section_input, split_input
from repurpose.core.composite import (
    DESTINATIONS,
    RENDERERS,
    Composite,
    Section,
    composite_from,
)
from repurpose.core.envelope import Envelope
from repurpose.core.record import Row
from repurpose.core.source import Block, Source
from repurpose.errors import UsageError

SECTIONS = [
    {"name": "summary", "input": "summary", "label": "Summary"},
    {"name": "linkedin", "input": "social.linkedin"},
    {"name": "questions", "input": "faq", "label": "Questions"},
]
KIT = composite_from("kit", {"sections": SECTIONS})


def row(format: str, label: str, variant: str = "default", **changes: Any) -> Row:
    made = Row(
        id=f"{format}-{variant}",
        run_id="run1",
        source_id="source1",
        format=format,
        label=label,
        variant=variant,
        status="done",
        message=f"{label} done",
        idempotency_key="key",
        engine="scripted",
        provenance="model m",
        created_at="2026-05-02T08:00:02.000Z",
        text=f"{label} of {variant}",
        content={"text": label},
    )
    return replace(made, **changes)


def failed(format: str, label: str, message: str, variant: str = "default") -> Row:
    return row(
        format, label, variant, status="failed", message=message, text=None, content=None, kind="x"
    )


ROWS = (
    row("faq", "FAQ"),
    row("social", "Social posts", "x"),
    row("social", "Social posts", "linkedin"),
    row("summary", "Summary"),
)


def names_in(composed: Any) -> list[str]:
    return [section["sectionName"] for section in composed.payload["sections"]]


def reasons(composite: Composite, rows: Any, outputs: Any = None) -> dict[str, str]:
    return {each.name: each.reason for each in compose(composite, rows, None, outputs).dropped}


def of(*inputs: str) -> Composite:
    """A composite with these inputs, its sections named a, b, c."""
    sections = [Section(name, wanted) for name, wanted in zip("abc", inputs, strict=False)]
    return Composite("kit", sections)


# ---- declarations


def test_both_spellings_mean_the_same() -> None:
    long = {
        "widgetType": "markdown",
        "sections": [
            {"sectionName": "summary", "inputNodeId": "summary", "displayLabel": "Summary"},
            {"sectionName": "linkedin", "input": "social.linkedin"},
            {"name": "questions", "inputNodeId": "faq", "displayLabel": "Questions"},
        ],
    }
    assert composite_from("kit", long) == KIT


@pytest.mark.parametrize("nothing", [None, {}, {"sections": []}, {"sections": None}])
def test_an_absent_or_empty_declaration_is_a_composite_without_sections(nothing: object) -> None:
    empty = composite_from("kit", nothing)
    assert empty == Composite("kit")
    composed = compose(empty, ROWS)
    assert composed.payload["sections"] == []
    assert composed.envelope.status == 200
    assert composed.exit_code == 0


def test_spellings_of_destination_and_renderer_are_normalized_and_absent_means_default() -> None:
    declared = composite_from("kit", {"destination": " STDOUT ", "renderer": "Html"})
    assert (declared.destination, declared.renderer) == ("stdout", "html")
    assert (KIT.destination, KIT.renderer, KIT.version) == ("store", "markdown", 1)
    assert Composite("kit", destination="\tFile\n").destination == "file"


def test_destinations_and_renderers_are_pinned() -> None:
    """They are stored: one may be added at the end, and none renamed or given another meaning."""
    assert DESTINATIONS == ("store", "stdout", "file")
    assert RENDERERS == ("markdown", "html", "json")


FAULTS: dict[str, tuple[object, str]] = {
    "no name": ({"sections": [SECTIONS[0], {"input": "faq"}]}, "sections.1.name is missing"),
    "no input": ({"sections": [{"name": "a"}]}, "sections.0.input is missing"),
    "blank name": ({"sections": [{"name": " ", "input": "faq"}]}, "sections.0.name is blank"),
    "blank input": ({"sections": [{"name": "a", "input": " "}]}, "sections.0.input is blank"),
    "odd input": ({"sections": [{"name": "a", "input": "f a q"}]}, "sections.0.input must be"),
    "number": ({"sections": [{"name": 3, "input": "faq"}]}, "sections.0.name must be a text"),
    "no table": ({"sections": ["faq"]}, "sections.0 must be a table"),
    "no list": ({"sections": "faq"}, "sections must be a list"),
    "two lines": ({"sections": [{"name": "a\nb", "input": "faq"}]}, "sections.0.name must be one"),
    "destination": ({"destination": "printer"}, "destination must be store, stdout or file"),
    "renderer": ({"widgetType": "pdf"}, "renderer must be markdown, html or json"),
    "version": ({"version": 0}, "version must be a whole number from 1 up"),
    "true": ({"version": True}, "version must be a whole number from 1 up"),
    "unknown key": ({"colour": 1}, "colour is not known"),
    "unknown key of a section": (
        {"sections": [{"name": "a", "input": "faq", "prompt": "x"}]},
        "sections.0.prompt is not known",
    ),
    "two spellings": (
        {"sections": [{"name": "a", "sectionName": "a", "input": "faq"}]},
        "sections.0.sectionName means the same as name",
    ),
    "two renderers": ({"renderer": "html", "widgetType": "html"}, "widgetType means the same"),
    "text": ("sections", "must be a table"),
    "another name": ({"name": "other"}, "name differs"),
}


@pytest.mark.parametrize(("declared", "words"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_used_is_one_line_with_the_composite_and_the_place(
    declared: object, words: str
) -> None:
    with pytest.raises(UsageError) as raised:
        composite_from("kit", declared)
    assert raised.value.message.startswith("composite kit")
    assert words in raised.value.message
    assert "\n" not in raised.value.message


def test_equal_names_are_refused_whatever_their_case_with_both_places() -> None:
    twice = [*SECTIONS, {"name": "SUMMARY", "input": "faq"}]
    with pytest.raises(UsageError, match=r"sections\.0\.name and sections\.3\.name are the same"):
        composite_from("kit", {"sections": twice})


def test_python_code_is_checked_as_a_declaration_is() -> None:
    with pytest.raises(UsageError, match=r"sections\.0\.input must be a text"):
        Composite("kit", [Section("a", 3)])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"sections\.0 must be a Section"):
        Composite("kit", [{"name": "a", "input": "faq"}])  # type: ignore[list-item]


@pytest.mark.parametrize("name", ["", " ", "../kit", "a b", "-kit", "é", "a" * 65])
def test_a_name_that_cannot_stand_in_a_file_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="the name of a composite"):
        Composite(name)


def test_an_input_names_a_format_and_perhaps_a_variant() -> None:
    assert [split_input(each) for each in ("faq", "faq.default", "social.x.2")] == [
        ("faq", None),
        ("faq", None),
        ("social", "x.2"),
    ]
    assert of("FAQ.default").sections[0].input == "faq"
    inputs = ["faq", "social.x", "social.linkedin", "summary"]
    assert [section_input(each) for each in ROWS] == inputs


# ---- composition


def test_sections_stand_in_the_order_of_the_declaration_whatever_that_of_the_rows() -> None:
    assert names_in(compose(KIT, ROWS)) == ["summary", "linkedin", "questions"]
    assert compose(KIT, ROWS).payload == compose(KIT, ROWS[::-1]).payload
    turned = composite_from("kit", {"sections": SECTIONS[::-1]})
    assert names_in(compose(turned, ROWS)) == ["questions", "linkedin", "summary"]


def test_each_text_stays_under_its_name_when_sections_are_inserted_and_renamed() -> None:
    def texts(*sections: Section) -> dict[str, str]:
        composed = compose(Composite("kit", sections), ROWS)
        return {each["sectionName"]: each["textContent"] for each in composed.payload["sections"]}  # type: ignore[union-attr,index,call-overload,misc]

    two = texts(Section("a", "summary"), Section("b", "faq"))
    three = texts(Section("a", "summary"), Section("new", "social.x"), Section("b", "faq"))
    assert two.items() <= three.items()
    assert texts(Section("a", "summary"), Section("c", "faq"))["c"] == two["b"]


def test_the_payload_has_these_keys_and_no_others() -> None:
    payload: Any = compose(KIT, ROWS).payload
    assert list(payload) == ["destination", "widgetType", "sections", "dropped"]
    assert payload["sections"][0] == {
        "sectionName": "summary",
        "displayLabel": "Summary",
        "textContent": "Summary of default",
        "structuredData": {"text": "Summary"},
        "citations": [],
    }
    assert payload["sections"][1]["displayLabel"] is None


def test_the_same_rows_give_the_same_bytes() -> None:
    first, second = (json.dumps(compose(KIT, ROWS).payload) for _ in range(2))
    assert first == second


def test_composition_takes_nothing_to_emit_events_with() -> None:
    assert list(inspect.signature(compose).parameters) == ["composite", "rows", "source", "outputs"]


def test_a_failed_input_is_dropped_with_its_reason_and_the_rest_delivered() -> None:
    rows = [failed("faq", "FAQ", "FAQ generation error: no valid answer (1 retry)"), *ROWS[1:]]
    composed = compose(KIT, rows)
    assert names_in(composed) == ["summary", "linkedin"]
    assert composed.payload["dropped"] == [
        {"sectionName": "questions", "reason": "FAQ failed: no valid answer (1 retry)"}
    ]
    assert composed.envelope.status == 400
    assert composed.envelope.message == (
        "kit: 2 of 3 sections; dropped: questions (FAQ failed: no valid answer (1 retry))"
    )
    assert composed.envelope.data == composed.payload
    assert composed.exit_code == 1


def test_where_nothing_is_left_it_has_failed() -> None:
    composed = compose(KIT, ())
    assert (composed.payload["sections"], composed.exit_code) == ([], 4)


REASONS: dict[str, tuple[str, tuple[Row, ...], dict[str, Envelope], str]] = {
    "not known": (
        "news",
        ROWS,
        {"news": Envelope.failure("no format news: not known")},
        "no format news: not known",
    ),
    "not begun": ("faq", ROWS[1:], {"faq": Envelope.failure("not begun")}, "faq was not begun"),
    "not asked for": ("faq", ROWS[1:], {}, "no format faq in this run"),
    "no such post": ("social.mastodon", ROWS, {}, "social has no post for mastodon in this run"),
    "no such variant": ("faq.x", ROWS, {}, "faq has no variant x in this run"),
    "several": (
        "social",
        ROWS,
        {},
        "social has several texts in this run; name one of social.linkedin, social.x",
    ),
    "one variant": (
        "social.x",
        (failed("social", "Social posts", "Social posts (x) storage error: disk full", "x"),),
        {},
        "Social posts (x) storage error: disk full",
    ),
    "whole format": (
        "social.x",
        (failed("social", "Social posts", "Social posts generation error: refused"),),
        {},
        "Social posts failed: refused",
    ),
    "lines": ("faq", (failed("faq", "FAQ", "one\ntwo"),), {}, "FAQ failed: one two"),
}


@pytest.mark.parametrize(("wanted", "rows", "outputs", "reason"), REASONS.values(), ids=REASONS)
def test_each_reason_is_one_that_an_editor_can_read(
    wanted: str, rows: Any, outputs: Any, reason: str
) -> None:
    assert reasons(of(wanted), rows, outputs) == {"a": reason}


def test_one_row_may_fill_two_sections() -> None:
    assert names_in(compose(of("faq", "faq"), ROWS)) == ["a", "b"]


def test_an_edited_row_is_taken_as_it_is_now() -> None:
    edited = replace(ROWS[0], text="Better.", action="edited", revision=2)
    composed: Any = compose(of("faq"), [edited])
    assert composed.payload["sections"][0]["textContent"] == "Better."


def block(start: int, **changes: Any) -> Block:
    return Block("paragraph", start, start + 10, **changes)


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"headings": ("Part", "Costs"), "page": 3}, "Costs"),
        ({"page": 3, "time": 5.0}, "page 3"),
        ({"time": 754.2}, "12:34"),
        ({"time": 3754.2}, "1:02:34"),
        ({}, None),
    ],
)
def test_a_citation_is_labelled_with_the_nearest_place(
    changes: dict[str, Any], label: str | None
) -> None:
    source = Source("x" * 40, "a.md", "markdown", blocks=(block(0), block(20, **changes)))
    cited = row("faq", "FAQ", quotes=(Quote("passage", 22, 29),))
    assert citations_of(cited, source) == [
        {"text": "passage", "start": 22, "end": 29, "label": label}
    ]
    assert citations_of(cited)[0]["label"] is None  # type: ignore[index,call-overload]


def test_a_passage_of_a_heading_is_labelled_with_it() -> None:
    source = Source(
        "## Costs\n\nText.", "a.md", "markdown", blocks=(Block("heading", 0, 8, level=2),)
    )
    cited = row("faq", "FAQ", quotes=(Quote("Costs", 3, 8),))
    assert citations_of(cited, source)[0]["label"] == "Costs"  # type: ignore[index,call-overload]


def test_a_place_that_nothing_was_put_into_is_a_short_warning() -> None:
    left = row("faq", "FAQ", text="Dear {{first_name}}, " + "hello " * 100)
    composed = compose(of("faq"), [left])
    (warning,) = composed.warnings
    assert "section a" in warning
    assert "{{first_name}}" in warning
    assert len(warning) <= 200
    assert composed.envelope.status == 200
    assert compose(of("faq"), [row("faq", "FAQ", text="Use {braces}.")]).warnings == ()
