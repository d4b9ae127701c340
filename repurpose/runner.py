"""Runs the formats of one source side by side, stores what comes back, tells how it goes.

What is always true here: a format's rows are stored before the next step, and one failed format
never stops its siblings. Nothing is awaited between a reply and its rows, so no cancellation can
come between them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from repurpose.asking import Asker, Spent, Stopped, iso
from repurpose.core.envelope import Meta
from repurpose.core.keys import idempotency_key
from repurpose.core.progress import FormatEnded, FormatStarted, Progress
from repurpose.core.record import CallRecord, Row, Run, RunStatus
from repurpose.core.result import FormatResult, RunResult, envelope_of, run_status, total_usage
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import RepurposeError, StoreError, UsageError
from repurpose.ports import Clock, Engine, NewId, Store
from repurpose.steps.job import Job
from repurpose.steps.repair import Settled
from repurpose.steps.rows import Stamp, failed, rows_of

__all__ = ["Runner"]

log = logging.getLogger(__name__)


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
            self._asker.key_of(job.first), version=job.format.version, finishing=job.finishing
        )
        log.debug("format %s started", job.format.name)
        spent = Spent(made)
        try:
            result = self._reused(job, run, key)
        except StoreError as fault:
            # Whether it is paid for cannot be known, so it is not asked for.
            unread = Settled(0, error=self._asker.told(fault, job))
            result = self._stored(job, run, unread, key, spent, self._ms_since(began))
        if result is None:
            settled = await self._asker.settled(job, run, spent)
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
            except Stopped:
                log.info("format %s stopped by the user", job.format.name)
                return None

    def _opened(self, source: Source, jobs: Sequence[Job], steering: Steering) -> Run:
        run = Run(
            id=self.new_id(),
            source_id=source.digest,
            formats=tuple(job.format.name for job in jobs),
            engine=self.engine.name,
            model=self.engine.model,
            started_at=iso(self.clock.now()),
            language=steering.language,
            audience=steering.audience,
            tone=steering.tone,
        )
        if self.store is not None:
            self.store.start_run(run, source)
        return run

    def _close(self, run: Run, status: RunStatus) -> Run:
        finished_at = iso(self.clock.now())
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
        now = iso(self.clock.now())
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
        self, job: Job, run: Run, settled: Settled, key: str, spent: Spent, elapsed_ms: int
    ) -> FormatResult:
        """The settled format as rows, kept in one transaction where there is a store."""
        stamp = Stamp(
            run_id=run.id,
            source_id=run.source_id,
            idempotency_key=key,
            engine=self.engine.name,
            provenance=self.engine.provenance,
            created_at=iso(self.clock.now()),
            elapsed_ms=elapsed_ms,
            model=self.engine.model,
            language=job.context.language,
        )
        try:
            rows = rows_of(job.format, settled, stamp, iter(self.new_id, None))
        except Exception as foreign:  # noqa: BLE001 - a user's own format may hold anything
            spent.concluded = False
            settled = Settled(settled.attempts, error=self._asker.masked(foreign, job))
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

    def _kept(self, store: Store, rows: Sequence[Row], spent: Spent) -> tuple[Row, ...]:
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

    @property
    def _asker(self) -> Asker:
        return Asker(
            engine=self.engine,
            clock=self.clock,
            new_id=self.new_id,
            store=self.store,
            tell=self._tell,
            stopping=self.stopping,
            force=self.force,
        )

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


async def _cancelled(work: Sequence[asyncio.Future[FormatResult | None]]) -> None:
    """Cancel what is still at work and wait until all of it has ended."""
    for each in work:
        each.cancel()
    await asyncio.gather(*work, return_exceptions=True)
