"""The shell around the pure steps: asks engines, stores what comes back, tells how it goes.

What is always true here: a raw reply is stored before anybody looks into it, a format's rows
are stored before the next step, and one failed format never stops its siblings. Nothing is
awaited between a reply and its rows, so no cancellation can come between them.

The file is longer than others, because each way in which a paid reply could be lost is closed
in the place where it would open.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from repurpose.core.call import Call, Reply
from repurpose.core.envelope import Meta
from repurpose.core.json_types import JsonObject
from repurpose.core.keys import call_key, idempotency_key
from repurpose.core.policy import RetryPolicy
from repurpose.core.progress import CallStarted, FormatEnded, FormatStarted, Progress
from repurpose.core.record import CallRecord, Row, Run, RunStatus
from repurpose.core.remembered import remembered
from repurpose.core.result import FormatResult, RunResult, envelope_of, run_status, total_usage
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import (
    FormatError,
    NeverStarted,
    RepurposeError,
    StoreError,
    Unexpected,
    UnusableOutput,
    UsageError,
)
from repurpose.formats.base import FinishContext, Format
from repurpose.ports import Clock, Engine, NewId, Store
from repurpose.prices import FREE_ENGINES, cost_of
from repurpose.schema.validate import Validator, compile_schema
from repurpose.steps.repair import Conversation, Settled, converse
from repurpose.steps.request import first_call, output_language
from repurpose.steps.rows import Stamp, failed, rows_of

__all__ = ["Job", "Runner", "prepare"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """One format of one source, made ready: everything that can be refused has been checked."""

    format: Format
    first: Call
    validator: Validator
    policy: RetryPolicy
    context: FinishContext
    finishing: JsonObject
    """What post-validation depends on, for the idempotency key."""


def prepare(
    format: Format,
    source: Source,
    steering: Steering,
    *,
    policy: RetryPolicy,
    context: FinishContext,
    finishing: JsonObject,
    output_tokens: int | None = None,
    schema_in_prompt: bool = True,
) -> Job:
    """A job for `format`, checked before any call.

    Raises:
        SchemaError: the format's schema is outside the subset.
        UsageError: a prompt cannot be rendered.
    """
    return Job(
        format=format,
        first=first_call(
            format,
            source,
            steering,
            output_tokens=output_tokens,
            schema_in_prompt=schema_in_prompt,
        ),
        validator=_validator_of(format),
        policy=policy,
        context=replace(context, language=output_language(source, steering)),
        finishing=finishing,
    )


@remembered
def _validator_of(format: Format) -> Validator:
    """The judge of a format's answers."""
    return compile_schema(format.schema, format.name)


class _Interrupted(FormatError):  # noqa: N818 - named as in `errors`
    """A call that was cancelled in flight: it may have been paid, and nobody will know."""

    kind = "interrupted"


