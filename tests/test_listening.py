"""Whoever listens hears replies while they are written, and changes nothing by it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from repurpose.api._sections import SectionStream, planned_sections
from repurpose.api.runs import arun
from repurpose.config import from_environment
from repurpose.core.events import SectionCompleted, SectionData, SectionEvent, SectionStarted
from repurpose.core.result import RunResult
from repurpose.core.source import Source
from repurpose.engines.extractive import extractive_engine
from repurpose.engines.scripted import Streamed, scripted_engine
from repurpose.errors import StillWorking
from repurpose.ports import Engine, Store

SOURCE = Source("Kestrels hover over the ring road.", "a.md", "text", title="Kes")


class Ear:
    """Hears, or fails to."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.told: list[str | None] = []
        self._fault = fault

    def began(self) -> None:
        self.told.append(None)

    def heard(self, text: str) -> None:
        self.told.append(text)
        if self._fault is not None:
            raise self._fault


@pytest.fixture
def run(store: Store) -> Callable[..., RunResult]:
    """Run formats of the source with an engine, in an own store."""

    def made(engine: Engine, *formats: str, **options: Any) -> RunResult:
        settings = from_environment({})
        return asyncio.run(
            arun(SOURCE, formats, engine=engine, settings=settings, store=store, **options)
        )

    return made


def in_pieces(answer: Any, size: int = 9, **options: Any) -> Streamed:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return Streamed([text[at : at + size] for at in range(0, len(text), size)], **options)


def test_a_reply_is_heard_in_pieces_and_stored_whole(
    run: Callable[..., RunResult], store: Store, golden: Callable[[str], Any]
) -> None:
    reply = in_pieces(golden("faq"))
    ears = {"faq": Ear(), "summary": Ear()}
    engine = scripted_engine({"faq": [reply], "summary": [golden("summary")]})
    result = run(engine, "faq", "summary", listen=ears.__getitem__)
    assert result.exit_code == 0
    assert ears["faq"].told == [None, *reply.pieces]
    assert ears["summary"].told == [None, json.dumps(golden("summary"), ensure_ascii=False)]
    kept = {record.call.format: record.reply for record in store.calls(result.run.id)}
    assert kept["faq"] is not None
    assert kept["faq"].text == "".join(reply.pieces)


def test_a_run_with_a_listener_stores_what_one_without_does(
    run: Callable[..., RunResult], golden: Callable[[str], Any]
) -> None:
    def rows(**options: Any) -> list[Any]:
        engine = scripted_engine({"faq": ["no JSON", in_pieces(golden("faq"))]})
        found = run(engine, "faq", force=True, **options).results["faq"].rows
        times: dict[str, Any] = {
            "id": "",
            "run_id": "",
            "created_at": "",
            "elapsed_ms": 0,
            "revision": 1,
        }
        return [replace(row, **times) for row in found]

    assert rows(listen=lambda _: Ear()) == rows()


def test_without_a_listener_an_engine_is_asked_as_always(
    run: Callable[..., RunResult], golden: Callable[[str], Any]
) -> None:
    engine = scripted_engine({"faq": [in_pieces(golden("faq"))]})

    async def streamed(*_: object) -> Any:
        raise AssertionError("nobody listens")

    assert run(replace(engine, stream=streamed), "faq").exit_code == 0


def test_an_engine_that_cannot_stream_is_asked_as_always(run: Callable[..., RunResult]) -> None:
    asked: list[str] = []
    run(extractive_engine(), "summary", listen=asked.append)
    assert asked == []


def test_a_repair_begins_anew(run: Callable[..., RunResult], golden: Callable[[str], Any]) -> None:
    ear = Ear()
    run(scripted_engine({"faq": ["no JSON", golden("faq")]}), "faq", listen=lambda _: ear)
    assert [told is None for told in ear.told] == [True, False, True, False]


def test_a_listener_that_fails_is_told_no_more_and_costs_no_reply(
    run: Callable[..., RunResult],
    golden: Callable[[str], Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    ear = Ear(RuntimeError("kestrels"))
    reply = in_pieces(golden("faq"))
    result = run(scripted_engine({"faq": [reply]}), "faq", listen=lambda _: ear)
    assert result.exit_code == 0
    assert ear.told == [None, reply.pieces[0]]
    assert "RuntimeError" in caplog.text
    assert "kestrels" not in caplog.text


def test_a_hook_that_fails_costs_no_reply(
    run: Callable[..., RunResult], golden: Callable[[str], Any]
) -> None:
    def listen(_: str) -> Ear:
        raise RuntimeError

    assert run(scripted_engine({"faq": [golden("faq")]}), "faq", listen=listen).exit_code == 0


# --- sections ---------------------------------------------------------------------------------

SECTIONS = planned_sections(
    [
        ("summary", "summary", "Summary"),
        ("linkedin", "social.linkedin", "LinkedIn"),
        ("questions", "faq", "Questions"),
    ]
)


def sections_of(
    run: Callable[..., RunResult], engine: Engine
) -> tuple[list[SectionEvent], RunResult]:
    told: list[SectionEvent] = []
    stream = SectionStream(SECTIONS, told.append)
    result = run(engine, "summary", "social", "faq", listen=stream.listener, on_result=stream.ended)
    stream.close()
    return told, result


def test_sections_fill_by_name_and_end_as_they_were_stored(
    run: Callable[..., RunResult], golden: Callable[[str], Any], store: Store
) -> None:
    engine = scripted_engine(
        {
            "summary": [in_pieces("Sorry: {"), in_pieces(golden("summary"))],
            "social": [in_pieces(golden("social"))],
            "faq": [in_pieces(golden("faq"), then=StillWorking("no answer"))],
        }
    )
    told, result = sections_of(run, engine)
    names = [section.name for section in SECTIONS]
    assert [sum(isinstance(e, SectionStarted) and e.section_name == n for e in told) for n in names]
    assert {type(event) for event in told} == {SectionStarted, SectionData, SectionCompleted}
    for name in names:
        own = [event for event in told if event.section_name == name]
        assert [type(event) for event in (own[0], own[-1])] == [SectionStarted, SectionCompleted]
        assert len(own) > 10
    ends = {e.section_name: e.final_text for e in told if isinstance(e, SectionCompleted)}
    texts = {(row.format, row.variant): row.text for row in store.rows(result.run.id)}
    assert ends == {
        "summary": texts["summary", "default"],
        "linkedin": texts["social", "linkedin"],
        "questions": "",
    }


def test_reused_rows_are_triples(
    run: Callable[..., RunResult], golden: Callable[[str], Any]
) -> None:
    names = ("summary", "social", "faq")
    run(scripted_engine({name: [golden(name)] for name in names}), *names)
    told, _ = sections_of(run, scripted_engine([]))
    assert len(told) == 9
    triples = [told[at : at + 3] for at in range(0, 9, 3)]
    for triple in triples:
        assert [type(event) for event in triple] == [SectionStarted, SectionData, SectionCompleted]
        assert len({event.section_name for event in triple}) == 1
    starts = [triple[0] for triple in triples]
    assert {e.section_index for e in starts if isinstance(e, SectionStarted)} == {0, 1, 2}
    assert {e.total_sections for e in starts if isinstance(e, SectionStarted)} == {3}
