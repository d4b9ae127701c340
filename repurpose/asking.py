"""Asks an engine for one format, and sees to it that nothing paid for is lost.

A raw reply is stored before anybody looks into it, and a reply that an earlier run paid for and
never used is taken instead of a call. Nothing that an engine or a user's own format raises
leaves with its own text.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime

from repurpose.core.call import Call, Reply
from repurpose.core.keys import call_key
from repurpose.core.progress import CallStarted, Progress
from repurpose.core.record import CallRecord, Row, Run
from repurpose.errors import (
    BudgetReached,
    FormatError,
    NeverStarted,
    RepurposeError,
    StoreError,
    Unexpected,
    UnusableOutput,
)
from repurpose.ports import Clock, Deferred, Engine, Listener, NewId, Store
from repurpose.prices import FREE_ENGINES, Price, cost_of
from repurpose.steps.job import Job
from repurpose.steps.repair import Conversation, Settled, converse
from repurpose.steps.rows import failed

__all__ = ["Asker", "PutOff", "Spent", "Stopped", "Warming", "iso", "kept_alone"]

log = logging.getLogger(__name__)


class _Interrupted(FormatError):  # noqa: N818 - named as in `errors`
    """A call that was cancelled in flight: it may have been paid, and nobody will know."""

    kind = "interrupted"


class Stopped(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user wants no further call; what is stored stays and is used next time."""


class PutOff(Stopped):
    """The reply comes with a provider's batch; the next run over the same source goes on from it.

    Other calls may still begin.
    """


class Warming:
    """Lets one of the calls that begin alike go ahead, and the others when it was answered.

    Before that, a server's cache holds nothing that they could find. Where no reply comes, the
    next one goes ahead. `unwanted` is asked after each wait.
    """

    def __init__(self, unwanted: Callable[[], bool]) -> None:
        self._unwanted = unwanted
        self._ahead = asyncio.Lock()
        self._is_warm = False

    @asynccontextmanager
    async def turn(self, call: Call) -> AsyncIterator[None]:
        """For as long as `call` is made; at once where it begins like no other.

        Raises:
            Stopped: nothing new shall begin any more.
        """
        if not call.shared_until or self._is_warm:
            yield
            return
        async with self._ahead:
            self._go_on()
            if not self._is_warm:
                yield
                self._is_warm = True
                return
        yield

    def _go_on(self) -> None:
        if self._unwanted():
            raise Stopped


