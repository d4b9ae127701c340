"""The states of sections do not depend on how a network orders what it brings."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.core.events import (
    SectionCompleted,
    SectionData,
    SectionEvent,
    SectionStarted,
    line_of,
)
from repurpose.core.sections import SectionStates, in_order, reduced, state_object

VECTORS = json.loads(  # noqa: TID251 - a file of our own
    (Path(__file__).parents[2] / "fixtures" / "sections" / "reducer.json").read_text("utf-8")
)


def states_after(lines: list[Any], stream: str = "run") -> SectionStates:
    return reduce(lambda states, line: reduced(states, line, stream), lines, {})


@pytest.mark.parametrize("vector", VECTORS, ids=[one["name"] for one in VECTORS])
def test_each_vector_leads_to_its_states(vector: dict[str, Any]) -> None:
    states = states_after(vector["lines"], vector["stream"])
    assert [state_object(one) for one in in_order(states)] == vector["states"]


def test_vectors_are_told_apart_by_name() -> None:
    assert len({one["name"] for one in VECTORS}) == len(VECTORS)


def test_what_changes_nothing_gives_the_same_object() -> None:
    states = states_after([line_of(SectionCompleted("faq", "Why?"), "run")])
    assert reduced(states, line_of(SectionData("faq", "late"), "run"), "run") is states
    assert reduced(states, line_of(SectionData("faq", "x"), "other"), "run") is states
    assert reduced(states, {"type": "run_ended", "stream": "run", "payload": {}}, "run") is states


def events_of(name: str, index: int, deltas: list[str]) -> list[SectionEvent]:
    told: list[SectionEvent] = [SectionData(name, each) for each in deltas]
    return [
        SectionStarted(name, index, 3, name.upper()),
        *told,
        SectionCompleted(name, "all of it"),
    ]


sections = st.lists(st.lists(st.text("ab ", max_size=3), max_size=4), min_size=1, max_size=3)


@given(sections, st.randoms(use_true_random=False))
def test_any_interleaving_of_sections_gives_the_same_states(
    texts: list[list[str]], chance: Any
) -> None:
    whole = [events_of(f"s{place}", place, each) for place, each in enumerate(texts)]
    apart = states_after([line_of(event, "run") for events in whole for event in events])
    waiting = [list(events) for events in whole]
    mixed = []
    while any(waiting):
        mixed.append(chance.choice([events for events in waiting if events]).pop(0))
    assert in_order(states_after([line_of(one, "run") for one in mixed])) == in_order(apart)


@given(sections, st.randoms(use_true_random=False))
def test_whatever_the_order_and_whatever_is_lost_the_final_text_counts(
    texts: list[list[str]], chance: Any
) -> None:
    events = [event for at, each in enumerate(texts) for event in events_of(f"s{at}", at, each)]
    kept = [one for one in events if not isinstance(one, SectionData) or chance.random() < 0.5]
    chance.shuffle(kept)
    shown = in_order(states_after([line_of(one, "run") for one in kept]))
    assert [(one.section_name, one.status, one.accumulated_text) for one in shown] == [
        (f"s{place}", "completed", "all of it") for place in range(len(texts))
    ]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "stream", "payload", "sectionName", "textDelta", "x"]),
            inner | st.sampled_from(["section_data", "section_started", "run", "faq"]),
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(st.lists(anything, max_size=5))
def test_no_line_whatever_it_is_raises(lines: list[Any]) -> None:
    states_after(lines)
