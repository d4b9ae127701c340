"""A source longer than the model's context: read in parts, paid once, never cut in silence."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from repurpose.api._reading import context_tokens
from repurpose.api.generators import SummaryGenerator
from repurpose.api.runs import arun
from repurpose.config import Settings
from repurpose.core.call import Call, Reply, Usage
from repurpose.core.progress import (
    BriefEnded,
    BriefPlanned,
    CallStarted,
    ContextUnknown,
    FormatEnded,
    Progress,
)
from repurpose.core.record import CallRecord
from repurpose.core.result import RunResult
from repurpose.core.source import Source
from repurpose.engines.extractive import extractive_engine
from repurpose.engines.openai import openai_engine
from repurpose.engines.scripted import scripted_engine
from repurpose.errors import EngineError, SourceError, StoreError, UsageError
from repurpose.ports import Engine, Store
from repurpose.sources import load_bytes
from repurpose.stores.sqlite import open_store
from repurpose.text.boundary import ANSWER_TAG, SOURCE_TAG
from repurpose.text.tokens import estimated_tokens

CHAPTERS = 12
COUNT = re.compile(r"Chapter (\d+) counts (\d+) kestrels above the ring road\.")


def book(chapters: int = CHAPTERS) -> Source:
    """About 500 tokens a chapter, with a sentence that only this chapter has."""
    filler = "Nobody has ever asked the voles in the grass what they think of all that. "
    lines = ["# Birds of the town"]
    for chapter in range(1, chapters + 1):
        count = f"Chapter {chapter} counts {chapter * 111} kestrels above the ring road."
        lines += [f"## Chapter {chapter}", f"{count} {filler * 28}".strip()]
    return load_bytes("\n\n".join(lines).encode(), "birds.md", "markdown")


def points_of(call: Call) -> dict[str, Any]:
    """What a diligent model notes: each chapter's count, with its sentence as a quotation."""
    return {
        "points": [
            {
                "text": f"In chapter {found[1]}, {found[2]} kestrels are counted.",
                "kind": "main",
                "heading": f"Chapter {found[1]}",
                "names": [],
                "numbers": [found[2]],
                "quotes": [found[0]],
            }
            for found in COUNT.finditer(call.user)
        ]
    }


@dataclass
class Model:
    """An engine that answers every call well, and fails or hangs (None) where it is told to."""

    golden: Callable[[str], dict[str, Any]]
    factor: float = 1.0
    """Its tokens, in terms of our estimate."""
    answers: Callable[[Call], object] = points_of
    calls: list[Call] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def answer(self, call: Call) -> Reply:
        self.calls.append(call)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            said = self.answers(call) if call.format == "brief" else self.golden(call.format)
            if said is None:
                await asyncio.Event().wait()
        finally:
            self.at_once -= 1
        if isinstance(said, BaseException):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        tokens = round(self.factor * estimated_tokens(call.system + call.user))
        return Reply(text, usage=Usage(tokens, 50))

    @property
    def engine(self) -> Engine:
        return Engine(name="mine", answer=self.answer, model="mine-1")

    def asked(self, format: str) -> list[Call]:
        return [call for call in self.calls if call.format == format]


@pytest.fixture
def model(golden: Callable[[str], dict[str, Any]]) -> Model:
    return Model(golden)


@dataclass
class Runs:
    """Runs the book through a model, and keeps what was told."""

    store: Store
    told: list[Progress] = field(default_factory=list)

    def __call__(
        self,
        model: Model | Engine,
        source: Source | None = None,
        *,
        formats: Sequence[str] = ("summary", "faq"),
        context: int | None = 4_096,
        **options: Any,
    ) -> RunResult:
        engine = model.engine if isinstance(model, Model) else model
        names = {"no_brief", "language", "audience", "max_attempts", "concurrency"} & set(options)
        own = {name: options.pop(name) for name in names}
        settings = Settings(database=Path(os.devnull), context_tokens=context, **own)
        self.told.clear()
        return asyncio.run(
            arun(
                source or book(),
                formats,
                engine=engine,
                store=self.store,
                settings=settings,
                report=options.pop("report", self.told.append),
                **options,
            )
        )

    def heard(self, kind: type[Progress]) -> list[Any]:
        return [each for each in self.told if isinstance(each, kind)]