class _Stopped(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user wants no further call; what is stored stays and is used next time."""


@dataclass(slots=True)
class _Spent:
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
class Runner:
    """Runs jobs against one engine and, where there is one, a store."""

    engine: Engine
    clock: Clock
    new_id: NewId
    store: Store | None
    report: Callable[[Progress], None]
    stopping: Callable[[], bool]
    """Whether the user asked to stop: what is in flight is finished, nothing new begins."""
    force: bool = False
    """Call even where a finished row or an unused reply is stored."""
    concurrency: int = 4
    """Formats of one source in work at once."""

    async def run(self, source: Source, jobs: Sequence[Job], steering: Steering) -> RunResult:
        """All jobs, side by side; never raises because one of them failed.

        Raises:
            UsageError: two jobs have one name, so their rows could not be told apart.
            StoreError: the run itself could not be noted, so nothing was called.
            asyncio.CancelledError: every job has ended and the run is noted as interrupted first.
        """
        if len({job.format.name for job in jobs}) < len(jobs):
            raise UsageError("a format is named twice in one run")
        run = self._opened(source, jobs, steering)
        lanes = asyncio.Semaphore(self.concurrency)
        made: list[list[CallRecord]] = [[] for _ in jobs]
        work = [
            asyncio.ensure_future(self._in_lane(lanes, job, run, calls))
            for job, calls in zip(jobs, made, strict=True)
        ]
        try:
            ended = await asyncio.gather(*work)
        except BaseException:
            # A lane that gather left running would answer into a store that is closed by then.
            try:
                await _cancelled(work)
            finally:
                self._close(run, "interrupted")
            raise
        results = {result.format: result for result in ended if result is not None}
        closed = self._close(run, run_status(list(results.values()), len(jobs)))
        usage = total_usage([call for calls in made for call in calls])
        return RunResult(closed, source, results, usage)

    async def produce(self, job: Job, run: Run, made: list[CallRecord]) -> FormatResult:
        """One format, from its stored rows or from the engine; a failure is a result.

        `made` is given each call as it ends, whatever becomes of the format.
        """
        began = self.clock.monotonic()
        self._tell(FormatStarted(job.format.name, job.format.label))
        key = idempotency_key(
            self._key_of(job.first), version=job.format.version, finishing=job.finishing
        )
        log.debug("format %s started", job.format.name)
        spent = _Spent(made)
        try:
            result = self._reused(job, run, key)
        except StoreError as fault:
            # Whether it is paid for cannot be known, so it is not asked for.
            unread = Settled(0, error=self._told(fault, job))
            result = self._stored(job, run, unread, key, spent, self._ms_since(began))
        if result is None:
            settled = await self._settled(job, run, spent)
            result = self._stored(job, run, settled, key, spent, self._ms_since(began))
        self._tell_end(result, self._ms_since(began))
        return result

    async def _in_lane(
        self, lanes: asyncio.Semaphore, job: Job, run: Run, made: list[CallRecord]
    ) -> FormatResult | None:
        """The job's result, or None where the user stopped it."""
        async with lanes:
            if self.stopping():
                return None
            try:
                return await self.produce(job, run, made)
            except _Stopped:
                log.info("format %s stopped by the user", job.format.name)
                return None

    # --- asking -------------------------------------------------------------------------------

    async def _settled(self, job: Job, run: Run, spent: _Spent) -> Settled:
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
        except _Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - a user's own format may raise anything
            return Settled(call.attempt, error=self._told(error, job))

    async def _reply_to(self, job: Job, call: Call, run: Run, spent: _Spent) -> Reply:
        """A reply that was paid for but never used, or else the engine's."""
        key = self._key_of(call)
        if self.store is not None and not self.force:
            kept = self.store.unsettled_reply(key)
            if kept is not None:
                spent.used.append(kept[0])
                return kept[1]
        if call.attempt > 1 and self.stopping():
            raise _Stopped
        self._tell(CallStarted(job.format.name, job.format.label, call.attempt))
        return await self._asked(job, call, run, key, spent)

    async def _asked(self, job: Job, call: Call, run: Run, key: str, spent: _Spent) -> Reply:
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
            started_at=_iso(self.clock.now()),
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
            masked = self._masked(foreign, job)
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

    def _keep_answered(self, record: CallRecord, spent: _Spent) -> None:
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
        self, record: CallRecord, error: FormatError, began: float, spent: _Spent
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

    def _told(self, error: Exception, job: Job) -> FormatError:
        """Whatever stopped a format, as the error that its row tells."""
        match error:
            case FormatError():
                return error
            case StoreError():
                return FormatError(f"storage error: {error.message}")
            case RepurposeError():
                return FormatError(error.message, hint=error.hint)
            case _:
                return self._masked(error, job)

    def _masked(self, foreign: Exception, job: Job) -> FormatError:
        """An error that may be shown for one whose text may hold anything."""
        error_id = self.new_id()[-8:]
        frames = traceback.extract_tb(foreign.__traceback__)
        where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "unknown place"
        log.error("error %s: %s at %s", error_id, type(foreign).__name__, where)
        return Unexpected(f"{job.format.label} generation failed (error {error_id})")

    # --- storing ------------------------------------------------------------------------------

    def _opened(self, source: Source, jobs: Sequence[Job], steering: Steering) -> Run:
        run = Run(
            id=self.new_id(),
            source_id=source.digest,
            formats=tuple(job.format.name for job in jobs),
            engine=self.engine.name,
            model=self.engine.model,
            started_at=_iso(self.clock.now()),
            language=steering.language,
            audience=steering.audience,
            tone=steering.tone,
        )
        if self.store is not None:
            self.store.start_run(run, source)
        return run

    def _close(self, run: Run, status: RunStatus) -> Run:
        finished_at = _iso(self.clock.now())
        if self.store is not None:
            try:
                self.store.finish_run(run.id, status, finished_at)
            except StoreError as fault:  # its rows are stored, and its caller has them
                log.error("the end of run %s could not be stored: %s", run.id, fault.message)  # noqa: TRY400 - no trace
        return replace(run, status=status, finished_at=finished_at)

    def _reused(self, job: Job, run: Run, key: str) -> FormatResult | None:
        """The result of finished rows with the same key, copied into this run without a call."""
        old = self.store.done_rows(key) if self.store is not None and not self.force else ()
        if self.store is None or not old:
            return None
        paid_by = old[0].reused_from or old[0].run_id
        now = _iso(self.clock.now())
        copies = [
            replace(
                row,
                id=self.new_id(),
                run_id=run.id,
                created_at=now,
                attempts=0,
                elapsed_ms=0,
                reused_from=paid_by,
            )
            for row in old
        ]
        rows = self.store.keep_result(copies, settles=())
        return self._result(job, run, rows)

    def _stored(
        self, job: Job, run: Run, settled: Settled, key: str, spent: _Spent, elapsed_ms: int
    ) -> FormatResult:
        """The settled format as rows, kept in one transaction where there is a store."""
        stamp = Stamp(
            run_id=run.id,
            source_id=run.source_id,
            idempotency_key=key,
            engine=self.engine.name,
            provenance=self.engine.provenance,
            created_at=_iso(self.clock.now()),
            elapsed_ms=elapsed_ms,
            model=self.engine.model,
            language=job.context.language,
        )
        try:
            rows = rows_of(job.format, settled, stamp, iter(self.new_id, None))
        except Exception as foreign:  # noqa: BLE001 - a user's own format may hold anything
            spent.concluded = False
            settled = Settled(settled.attempts, error=self._masked(foreign, job))
            rows = rows_of(job.format, settled, stamp, iter(self.new_id, None))
        error: RepurposeError | None = settled.error
        try:
            rows = self._kept(self.store, rows, spent) if self.store else rows
        except StoreError as fault:
            error = fault
            message = f"{job.format.label} storage error: {fault.message}"
            rows = (failed(rows[0], message, fault.kind),)
        content = settled.finished.content if settled.finished and error is None else None
        result = self._result(job, run, rows, content=content, error=error)
        return replace(result, usage=total_usage(spent.made))

    def _kept(self, store: Store, rows: Sequence[Row], spent: _Spent) -> tuple[Row, ...]:
        """The rows as they were stored, after every reply that they were made from.

        Replies that led to no end, since the next call failed or a format's own code did, stay
        unsettled: the next run goes on from them.
        """
        while spent.unkept:
            store.keep_call(spent.unkept[0])
            spent.used.append(spent.unkept.pop(0).id)
        return store.keep_result(rows, settles=spent.used if spent.concluded else ())

    def _result(
        self,
        job: Job,
        run: Run,
        rows: tuple[Row, ...],
        *,
        content: object | None = None,
        error: RepurposeError | None = None,
    ) -> FormatResult:
        row = rows[0]
        meta = Meta(
            run_id=run.id if self.store else None,
            attempts=row.attempts,
            elapsed_ms=row.elapsed_ms,
            provenance=row.provenance,
            coerced=row.coerced,
            dropped=row.dropped,
            notes=row.notes,
            reused_from=row.reused_from,
        )
        return FormatResult(
            job.format.name, job.format.label, envelope_of(rows), meta, rows, content, error
        )

    # --- small ones ---------------------------------------------------------------------------

    def _key_of(self, call: Call) -> str:
        engine = self.engine
        return call_key(call, engine=engine.name, model=engine.model, parameters=engine.parameters)

    def _ms_since(self, began: float) -> int:
        return round(1000 * (self.clock.monotonic() - began))

    def _tell(self, progress: Progress) -> None:
        """Report a step; what goes wrong in a display is no reason to lose a reply."""
        try:
            self.report(progress)
        except Exception as foreign:  # noqa: BLE001 - it belongs to the caller
            log.warning("progress could not be reported: %s", type(foreign).__name__)

    def _tell_end(self, result: FormatResult, elapsed_ms: int) -> None:
        status = "done" if result.done else "failed"
        log.info(
            "format %s %s after %d calls in %d ms",
            result.format,
            status,
            result.meta.attempts,
            elapsed_ms,
        )
        self._tell(
            FormatEnded(
                result.format,
                result.label,
                "done" if result.done else "failed",
                result.envelope.message,
                elapsed_ms,
                reused=result.meta.reused_from is not None,
            )
        )


def _after(conversation: Conversation, reply: Reply) -> Call | Settled:
    """What the conversation says to a reply."""
    try:
        return conversation.send(reply)
    except StopIteration as end:
        settled: Settled = end.value
        return settled


def _recordable(following: Call, spent: _Spent) -> Call:
    """The same call; refused where the reply before it could not be stored."""
    if spent.unkept:
        raise StoreError("the reply could not be stored, so that no repair was asked for")
    return following


def _publishable(settled: Settled) -> Settled:
    """The same, but an end without any text is a failure: it would be no row at all."""
    if settled.finished is None or settled.finished.pieces:
        return settled
    return replace(settled, finished=None, error=UnusableOutput("nothing is left to publish"))


async def _cancelled(work: Sequence[asyncio.Future[FormatResult | None]]) -> None:
    """Cancel what is still at work and wait until all of it has ended."""
    for each in work:
        each.cancel()
    await asyncio.gather(*work, return_exceptions=True)


def _iso(moment: datetime) -> str:
    """A UTC moment to the millisecond, as ISO 8601 with `Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