@dataclass(slots=True)
class Spent:
    """What one format has asked for and got so far."""

    made: list[CallRecord]
    """Every call made in this run, answered or not; shared with nobody."""
    used: list[str] = field(default_factory=list)
    """The ids of the stored replies that were looked at, those of an earlier run included."""
    unkept: list[CallRecord] = field(default_factory=list)
    """Paid replies that the store did not take; it is asked once more with the result."""
    concluded: bool = False
    """Whether the replies led to an end. Else they are left for the next run to go on from."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Drives one format's conversation with an engine."""

    engine: Engine
    clock: Clock
    new_id: NewId
    store: Store | None
    tell: Callable[[Progress], None]
    """Told of each call that begins; must not raise."""
    stopping: Callable[[], bool]
    """Whether the user asked to stop: no repair begins then."""
    force: bool
    """Call even where an unused reply is stored."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """A user's own prices by the name of the model, over those of the table."""
    warming: Warming | None = None
    """What the calls for one source wait for; None where none of them begin alike."""
    listener: Listener | None = None
    """What hears replies while they are written, where the engine can tell; None for nobody."""

    async def settled(self, job: Job, run: Run, spent: Spent, asked: str | None = None) -> Settled:
        """Drive the conversation to its end, or to the fault that stopped it.

        `asked` is the key of the job's first call where the caller has it already.
        """
        if job.refused is not None:
            return Settled(0, error=job.refused)
        conversation = converse(job.format, job.first, job.validator, job.policy, job.context)
        call = next(conversation)
        try:
            while True:
                key = asked if asked and call is job.first else self.key_of(call)
                reply = await self._reply_to(job, call, run, key, spent)
                following = _after(conversation, reply)
                if isinstance(following, Settled):
                    spent.concluded = True
                    return _publishable(following)
                call = _recordable(following, spent)
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - a user's own format may raise anything
            return Settled(call.attempt, error=self.told(error, job))

    async def _reply_to(self, job: Job, call: Call, run: Run, key: str, spent: Spent) -> Reply:
        """A reply that was paid for but never used, or else the engine's."""
        if self.store is not None and not self.force:
            kept = self.store.unsettled_reply(key)
            if kept is not None:
                spent.used.append(kept[0])
                return kept[1]
        if call.attempt > 1 and self.stopping():
            raise Stopped
        async with self.warming.turn(call) if self.warming else nullcontext():
            self.tell(CallStarted(job.format.name, job.format.label, call.attempt))
            return await self._asked(job, call, run, key, spent)

    async def _asked(self, job: Job, call: Call, run: Run, key: str, spent: Spent) -> Reply:
        """The engine's reply, stored before it is returned wherever the store takes it."""
        record = CallRecord(
            id=self.new_id(),
            run_id=run.id,
            source_id=run.source_id,
            key=key,
            call=call,
            engine=self.engine.name,
            model=self.engine.model,
            parameters=self.engine.parameters,
            started_at=iso(self.clock.now()),
            seconds=0.0,
        )
        began = self.clock.monotonic()
        try:
            reply = await self._answer(call)
        except Stopped:
            raise  # before anything was sent, so there is no call to keep
        except BudgetReached as reached:
            raise Stopped from reached  # likewise
        except Deferred as later:
            self._put_off(record, later)
            raise PutOff from None
        except FormatError as error:
            self._keep_unanswered(record, error, began, spent)
            raise
        except asyncio.CancelledError:
            gone = _Interrupted("interrupted before an answer came")
            self._keep_unanswered(record, gone, began, spent)
            raise
        except Exception as foreign:
            masked = self.masked(foreign, job)
            self._keep_unanswered(record, masked, began, spent)
            raise masked from foreign
        seconds = self.clock.monotonic() - began
        answered = replace(record, seconds=seconds, reply=reply, cost=self._cost(reply))
        spent.made.append(answered)
        self._keep_answered(answered, spent)
        log.info(
            "call %s attempt %d ended %s in %.2f s",
            call.caller,
            call.attempt,
            reply.finish,
            seconds,
        )
        return reply

    async def _answer(self, call: Call) -> Reply:
        """The engine's reply, heard while it is written where somebody listens."""
        if self.listener is None or self.engine.stream is None:
            return await self.engine.answer(call)
        return await self.engine.stream(call, _Guarded(self.listener))

    def _keep_answered(self, record: CallRecord, spent: Spent) -> None:
        """Store a paid reply; where that fails, keep it in hand for as long as the format lasts."""
        if self.store is None:
            return
        try:
            self.store.keep_call(record)
        except StoreError as fault:
            log.error("a reply could not be stored: %s", fault.message)  # noqa: TRY400 - no trace
            spent.unkept.append(record)
        else:
            spent.used.append(record.id)

    def _keep_unanswered(
        self, record: CallRecord, error: FormatError, began: float, spent: Spent
    ) -> None:
        """Store that no reply came; a store that fails does not hide why."""
        unpaid = self._is_free or isinstance(error, NeverStarted)
        ended = replace(
            record,
            seconds=self.clock.monotonic() - began,
            error=error.message,
            error_kind=error.kind,
            cost=0.0 if unpaid else None,
        )
        spent.made.append(ended)
        log.info("call %s attempt %d: %s", record.call.caller, record.call.attempt, error.kind)
        if self.store is not None:
            try:
                self.store.keep_call(ended)
            except StoreError as fault:
                log.error("a call could not be stored: %s", fault.message)  # noqa: TRY400 - no trace

    def _put_off(self, record: CallRecord, later: Deferred) -> None:
        """Store a call whose reply comes another time, unless an equal one waits already.

        Raises:
            EngineError: a provider's batch is over, and this request was refused in it.
        """
        if self.store is None:
            return
        batches = self.store.provider_batches
        refusal = batches.take_refusal(record.key)
        if refusal is not None:
            raise refusal.error
        batches.keep_waiting(record, later.body, wanted_at=record.started_at)

    @property
    def _is_free(self) -> bool:
        return self.engine.extractive or self.engine.name in FREE_ENGINES

    def _cost(self, reply: Reply) -> float | None:
        """What a reply cost in US dollars, or None where that is not known."""
        if self._is_free:
            return 0.0
        endpoint = self.engine.parameters.get("endpoint")
        where = endpoint if isinstance(endpoint, str) else None
        answered, asked = reply.model or self.engine.model, self.engine.model
        own = self.prices.get(answered or "") or self.prices.get(asked or "")
        return cost_of(reply.usage, answered, where, own)

    def told(self, error: Exception, job: Job) -> FormatError:
        """Whatever stopped a format, as the error that its row tells."""
        match error:
            case FormatError():
                return error
            case StoreError():
                return FormatError(f"storage error: {error.message}")
            case RepurposeError():
                return FormatError(error.message, hint=error.hint)
            case _:
                return self.masked(error, job)

    def masked(self, foreign: Exception, job: Job) -> FormatError:
        """An error that may be shown for one whose text may hold anything."""
        error_id = self.new_id()[-8:]
        frames = traceback.extract_tb(foreign.__traceback__)
        where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "unknown place"
        log.error("error %s: %s at %s", error_id, type(foreign).__name__, where)
        return Unexpected(f"{job.format.label} generation failed (error {error_id})")

    def key_of(self, call: Call) -> str:
        """What an equal request to the same engine has in common with this one."""
        engine = self.engine
        return call_key(call, engine=engine.name, model=engine.model, parameters=engine.parameters)


