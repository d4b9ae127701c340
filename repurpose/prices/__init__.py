"""What a call costs, by a table of prices with their source and date.

A price that is not known is None and never 0. Prices are facts about the world that change
without notice, so they stand in `prices.toml` and nowhere in code.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from repurpose.core.call import Usage

__all__ = [
    "FREE_ENGINES",
    "PRICES",
    "Price",
    "cost_of",
    "exact_cost",
    "most_cost",
    "own_price",
    "price_of",
]

FREE_ENGINES = frozenset({"extractive", "local"})
"""Engines that answer in this process, so that nobody is paid."""

_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}\Z")
"""How OpenAI ends the name of a model's dated version."""

_PER = 1_000_000
"""Tokens that a price is for."""


@dataclass(frozen=True, slots=True)
class Price:
    """What one model's tokens cost at its provider, in US dollars per million."""

    model: str
    provider: str
    endpoint: str
    """The address that the price holds at: the provider's own."""
    input: float
    """Prompt tokens that came from no cache."""
    output: float
    """Completion tokens, reasoning included."""
    source: str
    """Where the figures come from."""
    checked: str
    """The day on which the source was last read, as an ISO 8601 date."""
    cached: float | None = None
    """Prompt tokens that came from the provider's cache; None where not known."""
    cache_write: float | None = None
    """Prompt tokens that were written to the cache; None where that costs nothing extra."""
    up_to: int | None = None
    """The longest prompt, in tokens, that the price holds for; None for any."""
    batch: float | None = None
    """What is paid of these prices in a provider's batch, such as 0.5; None where not known."""


def _prices() -> Iterator[Price]:
    """The entries of the price file, in its order."""
    raw = (files(__name__) / "prices.toml").read_text(encoding="utf-8")
    for provider, entry in tomllib.loads(raw).items():
        shared = {name: value for name, value in entry.items() if name != "models"}
        for model, figures in entry["models"].items():
            yield Price(model=model, provider=provider, **shared, **figures)


PRICES: Mapping[tuple[str, str], Price] = MappingProxyType(
    {(price.endpoint, price.model): price for price in _prices()}
)
"""Every price we know, by endpoint and model."""


def own_price(
    model: str,
    *,
    input: float,  # noqa: A002 - as the price file names it
    output: float,
    cached: float | None = None,
    cache_write: float | None = None,
    batch: float | None = None,
    source: str = "",
) -> Price:
    """A user's own price, in US dollars per million tokens, which holds at every address."""
    return Price(
        model=model,
        provider="",
        endpoint="",
        input=input,
        output=output,
        source=source,
        checked="",
        cached=cached,
        cache_write=cache_write,
        batch=batch,
    )


def price_of(model: str | None, endpoint: str | None) -> Price | None:
    """The price of `model` at the address `endpoint`, or None where it is not known.

    A dated version has the price of its name, unless it has its own. Another address than the
    provider's own has no price here: a proxy, a region or a reseller may charge differently.

    >>> price_of("gpt-4.1-mini-2025-04-14", "https://api.openai.com/v1").model
    'gpt-4.1-mini'
    >>> price_of("gpt-4.1-mini", "http://localhost:11434/v1") is None
    True
    """
    if model is None or endpoint is None:
        return None
    address = endpoint.rstrip("/")
    return PRICES.get((address, model)) or PRICES.get((address, _DATE.sub("", model)))


def cost_of(
    usage: Usage,
    model: str | None,
    endpoint: str | None,
    own: Price | None = None,
    *,
    batch: bool = False,
) -> float | None:
    """What a reply cost in US dollars, or None where that is not known; see `exact_cost`.

    >>> cost_of(Usage(1000, 100), "gpt-4.1-mini", "https://api.openai.com/v1")
    0.00056
    """
    cost = exact_cost(usage, own or price_of(model, endpoint), batch=batch)
    return None if cost is None else float(cost)


def exact_cost(usage: Usage, price: Price | None, *, batch: bool = False) -> Decimal | None:
    """What a reply cost in US dollars by list price, to the last digit; None where not known.

    It is not known where there is no price, where the server did not say how many tokens went in
    and out, where its counts contradict each other, and where it does not say how much of the
    prompt was written to a cache whose writing is charged for. A server that says nothing of
    cached tokens is taken to have cached none. In a provider's `batch`, the price's own share.

    >>> exact_cost(Usage(1000, 100, 400), PRICES["https://api.openai.com/v1", "gpt-4.1-mini"])
    Decimal('0.00044')
    """
    given, written = usage.prompt_tokens, usage.completion_tokens
    if price is None or given is None or written is None:
        return None
    if price.up_to is not None and given > price.up_to:
        return None
    # Read like this because not every `Usage` has the field: without it, nothing was told.
    stored: int | None = usage.cache_write_tokens
    prompt = _prompt_cost(price, given, usage.cached_tokens or 0, stored)
    if prompt is None:
        return None
    return _paid(price, prompt + written * _exact(price.output), batch=batch)


def most_cost(
    price: Price, prompt_tokens: int, output_tokens: int, *, batch: bool = False
) -> Decimal | None:
    """The most that a call of so many tokens can cost in US dollars, however a cache behaves.

    None where the price does not hold for so long a prompt, or is not known for a `batch`.

    >>> most_cost(PRICES["https://api.openai.com/v1", "gpt-6-luna"], 1000, 100)
    Decimal('0.000175')
    """
    if price.up_to is not None and prompt_tokens > price.up_to:
        return None
    each = max(price.input, price.cached or 0, price.cache_write or 0)
    return _paid(
        price, prompt_tokens * _exact(each) + output_tokens * _exact(price.output), batch=batch
    )


def _prompt_cost(price: Price, given: int, cached: int, stored: int | None) -> Decimal | None:
    """The prompt's part, in millionths of a dollar."""
    if price.cache_write is None:
        stored = 0
    if stored is None or cached + stored > given or (cached and price.cached is None):
        return None
    fresh = given - cached - stored
    parts = ((fresh, price.input), (cached, price.cached), (stored, price.cache_write))
    return sum((count * _exact(each or 0) for count, each in parts), Decimal(0))


def _paid(price: Price, millionths: Decimal, *, batch: bool) -> Decimal | None:
    """The sum in dollars, with the share that is paid of it."""
    if batch and price.batch is None:
        return None
    whole = (millionths * _exact(price.batch or 0) if batch else millionths) / _PER
    return whole.normalize()


@lru_cache(maxsize=256)  # a few figures, for each reply
def _exact(figure: float) -> Decimal:
    """The figure as it is written: 0.1 is a tenth, not what is nearest to it in binary."""
    return Decimal(str(figure))
