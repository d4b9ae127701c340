"""What a call costs, by a table of prices with their source and date.

A price that is not known is None and never 0. Prices are facts about the world that change
without notice, so they stand in `prices.toml` and nowhere in code.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from repurpose.core.call import Usage

__all__ = ["FREE_ENGINES", "PRICES", "Price", "cost_of", "price_of"]

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


def cost_of(usage: Usage, model: str | None, endpoint: str | None) -> float | None:
    """What a reply cost in US dollars by list price, or None where that is not known.

    It is not known where the model has no price at this address, where the server did not say
    how many tokens went in and out, where its counts contradict each other, and where it does
    not say how much of the prompt was written to a cache whose writing is charged for. A server
    that says nothing of cached tokens is taken to have cached none.

    >>> cost_of(Usage(1000, 100), "gpt-4.1-mini", "https://api.openai.com/v1")
    0.00056
    """
    price = price_of(model, endpoint)
    given, written = usage.prompt_tokens, usage.completion_tokens
    if price is None or given is None or written is None:
        return None
    if price.up_to is not None and given > price.up_to:
        return None
    # Read like this because not every `Usage` has the field: without it, nothing was told.
    stored: int | None = usage.cache_write_tokens
    prompt = _prompt_cost(price, given, usage.cached_tokens or 0, stored)
    return None if prompt is None else (prompt + written * price.output) / _PER


def _prompt_cost(price: Price, given: int, cached: int, stored: int | None) -> float | None:
    """The prompt's part, in millionths of a dollar."""
    if price.cache_write is None:
        stored = 0
    if stored is None or cached + stored > given or (cached and price.cached is None):
        return None
    fresh = given - cached - stored
    return fresh * price.input + cached * (price.cached or 0) + stored * (price.cache_write or 0)