@pytest.fixture
def run(store: Store) -> Runs:
    return Runs(store)


def fenced(call: Call) -> str:
    """The text in the source's block."""
    return call.user.partition(f"<{SOURCE_TAG}>")[2].partition(f"</{SOURCE_TAG}>")[0]


# --- when ---------------------------------------------------------------------------------------


def test_a_source_that_fits_is_sent_whole(run: Runs, model: Model) -> None:
    result = run(model, context=32_000)
    assert [call.format for call in model.calls] == ["summary", "faq"]
    assert all("Chapter 12 counts" in call.user for call in model.calls)
    assert not run.heard(BriefPlanned)
    assert {row.provenance for each in result.results.values() for row in each.rows} == {
        "model mine-1"
    }


def test_a_long_source_is_read_in_parts_and_the_formats_work_from_the_brief(
    run: Runs, model: Model
) -> None:
    result = run(model)
    assert result.exit_code == 0
    parts, formats = model.asked("brief"), [call for call in model.calls if call.format != "brief"]
    assert len(parts) >= 3
    assert [call.format for call in formats] == ["summary", "faq"]
    for call in formats:
        assert "voles in the grass" not in call.user
        for chapter in range(1, CHAPTERS + 1):
            assert f"In chapter {chapter}, {chapter * 111} kestrels are counted." in call.user
            assert f"> Chapter {chapter} counts {chapter * 111} kestrels" in call.user


def test_every_word_of_the_source_is_read_by_exactly_one_call(run: Runs, model: Model) -> None:
    run(model)
    for chapter in range(1, CHAPTERS + 1):
        sentence = f"Chapter {chapter} counts"
        assert sum(sentence in call.user for call in model.asked("brief")) == 1
    words = book().text.split()
    read = [word for call in model.asked("brief") for word in fenced(call).split()]
    assert len(read) >= len(words)


def test_every_call_fits_into_the_context(run: Runs, model: Model) -> None:
    run(model)
    for call in model.calls:
        assert estimated_tokens(call.system + call.user) + 1_000 < 4_096


def test_the_embedded_engine_reads_a_long_source_whole(run: Runs) -> None:
    result = run(extractive_engine(), context=200)
    assert result.exit_code == 0
    assert not run.heard(BriefPlanned)


def test_a_generator_reads_long_sources_in_parts_too(model: Model) -> None:
    generator = SummaryGenerator(replace(model.engine, parameters={"context_tokens": 4_096}))
    result = generator.generate(book())
    assert result.envelope.status == 200
    assert result.meta.provenance.startswith("model mine-1, from a brief of ")
    assert len(model.asked("brief")) >= 3


# --- refusals -----------------------------------------------------------------------------------


def test_a_long_source_is_refused_before_any_call_where_no_brief_is_wanted(
    run: Runs, model: Model, store: Store
) -> None:
    with pytest.raises(SourceError, match=r"^birds.md: about 5,\d\d\d tokens") as refused:
        run(model, no_brief=True)
    assert (refused.value.reason, refused.value.exit_code) == ("too-large", 3)
    assert "\n" not in refused.value.message
    assert "4,096" in refused.value.message
    assert not model.calls
    assert not store.runs()


def test_a_source_that_fits_is_not_refused(run: Runs, model: Model) -> None:
    assert run(model, context=32_000, no_brief=True).exit_code == 0


def test_a_context_without_room_for_any_source_is_a_usage_error(run: Runs, model: Model) -> None:
    with pytest.raises(UsageError, match="has no room for a source"):
        run(model, context=900)
    assert not model.calls


# --- what is told -------------------------------------------------------------------------------


