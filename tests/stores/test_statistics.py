"""What calls took over time, from the store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.call import Call, Reply, Usage
from repurpose.core.record import CallRecord, Row, Run
from repurpose.core.result import Total
from repurpose.core.source import Source
from repurpose.ports import Store

SOURCE = Source("Bees dance.", "bees.md", "text")
FIRST = CallRecord(
    id="c1",
    run_id="run1",
    source_id=SOURCE.digest,
    key="k",
    call=Call("faq", "system", "user", {}, {}, SOURCE),
    engine="openai",
    model="small",
    parameters={},
    started_at="2026-12-01T23:59:00.000Z",
    seconds=2.0,
    reply=Reply("{}", usage=Usage(1000, 100, 600, 10)),
    cost=0.25,
)
LOST = replace(
    FIRST, id="c2", reply=None, error="gone", error_kind="still_working", cost=None, seconds=9.0
)
REFUSED = replace(LOST, id="c3", error_kind="never_started", cost=0.0)
WAITING = replace(LOST, id="c4", error=None, error_kind=None)
QUEUED = replace(LOST, id="c5", error="waits", error_kind="waiting", cost=0.0)
FAILED = Row(
    id="r1",
    run_id="run1",
    source_id=SOURCE.digest,
    format="faq",
    label="FAQ",
    variant="default",
    status="failed",
    message="no",
    idempotency_key="i",
    engine="openai",
    provenance="model small",
    created_at="2026-12-02T00:00:10.000Z",
    kind="invalid_answer",
    model="small",
)


@pytest.fixture
def begun(store: Store) -> Store:
    run = Run("run1", SOURCE.digest, ("faq",), "openai", "small", "2026-12-01T00:00:00.000Z")
    store.start_run(run, SOURCE)
    return store


def keep(store: Store, *records: CallRecord | Row) -> None:
    for number, each in enumerate(records):
        if isinstance(each, Row):
            store.keep_result([replace(each, id=f"r{number}")], settles=())
        else:
            store.keep_call(replace(each, id=f"c{number}"))


def asked(format: str, attempt: int = 1, **changes: Any) -> CallRecord:
    return replace(FIRST, call=replace(FIRST.call, format=format, attempt=attempt), **changes)


def test_an_empty_store_has_no_groups(store: Store) -> None:
    assert store.statistics("format") == ()


def test_tokens_cost_and_time_are_summed_by_format(begun: Store) -> None:
    keep(begun, asked("faq"), asked("faq", seconds=4.0), asked("summary"))
    faq, summary = begun.statistics("format")
    assert (faq.name, faq.calls, summary.name, summary.calls) == ("faq", 2, "summary", 1)
    assert faq.prompt_tokens == Total(2000)
    assert faq.completion_tokens == Total(200)
    assert faq.cached_tokens == Total(1200)
    assert faq.reasoning_tokens == Total(20)
    assert faq.cost == Total(0.5)
    assert faq.mean_seconds == 3.0
    assert faq.hit_rate == 0.6


def test_what_was_not_told_is_unknown_and_never_nothing(begun: Store) -> None:
    silent = asked("faq", reply=Reply("{}"), cost=None)
    keep(begun, asked("faq"), silent)
    (faq,) = begun.statistics("format")
    assert faq.prompt_tokens == Total(1000, 1)
    assert faq.cached_tokens == Total(600, 1)
    assert faq.cost == Total(0.25, 1)
    assert faq.hit_rate == 0.6


def test_a_hit_rate_that_nobody_told_is_none(begun: Store) -> None:
    keep(begun, asked("faq", reply=Reply("{}", usage=Usage(1000, 100))))
    (faq,) = begun.statistics("format")
    assert faq.hit_rate is None


def test_a_lost_call_may_have_been_paid_and_a_refused_one_was_not(begun: Store) -> None:
    keep(begun, FIRST, LOST, REFUSED)
    (faq,) = begun.statistics("format")
    assert (faq.calls, faq.unanswered) == (3, 2)
    assert faq.prompt_tokens == Total(1000, 1)
    assert faq.cost == Total(0.25, 1)
    assert faq.mean_seconds == 2.0


def test_a_call_that_waits_for_a_providers_batch_is_none_yet(begun: Store) -> None:
    keep(begun, WAITING, QUEUED)
    assert begun.statistics("format") == ()


def test_the_repair_rate_is_the_share_of_formats_that_were_asked_again(begun: Store) -> None:
    again = [asked("faq", attempt) for attempt in (2, 3)]
    keep(begun, *[asked("faq")] * 4, *again)
    (faq,) = begun.statistics("format")
    assert (faq.calls, faq.repair_rate) == (6, 0.25)


def test_failures_are_counted_by_kind_also_where_no_call_was_made(begun: Store) -> None:
    other = replace(FAILED, kind="refused")
    alone = replace(FAILED, format="own", kind="failed")
    reused = replace(FAILED, reused_from="run0")
    done = replace(FAILED, status="done", text="Text.", kind=None)
    keep(begun, asked("faq"), FAILED, FAILED, other, alone, reused, done)
    faq, own = begun.statistics("format")
    assert faq.failures == {"invalid_answer": 2, "refused": 1}
    assert (own.name, own.calls, own.failures) == ("own", 0, {"failed": 1})


def test_calls_are_counted_by_model_and_by_engine_where_there_is_none(begun: Store) -> None:
    keep(begun, FIRST, replace(FIRST, model=None, engine="extractive"))
    assert [tally.name for tally in begun.statistics("model")] == ["extractive", "small"]


def test_calls_are_counted_by_day_of_utc(begun: Store) -> None:
    late = replace(FIRST, started_at="2026-12-02T00:00:00.000Z")
    keep(begun, FIRST, late, FAILED)
    first, second = begun.statistics("day")
    assert (first.name, first.calls, first.failed) == ("2026-12-01", 1, 0)
    assert (second.name, second.calls, second.failed) == ("2026-12-02", 1, 1)


def test_only_what_began_at_or_after_a_day_is_counted(begun: Store) -> None:
    keep(begun, FIRST, replace(FIRST, started_at="2026-12-02T00:00:00.000Z"), FAILED)
    (faq,) = begun.statistics("format", since="2026-12-02")
    assert (faq.calls, faq.failed) == (1, 1)
    assert begun.statistics("format", since="2026-12-03") == ()


def test_no_prompt_is_read_for_it(begun: Store) -> None:
    from repurpose.stores._statistics import question

    plan = begun._found(f"EXPLAIN QUERY PLAN {question('format')}", {"since": ""})  # type: ignore[attr-defined]
    read = [step["detail"] for step in plan if "calls" in step["detail"]]
    assert read
    assert all("COVERING INDEX calls_by_time" in detail for detail in read)
