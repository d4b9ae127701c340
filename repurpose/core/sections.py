"""What a consumer of section events knows: the state of each section, by name.

One function from a state and a line to the next state. It takes lines in any order that a network
or several writers may bring them in; only the deltas of one section have to keep theirs. The page
does the same in JavaScript, and both pass `fixtures/sections/reducer.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from repurpose.core.json_types import JsonObject, JsonValue

__all__ = ["SectionState", "SectionStates", "SectionStatus", "in_order", "reduced", "state_object"]

SectionStatus = Literal["idle", "streaming", "completed"]


@dataclass(frozen=True, slots=True)
class SectionState:
    """One section as far as it is known."""

    section_name: str
    status: SectionStatus = "idle"
    accumulated_text: str = ""
    display_label: str | None = None
    """None where none was told: then the name is shown."""
    section_index: int | None = None
    total_sections: int | None = None
    structured_data: JsonValue = None
    citations: tuple[JsonObject, ...] = ()


SectionStates: TypeAlias = Mapping[str, SectionState]
"""By name, in the order in which the names were first heard of."""


def reduced(states: SectionStates, line: object, stream: str) -> SectionStates:
    """The states after one line of `stream`; the same object where it changes nothing.

    A line of another stream, of another type or without a section's name is passed over, and a
    field of the wrong type counts as one that is not there. A completed section stays so: a late
    start adds its label and place, and late text is dropped, since the final one has it already.
    To hear a section anew, take its name out of the states first, or use another stream.
    """
    if not isinstance(line, Mapping) or line.get("stream") != stream:
        return states
    payload = line.get("payload")
    if not isinstance(payload, Mapping):
        return states
    name = payload.get("sectionName")
    if not isinstance(name, str) or not name.strip():
        return states
    known = states.get(name) or SectionState(name)
    match line.get("type"):
        case "section_started":
            changed = _started(known, payload)
        case "section_data":
            changed = _with_data(known, payload)
        case "section_completed":
            changed = _completed(known, payload)
        case _:
            return states
    return states if changed is known else {**states, name: changed}


def in_order(states: SectionStates) -> tuple[SectionState, ...]:
    """The sections as they are shown: by index, then those without one as they were heard of.

    >>> late = SectionState("late", section_index=1), SectionState("none")
    >>> first = SectionState("first", section_index=0)
    >>> [one.section_name for one in in_order({s.section_name: s for s in (*late, first)})]
    ['first', 'late', 'none']
    """
    placed = [(one.section_index, one) for one in states.values() if one.section_index is not None]
    ordered = [one for _, one in sorted(placed, key=lambda each: each[0])]
    return (*ordered, *(one for one in states.values() if one.section_index is None))


def state_object(state: SectionState) -> JsonObject:
    """The state as the JSON object that test vectors hold; what is not known is left out.

    >>> state_object(SectionState("faq", "streaming", "Why?"))
    {'sectionName': 'faq', 'status': 'streaming', 'accumulatedText': 'Why?'}
    """
    optional: Iterable[tuple[str, JsonValue]] = (
        ("displayLabel", state.display_label),
        ("sectionIndex", state.section_index),
        ("totalSections", state.total_sections),
        ("structuredData", state.structured_data),
        ("citations", list(state.citations) or None),
    )
    return {
        "sectionName": state.section_name,
        "status": state.status,
        "accumulatedText": state.accumulated_text,
        **{key: value for key, value in optional if value is not None},
    }


def _started(known: SectionState, payload: Mapping[str, JsonValue]) -> SectionState:
    label = payload.get("displayLabel")
    index, total = _count(payload.get("sectionIndex")), _count(payload.get("totalSections"))
    return replace(
        known,
        status="completed" if known.status == "completed" else "streaming",
        display_label=label if isinstance(label, str) else known.display_label,
        section_index=known.section_index if index is None else index,
        total_sections=known.total_sections if total is None else total,
    )


def _with_data(known: SectionState, payload: Mapping[str, JsonValue]) -> SectionState:
    delta, structured = _text(payload.get("textDelta")) or "", payload.get("structuredData")
    if known.status == "completed" or (not delta and structured is None):
        return known
    return replace(
        known,
        status="streaming",
        accumulated_text=known.accumulated_text + delta,
        structured_data=_merged(known.structured_data, structured),
    )


def _completed(known: SectionState, payload: Mapping[str, JsonValue]) -> SectionState:
    text, structured = _text(payload.get("finalText")), payload.get("finalStructuredData")
    told = payload.get("citations")
    citations = known.citations
    if isinstance(told, list | tuple):
        citations = tuple(each for each in told if isinstance(each, Mapping))
    return replace(
        known,
        status="completed",
        accumulated_text=known.accumulated_text if text is None else text,
        structured_data=known.structured_data if structured is None else structured,
        citations=citations,
    )


def _merged(old: JsonValue, new: JsonValue) -> JsonValue:
    if new is None:
        return old
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **new}
    return new


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: JsonValue) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and value >= 0 else None  # type: ignore[operator,return-value]  # just checked
