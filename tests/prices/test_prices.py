"""What a call costs: from the table where it says so, and never guessed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import pytest

from repurpose.core.call import Usage
from repurpose.prices import PRICES, cost_of, exact_cost, most_cost, own_price, price_of

OPENAI = "https://api.openai.com/v1"
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Told(Usage):
    """A usage whose server also said how much it wrote to its cache."""

    cache_write_tokens: int | None = None


@pytest.mark.parametrize("price", PRICES.values(), ids=lambda price: price.model)
def test_each_price_is_positive_dated_and_has_its_source(price):
    assert price.input > 0
    assert price.output > price.input
    assert price.cached is None or 0 < price.cached < price.input
    assert price.cache_write is None or price.cache_write > price.input
    assert date.fromisoformat(price.checked) <= date.today()  # noqa: DTZ011 - a day is enough
    assert price.source
    assert price.endpoint.startswith("https://")
    assert not price.endpoint.endswith("/")


@pytest.mark.parametrize(
    ("model", "figures"),
    [
        ("gpt-6-luna", (0.10, 0.01, 0.125, 0.50)),
        ("gpt-6-sol", (2.00, 0.20, 2.50, 10.00)),
        ("gpt-5.4-mini", (0.75, 0.075, None, 4.50)),
        ("gpt-4.1-mini", (0.40, 0.10, None, 1.60)),
    ],
)
def test_known_prices(model, figures):
    price = price_of(model, OPENAI)
    assert (price.input, price.cached, price.cache_write, price.output) == figures


def test_input_output_and_cached_tokens_have_each_their_price():
    assert cost_of(Usage(MILLION, 0), "gpt-4.1-mini", OPENAI) == pytest.approx(0.40)
    assert cost_of(Usage(0, MILLION), "gpt-4.1-mini", OPENAI) == pytest.approx(1.60)
    assert cost_of(Usage(MILLION, 0, MILLION), "gpt-4.1-mini", OPENAI) == pytest.approx(0.10)
    part = cost_of(Usage(10_000, 800, 4_000), "gpt-4.1-mini", OPENAI)
    assert part == pytest.approx((6_000 * 0.40 + 4_000 * 0.10 + 800 * 1.60) / MILLION)


def test_reasoning_is_a_part_of_the_completion_and_not_paid_twice():
    plain = cost_of(Usage(100, 900), "gpt-5.4-mini", OPENAI)
    assert cost_of(Usage(100, 900, 0, 850), "gpt-5.4-mini", OPENAI) == plain


@pytest.mark.parametrize("usage", [Usage(), Usage(10, None), Usage(None, 10)])
def test_unknown_tokens_have_no_price(usage):
    assert cost_of(usage, "gpt-4.1-mini", OPENAI) is None


def test_counts_that_contradict_each_other_have_no_price():
    assert cost_of(Usage(100, 10, 101), "gpt-4.1-mini", OPENAI) is None


def test_an_unknown_model_has_no_price_and_does_not_cost_0():
    assert cost_of(Usage(10, 10), "gpt-9", OPENAI) is None
    assert cost_of(Usage(10, 10), None, OPENAI) is None


@pytest.mark.parametrize(
    "endpoint",
    [
        None,
        "",
        "http://localhost:11434/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com.example.org/v1",
        "https://eu.api.openai.com/v1",
        "https://openrouter.ai/api/v1",
    ],
)
def test_a_price_holds_at_the_providers_own_address_only(endpoint):
    assert cost_of(Usage(10, 10), "gpt-4.1-mini", endpoint) is None


def test_a_slash_at_the_end_is_the_same_address():
    assert price_of("gpt-4.1-mini", f"{OPENAI}/") is price_of("gpt-4.1-mini", OPENAI)


def test_a_dated_version_has_the_price_of_its_name_unless_it_has_its_own():
    assert price_of("gpt-4.1-mini-2025-04-14", OPENAI).model == "gpt-4.1-mini"
    assert price_of("gpt-4o-2024-08-06", OPENAI).input == 2.50
    assert price_of("gpt-4o-2024-05-13", OPENAI).input == 5.00


@pytest.mark.parametrize(
    "model",
    ["gpt-4.1-mini-tuned", "gpt-4.1-min", "gpt-5-search-api", "ft:gpt-4.1-mini-2025-04-14:me::1"],
)
def test_a_similar_name_is_another_model(model):
    assert price_of(model, OPENAI) is None


def test_a_prompt_longer_than_the_price_holds_for_has_none():
    told = {"cached_tokens": 0, "cache_write_tokens": 0}
    assert cost_of(Told(272_000, 1, **told), "gpt-6-luna", OPENAI) is not None
    assert cost_of(Told(272_001, 1, **told), "gpt-6-luna", OPENAI) is None


def test_tokens_written_to_the_cache_have_their_price_where_writing_is_charged_for():
    told = Told(10_000, 800, 2_000, 0, 5_000)
    paid = 3_000 * 0.10 + 2_000 * 0.01 + 5_000 * 0.125 + 800 * 0.50
    assert cost_of(told, "gpt-6-luna", OPENAI) == pytest.approx(paid / MILLION)
    assert cost_of(Told(10, 1, 6, 0, 5), "gpt-6-luna", OPENAI) is None


def test_without_a_word_about_charged_cache_writes_the_cost_is_not_known():
    assert cost_of(Usage(10_000, 800, 0), "gpt-6-luna", OPENAI) is None


def test_writing_to_the_cache_is_no_question_where_it_costs_nothing_extra():
    silent = cost_of(Usage(10_000, 800, 0), "gpt-4.1-mini", OPENAI)
    assert cost_of(Told(10_000, 800, 0, 0, 9_000), "gpt-4.1-mini", OPENAI) == silent


def test_a_users_own_price_is_over_the_tables_and_holds_at_every_address():
    own = own_price("mine", input=2, output=4, cached=1)
    for model, endpoint in (("gpt-4.1-mini", OPENAI), ("mine", "http://localhost:1"), (None, None)):
        assert cost_of(Usage(MILLION, MILLION), model, endpoint, own) == pytest.approx(6)
        assert cost_of(Usage(MILLION, 0, MILLION), model, endpoint, own) == pytest.approx(1)
    silent = own_price("mine", input=2, output=4)
    assert cost_of(Usage(10, 10, 5), "mine", None, silent) is None
    assert cost_of(Usage(10, 10, 0), "mine", None, silent) is not None


# --- to the last digit --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(1, 0), "0.0000004"),
        (Usage(3, 1), "0.0000028"),
        (Usage(10_000, 800, 4_000), "0.00408"),
        (Usage(10_000, 800, 10_000), "0.00228"),
    ],
)
def test_a_cost_is_exact_with_cached_tokens_at_their_own_price(usage, dollars):
    assert exact_cost(usage, PRICES[OPENAI, "gpt-4.1-mini"]) == Decimal(dollars)


def test_a_thousand_calls_cost_a_thousand_times_one():
    one = exact_cost(Usage(333, 77, 111), PRICES[OPENAI, "gpt-4.1-mini"])
    assert sum([one] * 1000) == 1000 * one == Decimal("0.2231")


@pytest.mark.parametrize(
    "price", [p for p in PRICES.values() if p.provider == "openai"], ids=lambda price: price.model
)
def test_openai_batches_cost_half_to_the_last_digit(price):
    usage = Told(9_999, 777, None, None, 0)
    assert 2 * exact_cost(usage, price, batch=True) == exact_cost(usage, price)


def test_a_batch_without_a_known_share_has_no_cost():
    price = own_price("mine", input=1, output=2)
    assert exact_cost(Usage(10, 10), price) is not None
    assert exact_cost(Usage(10, 10), price, batch=True) is None
    assert most_cost(price, 10, 10, batch=True) is None


def test_a_user_gives_the_share_of_a_batch_with_the_price():
    price = own_price("mine", input=1, output=2, batch=0.4)
    assert exact_cost(Usage(MILLION, 0), price, batch=True) == Decimal("0.4")
    assert cost_of(Usage(MILLION, 0), "mine", None, price, batch=True) == 0.4
