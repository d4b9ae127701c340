"""The worst case of a call is never less than what it takes."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.core.call import Call, Usage
from repurpose.core.source import Source
from repurpose.prices import PRICES, exact_cost, own_price
from repurpose.steps.worst_case import Load, call_load, load_cost
from repurpose.text.tokens import estimated_tokens

OPENAI = "https://api.openai.com/v1"


def call(**changes: Any) -> Call:
    first = Call("faq", "Rules. " * 30, "Text. " * 500, {}, {}, Source("Text.", "-", "text"))
    return replace(first, **changes)


def test_a_prompt_has_fifteen_percent_in_hand() -> None:
    plain = call()
    estimate = estimated_tokens(plain.system) + estimated_tokens(plain.user)
    assert 1.15 * estimate <= call_load(plain, 1000).prompt <= 1.15 * (estimate + 20)


def test_the_schema_is_counted_wherever_it_is_sent() -> None:
    wire = {"type": "object", "description": "word " * 400}
    assert call_load(call(wire=wire), 1000).prompt > call_load(call(), 1000).prompt + 400


def test_what_a_model_counted_more_is_counted_the_next_time() -> None:
    assert call_load(call(), 1000, 2.0).prompt == pytest.approx(
        2 * call_load(call(), 1000).prompt, abs=1
    )


@pytest.mark.parametrize(
    ("budget", "largest", "reply"),
    [(500, 16_384, 500), (None, 16_384, 16_384), (500, None, 500), (99_999, 16_384, 16_384)],
)
def test_a_reply_is_as_long_as_its_budget_or_the_model_allows(
    budget: int | None, largest: int | None, reply: int
) -> None:
    assert call_load(call(output_tokens=budget), largest).reply == reply


def test_a_reply_without_any_bound_is_unknown_and_so_is_its_cost() -> None:
    load = call_load(call(), None)
    assert (load.reply, load.tokens) == (None, None)
    assert load_cost(load, own_price("mine", input=1, output=1)) is None


def test_a_call_without_a_price_has_no_cost() -> None:
    assert load_cost(Load(1000, 100), None) is None


def test_the_dearest_price_of_a_prompt_token_counts() -> None:
    price = own_price("mine", input=1.0, output=4.0, cached=0.1, cache_write=1.25)
    assert load_cost(Load(1_000_000, 0), price) == Decimal("1.25")


def test_a_prompt_longer_than_the_price_is_for_has_no_known_cost() -> None:
    price = PRICES[OPENAI, "gpt-5.5"]
    assert load_cost(Load(272_001, 10), price) is None
    assert load_cost(Load(272_000, 10), price) is not None


def test_a_batch_costs_its_share_at_worst_too() -> None:
    price = PRICES[OPENAI, "gpt-4.1-mini"]
    assert load_cost(Load(1000, 1000), price, batch=True) == Decimal("0.001")


@given(
    price=st.sampled_from(list(PRICES.values())),
    prompt=st.integers(0, 200_000),
    reply=st.integers(0, 20_000),
    cached=st.integers(0, 200_000),
    written=st.integers(0, 200_000),
)
def test_no_usage_within_a_load_costs_more_than_its_worst_case(
    price: Any, prompt: int, reply: int, cached: int, written: int
) -> None:
    worst = load_cost(Load(prompt, reply), price)
    cost = exact_cost(Usage(prompt, reply, cached_tokens=cached, cache_write_tokens=written), price)
    assert worst is not None
    assert cost is None or cost <= worst
