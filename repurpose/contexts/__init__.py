"""How long a prompt a model takes, by a table of known sizes with their source and date.

A size that is not known is None, and never a guess. Sizes are facts about the world that change
without notice, so they stand in `contexts.toml` and nowhere in code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

__all__ = ["CONTEXTS", "Context", "context_of", "output_of"]

_GOES_ON = "-:@"
"""What may follow a model's name in a longer one: a version, a tag, a date."""


@dataclass(frozen=True, slots=True)
class Context:
    """How much fits into one model at its provider, in tokens."""

    model: str
    provider: str
    input: int
    """The longest prompt; where prompt and reply share one window, that window."""
    output: int
    """The longest reply, reasoning included."""
    source: str
    """Where the figures come from."""
    checked: str
    """The day on which the source was last read, as an ISO 8601 date."""


def _contexts() -> Iterator[Context]:
    """The entries of the data file, in its order."""
    raw = (files(__name__) / "contexts.toml").read_text(encoding="utf-8")
    for provider, entry in tomllib.loads(raw).items():
        for model, sizes in entry["models"].items():
            yield Context(
                model=model,
                provider=provider,
                source=entry["source"],
                checked=entry["checked"],
                **sizes,
            )


CONTEXTS: Mapping[str, Context] = MappingProxyType({each.model: each for each in _contexts()})
"""Every model whose size we know, by its name."""


def context_of(model: str | None) -> int | None:
    """The tokens that a prompt of `model` may have at most, or None where that is not known.

    Whatever stands before a slash names a provider or a host and is passed over. A longer name,
    such as a dated version, has the size of the longest entry that it begins with.

    >>> context_of("anthropic/claude-haiku-4-5-20251001")
    200000
    >>> context_of("gpt-4.1-mini"), context_of("gpt-4"), context_of("gpt-4.9")
    (1047576, 8192, None)
    """
    entry = _entry(model)
    return entry.input if entry else None


def output_of(model: str | None) -> int | None:
    """The tokens that a reply of `model` may have at most, or None where that is not known.

    >>> output_of("gpt-4o-2024-05-13"), output_of("mine")
    (4096, None)
    """
    entry = _entry(model)
    return entry.output if entry else None


def _entry(model: str | None) -> Context | None:
    name = (model or "").rpartition("/")[2].strip().casefold()
    while name:
        if name in CONTEXTS:
            return CONTEXTS[name]
        name = name[: max(map(name.rfind, _GOES_ON))] if _may_be_shorter(name) else ""
    return None


def _may_be_shorter(name: str) -> bool:
    return any(sign in name[1:] for sign in _GOES_ON)
