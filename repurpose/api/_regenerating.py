"""One section of a stored run made again, with one call for its format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Unpack

from repurpose.api._asked_again import Meant, as_stored, engine_again, meant_by
from repurpose.api._authors import checked_author
from repurpose.api.adapters import SystemClock, new_id, open_store
from repurpose.api.budgeting import BudgetedEngine, within_budget
from repurpose.api.runs import RunOptions, job_for, prepared_for, runner_for, waited
from repurpose.asking import Asker, Stopped
from repurpose.config import Settings, from_environment
from repurpose.core.compose import section_input
from repurpose.core.envelope import Envelope
from repurpose.core.record import CallRecord, Row, Run
from repurpose.core.result import FormatResult, TotalUsage, outputs_of, total_usage
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import FormatError, RepurposeError, UsageError
from repurpose.formats import known_formats
from repurpose.ports import Engine, Store
from repurpose.runner import Runner
from repurpose.steps.again import again_call
from repurpose.steps.job import Job, with_results
from repurpose.steps.rows import failed

__all__ = ["Regenerated", "aregenerate", "regenerate"]

_LONGEST_INSTRUCTION = 2000
"""Characters; more is no instruction but a source."""


@dataclass(frozen=True, slots=True)
class Regenerated:
    """What a section came to that was made again."""

    run: Run
    """As it is now: a failed format that could be made changes how the run ended."""
    result: FormatResult | None
    """With the rows as they were stored; None where the user or the budget stopped it."""
    usage: TotalUsage = field(default=TotalUsage())
    stopped_by: RepurposeError | None = None
    """The budget that is reached, where that stopped it."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """What was stored."""
        return self.result.rows if self.result else ()

    @property
    def proposed(self) -> tuple[Row, ...]:
        """The new texts that stand beside one that a person decided on, which stays."""
        return tuple(row for row in self.rows if row.action == "proposed" and row.status == "done")

    @property
    def exit_code(self) -> int:
        """0 stored or proposed, 4 failed, 5 the budget is reached, 130 stopped."""
        if self.stopped_by is not None:
            return self.stopped_by.exit_code
        if self.result is None:
            return 130
        return 0 if self.result.done else 4


def regenerate(
    run_id: str,
    section: str,
    *,
    instruction: str | None = None,
    all_variants: bool = False,
    by: str | None = None,
    **options: Unpack[RunOptions],
) -> Regenerated:
    """`aregenerate` for programs without an event loop; the same arguments, results and errors."""
    work = aregenerate(
        run_id, section, instruction=instruction, all_variants=all_variants, by=by, **options
    )
    return waited(work, "aregenerate")


async def aregenerate(
    run_id: str,
    section: str,
    *,
    instruction: str | None = None,
    all_variants: bool = False,
    by: str | None = None,
    **options: Unpack[RunOptions],
) -> Regenerated:
    """One section of a stored run, made again by the person `by`: one call, and repairs of it.

    `section` is a format (`faq`) or one variant of it (`social.linkedin`); then only that variant
    is stored, unless `all_variants`. All other rows stay as they are, byte for byte, and the one
    before stays in the history. A row that a person edited, approved or restored is kept: the new
    text is stored beside it as proposed. A failure is stored likewise, and replaces no text.

    Source, language, audience, tone, platforms, threads and variants are those of the run; voice
    and server are those of the settings, and so is the model where they name one. A stored result
    is never used in place of the call.

    Raises:
        UsageError: no such run or section, or a setting that cannot be used.
        SourceError: the source does not fit, and must not be read in parts.
        StoreError: the database cannot be opened.
    """
    settings = options.get("settings") or from_environment(os.environ)
    store = options.get("store") or open_store(settings.database)
    try:
        run = store.run(run_id)
        wish = _Wish(
            meant_by(store, run, section, settings),
            _checked(instruction),
            None if by is None else checked_author(by),
            all_variants,
        )
        engine = options.get("engine") or engine_again(settings, run)
        try:
            held = within_budget(engine, settings)
            return await _Again(run, wish, held, store, settings, options).made()
        finally:
            if "engine" not in options:
                await engine.close()
    finally:
        if "store" not in options:
            store.close()


def _checked(instruction: str | None) -> str | None:
    told = (instruction or "").strip()
    if len(told) > _LONGEST_INSTRUCTION:
        most = f"{_LONGEST_INSTRUCTION:,}"
        raise UsageError(f"an instruction has at most {most} characters, not {len(told):,}")
    return told or None


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to be made again, and how."""

    meant: Meant
    instruction: str | None
    by: str | None
    all_variants: bool

    @property
    def variant(self) -> str | None:
        """The only variant that is stored, or None for all of them."""
        return None if self.all_variants else self.meant.variant

    def kept(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Those rows of a result that are stored, as what they are."""
        wanted = tuple(row for row in rows if self.variant in (None, row.variant))
        if rows[0].status == "failed" or not wanted:
            message = f"{rows[0].label} generation error: the answer has no {self.variant} text"
            lost = rows[0] if rows[0].status == "failed" else failed(rows[0], message, "unusable")
            wanted = (replace(lost, variant=self.variant or lost.variant),)
        return tuple(
            replace(row, action="regenerated", author=self.by, instruction=self.instruction)
            for row in wanted
        )


@dataclass(frozen=True, slots=True)
class _Again:
    """The one format of a stored run in work."""

    run: Run
    wish: _Wish
    engine: Engine
    store: Store
    settings: Settings
    options: RunOptions

    async def made(self) -> Regenerated:
        """The format made, and stored as it is wished."""
        runner = replace(
            runner_for(self.engine, self.store, self.settings, {**self.options, "force": True}),
            kept_as=self.wish.kept,
        )
        jobs_of = self._jobs_of()
        job = jobs_of(self.store.source(self.run.source_id))[0]
        calls: list[CallRecord] = []
        try:
            job = await self._read_in_parts(job, jobs_of, runner, calls)
            result = await runner.produce(job, self.run, calls)
        except Stopped:
            budget = self.engine.budget if isinstance(self.engine, BudgetedEngine) else None
            reached = budget.reached if budget else None
            return Regenerated(self.run, None, total_usage(calls), reached)
        return Regenerated(self.store.run(self.run.id), result, total_usage(calls))

    def _jobs_of(self) -> Callable[[Source], list[Job]]:
        """From the source, or a brief of it, to the one job."""
        run, settings, retry = self.run, self.settings, self.options.get("retry")
        known = self.options.get("known") or known_formats(
            settings.formats_dir, settings.declared, beside=settings.folder
        )
        steering = Steering(run.language, run.audience, run.tone, settings.voice)
        steering = Steering() if self.engine.extractive else steering
        name = self.wish.meant.format
        asked = as_stored(settings, self.store, run) if name == "social" else settings
        earlier: Mapping[str, Envelope] = outputs_of(run, self.store.rows(run.id))
        shown = self.engine.schema_in_prompt

        def jobs_of(whole: Source) -> list[Job]:
            job = job_for(name, whole, steering, asked, retry, known=known, schema_in_prompt=shown)
            return [self._again(with_results(job, earlier))]

        return jobs_of

    def _again(self, job: Job) -> Job:
        """The job with what the editor asks for; an engine that quotes reads no prompt."""
        if self.engine.extractive:
            return job
        first = again_call(
            job.first,
            shown=self._shown(),
            part=self.wish.variant.replace(".", "_") if self.wish.variant else None,
            instruction=self.wish.instruction,
        )
        return replace(job, first=first)

    def _shown(self) -> tuple[str, str] | None:
        """The name and the text of what there is already."""
        rows = self.wish.meant.shown
        if len(rows) < 2:
            return next(((section_input(row), row.text or "") for row in rows), None)
        texts = (f"{row.variant}:\n\n{row.text}" for row in rows)
        return self.wish.meant.format, "\n\n".join(texts)

    async def _read_in_parts(
        self,
        job: Job,
        jobs_of: Callable[[Source], list[Job]],
        runner: Runner,
        calls: list[CallRecord],
    ) -> Job:
        """The job for a brief of its source, where that is too long for the model.

        Replies about parts that were paid for before are used again.
        """
        prepared = prepared_for(
            [job], jobs_of, self.engine, self.settings, self.options.get("retry"), runner.report
        )
        if prepared is None:
            return job
        asker = Asker(
            engine=self.engine,
            clock=SystemClock(),
            new_id=new_id,
            store=self.store,
            tell=runner.report,
            stopping=runner.stopping,
            force=False,
            prices=self.settings.prices,
        )
        try:
            made = await prepared(asker, self.run, calls, runner.concurrency)
        except FormatError as error:
            return replace(job, refused=error)
        return made[0]
