"""The shell around the steps: what is called, what is stored, and what a failure leaves."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.call import Call, Reply, Usage
from repurpose.core.policy import RetryPolicy
from repurpose.core.progress import CallStarted, FormatEnded, Progress
from repurpose.core.record import CallRecord, Row
from repurpose.core.result import FormatResult, RunResult, Total
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.engines.scripted import ScriptedEngine, scripted_engine
from repurpose.errors import EngineError, NeverStarted, StillWorking, StoreError, UsageError
from repurpose.formats import FORMATS, format_named
from repurpose.formats.base import FinishContext, Finished
from repurpose.platforms import PLATFORMS
from repurpose.ports import Engine, Store
from repurpose.prices import own_price
from repurpose.runner import Runner
from repurpose.steps.job import Job, prepare

SOURCE = Source(text="Kestrels hover over the ring road.", origin="a.md", kind="text", title="Kes")
SECRET = "kestrels"


@pytest.fixture
def run_with(clock: Any, new_id: Callable[[], str], store: Store) -> Callable[..., RunResult]:
    """Run formats of the source with an engine; keyword arguments go to the runner."""

    def run(
        engine: Engine,
        formats: Sequence[str] = tuple(FORMATS),
        *,
        source: Source = SOURCE,
        policy: RetryPolicy | None = None,
        **options: Any,
    ) -> RunResult:
        settings: dict[str, Any] = {
            "store": store,
            "report": lambda _: None,
            "stopping": lambda: False,
        }
        runner = Runner(engine=engine, clock=clock, new_id=new_id, **(settings | options))
        jobs = [job(name, source, policy) for name in formats]
        return asyncio.run(runner.run(source, jobs, Steering()))

    return run


def job(name: str, source: Source = SOURCE, policy: RetryPolicy | None = None) -> Job:
    return prepare(
        format_named(name),
        source,
        Steering(),
        policy=policy or RetryPolicy(),
        context=FinishContext(platforms=PLATFORMS),
        finishing={},
    )


@pytest.fixture
def good(golden: Callable[[str], dict[str, Any]]) -> Callable[[], ScriptedEngine]:
    """An engine with one good answer for each format."""
    return lambda: scripted_engine({name: [golden(name)] for name in FORMATS}, model="m")


def test_four_formats_are_four_calls_and_six_rows(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine], store: Store
) -> None:
    engine = good()
    result = run_with(engine)
    assert result.exit_code == 0
    assert [call.format for call in engine.calls] == ["summary", "faq", "social", "newsletter"]
    rows = store.rows(result.run.id)
    assert [(row.format, row.variant) for row in rows] == [
        ("summary", "default"),
        ("faq", "default"),
        ("social", "linkedin"),
        ("social", "x"),
        ("social", "instagram"),
        ("newsletter", "default"),
    ]
    assert all(row.status == "done" and row.text and row.content for row in rows)
    assert {row.provenance for row in rows} == {"model m"}


def test_both_prompts_and_the_raw_reply_are_stored_verbatim(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine], store: Store
) -> None:
    engine = good()
    result = run_with(engine, ["faq"])
    (record,) = store.calls(result.run.id)
    assert record.call.system == engine.calls[0].system
    assert record.call.user == engine.calls[0].user
    assert record.reply is not None
    assert record.reply.text.startswith('{"pairs"')


def test_a_repaired_format_says_so(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]]
) -> None:
    engine = scripted_engine({"faq": ["no JSON", golden("faq")]})
    result = run_with(engine, ["faq"]).results["faq"]
    assert result.envelope.message == "FAQ done (1 retry)"
    assert result.meta.attempts == 2


def test_a_failed_format_is_one_row_with_the_labelled_reason_and_its_siblings_go_on(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    engine = scripted_engine({"faq": ["x", "y"], "summary": [golden("summary")]})
    result = run_with(engine, ["faq", "summary"])
    assert result.exit_code == 1
    faq, summary = store.rows(result.run.id)
    assert (faq.status, faq.variant, faq.text) == ("failed", "default", None)
    assert faq.message.startswith("FAQ generation error: ")
    assert faq.message.endswith(" (1 retry)")
    assert summary.status == "done"
    assert result.envelope.message.startswith("part failed: [faq] FAQ generation error: ")


def test_every_format_failed_is_exit_4(run_with: Callable[..., RunResult]) -> None:
    assert run_with(scripted_engine([]), ["faq", "summary"]).exit_code == 4


def test_an_engine_fault_is_told_and_never_repaired(
    run_with: Callable[..., RunResult], store: Store
) -> None:
    fault = EngineError("the server said 500 four times", hint="try again later")
    engine = scripted_engine({"faq": [fault]})
    result = run_with(engine, ["faq"])
    assert len(engine.calls) == 1
    assert result.results["faq"].envelope.message == (
        "FAQ generation error: the server said 500 four times; try again later"
    )
    (record,) = store.calls(result.run.id)
    assert (record.reply, record.error_kind) == (None, "engine")


def test_a_foreign_exception_never_shows_its_own_text(
    run_with: Callable[..., RunResult], store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    engine = scripted_engine({"faq": [ValueError("password hunter2 in /etc/secret")]})
    result = run_with(engine, ["faq"])
    message = result.results["faq"].envelope.message
    assert message.startswith("FAQ generation failed (error ")
    stored = "".join(str(row) for row in store.rows(result.run.id))
    assert "hunter2" not in message + stored + caplog.text
    assert "ValueError" in caplog.text


def test_an_exception_in_a_formats_own_code_fails_that_format_only(
    run_with: Callable[..., RunResult],
    clock: Any,
    new_id: Callable[[], str],
    good: Callable[[], ScriptedEngine],
    store: Store,
) -> None:
    def broken(*_: object) -> Any:
        raise KeyError("secret")

    bad = job("faq")
    bad = replace(bad, format=replace(bad.format, finish=broken))
    runner = Runner(
        engine=good(),
        clock=clock,
        new_id=new_id,
        store=store,
        report=lambda _: None,
        stopping=lambda: False,
    )
    result = asyncio.run(runner.run(SOURCE, [bad, job("summary")], Steering()))
    assert result.exit_code == 1
    assert "secret" not in result.results["faq"].envelope.message


# --- reuse ----------------------------------------------------------------------------------


def test_the_same_again_makes_no_call_and_copies_the_rows(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine], store: Store
) -> None:
    first = run_with(good())
    silent = scripted_engine({}, model="m")
    second = run_with(silent)
    assert silent.calls == []
    assert second.exit_code == 0
    assert {r.meta.reused_from for r in second.results.values()} == {first.run.id}
    old, new = store.rows(first.run.id), store.rows(second.run.id)
    assert [row.text for row in new] == [row.text for row in old]
    assert all(row.attempts == 0 for row in new)


def test_a_third_run_still_names_the_one_that_paid(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine]
) -> None:
    first = run_with(good(), ["faq"])
    run_with(scripted_engine({}, model="m"), ["faq"])
    third = run_with(scripted_engine({}, model="m"), ["faq"])
    assert third.results["faq"].meta.reused_from == first.run.id


def test_force_calls_again(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine]
) -> None:
    run_with(good(), ["faq"])
    again = good()
    run_with(again, ["faq"], force=True)
    assert len(again.calls) == 1


@pytest.mark.parametrize("change", [{"text": "Other."}, {"title": "Other"}])
def test_a_changed_source_is_called_again(
    run_with: Callable[..., RunResult],
    good: Callable[[], ScriptedEngine],
    change: dict[str, str],
) -> None:
    run_with(good(), ["faq"])
    again = good()
    run_with(again, ["faq"], source=replace(SOURCE, **change))
    assert len(again.calls) == 1


def test_a_failed_format_is_called_again(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine]
) -> None:
    run_with(scripted_engine({"faq": ["x", "y"]}, model="m"), ["faq"])
    again = good()
    assert run_with(again, ["faq"]).exit_code == 0
    assert len(again.calls) == 1


def test_a_paid_reply_whose_result_was_never_stored_is_used_instead_of_a_call(
    run_with: Callable[..., RunResult],
    good: Callable[[], ScriptedEngine],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(rows: Sequence[Row], *, settles: Sequence[str]) -> tuple[Row, ...]:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(type(store), "keep_result", lambda _, rows, **kw: full(rows, **kw))
        lost = run_with(good(), ["faq"])
    assert lost.exit_code == 4
    assert lost.results["faq"].envelope.message == "FAQ storage error: the disk is full"
    silent = scripted_engine({}, model="m")
    assert run_with(silent, ["faq"]).exit_code == 0
    assert silent.calls == []


def test_a_paid_first_answer_that_was_bad_leads_to_its_repair_only(
    run_with: Callable[..., RunResult],
    golden: Callable[[str], dict[str, Any]],
    store: Store,
) -> None:
    """As after a kill between the first reply and the repair's: only the repair is paid."""
    killed = scripted_engine({"faq": ["no JSON", KeyboardInterrupt()]})  # type: ignore[list-item]
    asked: list[Call] = []

    async def dies_on_the_second(call: Call) -> Reply:
        asked.append(call)
        if len(asked) == 2:
            raise asyncio.CancelledError
        return Reply("no JSON")

    with pytest.raises(asyncio.CancelledError):
        run_with(replace(killed, answer=dies_on_the_second), ["faq"])
    again = scripted_engine({"faq": [golden("faq")]})
    result = run_with(again, ["faq"])
    assert result.exit_code == 0
    assert [call.attempt for call in again.calls] == [2]


