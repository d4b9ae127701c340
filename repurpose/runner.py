"""Runs the formats of one source side by side, stores what comes back, tells how it goes.

What is always true here: a format's rows are stored before the next step, and one failed format
stops no other that is in work, and none at all unless the run is to abort. Nothing is awaited
between a reply and its rows, so no cancellation can come between them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from repurpose.asking import Asker, Spent, Stopped, Warming, iso, kept_alone
from repurpose.core.envelope import Envelope, Meta
from repurpose.core.finding import Validation
from repurpose.core.keys import idempotency_key
from repurpose.core.policy import OnFailure
from repurpose.core.progress import FormatEnded, FormatStarted, Progress
from repurpose.core.record import CallRecord, Row, Run, RunStatus
from repurpose.core.result import FormatResult, RunResult, envelope_of, run_status, total_usage
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import FormatError, RepurposeError, StoreError, UsageError
from repurpose.formats import needed_by, ordered
from repurpose.ports import Clock, Engine, Listener, NewId, Store
from repurpose.prices import Price
from repurpose.steps.job import Job, with_results
from repurpose.steps.repair import Settled
from repurpose.steps.rows import Stamp, failed, rows_of

__all__ = ["Prepared", "Runner"]

log = logging.getLogger(__name__)

Prepared: TypeAlias = Callable[[Asker, Run, list[CallRecord], int], Awaitable[Sequence[Job]]]
"""Makes jobs with calls of its own, so many at once; the list is given each call as it ends. Raises
`FormatError` where there is nothing to work from, and `Stopped`."""


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
    on_failure: OnFailure = "skip"
    on_result: Callable[[FormatResult], None] = lambda _: None
    """Given each format's result as soon as its rows are stored, in the order of completion."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """A user's own prices by the name of the model, over those of the table."""
    listen: Callable[[str], Listener] | None = None
    """From a format's name to what hears its replies while they are written. What is stored comes
    from whole replies only, whatever was heard."""
    kept_as: Callable[[tuple[Row, ...]], tuple[Row, ...]] = lambda rows: rows
    """Which of a format's rows are kept, and as what; at least one."""

    async def run(
        self,
        source: Source,
        jobs: Sequence[Job],
        steering: Steering,
        prepared: Prepared | None = None,
    ) -> RunResult:
        """All jobs, side by side; never raises because one of them failed.

        A format that reads others' results waits for them, and fails where one of them did.
        `prepared` gives the jobs to do in place of `jobs`; where it fails, each of them fails with
        its reason.

        Raises:
            UsageError: two jobs have one name, so their rows could not be told apart; or a format
                reads results that are not part of the run, or formats wait for each other.
            StoreError: the run itself could not be noted, so nothing was called.
            asyncio.CancelledError: every job has ended and the run is noted as interrupted first.
        """
        if len({job.format.name for job in jobs}) < len(jobs):
            raise UsageError("a format is named twice in one run")
        ordered([job.format for job in jobs])
        run = self._opened(source, jobs, steering)
        course = _Course(self.concurrency, self.stopping)
        read: list[CallRecord] = []
        made: list[list[CallRecord]] = [[] for _ in jobs]
        work: list[asyncio.Future[FormatResult | None]] = []
        ended: list[FormatResult | None]
        try:
            if prepared is not None:
                jobs = await prepared(self._asker, run, read, self.concurrency)
            begun: dict[str, asyncio.Future[FormatResult | None]] = {}
            for job, calls in zip(jobs, made, strict=True):
                doing = self._in_turn(begun, course, job, run, calls)
                begun[job.format.name] = asyncio.ensure_future(doing)
            work = list(begun.values())
            ended = await asyncio.gather(*work)
        except Stopped:
            ended = []
        except FormatError as error:
            ended = [self._unprepared(job, run, error) for job in jobs]
        except BaseException:
            # A lane that gather left running would answer into a store that is closed by then.
            try:
                await _cancelled(work)
            finally:
                self._close(run, "interrupted")
            raise
        results = {result.format: result for result in ended if result is not None}
        wanted = len(results) if course.aborted.is_set() and not self.stopping() else len(jobs)
        closed = self._close(run, run_status(list(results.values()), wanted))
        usage = total_usage([call for calls in (read, *made) for call in calls])
        return RunResult(closed, source, results, usage)

    async def produce(
        self, job: Job, run: Run, made: list[CallRecord], warming: Warming | None = None
    ) -> FormatResult:
        """One format, from its stored rows or from the engine; a failure is a result.

        `made` is given each call as it ends, whatever becomes of the format; `warming` is shared
        by formats whose calls begin alike.
        """
        began = self.clock.monotonic()
        self._tell(FormatStarted(job.format.name, job.format.label))
        asker = replace(self._asker, warming=warming, listener=self._listener(job.format.name))
        asked = asker.key_of(job.first)
        key = _result_key(job, asked if job.plain is None else asker.key_of(job.plain))
        log.debug("format %s started", job.format.name)
        spent = Spent(made)
        try:
            result = self._reused(job, run, key)
        except StoreError as fault:
            # Whether it is paid for cannot be known, so it is not asked for.
            unread = Settled(0, error=self._asker.told(fault, job))
            result = self._stored(job, run, unread, key, spent, self._ms_since(began))
        if result is None:
            settled = await asker.settled(job, run, spent, asked)
            result = self._stored(job, run, settled, key, spent, self._ms_since(began))
        self._tell_end(result, self._ms_since(began))
        return result

    async def _in_turn(
        self,
        begun: Mapping[str, asyncio.Future[FormatResult | None]],
        course: _Course,
        job: Job,
        run: Run,
        made: list[CallRecord],
    ) -> FormatResult | None:
        """The job's result, after those that its prompt reads; it takes no lane while it waits."""
        needed: dict[str, Envelope] = {}
        for name in needed_by(job.format):
            result = await begun[name]
            if result is None:
                return None
            needed[name] = result.envelope
        return await self._in_lane(course, with_results(job, needed), run, made)

    async def _in_lane(
        self, course: _Course, job: Job, run: Run, made: list[CallRecord]
    ) -> FormatResult | None:
        """The job's result, or None where the user or another format's failure stopped it."""
        async with course.lanes:
            if course.is_over():
                return None
            try:
                result = await self.produce(job, run, made, course.warming)
            except Stopped:
                log.info("format %s stopped by the user", job.format.name)
                return None
            if self.on_failure == "abort" and result.envelope.status == 400:
                course.aborted.set()
            return result

    def _unprepared(self, job: Job, run: Run, error: FormatError) -> FormatResult:
        """The failed result of a format that has nothing to work from."""
        settled = Settled(0, error=error)
        key = _result_key(job, self._asker.key_of(job.known_by))
        result = self._stored(job, run, settled, key, Spent([]), 0)
        self._tell_end(result, 0)
        return result

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
                message=f"{row.label} done",  # the retries are those of the run that paid
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
            provenance=self.engine.provenance + (f", from {job.basis}" if job.basis else ""),
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
        rows = self.kept_as(rows)
        error: RepurposeError | None = settled.error
        try:
            rows = self._kept(self.store, rows, spent) if self.store else rows
        except StoreError as fault:
            error = fault
            message = f"{job.format.label} storage error: {fault.message}"
            rows = (failed(rows[0], message, fault.kind),)
        content = settled.finished.content if settled.finished and error is None else None
        result = self._result(job, run, rows, Validation(settled.findings))
        return replace(result, content=content, error=error, usage=total_usage(spent.made))

    def _kept(self, store: Store, rows: Sequence[Row], spent: Spent) -> tuple[Row, ...]:
        """The rows as they were stored, after every reply that they were made from.

        Replies that led to no end, since the next call failed or a format's own code did, stay
        unsettled: the next run goes on from them.
        """
        while spent.unkept:
            store.keep_call(spent.unkept[0])
            spent.used.append(spent.unkept.pop(0).id)
        try:
            return store.keep_result(rows, settles=spent.used if spent.concluded else ())
        except StoreError as fault:
            return kept_alone(store, rows, fault)

    def _result(
        self,
        job: Job,
        run: Run,
        rows: tuple[Row, ...],
        last: Validation = Validation(),  # noqa: B008 - it is frozen
    ) -> FormatResult:
        row = rows[0]
        meta = Meta(
            run_id=run.id if self.store else None,
            attempts=row.attempts,
            elapsed_ms=row.elapsed_ms,
            provenance=row.provenance,
            coerced=row.coerced,
            dropped=row.dropped,
            missing_required=last.missing_required,
            type_mismatched=last.type_mismatched,
            notes=row.notes,
            reused_from=row.reused_from,
            validated=row.validated,
        )
        return FormatResult(job.format.name, job.format.label, envelope_of(rows), meta, rows)

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
            prices=self.prices,
        )

    def _listener(self, format: str) -> Listener | None:
        """What hears the replies of a format; None where nobody can."""
        if self.listen is None or self.engine.stream is None:
            return None
        try:
            return self.listen(format)
        except Exception as foreign:  # noqa: BLE001 - it belongs to the caller
            log.warning("nobody can listen to %s: %s", format, type(foreign).__name__)
            return None

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
        try:
            self.on_result(result)
        except Exception as foreign:  # noqa: BLE001 - it belongs to the caller
            log.warning("a result could not be handed over: %s", type(foreign).__name__)


class _Course:
    """What the formats of one source have in common while they are made."""

    def __init__(self, concurrency: int, stopping: Callable[[], bool]) -> None:
        self.lanes = asyncio.Semaphore(concurrency)
        self.aborted = asyncio.Event()
        """Whether a format failed after which no other one shall begin."""
        self.warming = Warming(self.is_over)
        self._stopping = stopping

    def is_over(self) -> bool:
        """Whether nothing new shall begin."""
        return self._stopping() or self.aborted.is_set()


def _result_key(job: Job, asked: str) -> str:
    """What an equal result is found by; `asked` is the key of the call that the job is known by."""
    return idempotency_key(asked, version=job.format.version, finishing=job.finishing)


async def _cancelled(work: Sequence[asyncio.Future[FormatResult | None]]) -> None:
    """Cancel what is still at work and wait until all of it has ended."""
    for each in work:
        each.cancel()
    await asyncio.gather(*work, return_exceptions=True)
