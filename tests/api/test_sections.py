"""Sections are told as they are written, and end as they were stored."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.api._sections import SectionStream, events_of, planned_sections
from repurpose.core.call import Quote
from repurpose.core.compose import Composite, Section, compose
from repurpose.core.envelope import Envelope, Meta
from repurpose.core.events import (
    SectionCompleted,
    SectionData,
    SectionEvent,
    SectionStarted,
    line_of,
)
from repurpose.core.record import Row
from repurpose.core.result import FormatResult
from repurpose.core.sections import in_order, reduced
from repurpose.core.source import Block, Source

SECTIONS = planned_sections(
    [("questions", "faq", "Questions"), ("x", "social.x", None), ("x-2", "social.x.2", None)]
)
SUMMARY = planned_sections([("summary", "summary", "Summary")])


def row(format: str, text: str | None, variant: str = "default", **changes: Any) -> Row:
    made = Row(
        id=f"{format}-{variant}",
        run_id="run",
        source_id="source",
        format=format,
        label=format.title(),
        variant=variant,
        status="failed" if text is None else "done",
        message="",
        idempotency_key="key",
        engine="scripted",
        provenance="engine scripted",
        created_at="2026-01-01T00:00:00.000Z",
        text=text,
        content=None if text is None else {"text": text},
    )
    return replace(made, **changes)


def result(*rows: Row) -> FormatResult:
    status: Any = 200 if any(each.status == "done" for each in rows) else 400
    meta = Meta("run", 1, 0, "engine scripted")
    return FormatResult(rows[0].format, rows[0].label, Envelope(status, ""), meta, rows)


def stream(sections: Any = SECTIONS, **options: Any) -> tuple[SectionStream, list[SectionEvent]]:
    told: list[SectionEvent] = []
    return SectionStream(sections, told.append, **options), told


def pieces(text: str, size: int = 5) -> list[str]:
    return [text[place : place + size] for place in range(0, len(text), size)]


def hear(listener: Any, reply: str, size: int = 5) -> None:
    listener.began()
    for piece in pieces(reply, size):
        listener.heard(piece)


def text_told(events: list[SectionEvent], name: str) -> str:
    return "".join(
        event.text_delta or ""
        for event in events
        if isinstance(event, SectionData) and event.section_name == name
    )


def test_a_section_is_started_once_on_its_first_text_and_grows() -> None:
    told_by, told = stream()
    listener = told_by.listener("faq")
    listener.began()
    listener.heard('{"pairs": [{"question": ')
    assert told == []
    listener.heard('"Why?", "answer": "Be')
    listener.heard('cause."}]}')
    assert told == [
        SectionStarted("questions", 0, 3, "Questions"),
        SectionData("questions", "Why?\nBe"),
        SectionData("questions", "cause."),
    ]


def test_the_end_is_the_row_and_not_what_was_heard() -> None:
    told_by, told = stream()
    hear(told_by.listener("faq"), '{"pairs": [{"question": "Why?", "answer": "Because."}]}')
    told.clear()
    told_by.ended(result(row("faq", "Q: Why?\nA: Because.")))
    assert told == [
        SectionCompleted("questions", "Q: Why?\nA: Because.", {"text": "Q: Why?\nA: Because."})
    ]


def test_one_reply_fills_the_sections_of_its_variants() -> None:
    told_by, told = stream()
    reply = {"x": {"text": "One.", "hashtags": ["a"]}, "x_2": {"text": "Two.", "hashtags": []}}
    hear(told_by.listener("social"), json.dumps(reply))
    assert text_told(told, "x") == "One.\n\n#a"
    assert text_told(told, "x-2") == "Two."
    told.clear()
    told_by.ended(result(row("social", "One. #a", "x"), row("social", "Two.", "x.2")))
    assert [(type(event), event.section_name) for event in told] == [
        (SectionCompleted, "x"),
        (SectionCompleted, "x-2"),
    ]


def test_what_was_not_heard_is_told_as_a_triple() -> None:
    told_by, told = stream()
    told_by.ended(result(row("social", "Two.", "x.2"), row("social", "One.", "x")))
    content: list[Any] = [{"text": "One."}, {"text": "Two."}]
    assert told == [
        SectionStarted("x", 1, 3),
        SectionData("x", "One.", content[0]),
        SectionCompleted("x", "One.", content[0]),
        SectionStarted("x-2", 2, 3),
        SectionData("x-2", "Two.", content[1]),
        SectionCompleted("x-2", "Two.", content[1]),
    ]


def test_a_second_reply_is_held_back_until_it_says_more_than_the_first() -> None:
    told_by, told = stream(SUMMARY)
    listener = told_by.listener("summary")
    hear(listener, '{"sentences": ["Bees fly.')
    told.clear()
    listener.began()
    listener.heard('{"sentences": ["Bees')
    assert told == []
    listener.heard(" fly. High")
    listener.heard(".")
    assert told == [SectionData("summary", " High"), SectionData("summary", ".")]


def test_a_second_reply_that_says_something_else_is_told_at_its_end_only() -> None:
    told_by, told = stream(SUMMARY)
    listener = told_by.listener("summary")
    hear(listener, '{"sentences": ["Bees fly."]')
    told.clear()
    hear(listener, '{"sentences": ["Bees sting, and that for long."]}')
    assert told == []
    told_by.ended(result(row("summary", "Bees sting, and that for long.")))
    assert [type(event) for event in told] == [SectionCompleted]


def test_a_third_reply_is_measured_against_all_that_was_told() -> None:
    told_by, told = stream(SUMMARY)
    listener = told_by.listener("summary")
    for reply in ('{"s": "Bees', '{"s": "Wasps"}', '{"s": "Bees fly."}'):
        hear(listener, reply)
    assert text_told(told, "summary") == "Bees fly."


def test_a_failed_format_empties_what_was_announced_and_tells_nothing_else() -> None:
    told_by, told = stream()
    hear(told_by.listener("social"), '{"x": {"text": "One."')
    told.clear()
    told_by.ended(result(row("social", None)))
    told_by.ended(result(row("faq", None)))
    assert told == [SectionCompleted("x", final_text="")]


def test_a_variant_that_was_dropped_is_emptied() -> None:
    told_by, told = stream()
    hear(told_by.listener("social"), '{"x": {"text": "One."}, "x_2": {"text": "One!"}}')
    told.clear()
    told_by.ended(result(row("social", "One.", "x")))
    assert told[-1] == SectionCompleted("x-2", final_text="")


def test_what_a_stopped_run_announced_is_ended_once() -> None:
    told_by, told = stream()
    listener = told_by.listener("social")
    hear(listener, '{"x": {"text": "One."')
    told.clear()
    told_by.close()
    told_by.close()
    listener.heard(" Late.")
    assert told == [SectionCompleted("x", final_text="")]


def test_two_sections_may_have_one_input() -> None:
    told_by, told = stream(planned_sections([("top", "faq", None), ("bottom", "faq", None)]))
    hear(told_by.listener("faq"), '{"pairs": ["Why?"]}')
    told_by.ended(result(row("faq", "Why?")))
    assert text_told(told, "top") == text_told(told, "bottom") == "Why?"
    assert [event.section_name for event in told[-2:]] == ["top", "bottom"]


def test_a_format_that_no_section_is_made_of_is_not_told() -> None:
    told_by, told = stream()
    hear(told_by.listener("newsletter"), '{"subject": "Bees"}')
    told_by.ended(result(row("newsletter", "Bees")))
    assert told == []


def test_a_format_without_structure_is_told_as_it_is_written() -> None:
    told_by, told = stream(planned_sections([("note", "note", None)], plain=["note"]))
    hear(told_by.listener("note"), "<think>{}</think>\nBees {like} roofs.\n")
    assert text_told(told, "note") == "Bees {like} roofs."


def test_citations_come_with_the_end_and_say_where_they_stand() -> None:
    source = Source("# Bees\n\nThey fly.", "b.md", "markdown")
    source = replace(source, blocks=(Block("paragraph", 8, 17, headings=("Bees",)),))
    told_by, told = stream(SUMMARY, source=source)
    quoted = row("summary", "They fly.", quotes=(Quote("They fly.", 8, 17),))
    told_by.ended(result(quoted))
    end = told[-1]
    assert isinstance(end, SectionCompleted)
    assert end.citations == ({"text": "They fly.", "start": 8, "end": 17, "label": "Bees"},)


# --- laws -------------------------------------------------------------------------------------

words = st.text(st.sampled_from('ab "\\\né🦊'), max_size=12)
replies = st.lists(
    st.tuples(st.lists(words, max_size=3), st.integers(0, 60), st.integers(1, 9)), max_size=3
)


@given(replies, st.none() | words)
def test_whatever_is_heard_texts_only_grow_and_the_end_is_the_row(
    heard: list[tuple[list[str], int, int]], stored: str | None
) -> None:
    told_by, told = stream(SUMMARY)
    listener = told_by.listener("summary")
    for sentences, cut, size in heard:
        hear(listener, json.dumps({"sentences": sentences})[:cut], size)
    told_by.ended(result(row("summary", stored)))
    kinds = [type(event) for event in told]
    assert kinds.count(SectionStarted) <= 1
    assert kinds[:1] == [SectionStarted] * bool(told)
    assert kinds[-1:] == [SectionCompleted] * bool(told)
    states: Any = {}
    text = ""
    for event in told[:-1]:
        states = reduced(states, line_of(event, "run"), "run")
        grown = states["summary"].accumulated_text
        assert grown.startswith(text)
        text = grown
    final: Any = {}
    for event in told:
        final = reduced(final, line_of(event, "run"), "run")
    assert [one.accumulated_text for one in in_order(final)] == [stored or ""] * bool(told)
    assert bool(told) or stored is None


# --- stored composites ------------------------------------------------------------------------


def test_three_sections_are_nine_events_in_the_order_of_the_declaration() -> None:
    kit = Composite(
        "kit",
        (Section("c", "faq"), Section("a", "summary", "A"), Section("b", "social.x")),
    )
    rows = [row("summary", "S"), row("faq", "F"), row("social", "X", "x")]
    told = events_of(compose(kit, rows).payload)
    assert [(type(event), event.section_name) for event in told] == [
        (kind, name)
        for name in ("c", "a", "b")
        for kind in (SectionStarted, SectionData, SectionCompleted)
    ]
    starts = [event for event in told if isinstance(event, SectionStarted)]
    assert [(event.section_index, event.total_sections) for event in starts] == [
        (0, 3),
        (1, 3),
        (2, 3),
    ]
    assert [event.display_label for event in starts] == [None, "A", None]


def test_a_composite_without_sections_has_no_events() -> None:
    assert events_of(compose(Composite("empty"), []).payload) == ()


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"sections": None},
        {"sections": "faq"},
        {"sections": [None]},
        {"sections": [{"sectionName": "a"}]},
        {"sections": [{"sectionName": " ", "textContent": "x"}]},
        {"sections": [{"sectionName": "a", "textContent": "x"}] * 2},
    ],
)
def test_a_payload_that_is_no_composite_s_is_a_warning_and_no_event(
    payload: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert events_of(payload) == ()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