# --- stopping -------------------------------------------------------------------------------


def test_what_was_not_begun_when_the_user_stopped_has_no_row(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine], store: Store
) -> None:
    engine = good()
    result = run_with(
        engine, ["faq", "summary"], concurrency=1, stopping=lambda: len(engine.calls) > 0
    )
    assert result.exit_code == 130
    assert [row.format for row in store.rows(result.run.id)] == ["faq"]
    assert store.run(result.run.id).status == "interrupted"


def test_no_repair_begins_after_the_user_stopped_and_its_reply_is_kept(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]]
) -> None:
    engine = scripted_engine({"faq": ["no JSON"]})
    result = run_with(engine, ["faq"], stopping=lambda: len(engine.calls) > 0)
    assert result.exit_code == 130
    again = scripted_engine({"faq": [golden("faq")]})
    assert run_with(again, ["faq"]).exit_code == 0
    assert [call.attempt for call in again.calls] == [2]


# --- telling --------------------------------------------------------------------------------


def test_progress_names_each_format_and_each_repair_once(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]]
) -> None:
    told: list[Progress] = []
    run_with(scripted_engine({"faq": ["x", golden("faq")]}), ["faq"], report=told.append)
    assert [step.attempt for step in told if isinstance(step, CallStarted)] == [1, 2]
    assert [step.status for step in told if isinstance(step, FormatEnded)] == ["done"]


