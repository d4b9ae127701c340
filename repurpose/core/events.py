"""What is told of a section while it is written: that it began, what it says, that it is complete.

Events are keyed by the section's name. The last one holds all there is, so whoever lost one before
it is right all the same. The names and keys here are pinned: none is ever given another meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from repurpose.core.json_types import JsonObject, JsonValue

__all__ = [
    "SectionCompleted",
    "SectionData",
    "SectionEvent",
    "SectionStarted",
    "line_of",
    "payload_of",
    "type_of",
]


@dataclass(frozen=True, slots=True)
class SectionStarted:
    """A section is announced; it is never withdrawn."""

    section_name: str
    section_index: int
    """Its place among the sections, from 0; for display only."""
    total_sections: int
    display_label: str | None = None


@dataclass(frozen=True, slots=True)
class SectionData:
    """More of a section; may repeat."""

    section_name: str
    text_delta: str | None = None
    """What follows the text so far."""
    structured_data: JsonValue = None
    """An object is merged over the one so far; anything else takes its place."""


@dataclass(frozen=True, slots=True)
class SectionCompleted:
    """The whole section: whatever was told of it before is replaced by this."""

    section_name: str
    final_text: str | None = None
    """None keeps the text so far; an empty one says that there is nothing to show."""
    final_structured_data: JsonValue = None
    citations: tuple[JsonObject, ...] = ()


SectionEvent: TypeAlias = SectionStarted | SectionData | SectionCompleted
"""A closed union."""


def type_of(event: SectionEvent) -> str:
    """The event's name on a stream."""
    match event:
        case SectionStarted():
            return "section_started"
        case SectionData():
            return "section_data"
        case SectionCompleted():
            return "section_completed"


def payload_of(event: SectionEvent) -> JsonObject:
    """The event as a JSON object; what it does not say is left out, except citations.

    >>> payload_of(SectionData("faq", text_delta="Why?"))
    {'sectionName': 'faq', 'textDelta': 'Why?'}
    >>> payload_of(SectionCompleted("faq", final_text=""))
    {'sectionName': 'faq', 'finalText': '', 'citations': []}
    """
    match event:
        case SectionStarted():
            return _said(
                sectionName=event.section_name,
                displayLabel=event.display_label,
                sectionIndex=event.section_index,
                totalSections=event.total_sections,
            )
        case SectionData():
            return _said(
                sectionName=event.section_name,
                textDelta=event.text_delta,
                structuredData=event.structured_data,
            )
        case SectionCompleted():
            return _said(
                sectionName=event.section_name,
                finalText=event.final_text,
                finalStructuredData=event.final_structured_data,
                citations=list(event.citations),
            )


def line_of(event: SectionEvent, stream: str) -> JsonObject:
    """The event as one line of a stream that others share; `stream` says whose it is.

    >>> line_of(SectionStarted("faq", 0, 1), "run-1")["type"]
    'section_started'
    """
    return {"type": type_of(event), "stream": stream, "payload": payload_of(event)}


def _said(**fields: JsonValue) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
