"""The shell around the steps: what is called, what is stored, and what a failure leaves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.call import Call, Reply
from repurpose.core.policy import RetryPolicy
from repurpose.core.progress import CallStarted, FormatEnded, Progress
from repurpose.core.record import CallRecord, Row
from repurpose.core.result import FormatResult, RunResult
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.engines.scripted import ScriptedEngine, scripted_engine
from repurpose.errors import EngineError, StoreError
from repurpose.formats import FORMATS, format_named
from repurpose.formats.base import FinishContext
from repurpose.platforms import PLATFORMS
from repurpose.ports import Engine, Store
from repurpose.runner import Job, Runner, prepare

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