def test_calls_and_tokens_are_told_before_the_first_call(run: Runs, model: Model) -> None:
    run(model)
    assert isinstance(run.told[0], BriefPlanned)
    plan = run.told[0]
    assert plan.tokens == pytest.approx(estimated_tokens(book().text), rel=0.05)
    assert (plan.context, plan.known) == (4_096, 0)
    assert plan.parts == len(model.asked("brief"))
    assert plan.calls == len(model.calls)
    sent = sum(estimated_tokens(call.system + call.user) for call in model.calls)
    assert sent < plan.call_tokens < 2 * sent  # it foresees replies too, and full ones


def test_each_part_and_the_end_of_the_brief_are_told(run: Runs, model: Model) -> None:
    run(model)
    parts = len(model.asked("brief"))
    labels = [each.label for each in run.heard(CallStarted) if each.format == "brief"]
    assert sorted(labels) == sorted(f"Part {n} of {parts}" for n in range(1, parts + 1))
    (ended,) = run.heard(BriefEnded)
    assert (ended.status, ended.message.split(",")[0]) == ("done", f"{parts} parts read")


def test_what_a_model_made_up_is_told_and_left_out(run: Runs, model: Model) -> None:
    def inventing(call: Call) -> dict[str, Any]:
        answer = points_of(call)
        answer["points"][0]["quotes"].append("The voles have been asked at last.")
        return answer

    model.answers = inventing
    run(model)
    (ended,) = run.heard(BriefEnded)
    parts = len(model.asked("brief"))
    assert f"{parts} quotes, names or numbers left out" in ended.message
    assert all("asked at last" not in call.user for call in model.asked("summary"))


def test_a_part_without_points_is_told(run: Runs, model: Model) -> None:
    model.answers = lambda call: points_of(call) if "Chapter 1 " in call.user else {"points": []}
    assert run(model).exit_code == 0
    (ended,) = run.heard(BriefEnded)
    assert "nothing noted in parts 2, 3" in ended.message


def test_a_display_that_fails_costs_nothing(run: Runs, model: Model) -> None:
    def broken(_: Progress) -> None:
        raise ValueError("no display")

    assert run(model, report=broken).exit_code == 0


@pytest.mark.parametrize(("chapters", "events"), [(100, 0), (280, 1)])
def test_a_source_that_may_not_fit_anywhere_is_told_of(
    run: Runs, model: Model, chapters: int, events: int
) -> None:
    """Nothing is assumed of a model that nobody knows."""
    source = book(chapters)
    result = run(model, source, context=None, formats=["summary"])
    assert result.exit_code == 0
    assert [call.format for call in model.calls] == ["summary"]
    told = run.heard(ContextUnknown)
    assert [each.tokens > 100_000 for each in told] == [True] * events


# --- what is stored -----------------------------------------------------------------------------


def test_rows_are_the_formats_and_calls_are_all(run: Runs, model: Model, store: Store) -> None:
    result = run(model)
    rows = store.rows(result.run.id)
    assert [row.format for row in rows] == ["summary", "faq"]
    parts = len(model.asked("brief"))
    assert {row.provenance for row in rows} == {f"model mine-1, from a brief of {parts} parts"}
    assert result.run.formats == ("summary", "faq")
    calls = store.calls(result.run.id)
    assert sorted(record.call.format for record in calls) == ["brief"] * parts + ["faq", "summary"]
    assert store.source(result.run.source_id).text == book().text


def test_the_runs_usage_counts_the_parts(run: Runs, model: Model) -> None:
    result = run(model)
    assert result.usage.calls == len(model.calls)
    sent = sum(estimated_tokens(call.system + call.user) for call in model.calls)
    assert result.usage.prompt_tokens.known == pytest.approx(sent, rel=0.01)
    assert [each.usage.calls for each in result.results.values()] == [1, 1]