def test_logs_hold_neither_source_nor_answer_nor_prompt(
    run_with: Callable[..., RunResult],
    golden: Callable[[str], dict[str, Any]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    engine = scripted_engine({"faq": ["broken pelican", golden("faq")], "summary": ["pelican"] * 2})
    run_with(engine, ["faq", "summary"])
    assert "faq" in caplog.text
    for word in ("pelican", "Kestrels", "kestrels", "ring road", "Use only what the source"):
        assert word not in caplog.text


def test_rows_without_a_store_are_complete(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine]
) -> None:
    result: FormatResult = run_with(good(), ["social"], store=None).results["social"]
    assert result.meta.run_id is None
    assert [row.variant for row in result.rows] == ["linkedin", "x", "instagram"]
    assert result.content is not None


def test_attempts_of_a_run_equal_its_stored_calls(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    engine = scripted_engine({"faq": ["x", golden("faq")], "summary": ["x", "y"]})
    result = run_with(engine, ["faq", "summary"])
    records: tuple[CallRecord, ...] = store.calls(result.run.id)
    assert len(records) == sum(each.meta.attempts for each in result.results.values()) == 4


# --- money ----------------------------------------------------------------------------------

OPENAI = "https://api.openai.com/v1"


def priced(engine: Engine, model: str = "gpt-4.1-mini", endpoint: str = OPENAI) -> Engine:
    """The engine as if it asked this model at this address."""
    return replace(engine, model=model, parameters={"endpoint": endpoint})


def test_a_calls_cost_is_stored_by_the_price_of_the_model_that_answered(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    text = json.dumps(golden("faq"))
    reply = Reply(text, usage=Usage(2_000, 500, 1_000), model="gpt-4.1-mini-2025-04-14")
    result = run_with(priced(scripted_engine([reply]), model="alias"), ["faq"])
    (record,) = store.calls(result.run.id)
    paid = (1_000 * 0.40 + 1_000 * 0.10 + 500 * 1.60) / 1_000_000
    assert record.cost == pytest.approx(paid)
    assert result.usage.cost == Total(record.cost, 0)
    assert result.results["faq"].usage == result.usage


def test_a_call_to_another_server_has_no_cost(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    reply = Reply(json.dumps(golden("faq")), usage=Usage(2_000, 500))
    engine = priced(scripted_engine([reply]), endpoint="http://localhost:11434/v1")
    result = run_with(engine, ["faq"])
    assert store.calls(result.run.id)[0].cost is None
    assert result.usage.cost == Total(0, 1)
    assert result.usage.prompt_tokens == Total(2_000, 0)


@pytest.mark.parametrize("change", [{"extractive": True}, {"name": "local"}])
def test_an_answer_from_this_process_costs_nothing(
    run_with: Callable[..., RunResult],
    good: Callable[[], ScriptedEngine],
    store: Store,
    change: dict[str, Any],
) -> None:
    result = run_with(replace(good(), **change), ["faq"])
    assert store.calls(result.run.id)[0].cost == 0.0
    assert result.usage.cost == Total(0, 0)


def test_the_total_of_a_run_counts_repairs_and_says_what_it_does_not_know(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]]
) -> None:
    bad = Reply("no JSON", usage=Usage(1_000, 100, 0, 40))
    silent = Reply(json.dumps(golden("faq")))
    lost = StillWorking("no answer in 120 s")
    engine = priced(scripted_engine({"faq": [bad, silent], "summary": [lost]}))
    usage = run_with(engine, ["faq", "summary"]).usage
    assert (usage.calls, usage.unanswered) == (3, 1)
    assert usage.prompt_tokens == Total(1_000, 2)
    assert usage.reasoning_tokens == Total(40, 2)
    assert usage.cost.unknown == 2
    assert usage.cost.known == pytest.approx((1_000 * 0.40 + 100 * 1.60) / 1_000_000)
    assert usage.requests == Total(2, 1)


def test_a_call_that_was_never_accepted_costs_nothing(
    run_with: Callable[..., RunResult], store: Store
) -> None:
    engine = priced(scripted_engine({"faq": [NeverStarted("the key was refused")]}))
    result = run_with(engine, ["faq"])
    assert store.calls(result.run.id)[0].cost == 0.0
    assert result.usage.cost == Total(0, 0)
    assert result.usage.prompt_tokens == Total(0, 0)
    assert result.usage.unanswered == 1


def test_reused_rows_and_replies_are_no_calls_of_this_run(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine]
) -> None:
    run_with(good(), ["faq"])
    assert run_with(scripted_engine({}, model="m"), ["faq"]).usage.calls == 0


def test_usage_is_counted_without_a_store_too(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine]
) -> None:
    assert run_with(good(), store=None).usage.calls == 4


