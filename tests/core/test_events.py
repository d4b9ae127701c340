"""What section events say, and the names and keys that are never given another meaning."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from repurpose.core.events import (
    SectionCompleted,
    SectionData,
    SectionEvent,
    SectionStarted,
    line_of,
    payload_of,
    type_of,
)

FULL: list[tuple[SectionEvent, str, set[str]]] = [
    (
        SectionStarted("faq", 1, 3, "FAQ"),
        "section_started",
        {"sectionName", "displayLabel", "sectionIndex", "totalSections"},
    ),
    (
        SectionData("faq", "Why?", {"pairs": []}),
        "section_data",
        {"sectionName", "textDelta", "structuredData"},
    ),
    (
        SectionCompleted("faq", "Why?", {"pairs": []}, ({"text": "Because"},)),
        "section_completed",
        {"sectionName", "finalText", "finalStructuredData", "citations"},
    ),
]


@pytest.mark.parametrize(("event", "name", "keys"), FULL)
def test_names_and_keys_are_pinned(event: SectionEvent, name: str, keys: set[str]) -> None:
    assert type_of(event) == name
    assert set(payload_of(event)) == keys


def test_there_are_three_events() -> None:
    assert set(get_args(SectionEvent)) == {type(event) for event, _, _ in FULL}


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        (
            SectionStarted("faq", 0, 1),
            {"sectionName": "faq", "sectionIndex": 0, "totalSections": 1},
        ),
        (SectionData("faq"), {"sectionName": "faq"}),
        (SectionCompleted("faq"), {"sectionName": "faq", "citations": []}),
    ],
)
def test_what_is_not_said_is_left_out_but_citations(event: Any, payload: dict[str, Any]) -> None:
    assert payload_of(event) == payload


def test_an_empty_final_text_is_said() -> None:
    payload = payload_of(SectionCompleted("faq", final_text=""))
    assert payload["finalText"] == ""


def test_a_line_says_its_type_and_its_stream() -> None:
    assert line_of(SectionData("faq", "Why?"), "run-7") == {
        "type": "section_data",
        "stream": "run-7",
        "payload": {"sectionName": "faq", "textDelta": "Why?"},
    }
