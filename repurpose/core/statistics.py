"""What calls and results came to over time: sums that never take what is not known for nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from repurpose.core.result import Total

__all__ = ["GROUPINGS", "Grouping", "Tally", "together"]

Grouping: TypeAlias = Literal["format", "model", "day"]
GROUPINGS: tuple[Grouping, ...] = ("format", "model", "day")
"""By what calls are counted together; a day is one of UTC."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What the calls of one group took, and which of its results failed.

    Calls that still wait for a provider's batch are none yet, and neither is a reused result.
    """

    name: str
    """The format, the model or the day; a call without a model counts under its engine."""
    calls: int = 0
    unanswered: int = 0
    """How many of the calls brought no reply."""
    begun: int = 0
    """First calls."""
    repeated: int = 0
    """Second calls: how many of those begun were asked again."""
    seconds: float = 0.0
    """The sum over answered calls."""
    prompt_tokens: Total = field(default=Total())
    completion_tokens: Total = field(default=Total())
    cached_tokens: Total = field(default=Total())
    """The part of the prompts that came from a provider's prefix cache."""
    reasoning_tokens: Total = field(default=Total())
    cost: Total = field(default=Total())
    """US dollars, by list price."""
    prompts_told: int = 0
    """The prompt tokens of those calls that told how many were cached."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Failed results by their kind."""

    @property
    def hit_rate(self) -> float | None:
        """The share of prompt tokens that were cached, where that was told; None where it was not.

        >>> Tally("faq", calls=2, cached_tokens=Total(600, 1), prompts_told=1000).hit_rate
        0.6
        """
        return self.cached_tokens.known / self.prompts_told if self.prompts_told else None

    @property
    def repair_rate(self) -> float | None:
        """The share of formats begun that were asked again, for whatever reason; None of none."""
        return self.repeated / self.begun if self.begun else None

    @property
    def mean_seconds(self) -> float | None:
        """What an answered call took on average; None where none was answered."""
        answered = self.calls - self.unanswered
        return self.seconds / answered if answered else None

    @property
    def failed(self) -> int:
        """Failed results of any kind."""
        return sum(self.failures.values())


def together(tallies: Iterable[Tally], name: str) -> Tally:
    """All of them as one."""
    each = list(tallies)
    failures: Counter[str] = Counter()
    for tally in each:
        failures.update(tally.failures)
    return Tally(
        name=name,
        calls=sum(tally.calls for tally in each),
        unanswered=sum(tally.unanswered for tally in each),
        begun=sum(tally.begun for tally in each),
        repeated=sum(tally.repeated for tally in each),
        seconds=sum(tally.seconds for tally in each),
        prompt_tokens=_sum(tally.prompt_tokens for tally in each),
        completion_tokens=_sum(tally.completion_tokens for tally in each),
        cached_tokens=_sum(tally.cached_tokens for tally in each),
        reasoning_tokens=_sum(tally.reasoning_tokens for tally in each),
        cost=_sum(tally.cost for tally in each),
        prompts_told=sum(tally.prompts_told for tally in each),
        failures=dict(failures),
    )


def _sum(totals: Iterable[Total]) -> Total:
    each = list(totals)
    return Total(sum(total.known for total in each), sum(total.unknown for total in each))
