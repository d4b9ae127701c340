"""What a run tells while it works: names, counts and times, never a text.

A closed union; whoever shows it matches on the class and ignores what it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from repurpose.core.record import RowStatus

__all__ = ["CallStarted", "FormatEnded", "FormatStarted", "Progress"]


@dataclass(frozen=True, slots=True)
class FormatStarted:
    """Work on a format has begun."""

    format: str
    label: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call is about to be made; `attempt` 2 and more are repairs."""

    format: str
    label: str
    attempt: int


@dataclass(frozen=True, slots=True)
class FormatEnded:
    """A format's rows are stored."""

    format: str
    label: str
    status: RowStatus
    message: str
    """As in its envelope."""
    elapsed_ms: int
    reused: bool = False
    """Whether finished rows were reused without a call."""


Progress: TypeAlias = FormatStarted | CallStarted | FormatEnded
