"""What the inside asks of the outside: an engine, a store, a clock, fresh ids.

Everything here is a type; the adapters are chosen in `api` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from repurpose.core.call import Call, Reply
from repurpose.core.composed import ComposedRecord
from repurpose.core.item import Batch, BatchStatus, Item, ItemState, Planned
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.profile import CacheKind
from repurpose.core.provider_batch import (
    BatchRequest,
    Outcome,
    Pending,
    ProviderBatch,
    QueuedBody,
    Refusal,
)
from repurpose.core.record import CallRecord, Row, Run, RunStatus
from repurpose.core.source import Source
from repurpose.core.statistics import Grouping, Tally
from repurpose.ports.endpoints import Deliveries

__all__ = [
    "Answerer",
    "Clock",
    "Deferred",
    "Engine",
    "Listener",
    "NewId",
    "ProviderBatches",
    "Store",
    "Streamer",
]

Answerer = Callable[[Call], Coroutine[Any, Any, Reply]]
"""From a call to its reply. Raises `EngineError` where no reply came, and `UnusableOutput` where an
engine that reads the source itself finds nothing in it to answer with, or `Deferred`."""

Streamer = Callable[[Call, "Listener"], Coroutine[Any, Any, Reply]]
"""As an `Answerer`, and tells the listener of the reply's text while it comes."""

NewId = Callable[[], str]
"""A fresh id: letters and digits, unique, and sorted by the time it was made."""


class Listener(Protocol):
    """Hears a reply while it is written. It must not raise, and what it hears decides nothing."""

    def began(self) -> None:
        """A request was sent; what was heard of an earlier one of the same call is void."""

    def heard(self, text: str) -> None:
        """The next part of the reply's text, as it came."""


class Deferred(Exception):  # noqa: N818 - not an error: the answer comes another time
    """The call was not sent: a provider's batch answers it later, and its format stays open."""

    def __init__(self, body: str) -> None:
        super().__init__("the answer comes with a provider's batch")
        self.body = body
        """The JSON that would have been sent."""


async def _nothing_to_close() -> None:
    """The close of an engine that holds no connection."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What answers calls, with the facts that make two answers comparable.

    A function of your own is an engine as soon as it has a name:
    `Engine(name="mine", answer=my_async_function)`.
    """

    name: str
    """Part of the idempotency key, so change it when the engine answers differently."""
    answer: Answerer
    model: str | None = None
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    """Whatever else changes an answer: temperature, endpoint, effort. Holds no key."""
    extractive: bool = False
    """Whether every sentence of its answers is a sentence of the source."""
    close: Callable[[], Awaitable[None]] = _nothing_to_close
    lanes: int | None = None
    """The most calls it can work on at once; None where it does not matter."""
    schema_in_prompt: bool = True
    """Whether prompts must hold the schema; False where its server shows it to the model."""
    cache: CacheKind | None = None
    """How it finds the shared beginning of prompts again, which decides how they are laid out;
    None where that is not ours to decide, or there is no prompt."""
    needs_one_schema: bool = False
    """Whether calls with different schemas never begin alike for it."""
    stream: Streamer | None = None
    """The same as `answer`, heard while it is written; None for one that answers in one piece."""

    @property
    def provenance(self) -> str:
        """What a reader of its texts is told: `model NAME`, or `extracted, no model`.

        Of an endpoint of the user's own, `endpoint NAME`.
        """
        if self.extractive:
            return "extracted, no model"
        if self.name == "endpoint":
            return f"endpoint {self.model}"
        return f"model {self.model}" if self.model else f"engine {self.name}"


class Clock(Protocol):
    """Time, so that tests need not wait for it."""

    def now(self) -> datetime:
        """The present moment, with its time zone set to UTC."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Give others a turn for at least `seconds`."""


