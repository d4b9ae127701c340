"""Calls within a budget: reserved before they are sent, and counted after."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server import MockServer
from repurpose import Call, Engine, Reply, Source, arun, run
from repurpose.api.budgeting import budgeted, within_budget
from repurpose.config import Settings
from repurpose.core.budget import Amount, Budget
from repurpose.core.call import Usage
from repurpose.engines.openai import openai_engine
from repurpose.engines.scripted import scripted_engine
from repurpose.errors import (
    BrokenReply,
    BudgetReached,
    NeverStarted,
    StillWorking,
    UsageError,
)
from repurpose.ports import Deferred, Store
from repurpose.prices import own_price
from virtual_time import run_virtually

OPENAI = "https://api.openai.com/v1"
SOURCE = Source("Kestrels hover over the ring road.", "a.md", "text", title="Kes")
ENVELOPE = {"endpoint": OPENAI}
Answer = Callable[[Call], Awaitable[Reply]]


def call(**changes: Any) -> Call:
    fields: dict[str, Any] = {
        "format": "brief",
        "system": "Say it.",
        "user": "word " * 100,
        "schema": {},
        "wire": {},
        "source": SOURCE,
        "output_tokens": 1000,
    }
    return Call(**{**fields, **changes})


WORST = Decimal("0.0016588")
"""What `call()` reserves: a prompt of 507 characters and a frame of 16 tokens, which are 147 tokens
with 15 percent in hand, at 0.40 per million; and a reply of 1,000 at 1.60."""


def engine_of(answer: Answer, **changes: Any) -> Engine:
    fields: dict[str, Any] = {"name": "openai", "model": "gpt-4.1-mini", "parameters": ENVELOPE}
    return Engine(answer=answer, **{**fields, **changes})  # type: ignore[arg-type]  # any awaitable


async def answered(_: Call) -> Reply:
    return Reply("{}", usage=Usage(100, 10))


def outcome(engine: Engine, asked: Call | None = None) -> Reply | Exception:
    try:
        return asyncio.run(engine.answer(asked or call()))
    except Exception as error:  # noqa: BLE001 - what it was is looked at
        return error


# --- what is counted ------------------------------------------------------------------------------


def test_a_reply_is_counted_by_its_usage_to_the_last_digit() -> None:
    budget = Budget(max_cost=1)
    outcome(budgeted(engine_of(answered), budget))
    assert budget.spent == Amount(1, 110, Decimal("0.000056"))


def test_the_worst_case_is_reserved_while_the_call_is_under_way() -> None:
    budget = Budget(max_cost=WORST)
    seen = []

    async def answer(_: Call) -> Reply:
        seen.append(budget.reserve(Amount(cost=Decimal("0.000001"))).state)
        return Reply("{}", usage=Usage(100, 10))

    assert isinstance(outcome(budgeted(engine_of(answer), budget)), Reply)
    assert seen == ["waiting"]


def test_a_reply_without_usage_is_counted_at_its_worst() -> None:
    async def silent(_: Call) -> Reply:
        return Reply("{}")

    budget = Budget(max_cost=1)
    outcome(budgeted(engine_of(silent), budget))
    assert (budget.spent.cost, budget.assumed) == (WORST, 1)


def test_cached_tokens_without_a_price_are_counted_like_others() -> None:
    async def cached(_: Call) -> Reply:
        return Reply("{}", usage=Usage(100, 10, cached_tokens=60))

    budget = Budget(max_cost=1)
    prices = {"gpt-4.1-mini": own_price("gpt-4.1-mini", input=1, output=2)}
    outcome(budgeted(engine_of(cached), budget, prices=prices))
    assert budget.spent.cost == Decimal("0.00012")


@pytest.mark.parametrize(
    ("error", "cost"),
    [
        (NeverStarted("no key"), 0),
        (BrokenReply("half a body"), None),
        (StillWorking("no answer"), None),
        (RuntimeError("foreign"), None),
    ],
)
def test_only_what_was_never_accepted_is_given_back(error: Exception, cost: int | None) -> None:
    async def failing(_: Call) -> Reply:
        raise error

    budget = Budget(max_cost=1)
    assert outcome(budgeted(engine_of(failing), budget)) is error
    assert (budget.spent.cost == cost) == (cost is not None)


def test_a_cancelled_call_may_have_been_paid() -> None:
    budget = Budget(max_cost=1)

    async def endless(_: Call) -> Reply:
        await asyncio.Event().wait()
        return Reply("")

    async def cancelled() -> None:
        work = asyncio.ensure_future(budgeted(engine_of(endless), budget).answer(call()))
        await asyncio.sleep(0)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    asyncio.run(cancelled())
    assert (budget.spent.calls, budget.assumed) == (1, 1)


def test_a_call_that_is_put_off_is_counted_at_the_price_of_a_batch() -> None:
    async def later(_: Call) -> Reply:
        raise Deferred("{}")

    async def never(_: Call) -> Reply:
        return Reply("")

    live, put_off = Budget(max_cost=1), Budget(max_cost=1)
    outcome(budgeted(engine_of(never), live))
    outcome(budgeted(engine_of(later), put_off))
    assert live.spent.cost is not None
    assert put_off.spent.cost == live.spent.cost / 2


def test_engines_with_one_budget_share_it_and_wrapping_twice_counts_once() -> None:
    budget = Budget(max_calls=3)
    first = budgeted(budgeted(engine_of(answered), budget), budget)
    second = budgeted(engine_of(answered, model="gpt-4o"), budget)
    assert [type(outcome(each)) for each in (first, second, first, second)] == [
        Reply,
        Reply,
        Reply,
        BudgetReached,
    ]
    assert budget.spent.calls == 3


def test_an_engine_without_a_model_needs_no_budget() -> None:
    engine = engine_of(answered, extractive=True)
    assert budgeted(engine, Budget(max_cost=0)) is engine


def test_a_model_on_this_machine_costs_nothing_but_takes_tokens() -> None:
    local = engine_of(answered, name="local", model="a.gguf", parameters={"context_tokens": 8192})
    free = Budget(max_cost="0.01")
    assert isinstance(outcome(budgeted(local, free)), Reply)
    assert free.spent.cost == 0
    short = Budget(max_tokens=1_300)
    assert isinstance(outcome(budgeted(local, short)), Reply)
    assert short.spent.tokens == 110


def test_without_caps_the_engine_is_as_it_was() -> None:
    engine = engine_of(answered)
    assert within_budget(engine, Settings(database=Path("unused"))) is engine


# --- what is refused ------------------------------------------------------------------------------


def test_an_unknown_price_under_a_cap_is_refused_before_any_call() -> None:
    with pytest.raises(UsageError) as raised:
        budgeted(engine_of(answered, model="mine"), Budget(max_cost=1), output_tokens=100)
    assert str(raised.value) == (
        f"--max-cost needs a price, and none is known for mine at {OPENAI}"
    )
    assert '[prices."mine"]' in (raised.value.hint or "")


def test_an_unknown_price_does_not_matter_under_other_caps() -> None:
    engine = budgeted(engine_of(answered, model="mine"), Budget(max_calls=1))
    assert isinstance(outcome(engine), Reply)


@pytest.mark.parametrize("cap", [{"max_cost": 1}, {"max_tokens": 10_000}])
def test_a_reply_of_unknown_length_is_refused_before_any_call(cap: dict[str, int]) -> None:
    prices = {"mine": own_price("mine", input=1, output=1)}
    engine = engine_of(answered, model="mine")
    with pytest.raises(UsageError, match="longest reply of mine is not known") as raised:
        budgeted(engine, Budget(**cap), prices=prices)  # type: ignore[arg-type]  # one of the caps
    assert raised.value.hint == "give --max-output-tokens"
    assert budgeted(engine, Budget(**cap), prices=prices, output_tokens=500)  # type: ignore[arg-type]  # likewise


def test_a_call_beyond_the_whole_budget_fails_alone() -> None:
    budget = Budget(max_cost="0.001")
    engine = budgeted(engine_of(answered), budget)
    refused = outcome(engine)
    assert isinstance(refused, NeverStarted)
    assert "the whole budget is US$ 0.00100" in refused.message
    assert isinstance(outcome(engine, call(output_tokens=100)), Reply)


def test_a_prompt_beyond_what_the_price_is_for_fails_alone() -> None:
    engine = budgeted(engine_of(answered, model="gpt-5.5"), Budget(max_cost=100))
    refused = outcome(engine, call(user="word " * 300_000))
    assert isinstance(refused, NeverStarted)
    assert "prompts of up to 272,000 tokens" in refused.message


@given(
    replies=st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), min_size=1, max_size=40),
    lanes=st.integers(1, 40),
    cap=st.integers(1, 10),
)
def test_parallel_calls_never_spend_more_than_the_cap(
    replies: list[tuple[int, float]], lanes: int, cap: int
) -> None:
    """Answered or lost, at once or late, in whatever order."""
    budget = Budget(max_cost=cap * WORST)
    pending = iter(replies)

    async def answer(_: Call) -> Reply:
        delay, share = next(pending)
        await asyncio.sleep(delay)
        if share > 0.8:
            raise BrokenReply("half a body")
        return Reply("{}", usage=Usage(140, int(1000 * share)))

    engine = budgeted(engine_of(answer), budget)

    async def all_calls() -> list[Any]:
        turns = asyncio.Semaphore(lanes)

        async def one() -> Reply:
            async with turns:
                return await engine.answer(call())

        return await asyncio.gather(*(one() for _ in replies), return_exceptions=True)

    outcomes = run_virtually(all_calls())
    assert budget.spent.cost is not None
    assert budget.spent.cost <= cap * WORST
    assert all(isinstance(each, Reply | BrokenReply | BudgetReached) for each in outcomes)
    if budget.reached is None:
        assert not any(isinstance(each, BudgetReached) for each in outcomes)


# --- requests that are sent again -----------------------------------------------------------------


def at_server(server: MockServer, clock: Any, budget: Budget) -> Engine:
    engine = openai_engine(
        model="small", base_url=server.url, clock=clock, jitter=lambda: 0.0, timeout=5.0
    )
    prices = {"small": own_price("small", input=1, output=1)}
    return budgeted(engine, budget, prices=prices, output_tokens=1000)


def test_a_request_whose_connection_was_lost_is_counted_beside_the_one_that_was_answered(
    mock_server: MockServer, clock: Any
) -> None:
    mock_server.plan("reset", "ok")
    budget = Budget(max_cost=1)
    reply = outcome(at_server(mock_server, clock, budget))
    assert isinstance(reply, Reply)
    assert reply.requests == 2
    once = Decimal(120 + 45) / 1_000_000
    assert budget.spent.cost is not None
    assert budget.spent.cost > once + Decimal("0.001")
    assert (budget.spent.calls, budget.assumed) == (1, 1)


def test_a_lost_request_is_not_sent_again_beyond_the_budget(
    mock_server: MockServer, clock: Any
) -> None:
    mock_server.plan("reset", "ok")
    budget = Budget(max_cost="0.002")
    failed = outcome(at_server(mock_server, clock, budget))
    assert isinstance(failed, StillWorking)
    assert failed.message == "the connection was lost, and the budget is reached"
    assert len(mock_server.requests) == 1
    assert budget.reached is not None


@pytest.mark.parametrize("fault", ["429=1", "503", "500"])
def test_a_request_that_the_server_refused_costs_nothing(
    mock_server: MockServer, clock: Any, fault: str
) -> None:
    mock_server.plan(fault, fault, "ok")
    budget = Budget(max_cost="0.002")
    assert isinstance(outcome(at_server(mock_server, clock, budget)), Reply)
    assert budget.spent.cost == Decimal(120 + 45) / 1_000_000


def test_a_call_that_was_refused_to_the_end_costs_nothing(
    mock_server: MockServer, clock: Any
) -> None:
    mock_server.plan("503")
    budget = Budget(max_cost="0.002")
    assert isinstance(outcome(at_server(mock_server, clock, budget)), StillWorking)
    assert budget.spent == Amount(0, 0, Decimal(0))


# --- runs -----------------------------------------------------------------------------------------


def capped(**caps: Any) -> Settings:
    return Settings(database=Path("unused"), concurrency=1, **caps)


def test_a_run_that_reaches_the_budget_keeps_what_is_done_and_goes_on_another_time(
    store: Store, golden: Callable[[str], dict[str, Any]]
) -> None:
    formats = ("summary", "faq", "newsletter")
    engine = scripted_engine({name: [golden(name)] for name in formats}, model="m")
    first = run(SOURCE, formats, engine=engine, store=store, settings=capped(max_calls=2))
    assert (first.run.status, first.exit_code) == ("interrupted", 5)
    assert isinstance(first.stopped_by, BudgetReached)
    assert list(first.results) == ["summary", "faq"]
    assert first.outputs["newsletter"].message == "not finished"
    second = run(SOURCE, formats, engine=engine, store=store, settings=capped(max_calls=2))
    assert (second.run.status, second.exit_code) == ("done", 0)
    assert [each.format for each in engine.calls] == ["summary", "faq", "newsletter"]
    assert [each.error_kind for each in store.calls(first.run.id)] == [None, None]


def test_a_repair_beyond_the_budget_leaves_its_format_for_another_time(
    store: Store, golden: Callable[[str], dict[str, Any]]
) -> None:
    engine = scripted_engine({"faq": ["no JSON", golden("faq")]}, model="m")
    first = run(SOURCE, ["faq"], engine=engine, store=store, settings=capped(max_calls=1))
    assert (first.exit_code, list(first.results)) == (5, [])
    second = run(SOURCE, ["faq"], engine=engine, store=store, settings=capped(max_calls=1))
    assert second.exit_code == 0
    assert [each.attempt for each in engine.calls] == [1, 2]


def test_an_exhausted_budget_makes_no_call(store: Store) -> None:
    engine = scripted_engine([], model="m")
    budget = Budget(max_calls=1)
    budget.settle(budget.reserve(Amount()), None)
    result = asyncio.run(
        arun(SOURCE, ["faq"], engine=budgeted(engine, budget), store=store, settings=capped())
    )
    assert (engine.calls, result.exit_code) == ([], 5)
    assert store.calls(result.run.id) == ()


def test_a_run_that_is_done_within_its_budget_ends_as_any_other(
    store: Store, golden: Callable[[str], dict[str, Any]]
) -> None:
    engine = scripted_engine({"faq": [golden("faq")]}, model="m")
    result = run(SOURCE, ["faq"], engine=engine, store=store, settings=capped(max_calls=1))
    assert (result.exit_code, result.stopped_by) == (0, None)
