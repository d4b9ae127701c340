"""One batch from its plan to its summary, in one process."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from repurpose.api.adapters import SystemClock, engine_for, new_id, open_store
from repurpose.api.budgeting import within_budget
from repurpose.api.loading import LoadOptions
from repurpose.asking import iso
from repurpose.batch.estimating import Estimator
from repurpose.batch.finding import spots
from repurpose.batch.leases import SECONDS, Leases, new_owner
from repurpose.batch.making import Making
from repurpose.batch.plan import Plan, Step
from repurpose.batch.planning import Planner
from repurpose.batch.tally import Ended, Tally
from repurpose.batch.working import Work
from repurpose.config import Settings
from repurpose.core.item import Batch, BatchStatus, ItemState
from repurpose.core.json_types import JsonObject
from repurpose.core.progress import Progress
from repurpose.errors import RepurposeError, StoreError, UsageError
from repurpose.ports import BatchStore, Clock, Engine

__all__ = ["Night", "Outcome", "report_of", "write_report"]

_REPORTED = 1_000
"""Failed items that a report names; the store has all."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a batch ended."""

    batch: Batch
    tally: Tally
    exit_code: int
    seconds: float
    reason: RepurposeError | None = None
    """Why it ended before its plan did, where the user did not ask for it."""


class Night:
    """One batch. Use it as a context: at its end, engine and database are let go of."""

    def __init__(
        self,
        settings: Settings,
        options: LoadOptions,
        *,
        names: Sequence[str] = (),
        force: bool = False,
        engine: Engine | None = None,
        clock: Clock | None = None,
        lease_seconds: float = SECONDS,
    ) -> None:
        self.settings = settings
        self._options = options
        self._names = names
        self._force = force
        self._given = engine
        self._clock = clock or SystemClock()
        self._lease_seconds = lease_seconds
        self._began = self._clock.monotonic()
        self._renewed = self._began
        self._stack = ExitStack()
        self.tally = Tally()
        self.plan = Plan()
        self.batch: Batch | None = None

    def __enter__(self) -> Self:
        """Open what is needed.

        Raises:
            UsageError: a format, model or setting that cannot be used.
            StoreError: the database cannot be opened.
        """
        self.engine = within_budget(self._given or engine_for(self.settings), self.settings)
        self.making = Making.of(self.engine, self.settings, self._names)
        self.store = open_store(self.settings.database)
        self._stack.callback(self.store.close)
        self._owner = new_owner()
        self._leases = Leases(self.store, self._owner, self._clock, self._lease_seconds)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.batch is not None and self.batch.status == "running":
            try:
                self._end("interrupted")
            except StoreError:
                if error is None:
                    raise
        self._stack.close()

    def foreseen(self, origins: Sequence[str], tell: Callable[[Step], None]) -> Plan:
        """The plan of a batch that is not begun; nothing is kept of it."""
        with tempfile.TemporaryDirectory(prefix="repurpose-") as folder, ExitStack() as stack:
            ledger = open_store(Path(folder) / "plan.db")
            stack.callback(ledger.close)
            return self._planner("plan", ledger, tell).planned(spots(*origins))

    def planned(self, origins: Sequence[str], tell: Callable[[Step], None]) -> Plan:
        """Begin the batch: its plan, kept in the store; every step of it is told."""
        return self._begun(origins, lambda planner: planner.planned(spots(*origins)), tell)

    def retried(
        self, batch_id: str, states: Sequence[ItemState], tell: Callable[[Step], None]
    ) -> Plan:
        """Begin a batch with what an earlier one left in these states, in the formats it had.

        Raises:
            UsageError: no such batch.
        """
        old = self.store.batch(batch_id)
        if not (self._names or self.settings.formats):
            self.making = Making.of(self.engine, self.settings, old.formats)
        items = self.store.items_of(old.id, states)
        self.store.retry_items([item.key for item in items])
        return self._begun(old.origins, lambda planner: planner.again(items), tell)

    def _begun(
        self,
        origins: Sequence[str],
        make: Callable[[Planner], Plan],
        tell: Callable[[Step], None],
    ) -> Plan:
        making, now = self.making, self._clock.now()
        self.batch = Batch(
            id=new_id(),
            owner=self._owner,
            origins=tuple(origins),
            formats=tuple(making.prints),
            engine=making.engine.name,
            model=making.engine.model,
            started_at=iso(now),
        )
        self._leases.bury()
        self._leases.claim(f"batch {self.batch.id}")
        self.store.begin_batch(self.batch, now.timestamp())

        def noted(step: Step) -> None:
            if step.decision.action == "failed":
                self.tally.unreadable(parked=step.item.state == "parked")
            self._keep_lease()
            tell(step)

        self.plan = make(self._planner(self.batch.id, self.store, noted))
        self.batch = replace(self.batch, plan=self.plan.to_json())
        self.store.note_plan(self.batch.id, self.batch.plan)
        return self.plan

    async def worked(
        self,
        *,
        stopping: Callable[[], bool],
        ended: Callable[[Ended], None],
        report: Callable[[Progress], None] = lambda _: None,
    ) -> Outcome:
        """Work through the plan and end the batch.

        Raises:
            StoreError: the database failed, so the batch could not go on.
            UsageError: nothing can be made with these settings.
        """
        assert self.batch is not None  # noqa: S101 - `planned` comes first
        work = Work(
            making=self.making,
            store=self.store,
            clock=self._clock,
            leases=self._leases,
            batch_id=self.batch.id,
            stopping=stopping,
            force=self._force,
            report=report,
            ended=ended,
            tally=self.tally,
        )
        try:
            await work.run()
        finally:
            if self._given is None:
                await self.engine.close()
        left_out = self.plan.counts["done"] + self.plan.counts["duplicate"]
        status = self.tally.status(stopped=work.stopped, left_out=left_out)
        batch = self._end(status)
        return Outcome(batch, self.tally, self.tally.exit_code(status), self._seconds, work.reason)

    def _planner(self, batch_id: str, ledger: BatchStore, tell: Callable[[Step], None]) -> Planner:
        engine = self.making.engine
        observed = self.store.observed(engine.model, engine.name)
        return Planner(
            making=self.making,
            store=self.store,
            ledger=ledger,
            batch_id=batch_id,
            clock=self._clock,
            options=self._options,
            estimator=Estimator(self.making, observed),
            force=self._force,
            tell=tell,
        )

    def _keep_lease(self) -> None:
        """Renew the batch's lease now and then: there is no event loop while it is planned."""
        now = self._clock.monotonic()
        if now - self._renewed > self._lease_seconds / 4:
            self._renewed = now
            self._leases.renew()

    def _end(self, status: BatchStatus) -> Batch:
        assert self.batch is not None  # noqa: S101 - it has begun
        summary: JsonObject = {"seconds": round(self._seconds, 3), **self.tally.to_json()}
        ended_at = iso(self._clock.now())
        self.batch = replace(self.batch, status=status, ended_at=ended_at, summary=summary)
        self.store.end_batch(self.batch.id, status, ended_at, summary)
        return self.batch

    @property
    def _seconds(self) -> float:
        return self._clock.monotonic() - self._began


def report_of(store: BatchStore, batch: Batch, exit_code: int) -> JsonObject:
    """All that is known of how a batch went, for programs; failed items by name."""
    failed = store.items_of(batch.id, ("failed", "parked"), _REPORTED + 1)
    return {
        "batch": batch.id,
        "status": batch.status,
        "exit_code": exit_code,
        "started_at": batch.started_at,
        "ended_at": batch.ended_at,
        "origins": list(batch.origins),
        "formats": list(batch.formats),
        "engine": batch.engine,
        "model": batch.model,
        "plan": batch.plan,
        "result": batch.summary,
        "failed": [
            {
                "key": item.key,
                "origin": item.origin,
                "title": item.title,
                "state": item.state,
                "tries": item.tries,
                "kind": item.error_kind,
                "error": item.error,
                "run": item.run_id,
            }
            for item in failed[:_REPORTED]
        ],
        "failed_more": len(failed) > _REPORTED,
    }


def write_report(path: str, report: JsonObject) -> None:
    """Write a report to a file, whole or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    target = Path(path)
    text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
    try:
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(beside).replace(target)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as fault:
        raise UsageError(f"--report {path}: cannot be written: {fault.strerror}") from fault