def test_every_call_has_one_fenced_block_and_no_word_of_the_source_in_its_system_prompt(
    run: Runs, model: Model, store: Store
) -> None:
    """Parts, their repairs, merged notes and formats alike."""
    once: list[str] = []

    def clumsy(call: Call) -> object:
        if call.attempt == 1 and not once:
            once.append("kestrels, voles and Chapter 1, but no JSON")
            return once[0]
        return wordy(call)

    model.answers = clumsy
    result = run(model, book(20), context=2_400)
    assert result.exit_code == 0
    records = store.calls(result.run.id)
    assert {record.call.attempt for record in records} == {1, 2}
    assert any("list of notes" in record.call.system for record in records)
    for record in records:
        user, system = record.call.user, record.call.system
        assert user.count(f"<{SOURCE_TAG}>") == user.count(f"</{SOURCE_TAG}>") == 1
        assert user.count(f"<{ANSWER_TAG}>") == (record.call.attempt > 1)
        for word in ("kestrel", "vole", "Birds of the town", "ring road", "Chapter"):
            assert word not in system


def wordy(call: Call) -> dict[str, Any]:
    """A long point for each chapter; of notes, every third point."""
    if "list of notes" in call.system:
        texts = re.findall(r"In chapter \d+, [^*]+", call.user)[::3]
    else:
        more = "The same was seen there in the years before by all who looked. " * 3
        texts = [f"In chapter {found[1]}, {more}" for found in COUNT.finditer(call.user)]
    blank = {"kind": "main", "heading": "", "names": [], "numbers": [], "quotes": []}
    return {"points": [{"text": text, **blank} for text in texts]}


# --- paid once ----------------------------------------------------------------------------------


def test_the_same_long_source_again_pays_nothing(run: Runs, model: Model) -> None:
    first = run(model)
    made = len(model.calls)
    second = run(model)
    assert len(model.calls) == made
    assert second.usage.calls == 0
    assert second.exit_code == 0
    (plan,) = run.heard(BriefPlanned)
    assert plan.known == plan.parts
    assert all(each.reused for each in run.heard(FormatEnded))
    keys = [
        [row.idempotency_key for r in each.results.values() for row in r.rows]
        for each in (first, second)
    ]
    assert keys[0] == keys[1]


def test_other_readers_and_languages_share_the_brief(run: Runs, model: Model) -> None:
    run(model)
    model.calls.clear()
    run(model, language="de", audience="CFOs", max_attempts=1)
    assert [call.format for call in model.calls] == ["summary", "faq"]


def test_with_force_everything_is_asked_again(run: Runs, model: Model) -> None:
    run(model)
    made = len(model.calls)
    run(model, force=True)
    assert len(model.calls) == 2 * made


def test_a_run_that_is_cancelled_between_parts_loses_no_part(
    run: Runs, model: Model, store: Store
) -> None:
    async def cancelled() -> None:
        settings = Settings(Path(os.devnull), context_tokens=4_096, concurrency=1)
        work = asyncio.ensure_future(
            arun(book(), ["summary"], engine=model.engine, store=store, settings=settings)
        )

        def hanging(call: Call) -> object:
            if len(model.asked("brief")) < 3:
                return points_of(call)
            work.cancel()
            return None

        model.answers = hanging
        await work

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert store.runs()[0].status == "interrupted"
    read = len(model.asked("brief")) - 1
    model.answers = points_of
    result = run(model, formats=["summary"], concurrency=1)
    assert result.exit_code == 0
    (plan,) = run.heard(BriefPlanned)
    assert plan.known == read == 2
    texts = [fenced(call) for call in model.asked("brief")]
    assert len(texts) == plan.parts + 1  # the one that was in flight, and no other, twice
    assert len(set(texts)) == plan.parts


def test_a_reply_that_was_repaired_is_not_paid_for_again_either(run: Runs, model: Model) -> None:
    model.answers = lambda call: points_of(call) if call.attempt == 2 else "no JSON"
    run(model, formats=["summary"])
    made = len(model.calls)
    assert run(model, formats=["summary"]).usage.calls == 0
    assert len(model.calls) == made


# --- failures -----------------------------------------------------------------------------------


def second_part_is(said: object) -> Callable[[Call], object]:
    """Good answers, but to the part with chapter 4."""
    return lambda call: said if "Chapter 4 counts" in fenced(call) else points_of(call)


