"""The shell around the pure steps: asks engines, stores what comes back, tells how it goes.

What is always true here: a raw reply is stored before anybody looks into it, a format's rows
are stored before the next step, and one failed format never stops its siblings.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from repurpose.core.call import Call, Reply
from repurpose.core.envelope import Meta
from repurpose.core.json_types import JsonObject
from repurpose.core.keys import call_key, idempotency_key
from repurpose.core.policy import RetryPolicy
from repurpose.core.progress import CallStarted, FormatEnded, FormatStarted, Progress
from repurpose.core.record import CallRecord, Row, Run, RunStatus
from repurpose.core.result import FormatResult, RunResult, envelope_of, run_status
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import FormatError, RepurposeError, StoreError, Unexpected
from repurpose.formats.base import FinishContext, Format
from repurpose.ports import Clock, Engine, NewId, Store
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
) -> Job:
    """A job for `format`, checked before any call.

    Raises:
        SchemaError: the format's schema is outside the subset.
        UsageError: a prompt cannot be rendered.
    """
    return Job(
        format=format,
        first=first_call(format, source, steering, output_tokens=output_tokens),
        validator=compile_schema(format.schema, format.name),
        policy=policy,
        context=replace(context, language=output_language(source, steering)),
        finishing=finishing,
    )


class _Stopped(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user wants no further call; what is stored stays and is used next time."""


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
            StoreError: the run itself could not be noted, so nothing was called.
            asyncio.CancelledError: the run is noted as interrupted first.
        """
        run = self._opened(source, jobs, steering)
        lanes = asyncio.Semaphore(self.concurrency)
        try:
            ended = await asyncio.gather(*(self._in_lane(lanes, job, run) for job in jobs))
        except asyncio.CancelledError:
            self._close(run, "interrupted")
            raise
        results = {result.format: result for result in ended if result is not None}
        closed = self._close(run, run_status(list(results.values()), len(jobs)))
        return RunResult(closed, source, results)

    async def produce(self, job: Job, run: Run) -> FormatResult:
        """One format, from its stored rows or from the engine; a failure is a result."""
        began = self.clock.monotonic()
        self.report(FormatStarted(job.format.name, job.format.label))
        key = idempotency_key(
            self._key_of(job.first), version=job.format.version, finishing=job.finishing
        )
        log.debug("format %s started", job.format.name)
        result = self._reused(job, run, key)
        if result is None:
            calls: list[str] = []
            settled = await self._settled(job, run, calls)
            result = self._stored(job, run, settled, key, calls, self._ms_since(began))
        self._tell_end(result, self._ms_since(began))
        return result

    async def _in_lane(self, lanes: asyncio.Semaphore, job: Job, run: Run) -> FormatResult | None:
        """The job's result, or None where the user stopped it."""
        async with lanes:
            if self.stopping():
                return None
            try:
                return await self.produce(job, run)
            except _Stopped:
                log.info("format %s stopped by the user", job.format.name)
                return None

    # --- asking -------------------------------------------------------------------------------

    async def _settled(self, job: Job, run: Run, calls: list[str]) -> Settled:
        """Drive the conversation; `calls` collects the ids of the stored calls it used."""
        conversation = converse(job.format, job.first, job.validator, job.policy, job.context)
        call = next(conversation)
        try:
            while True:
                reply = await self._reply_to(job, call, run, calls)
                following = _after(conversation, reply)
                if isinstance(following, Settled):
                    return following
                call = following
        except FormatError as error:
            return Settled(call.attempt, error=error)
        except _Stopped:
            raise
        except StoreError as error:
            return Settled(call.attempt, error=FormatError(f"storage error: {error.message}"))
        except Exception as foreign:  # noqa: BLE001 - a user's own format may raise anything
            return Settled(call.attempt, error=self._masked(foreign, job))

    async def _reply_to(self, job: Job, call: Call, run: Run, calls: list[str]) -> Reply:
        """A reply that was paid for but never used, or else the engine's."""
        key = self._key_of(call)
        if self.store is not None and not self.force:
            kept = self.store.unsettled_reply(key)
            if kept is not None:
                calls.append(kept[0])
                return kept[1]
        if call.attempt > 1 and self.stopping():
            raise _Stopped
        self.report(CallStarted(job.format.name, job.format.label, call.attempt))
        return await self._asked(job, call, run, key, calls)

    async def _asked(self, job: Job, call: Call, run: Run, key: str, calls: list[str]) -> Reply:
        """The engine's reply, stored before it is returned."""
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
            self._keep_unanswered(record, error, began)
            raise
        except Exception as foreign:
            masked = self._masked(foreign, job)
            self._keep_unanswered(record, masked, began)
            raise masked from foreign
        seconds = self.clock.monotonic() - began
        if self.store is not None:
            cost = 0.0 if self.engine.extractive else None
            self.store.keep_call(replace(record, seconds=seconds, reply=reply, cost=cost))
            calls.append(record.id)
        log.info(
            "call %s attempt %d ended %s in %.2f s",
            call.caller,
            call.attempt,
            reply.finish,
            seconds,
        )
        return reply

    def _keep_unanswered(self, record: CallRecord, error: FormatError, began: float) -> None:
        seconds = self.clock.monotonic() - began
        log.info("call %s attempt %d: %s", record.call.caller, record.call.attempt, error.kind)
        if self.store is not None:
            self.store.keep_call(
                replace(record, seconds=seconds, error=error.message, error_kind=error.kind)
            )

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
            self.store.finish_run(run.id, status, finished_at)
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
        self, job: Job, run: Run, settled: Settled, key: str, calls: Sequence[str], elapsed_ms: int
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
        rows = rows_of(job.format, settled, stamp, iter(self.new_id, None))
        error: RepurposeError | None = settled.error
        try:
            rows = self.store.keep_result(rows, settles=calls) if self.store else rows
        except StoreError as fault:
            error = fault
            message = f"{job.format.label} storage error: {fault.message}"
            rows = (failed(rows[0], message, fault.kind),)
        content = settled.finished.content if settled.finished and error is None else None
        return self._result(job, run, rows, content=content, error=error)

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

    def _tell_end(self, result: FormatResult, elapsed_ms: int) -> None:
        status = "done" if result.done else "failed"
        log.info(
            "format %s %s after %d calls in %d ms",
            result.format,
            status,
            result.meta.attempts,
            elapsed_ms,
        )
        self.report(
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


def _iso(moment: datetime) -> str:
    """A UTC moment to the millisecond, as ISO 8601 with `Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
