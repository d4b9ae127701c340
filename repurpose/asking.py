"""Asks an engine for one format, and sees to it that nothing paid for is lost.

A raw reply is stored before anybody looks into it, and a reply that an earlier run paid for and
never used is taken instead of a call. Nothing that an engine or a user's own format raises
leaves with its own text.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from repurpose.core.call import Call, Reply
from repurpose.core.keys import call_key
from repurpose.core.progress import CallStarted, Progress
from repurpose.core.record import CallRecord, Run
from repurpose.errors import (
    FormatError,
    NeverStarted,
    RepurposeError,
    StoreError,
    Unexpected,
    UnusableOutput,
)
from repurpose.ports import Clock, Engine, NewId, Store
from repurpose.prices import FREE_ENGINES, cost_of
from repurpose.steps.job import Job
from repurpose.steps.repair import Conversation, Settled, converse

__all__ = ["Asker", "Spent", "Stopped", "iso"]

log = logging.getLogger(__name__)


class _Interrupted(FormatError):  # noqa: N818 - named as in `errors`
    """A call that was cancelled in flight: it may have been paid, and nobody will know."""

    kind = "interrupted"


class Stopped(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user wants no further call; what is stored stays and is used next time."""


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

    async def settled(self, job: Job, run: Run, spent: Spent) -> Settled:
        """Drive the conversation to its end, or to the fault that stopped it."""
        conversation = converse(job.format, job.first, job.validator, job.policy, job.context)
        call = next(conversation)
        try:
            while True:
                reply = await self._reply_to(job, call, run, spent)
                following = _after(conversation, reply)
                if isinstance(following, Settled):
                    spent.concluded = True
                    return _publishable(following)
                call = _recordable(following, spent)
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - a user's own format may raise anything
            return Settled(call.attempt, error=self.told(error, job))

    async def _reply_to(self, job: Job, call: Call, run: Run, spent: Spent) -> Reply:
        """A reply that was paid for but never used, or else the engine's."""
        key = self.key_of(call)
        if self.store is not None and not self.force:
            kept = self.store.unsettled_reply(key)
            if kept is not None:
                spent.used.append(kept[0])
                return kept[1]
        if call.attempt > 1 and self.stopping():
            raise Stopped
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
            reply = await self.engine.answer(call)
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

    @property
    def _is_free(self) -> bool:
        return self.engine.extractive or self.engine.name in FREE_ENGINES

    def _cost(self, reply: Reply) -> float | None:
        """What a reply cost in US dollars, or None where that is not known."""
        if self._is_free:
            return 0.0
        endpoint = self.engine.parameters.get("endpoint")
        where = endpoint if isinstance(endpoint, str) else None
        return cost_of(reply.usage, reply.model or self.engine.model, where)

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


def iso(moment: datetime) -> str:
    """A UTC moment to the millisecond, as ISO 8601 with `Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