class Store(Protocol):
    """The only record. Each method is one short transaction, and durable when it returns.

    Every method raises `StoreError`, and nothing else, where the database fails.
    """

    def start_run(self, run: Run, source: Source) -> None:
        """Keep a run and its source. A source with the same digest is kept once."""

    def finish_run(self, run_id: str, status: RunStatus, finished_at: str) -> None:
        """Note how a run ended."""

    def done_rows(self, idempotency_key: str) -> tuple[Row, ...]:
        """The newest complete result with this key: every variant done. Empty where none is."""

    def unsettled_reply(self, call_key: str) -> tuple[str, Reply] | None:
        """The id and reply of a paid call whose result was never stored, or None.

        This is how a run that was killed between reply and result goes on without paying twice.
        """

    def keep_call(self, record: CallRecord) -> None:
        """Keep a call and its raw reply, before anybody looks into it."""

    def keep_result(self, rows: Sequence[Row], *, settles: Sequence[str]) -> tuple[Row, ...]:
        """Keep the rows of one format's result, and settle the calls that led to it.

        A row that cannot be written fails alone: it is kept as a failed row with the message
        `LABEL (VARIANT) storage error: REASON`, the others are kept as they are, and the calls
        stay unsettled. Returns the rows as they were stored.
        """

    def runs(self, limit: int | None = None) -> tuple[Run, ...]:
        """Runs, newest first."""

    def run(self, run_id: str) -> Run:
        """The run with this id, with this unique beginning of an id, or `last`."""

    def source(self, source_id: str) -> Source:
        """A kept source; its blocks and warnings included."""

    def rows(self, run_id: str) -> tuple[Row, ...]:
        """A run's current rows, one for each variant, in the order they were first stored."""

    def row(self, row_id: str) -> Row:
        """The row with this id, or with this unique beginning of an id; any revision."""

    def history(self, run_id: str) -> tuple[Row, ...]:
        """Every revision of a run's rows, proposed ones included, oldest first."""

    def keep_revision(self, row: Row, *, over: str) -> Row:
        """Keep a revision made over the row with the id `over`; returned with its number.

        Raises `ChangedMeanwhile` where that row is not the current one any more.
        """

    def section_names(
        self, name: str, version: int, names: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """The names that this version of a composite has had from the first; `names` if new.

        Without `names` it is only looked, and empty where the version is new.
        """

    def keep_composite(self, record: ComposedRecord) -> None:
        """Keep a composite as it was put together."""

    def composites(self, run_id: str) -> tuple[ComposedRecord, ...]:
        """What was put together from a run: the newest of each name."""

    def call(self, call_id: str) -> CallRecord:
        """The call with this id, or with this unique beginning of an id."""

    def calls(self, run_id: str) -> tuple[CallRecord, ...]:
        """A run's calls in the order they were made; each call's source is the stored one."""

    def statistics(self, by: Grouping, since: str = "") -> tuple[Tally, ...]:
        """What calls took and which results failed, from an ISO 8601 moment in UTC on.

        One tally for each format, model or day, sorted by name.
        """

    @property
    def provider_batches(self) -> ProviderBatches:
        """The calls that wait for a provider's batch."""

    @property
    def deliveries(self) -> Deliveries:
        """What is posted to us, for whoever waits for it."""

    def close(self) -> None:
        """Let go of the database."""


class ProviderBatches(Protocol):
    """The calls of a store that a provider answers in batches, from the queue to their outcome.

    What says where a request is paid for (`prepare`, `note`) is on the disk when it returns, so
    that not even a power cut makes anybody pay twice. All raise `StoreError` as `Store` does.
    """

    def keep_waiting(self, record: CallRecord, body: str, wanted_at: str) -> bool:
        """Queue a call that has no reply yet; False where an equal one waits already.

        One that is queued already is noted as wanted at that time, too.
        """

    def queued(
        self, engine: Engine, *, after: int, limit: int, wanted_since: str | None
    ) -> tuple[QueuedBody, ...]:
        """The next bodies in line behind the place `after`, wanted at or after that time.

        Those of calls to this engine, with its model and parameters.
        """

    def prepare(self, batch: ProviderBatch, call_ids: Sequence[str]) -> bool:
        """Keep a new batch with these queued calls, in this order.

        All of them, or none and False where another process took one.
        """

    def note(self, batch: ProviderBatch) -> None:
        """Keep what has become of a batch."""

    def batches(self, endpoint: str | None = None) -> tuple[ProviderBatch, ...]:
        """Those that have not ended, oldest first; of one endpoint, or all."""

    def bodies(self, batch_id: str, *, after: int, limit: int) -> tuple[tuple[int, str, str], ...]:
        """Line, call and body of a batch's requests behind the line `after`."""

    def requests(self, batch_id: str) -> tuple[BatchRequest, ...]:
        """A batch's requests in the order of their lines."""

    def keep_outcomes(self, batch_id: str, outcomes: Sequence[Outcome]) -> int:
        """Keep replies and refusals with their calls, each once; how many were new."""

    def end(self, batch: ProviderBatch, *, most_sends: int | None) -> tuple[int, int]:
        """Keep a batch that is over; how many of its requests are queued again, and given up.

        Those without an outcome are queued again. One that was sent `most_sends` times is refused.
        Where `most_sends` is None, this time does not count.
        """

    def take_refusal(self, call_key: str) -> Refusal | None:
        """How a provider refused this request, for the one caller that is told so."""

    def pending(self) -> Pending:
        """What waits, of all endpoints."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What the latest stored calls of one format to one model took."""

    calls: int
    repairs: int
    """How many of them asked again."""
    completion_tokens: float | None
    """On average; None where no reply told them."""


class BatchStore(Store, Protocol):
    """A store that also knows items from night to night, a running batch's plan, and leases.

    What is written together here stands or falls together. Several processes may use it at once.
    """

    def begin_batch(self, batch: Batch, now: float) -> None:
        """Keep a batch that begins; one that died is noted as interrupted, and its plan forgotten.

        One has died whose lease, named `batch ID`, is over.
        """

    def note_plan(self, batch_id: str, plan: JsonObject) -> None:
        """Keep the figures of a batch's plan."""

    def end_batch(
        self, batch_id: str, status: BatchStatus, ended_at: str, summary: JsonObject
    ) -> None:
        """Note how a batch ended, forget its plan, and release all that its owner held."""

    def batch(self, batch_id: str) -> Batch:
        """The batch with this id, with this unique beginning of an id, or `last`."""

    def items(self, keys: Sequence[str]) -> dict[str, Item]:
        """Those of these items that are known, by key."""

    def items_of(
        self, batch_id: str, states: Sequence[ItemState], limit: int | None = None
    ) -> tuple[Item, ...]:
        """Items that a batch left in one of these states."""

    def item_counts(self, batch_id: str | None = None) -> dict[ItemState, int]:
        """How many items are in which state: of one batch, or of all."""

    def keep_planned(
        self, batch_id: str, planned: Sequence[Planned], sources: Sequence[Source]
    ) -> tuple[str | None, ...]:
        """Keep a part of a plan, with the sources that were read for it.

        Returns for each whether its text is already in this plan: the key of the first such item,
        else None. An item whose digest differs from the kept one begins anew, with no format done
        and no failed try; what is kept of the others' work stays.
        """

    def planned(self, batch_id: str, after: int, limit: int) -> tuple[Planned, ...]:
        """Items of a plan that have something to do, in its order, behind the number `after`."""

    def settle_item(self, item: Item) -> None:
        """Keep what became of an item."""

    def retry_items(self, keys: Sequence[str]) -> None:
        """Have failed and parked items tried again, their failed tries forgotten."""

    def known_sources(self, digests: Sequence[str]) -> set[str]:
        """Those of these texts over which there was a run before."""

    def observed(self, model: str | None, engine: str) -> dict[str, Observed]:
        """By format, what the latest calls to a model took."""

    def claim(self, name: str, owner: str, now: float, until: float) -> str | None:
        """Take a lease, or learn who has it: None means that `owner` has it now.

        Exactly one of several processes gets it. One whose time is over is anybody's.
        """

    def renew(self, owner: str, until: float) -> int:
        """Prolong all leases of `owner`; returns how many it still has."""

    def release(self, owner: str, name: str | None = None) -> None:
        """Give up one lease of `owner`, or all of them."""

    def holder(self, name: str, now: float) -> str | None:
        """Who has a lease that is not over, or None."""

    def owners(self) -> tuple[str, ...]:
        """All that have a lease."""
