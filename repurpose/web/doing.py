"""What a job does: a run with all its formats, or one section of a stored run again."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from repurpose.api._sections import SectionStream
from repurpose.api.adapters import new_id, open_store
from repurpose.api.budgeting import BudgetedEngine
from repurpose.api.composing import composed_from, formats_of, keep
from repurpose.api.revising import aregenerate
from repurpose.api.runs import RunOptions
from repurpose.config import Settings
from repurpose.core.compose import section_input
from repurpose.core.events import SectionEvent, payload_of, type_of
from repurpose.core.json_types import JsonObject
from repurpose.core.progress import (
    BriefEnded,
    BriefPlanned,
    CallStarted,
    ContextUnknown,
    FormatEnded,
    FormatStarted,
    Progress,
)
from repurpose.core.result import RunResult
from repurpose.core.source import Source
from repurpose.errors import RepurposeError
from repurpose.ports import Engine, Store
from repurpose.web.hub import Channel
from repurpose.web.orders import Order
from repurpose.web.work import Job

__all__ = ["Again", "progress_payload", "run_doer", "told_to"]


def told_to(channel: Channel) -> Callable[[SectionEvent], None]:
    """What tells a channel of sections."""
    return lambda event: channel.tell(type_of(event), payload_of(event))


def run_doer(order: Order, database: Path) -> Callable[[Job], asyncio.Future[None]]:
    """What runs an order."""

    async def do(job: Job) -> None:
        sections = SectionStream(order.sections, told_to(job.channel), source=order.source)
        ended: JsonObject = {"status": "interrupted", "message": "stopped"}
        try:
            store = open_store(database)
            try:
                result = await _ran(order, job, sections, store)
                if order.composite is not None and result.run.status != "interrupted":
                    _compose(order, job, store)
                ended = {"status": result.run.status, "message": _message(result)}
            finally:
                store.close()
        except RepurposeError as error:
            ended = {"status": "failed", "message": error.message}
        except Exception:
            ended = {"status": "failed", "message": "the run broke off"}
            raise
        finally:
            sections.close()
            job.channel.tell("run_ended", ended)

    return do  # type: ignore[return-value]  # a coroutine is as good to await


async def _ran(order: Order, job: Job, sections: SectionStream, store: Store) -> RunResult:
    """The run, under the id that its job has."""
    making = order.making

    def report(progress: Progress) -> None:
        job.channel.tell("progress", progress_payload(progress))

    options: RunOptions = {
        "report": report,
        "stopping": lambda: job.stopping,
        "on_result": sections.ended,
        "listen": sections.listener,
    }
    jobs, prepared = making.prepared(order.source, order.names, report)
    ids = itertools.chain([job.run.id], iter(new_id, None))
    runner = replace(making.runner(making.engine, store, options), new_id=lambda: next(ids))
    result = await runner.run(order.source, jobs, making.steering, prepared)
    return replace(result, stopped_by=_reached(making.engine, result))


def _reached(engine: Engine, result: RunResult) -> RepurposeError | None:
    """The budget, where it was what interrupted the run."""
    if result.run.status != "interrupted" or not isinstance(engine, BudgetedEngine):
        return None
    return engine.budget.reached


def _message(result: RunResult) -> str:
    if result.stopped_by is not None:
        return result.stopped_by.message
    return "stopped" if result.run.status == "interrupted" else result.envelope.message


def _compose(order: Order, job: Job, store: Store) -> None:
    """Put the composite together and tell of it; where that is refused, the run is done still."""
    composite = order.composite
    if composite is None:
        return
    try:
        made = composed_from(composite, store, job.run.id, formats_of(order.settings))
        keep(made, store)
    except RepurposeError as error:
        told: JsonObject = {"name": composite.name, "status": 400, "message": error.message}
        job.channel.tell("composite_completed", told)
        return
    job.channel.tell(
        "composite_completed",
        {
            "name": composite.name,
            "version": composite.version,
            "status": made.envelope.status,
            "message": made.envelope.message,
            "dropped": made.payload["dropped"],
            "run": job.run.id,
        },
    )


def progress_payload(progress: Progress) -> JsonObject:
    """A step of a run as a line tells it."""
    told: JsonObject = {"format": progress.format, "label": progress.label}
    match progress:
        case FormatStarted():
            return {**told, "state": "started"}
        case CallStarted(attempt=attempt):
            return {**told, "state": "calling", "attempt": attempt}
        case FormatEnded() | BriefEnded():
            return {
                **told,
                "state": "ended",
                "status": progress.status,
                "message": progress.message,
            }
        case ContextUnknown(tokens=tokens):
            words = f"about {tokens:,} tokens, and whether that fits is not known"
            return {**told, "state": "started", "message": words}
        case BriefPlanned(parts=parts, calls=calls):
            words = f"too long for the model: read in {parts:,} parts first, {calls:,} calls in all"
            return {**told, "state": "started", "message": words}


@dataclass(frozen=True, slots=True)
class Again:
    """One section of a stored run, made again."""

    database: Path
    settings: Settings
    engine: Engine
    source: Source
    stream: Callable[[Callable[[SectionEvent], None]], SectionStream]
    """Makes what tells of the format's sections."""
    section: str
    instruction: str | None
    all_variants: bool
    by: str

    async def do(self, job: Job) -> None:
        """Make it, tell its section as it is written, then that its row changed."""
        sections = self.stream(told_to(job.channel))
        changed: list[str] = []
        try:
            changed = await self._made(job, sections)
        except RepurposeError as error:
            format = self.section.partition(".")[0]
            told = {"format": format, "label": format, "state": "ended", "status": "failed"}
            job.channel.tell("progress", {**told, "message": error.message})
        finally:
            sections.close()
            for name in changed or [self.section]:
                job.channel.tell("row_changed", {"section": name})

    async def _made(self, job: Job, sections: SectionStream) -> list[str]:
        """The sections whose rows were stored."""
        store = open_store(self.database)
        try:
            made = await aregenerate(
                job.run.id,
                self.section,
                instruction=self.instruction,
                all_variants=self.all_variants,
                by=self.by,
                settings=self.settings,
                engine=self.engine,
                store=store,
                report=lambda step: job.channel.tell("progress", progress_payload(step)),
                stopping=lambda: job.stopping,
                on_result=sections.ended,
                listen=sections.listener,
            )
        finally:
            store.close()
        return [section_input(row) for row in made.rows]
