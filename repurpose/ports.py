"""What the inside asks of the outside: an engine, a store, a clock, fresh ids.

Everything here is a type; the adapters are chosen in `api` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from repurpose.core.call import Call, Reply
from repurpose.core.json_types import JsonValue
from repurpose.core.record import CallRecord, Row, Run, RunStatus
from repurpose.core.source import Source

__all__ = ["Answerer", "Clock", "Engine", "NewId", "Store"]

Answerer = Callable[[Call], Coroutine[Any, Any, Reply]]
"""From a call to its reply. Raises `EngineError` where no reply came, and `UnusableOutput` where an
engine that reads the source itself finds nothing in it to answer with."""

NewId = Callable[[], str]
"""A fresh id: letters and digits, unique, and sorted by the time it was made."""


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

    @property
    def provenance(self) -> str:
        """What a reader of its texts is told: `model NAME` or `extracted, no model`."""
        if self.extractive:
            return "extracted, no model"
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
        """A run's rows in the order they were stored."""

    def call(self, call_id: str) -> CallRecord:
        """The call with this id, or with this unique beginning of an id."""

    def calls(self, run_id: str) -> tuple[CallRecord, ...]:
        """A run's calls in the order they were made; each call's source is the stored one."""

    def close(self) -> None:
        """Let go of the database."""
