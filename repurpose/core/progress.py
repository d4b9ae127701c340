"""What a run tells while it works: names, counts and times, never a text.

A closed union; whoever shows it matches on the class and ignores what it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from repurpose.core.record import RowStatus

__all__ = [
    "BriefEnded",
    "BriefPlanned",
    "CallStarted",
    "ContextUnknown",
    "FormatEnded",
    "FormatStarted",
    "Progress",
]


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


@dataclass(frozen=True, slots=True)
class ContextUnknown:
    """The source is long, and nobody knows whether it fits; it is sent whole."""

    format: ClassVar[str] = "source"
    label: ClassVar[str] = "Source"
    tokens: int
    """About how many the source is."""


@dataclass(frozen=True, slots=True)
class BriefPlanned:
    """The source does not fit, so it is read in parts first; told before the first call.

    Told again where the first part showed that it takes another number of parts.
    """

    format: ClassVar[str] = "source"
    label: ClassVar[str] = "Source"
    tokens: int
    """About how many the source is."""
    context: int
    """How many the model takes."""
    parts: int
    known: int
    """How many of the parts were read by an earlier run, so that they need no call."""
    calls: int
    """All calls that are still to be made, the formats' included, if none is repaired."""
    call_tokens: int
    """About how many those take, prompts and replies together."""


@dataclass(frozen=True, slots=True)
class BriefEnded:
    """The parts are read and the brief is composed, or it could not be."""

    format: ClassVar[str] = "brief"
    label: ClassVar[str] = "Brief"
    status: RowStatus
    message: str
    elapsed_ms: int


Progress: TypeAlias = (
    FormatStarted | CallStarted | FormatEnded | ContextUnknown | BriefPlanned | BriefEnded
)