class _Guarded:
    """A listener whose faults cost no reply: after the first one it is told no more."""

    def __init__(self, listener: Listener) -> None:
        self._listener: Listener | None = listener

    def began(self) -> None:
        self._tell(lambda listener: listener.began())

    def heard(self, text: str) -> None:
        self._tell(lambda listener: listener.heard(text))

    def _tell(self, tell: Callable[[Listener], None]) -> None:
        if self._listener is None:
            return
        try:
            tell(self._listener)
        except Exception as foreign:  # noqa: BLE001 - it belongs to the caller
            self._listener = None
            log.warning("a reply could not be listened to: %s", type(foreign).__name__)


def _after(conversation: Conversation, reply: Reply) -> Call | Settled:
    """What the conversation says to a reply."""
    try:
        return conversation.send(reply)
    except StopIteration as end:
        settled: Settled = end.value
        return settled


def _recordable(following: Call, spent: Spent) -> Call:
    """The same call; refused where the reply before it could not be stored."""
    if spent.unkept:
        raise StoreError("the reply could not be stored, so that no repair was asked for")
    return following


def _publishable(settled: Settled) -> Settled:
    """The same, but an end without any text is a failure: it would be no row at all."""
    if settled.finished is None or settled.finished.pieces:
        return settled
    return replace(settled, finished=None, error=UnusableOutput("nothing is left to publish"))


def kept_alone(store: Store, rows: Sequence[Row], fault: StoreError) -> tuple[Row, ...]:
    """The rows that a store refused together, each stored by itself or failed for itself.

    The failure of one variant is no reason to lose the others. Rows that are stored so are found
    by no later run: it takes the reply, which stays unsettled, and tries once more to store all.

    Raises:
        StoreError: `fault`, where not one of several could be stored.
    """
    kept: dict[str, Row] = {}
    lost: dict[str, Row] = {}
    for row in rows if len(rows) > 1 else ():
        alone = replace(row, idempotency_key=f"{row.idempotency_key}-alone")
        try:
            (kept[row.id],) = store.keep_result([alone], settles=())
        except StoreError as one:
            message = f"{row.label} ({row.variant}) storage error: {one.message}"
            lost[row.id] = replace(failed(alone, message, one.kind), variant=row.variant)
    if not kept:
        raise fault
    for row in lost.values():
        try:
            store.keep_result([row], settles=())
        except StoreError as again:
            log.error("a failed row could not be stored: %s", again.message)  # noqa: TRY400 - no trace
    return tuple((kept | lost)[row.id] for row in rows)


def iso(moment: datetime) -> str:
    """A UTC moment to the millisecond, as ISO 8601 with `Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
