"""Calls that a provider answers later, many at once and cheaper: what is kept and told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from repurpose.core.call import Reply
from repurpose.errors import BrokenReply, EngineError, NeverStarted, StillWorking

__all__ = [
    "Answered",
    "BatchRequest",
    "BatchState",
    "Collected",
    "Lost",
    "Outcome",
    "Pending",
    "ProviderBatch",
    "QueuedBody",
    "Refusal",
    "RequestState",
    "Submitted",
]

BatchState = Literal["prepared", "submitted", "ended"]
"""`prepared` until the provider's id is stored: the provider may or may not know of it."""

RequestState = Literal["queued", "batched", "answered", "refused", "told"]
"""`told` is a refusal that its format has heard of, so that the next run asks anew."""

_ERRORS = {error.kind: error for error in (BrokenReply, NeverStarted, StillWorking)}


@dataclass(frozen=True, slots=True)
class ProviderBatch:
    """One batch at a provider: a field here is a column of the table `provider_batches`."""

    id: str
    """Ours. It stands in the batch's metadata, where a batch is found by it after a crash."""
    endpoint: str
    """The address without user and password, as in the parameters of its calls."""
    model: str | None
    lines: int
    digest: str
    """SHA-256 of the file of its requests."""
    created_at: str
    """ISO 8601, UTC; likewise the other times."""
    state: BatchState = "prepared"
    file_id: str | None = None
    """The provider's id of the uploaded file."""
    batch_id: str | None = None
    """The provider's id of the batch."""
    status: str | None = None
    """As the provider last told it: validating, in_progress, completed, ..."""
    submitted_at: str | None = None
    ended_at: str | None = None
    message: str | None = None
    """What went wrong, in our own words."""
    misses: int = 0
    """How often it was over and its files could not be read whole."""


@dataclass(frozen=True, slots=True)
class QueuedBody:
    """A request that is in no batch yet."""

    place: int
    """In the queue."""
    call_id: str
    body: str
    """The JSON that a live call would send."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A request of a batch, as far as its lines must be told apart and named."""

    call_id: str
    line: int
    """In the batch's file, from 1."""
    state: RequestState
    format: str
    origin: str
    """The path or address of its source."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A line that holds a reply."""

    call_id: str
    reply: Reply
    cost: float | None = None
    """US dollars at the batch price, or None where it is not known."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that the provider will not answer, however often it is sent."""

    call_id: str
    message: str
    kind: str
    """That of the error which a live call would have raised."""
    hint: str | None = None
    paid: bool = False
    """Whether it may have been paid all the same."""

    @property
    def error(self) -> EngineError:
        """What a live call would have raised."""
        return _ERRORS.get(self.kind, EngineError)(self.message, hint=self.hint)


@dataclass(frozen=True, slots=True)
class Lost:
    """A line whose request may be answered when it is sent again."""

    call_id: str
    reason: str


Outcome = Answered | Refusal | Lost
"""What a line of a batch's output or error file comes to."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """What `submit` did."""

    batches: tuple[ProviderBatch, ...] = ()
    """Sent now."""
    attached: tuple[ProviderBatch, ...] = ()
    """Sent by an earlier process that did not live to store it; found again at the provider."""
    faults: tuple[str, ...] = ()
    """Why a batch could not be sent; its requests are sent by the next `submit`."""

    @property
    def requests(self) -> int:
        """How many requests the provider has of these."""
        return sum(batch.lines for batch in (*self.batches, *self.attached))


@dataclass(frozen=True, slots=True)
class Collected:
    """What `collect` found."""

    answered: int = 0
    """Replies stored now."""
    refused: int = 0
    again: int = 0
    """Requests back in the queue: their batch ended without an answer to them."""
    working: tuple[ProviderBatch, ...] = ()
    """Batches that the provider still works on."""
    ended: tuple[ProviderBatch, ...] = ()
    cost: float | None = 0.0
    """US dollars of the replies stored now; None where one of their prices is not known."""
    warnings: tuple[str, ...] = ()
    """A line each: refused requests, ids that are not ours, files cut short."""
    faults: tuple[str, ...] = ()
    """Why a batch could not be asked for or read; it stays as it is."""

    def __add__(self, other: Collected) -> Collected:
        """Both; of their batches at work, those of `other`."""
        costs = (self.cost, other.cost)
        return Collected(
            self.answered + other.answered,
            self.refused + other.refused,
            self.again + other.again,
            other.working,
            (*self.ended, *other.ended),
            None if None in costs else sum(filter(None, costs)),
            (*self.warnings, *other.warnings),
            other.faults,
        )


@dataclass(frozen=True, slots=True)
class Pending:
    """What waits in a store for a provider."""

    queued: int = 0
    """Requests that are in no batch yet."""
    batches: tuple[ProviderBatch, ...] = ()
    """Those that have not ended, oldest first."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """By our id of a batch: its requests without an outcome."""

    @property
    def requests(self) -> int:
        """All requests that have no outcome yet."""
        return self.queued + sum(self.counts.values())