def test_the_calls_of_a_format_that_the_user_stopped_are_counted(
    run_with: Callable[..., RunResult],
) -> None:
    engine = scripted_engine({"faq": ["no JSON"]})
    result = run_with(engine, ["faq"], stopping=lambda: len(engine.calls) > 0)
    assert result.results == {}
    assert result.usage.calls == 1


# --- no paid reply is lost ------------------------------------------------------------------


class Failing:
    """Makes a store's method raise, for its first `times` uses or until `mend`."""

    def __init__(self, patch: pytest.MonkeyPatch, store: Store, name: str, times: int = 99) -> None:
        method = getattr(type(store), name)
        self.left = times

        def failing(*args: Any, **options: Any) -> Any:
            if self.left > 0:
                self.left -= 1
                raise StoreError("the disk is full")
            return method(*args, **options)

        patch.setattr(type(store), name, failing)

    def mend(self) -> None:
        self.left = 0


def test_a_reply_that_could_not_be_stored_at_once_is_stored_with_its_result(
    run_with: Callable[..., RunResult],
    good: Callable[[], ScriptedEngine],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Failing(monkeypatch, store, "keep_call", times=1)
    result = run_with(good(), ["faq"])
    assert result.exit_code == 0
    assert len(store.calls(result.run.id)) == 1
    again = scripted_engine({}, model="m")
    assert run_with(again, ["faq"]).exit_code == 0
    assert again.calls == []


def test_no_repair_is_paid_for_after_a_reply_that_could_not_be_stored(
    run_with: Callable[..., RunResult],
    golden: Callable[[str], dict[str, Any]],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Failing(monkeypatch, store, "keep_call", times=1)
    engine = scripted_engine({"faq": ["no JSON", golden("faq")]})
    result = run_with(engine, ["faq"])
    assert len(engine.calls) == 1
    assert "storage error" in result.results["faq"].envelope.message
    again = scripted_engine({"faq": [golden("faq")]})
    assert run_with(again, ["faq"]).exit_code == 0
    assert [call.attempt for call in again.calls] == [2]


def test_a_store_that_fails_does_not_hide_why_no_reply_came(
    run_with: Callable[..., RunResult], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    Failing(monkeypatch, store, "keep_call")
    engine = scripted_engine({"faq": [NeverStarted("the key was refused")]})
    assert "the key was refused" in run_with(engine, ["faq"]).results["faq"].envelope.message


@pytest.mark.parametrize("method", ["done_rows", "unsettled_reply"])
def test_what_is_paid_already_cannot_be_read_so_nothing_is_called_and_siblings_go_on(
    run_with: Callable[..., RunResult],
    good: Callable[[], ScriptedEngine],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
) -> None:
    engine = good()
    Failing(monkeypatch, store, method, times=1)
    result = run_with(engine, ["faq", "summary"], concurrency=1)
    assert [call.format for call in engine.calls] == ["summary"]
    assert result.run.status == "partial"
    assert "storage error: the disk is full" in result.results["faq"].envelope.message
    assert [row.status for row in store.rows(result.run.id)] == ["failed", "done"]


def test_results_are_handed_over_even_where_the_end_of_the_run_cannot_be_stored(
    run_with: Callable[..., RunResult],
    good: Callable[[], ScriptedEngine],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Failing(monkeypatch, store, "finish_run")
    result = run_with(good(), ["faq"])
    assert result.exit_code == 0
    assert len(store.rows(result.run.id)) == 1


def test_after_a_repair_that_got_no_answer_only_the_repair_is_paid_again(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]]
) -> None:
    lost = StillWorking("no answer in 120 s")
    assert run_with(scripted_engine({"faq": ["no JSON", lost]}), ["faq"]).exit_code == 4
    again = scripted_engine({"faq": [golden("faq")]})
    assert run_with(again, ["faq"]).exit_code == 0
    assert [call.attempt for call in again.calls] == [2]


def test_a_mistake_in_a_formats_own_code_does_not_use_up_its_paid_reply(
    run_with: Callable[..., RunResult],
    good: Callable[[], ScriptedEngine],
    clock: Any,
    new_id: Callable[[], str],
    store: Store,
) -> None:
    def broken(*_: object) -> Any:
        raise KeyError("secret")

    bad = job("faq")
    bad = replace(bad, format=replace(bad.format, finish=broken))
    runner = Runner(
        engine=good(),
        clock=clock,
        new_id=new_id,
        store=store,
        report=lambda _: None,
        stopping=lambda: False,
    )
    assert asyncio.run(runner.run(SOURCE, [bad], Steering())).exit_code == 4
    mended = scripted_engine({}, model="m")
    assert run_with(mended, ["faq"]).exit_code == 0
    assert mended.calls == []


def test_an_answer_that_leaves_no_text_at_all_is_a_failure_with_a_row(
    clock: Any, new_id: Callable[[], str], good: Callable[[], ScriptedEngine], store: Store
) -> None:
    bare = job("faq")
    empty = Finished(content=None, fields={}, pieces=())
    bare = replace(bare, format=replace(bare.format, finish=lambda *_: empty))
    runner = Runner(
        engine=good(),
        clock=clock,
        new_id=new_id,
        store=store,
        report=lambda _: None,
        stopping=lambda: False,
    )
    result = asyncio.run(runner.run(SOURCE, [bare], Steering()))
    assert [row.kind for row in store.rows(result.run.id)] == ["unusable"]


def test_a_display_that_fails_costs_nobody_a_reply(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine], store: Store
) -> None:
    def broken(_: Progress) -> None:
        raise BrokenPipeError

    result = run_with(good(), report=broken)
    assert result.exit_code == 0
    assert len(store.rows(result.run.id)) == 6


def test_a_cancellation_that_arrives_with_the_reply_comes_after_its_rows(
    run_with: Callable[..., RunResult],
    good: Callable[[], ScriptedEngine],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is awaited between storing a reply and storing what it led to."""
    keep_call = type(store).keep_call

    def cancelled(self: Any, record: CallRecord) -> None:
        keep_call(self, record)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    monkeypatch.setattr(type(store), "keep_call", cancelled)
    with pytest.raises(asyncio.CancelledError):
        run_with(good(), ["faq"])
    (run,) = store.runs()
    assert run.status == "interrupted"
    assert [row.status for row in store.rows(run.id)] == ["done"]


def test_a_cancelled_run_ends_all_its_calls_before_it_is_noted_and_tells_of_them(
    run_with: Callable[..., RunResult], store: Store
) -> None:
    """One lane is cancelled from inside; the other one must not go on with a closed store."""
    ended: list[str] = []

    async def answer(call: Call) -> Reply:
        if call.format == "faq":
            await asyncio.sleep(0)
            raise asyncio.CancelledError
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(call.format)
        return Reply("")

    with pytest.raises(asyncio.CancelledError):
        run_with(Engine(name="mine", answer=answer), ["summary", "faq"])
    assert ended == ["summary"]
    (run,) = store.runs()
    assert run.status == "interrupted"
    records = store.calls(run.id)
    assert {record.error_kind for record in records} == {"interrupted"}
    assert [record.cost for record in records] == [None, None]


def test_two_jobs_of_one_name_are_refused_before_any_call(
    run_with: Callable[..., RunResult], good: Callable[[], ScriptedEngine], store: Store
) -> None:
    engine = good()
    with pytest.raises(UsageError, match="twice"):
        run_with(engine, ["faq", "faq"])
    assert engine.calls == []
    assert store.runs() == ()


def test_force_calls_again_and_leaves_an_unused_reply_to_a_run_without_it(
    run_with: Callable[..., RunResult], golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    lost = StillWorking("no answer in 120 s")
    run_with(scripted_engine({"faq": ["no JSON", lost]}), ["faq"])
    forced = scripted_engine({"faq": [lost]})
    assert run_with(forced, ["faq"], force=True).exit_code == 4
    assert [call.attempt for call in forced.calls] == [1]
    again = scripted_engine({"faq": [golden("faq")]})
    assert run_with(again, ["faq"]).exit_code == 0
    assert [call.attempt for call in again.calls] == [2]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("mine", None), ("mine", "mine-2026"), ("alias", "mine"), ("mine", "mine")],
)
def test_a_users_own_price_goes_by_the_name_asked_for_or_the_one_that_answered(
    run_with: Callable[..., RunResult],
    golden: Callable[[str], dict[str, Any]],
    asked: str,
    answered: str | None,
) -> None:
    reply = Reply(json.dumps(golden("faq")), usage=Usage(1_000_000, 0), model=answered)
    engine = priced(scripted_engine([reply]), model=asked, endpoint="http://localhost:1")
    prices = {"mine": own_price("mine", input=2, output=4)}
    result = run_with(engine, ["faq"], prices=prices)
    assert result.usage.cost == Total(pytest.approx(2.0), 0)