@pytest.mark.parametrize(
    ("said", "reason", "calls"),
    [
        ("no JSON", r"no JSON|JSON", 2),
        (EngineError("the server said 500 four times", hint="try again later"), "500", 1),
        (ZeroDivisionError("private words"), r"generation failed \(error", 1),
    ],
)
def test_a_part_that_cannot_be_read_fails_every_format_with_the_reason(
    run: Runs, model: Model, store: Store, said: object, reason: str, calls: int
) -> None:
    model.answers = second_part_is(said)
    result = run(model)
    assert result.exit_code == 4
    asked = [call for call in model.asked("brief") if "Chapter 4 counts" in fenced(call)]
    assert len(asked) == calls
    assert not model.asked("summary")
    for row in store.rows(result.run.id):
        assert (row.status, row.kind) == ("failed", "unread")
        assert re.search(r"generation error: part \d of \d+ could not be read: ", row.message)
        assert re.search(reason, row.message)
        assert "private words" not in row.message
    assert [each.status for each in run.heard(BriefEnded)] == ["failed"]
    assert [each.status for each in run.heard(FormatEnded)] == ["failed", "failed"]


@pytest.mark.parametrize("said", ["no JSON", EngineError("the server is away")])
def test_after_a_failed_part_no_further_one_begins_and_the_next_run_asks_for_it_anew(
    run: Runs, model: Model, said: object
) -> None:
    model.answers = second_part_is(said)
    run(model, concurrency=1)
    read = {fenced(call) for call in model.asked("brief")}
    assert not any("Chapter 12 counts" in text for text in read)
    model.calls.clear()
    model.answers = points_of
    result = run(model, concurrency=1)
    assert result.exit_code == 0
    again = [call for call in model.asked("brief") if fenced(call) in read]
    assert len(again) == 1
    assert "Chapter 4 counts" in again[0].user


def test_a_model_that_notes_nothing_at_all_is_a_failure(run: Runs, model: Model) -> None:
    model.answers = lambda _: {"points": []}
    result = run(model)
    assert result.exit_code == 4
    assert "found nothing to note" in result.envelope.message


def test_a_user_who_stops_gets_no_further_part_and_loses_none(run: Runs, model: Model) -> None:
    result = run(model, stopping=lambda: len(model.calls) >= 2, concurrency=1)
    assert (result.run.status, result.exit_code) == ("interrupted", 130)
    assert len(model.calls) == 2
    assert not result.results
    assert run(model).exit_code == 0
    (plan, *_) = run.heard(BriefPlanned)
    assert plan.known == 2


