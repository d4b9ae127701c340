"""A plan in numbers, and one step of it in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from repurpose.batch.estimating import Takes
from repurpose.core.item import Action, Decision, Item
from repurpose.core.json_types import JsonObject

__all__ = ["Plan", "Step"]


@dataclass(slots=True)
class Plan:
    """A plan in numbers."""

    counts: Counter[Action] = field(default_factory=Counter)
    formats: int = 0
    """Results that are to be made."""
    stored: int = 0
    """Of these, how many are stored already under another name, so that no call is made."""
    takes: Takes = field(default_factory=Takes)
    repairs: float = 0.0
    is_free: bool = False
    """Whether no call is paid for, whatever comes."""
    observed: int = 0
    """How many stored calls the share of repairs is from; 0: it is assumed."""

    @property
    def items(self) -> int:
        """All that were looked at."""
        return sum(self.counts.values())

    @property
    def todo(self) -> int:
        """Those that there is something to do for."""
        return self.counts["new"] + self.counts["changed"] + self.counts["again"]

    def to_json(self) -> JsonObject:
        """For programs and for the store."""
        return {
            "items": self.items,
            "todo": self.todo,
            "counts": {str(action): count for action, count in self.counts.items()},
            "formats": self.formats,
            "stored": self.stored,
            "repair_rate": self.repairs,
            "repair_rate_from_calls": self.observed,
            **self.takes.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Step:
    """One item of a plan, as it is told."""

    item: Item
    decision: Decision
    takes: Takes | None = None
    """None where there is nothing to do."""