def test_a_store_that_fails_for_a_moment_costs_no_part(
    run: Runs, model: Model, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, faults = store.keep_call, [StoreError("locked")]

    def locked_once(record: CallRecord) -> None:
        if faults:
            raise faults.pop()
        keep(record)

    monkeypatch.setattr(store, "keep_call", locked_once)
    assert run(model).exit_code == 0
    made = len(model.calls)
    assert run(model).exit_code == 0
    assert len(model.calls) == made


# --- sizes --------------------------------------------------------------------------------------


def test_a_model_that_counts_more_tokens_gets_smaller_parts_from_the_second_on(
    run: Runs, model: Model
) -> None:
    run(model)
    expected = len(model.asked("brief"))
    greedy = Model(model.golden, factor=1.6)
    run.store = open_store(":memory:")
    assert run(greedy).exit_code == 0
    first, *rest = run.heard(BriefPlanned)
    assert first.parts == expected
    assert rest[-1].parts == len(greedy.asked("brief")) > expected
    sizes = [estimated_tokens(call.system + call.user) for call in greedy.asked("brief")]
    assert all(1.6 * size < 4_096 for size in sizes[1:])
    again = len(greedy.calls)
    run(greedy)
    assert len(greedy.calls) == again


def test_notes_that_are_too_long_are_merged_until_they_fit(run: Runs, model: Model) -> None:
    model.answers = wordy
    result = run(model, book(20), context=2_400, formats=["summary"])
    assert result.exit_code == 0
    (ended,) = run.heard(BriefEnded)
    assert "the notes were merged" in ended.message
    (summary,) = model.asked("summary")
    assert estimated_tokens(summary.system + summary.user) < 2_400
    assert "In chapter 1," in summary.user


def test_a_model_that_merges_nothing_is_stopped(run: Runs, model: Model) -> None:
    """It answers with ever longer points, so that half as many are no shorter."""

    def swelling(call: Call) -> dict[str, Any]:
        answer = points_of(call)
        for point in answer["points"]:
            more = 27 if "list of notes" in call.system else 9
            point["text"] += " And so on and on it goes, longer and longer than before." * more
        return answer

    model.answers = swelling
    result = run(model, book(20), context=2_600, formats=["summary"])
    assert result.exit_code == 4
    assert "could not be made shorter" in result.envelope.message
    assert len(model.calls) < 80


def test_no_more_parts_are_in_work_than_lanes(run: Runs, model: Model) -> None:
    run(model, book(30), concurrency=3)
    assert model.most_at_once == 3


# --- how much a model takes ---------------------------------------------------------------------


def openai(model: str, url: str | None = None, **options: Any) -> Engine:
    from repurpose.api.adapters import SystemClock

    return openai_engine(model=model, base_url=url, api_key="k", clock=SystemClock(), **options)


@pytest.mark.parametrize(
    ("engine", "settings", "tokens"),
    [
        (lambda: openai("gpt-4o"), {}, 128_000),
        (lambda: openai("gpt-4o"), {"context_tokens": 9_000}, 9_000),
        (lambda: openai("unheard-of"), {}, None),
        (lambda: openai("llama3.2", "http://localhost:11434/v1"), {}, 4_096),
        (lambda: openai("gpt-oss:20b", "http://localhost:11434/v1"), {}, 4_096),
        (lambda: openai("llama3.2", "http://gpu:8000/v1"), {"profile": "ollama"}, 4_096),
        (lambda: openai("llama3.2", "http://gpu:8000/v1"), {}, None),
        (lambda: scripted_engine([], model="anthropic/claude-haiku-4-5"), {}, 200_000),
        (lambda: replace(scripted_engine([]), parameters={"context_tokens": 8_192}), {}, 8_192),
        (lambda: scripted_engine([], model="ollama/llama3.2"), {}, 4_096),
    ],
)
def test_a_context_is_what_the_user_says_else_what_is_known(
    engine: Callable[[], Engine], settings: dict[str, Any], tokens: int | None
) -> None:
    chosen = Settings(database=Path(os.devnull), **settings)
    assert context_tokens(engine(), chosen) == tokens


# --- in a process of its own --------------------------------------------------------------------

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_briefing import Model, book
from repurpose.api.adapters import open_store
from repurpose.api.runs import run
from repurpose.config import Settings
from repurpose.schema.intake import decode

replies = Path(sys.argv[3]).parent / "fixtures" / "replies"
model = Model(lambda name: decode((replies / name / "golden.json").read_text(encoding="utf-8")))
store = open_store(sys.argv[1])
keep = store.keep_call
def keep_and_die(record):
    keep(record)
    if sys.argv[2] == str(len(model.calls)):
        os.kill(os.getpid(), signal.SIGKILL)
store.keep_call = keep_and_die
settings = Settings(database=Path(sys.argv[1]), context_tokens=4096, concurrency=1)
result = run(book(), ["summary"], engine=model.engine, store=store, settings=settings)
print(len(model.calls), result.exit_code)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is a POSIX signal")
def test_a_run_that_is_killed_between_parts_pays_for_none_twice(tmp_path: Path) -> None:
    def started(database: str, death: str) -> subprocess.CompletedProcess[str]:
        tests = str(Path(__file__).parent)
        return subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path / database), death, tests],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(tests).parent)},
            timeout=60,
            check=False,
        )

    whole = started("whole.db", "never").stdout.split()
    assert whole[1] == "0"
    for paid in (1, 3):
        assert started(f"{paid}.db", str(paid)).returncode == -signal.SIGKILL
        rest = started(f"{paid}.db", "never").stdout.split()
        assert rest == [str(int(whole[0]) - paid), "0"]
