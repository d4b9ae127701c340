"""Reads a source that does not fit into a model's context, part by part, into a brief that does.

What is always true here: no part is left out, or there is no brief; and a part that was read is
never paid for again. A part's reply is its result: it stays with the store as an unsettled reply,
and whoever asks for the same part is given it, in this run or in any later one. Only replies that
led to nothing are settled, so that the next run asks anew.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from repurpose.asking import Asker, PutOff, Spent, Stopped
from repurpose.core.call import Reply
from repurpose.core.progress import BriefEnded, BriefPlanned
from repurpose.core.record import CallRecord, RowStatus, Run
from repurpose.errors import FormatError, StoreError
from repurpose.steps.briefs import (
    MOST_POINTS,
    Brief,
    Found,
    Point,
    composed,
    groups_of,
    without_repetitions,
)
from repurpose.steps.job import Job
from repurpose.steps.parts import Part, parts_of
from repurpose.steps.reading import Briefing, foreseen
from repurpose.steps.repair import Settled
from repurpose.text.tokens import corrected_factor, estimated_tokens

__all__ = ["Unread", "briefed", "jobs_from_brief"]

log = logging.getLogger(__name__)

_ROUNDS = 8
"""Each makes the points half as many or fewer; after eight, even a library would fit."""
_SHRUNK = 0.9
"""What a round must make the notes smaller than, or the model does not do what it is asked for."""


class Unread(FormatError):  # noqa: N818 - named as in `errors`
    """A part of a long source could not be read, so nothing can be written from the whole."""

    kind = "unread"


async def briefed(
    briefing: Briefing, asker: Asker, run: Run, made: list[CallRecord], *, concurrency: int
) -> Brief:
    """The brief of a long source, its parts read side by side.

    The first part is read alone: how many tokens the server says that it had corrects the size of
    the others. `made` is given each call as it ends, whatever becomes of the brief. Equal sources
    and replies give an equal brief.

    Raises:
        Unread: a part was not answered as it must be; no further part is begun then.
        Stopped: the user wants no further call.
    """
    began = asker.clock.monotonic()
    reader = _Reader(briefing, asker, run, made, asyncio.Semaphore(concurrency))

    def tell_end(status: RowStatus, message: str) -> None:
        elapsed_ms = round(1000 * (asker.clock.monotonic() - began))
        asker.tell(BriefEnded(status, message, elapsed_ms))

    try:
        brief = await reader.brief()
    except Unread as error:
        tell_end("failed", error.message)
        raise
    size = estimated_tokens(brief.source.text)
    read = f"{brief.parts} parts read, a brief of about {size:,} tokens"
    tell_end("done", "; ".join([read, *brief.notes]))
    return brief


async def jobs_from_brief(
    briefing: Briefing, asker: Asker, run: Run, made: list[CallRecord], concurrency: int
) -> list[Job]:
    """The jobs of the formats, with the brief of the source in its place; see `briefed`."""
    brief = await briefed(briefing, asker, run, made, concurrency=concurrency)
    basis = f"a brief of {brief.parts} part{'s' if brief.parts > 1 else ''}"
    return [replace(job, basis=basis) for job in briefing.formats(brief.source)]


class _Reader:
    """Asks for the parts of one source, and puts together what comes back."""

    def __init__(
        self,
        briefing: Briefing,
        asker: Asker,
        run: Run,
        made: list[CallRecord],
        lanes: asyncio.Semaphore,
    ) -> None:
        self._briefing = briefing
        self._source = briefing.source
        self._window = briefing.window
        self._asker = asker
        self._run = run
        self._made = made
        self._lanes = lanes
        self._factor = 1.0
        self._surplus = 0
        self._unwanted = False
        """Whether nothing new shall begin: a part failed, or the user asked to stop."""

    async def brief(self) -> Brief:
        found = await self._parts_read()
        parts = len(found)
        notes = list(_notes(found))
        points = self._points(found)
        if not points:
            raise Unread(f"the model found nothing to note in any of its {parts} parts")
        rounds = 0
        while not self._fits(points):
            if rounds == _ROUNDS:
                raise Unread(f"its notes are too long, also after they were merged {rounds} times")
            points = await self._merged(points)
            rounds += 1
        if rounds:
            notes.append(f"the notes were merged {_times(rounds)}")
        if self._surplus:
            notes.append(f"{self._surplus} points left out, beyond half of what was merged")
        return Brief(composed(self._source, points), points, parts, tuple(notes))

    async def _parts_read(self) -> list[Found]:
        parts = self._parts(1.0)
        if not parts:
            raise Unread("it holds no text")
        jobs = self._jobs(parts)
        kept = self._kept(jobs[0])
        if kept is not None:
            jobs = self._corrected(parts, jobs, kept)
        self._tell_plan(jobs)
        first = await self._read(jobs[:1])
        if kept is None and (reply := self._made[0].reply if self._made else None):
            planned = len(jobs)
            jobs = self._corrected(parts, jobs, reply)
            if len(jobs) != planned:
                self._tell_plan(jobs)
        return first + await self._read(jobs[1:])

    def _parts(self, factor: float, start: int = 0) -> tuple[Part, ...]:
        """The source from `start` on, in parts of the size that the context has room for."""
        return parts_of(self._source, self._briefing.room(factor), start=start)

    def _jobs(self, parts: Sequence[Part]) -> list[Job]:
        return [
            self._briefing.part_job(part, f"Part {number} of {len(parts)}")
            for number, part in enumerate(parts, start=1)
        ]

    def _corrected(self, parts: Sequence[Part], jobs: list[Job], reply: Reply) -> list[Job]:
        """The jobs, those after the first by what the server said of the first one's size."""
        sent = self._window.prompt(jobs[0].first)
        self._factor = corrected_factor(round(sent), reply.usage.prompt_tokens)
        log.info("one estimated token is %.2f of the model's", self._factor)
        if self._factor == 1.0:
            return jobs
        return self._jobs([parts[0], *self._parts(self._factor, parts[0].end)])

    def _tell_plan(self, jobs: Sequence[Job]) -> None:
        known = sum(self._kept(job) is not None for job in jobs)
        formats = [job.first for job in self._briefing.formats(self._source)]
        ahead = foreseen(self._window, [job.first for job in jobs], known, formats)
        size = estimated_tokens(self._source.text, self._factor)
        limit = self._window.tokens
        self._asker.tell(BriefPlanned(size, limit, len(jobs), known, ahead.calls, ahead.tokens))

    def _kept(self, job: Job) -> Reply | None:
        """The stored reply to a job's first call, where it may be used."""
        store = self._asker.store
        if store is None or self._asker.force:
            return None
        try:
            kept = store.unsettled_reply(self._asker.key_of(job.first))
        except StoreError:
            return None  # it is looked for again before the call, and told of there
        return kept[1] if kept else None

    async def _merged(self, points: Sequence[Point]) -> tuple[Point, ...]:
        """Fewer points, from one call for each group of them."""
        before = estimated_tokens(composed(self._source, points).text)
        limit = self._window.spare(self._briefing.merge_job(points[:1], "").first, self._factor)
        groups = groups_of(self._source, points, max(limit, 1))
        jobs = [
            self._briefing.merge_job(group, f"Notes {number} of {len(groups)}")
            for number, group in enumerate(groups, start=1)
        ]
        found = await self._read(jobs)
        self._surplus += sum(each.surplus for each in found)
        merged = self._points(found)
        after = estimated_tokens(composed(self._source, merged).text)
        if not merged or after > _SHRUNK * before:
            raise Unread(f"its notes of about {before:,} tokens could not be made shorter")
        return merged

    def _points(self, found: Sequence[Found]) -> tuple[Point, ...]:
        return without_repetitions([point for each in found for point in each.points])

    def _fits(self, points: Sequence[Point]) -> bool:
        jobs = self._briefing.formats(composed(self._source, points))
        return all(self._window.fits(job.first, self._factor) for job in jobs)

    async def _read(self, jobs: Sequence[Job]) -> list[Found]:
        """What was found by each job, in their order."""
        settled: list[Settled | None] = [None] * len(jobs)

        async def lane(index: int, job: Job) -> None:
            async with self._lanes:
                if not (self._unwanted or self._asker.stopping()):
                    settled[index] = await self._settled(job)

        async with asyncio.TaskGroup() as group:
            for index, job in enumerate(jobs):
                group.create_task(lane(index, job))
        for job, each in zip(jobs, settled, strict=True):
            if each is not None and each.error is not None:
                raise _unread(job, each.error)
        return [_found(each) for each in settled]

    async def _settled(self, job: Job) -> Settled | None:
        """How a job ended, or None where the user stopped it."""
        calls: list[CallRecord] = []
        spent = Spent(calls)
        try:
            settled = await self._asker.settled(job, self._run, spent)
        except Stopped as stop:
            self._unwanted = self._unwanted or not isinstance(stop, PutOff)
            return None
        finally:
            self._made.extend(calls)
        self._unwanted = self._unwanted or settled.error is not None
        self._keep(settled, spent)
        return settled

    def _keep(self, settled: Settled, spent: Spent) -> None:
        """Store what is not stored yet, and settle replies that led to nothing."""
        store = self._asker.store
        if store is None:
            return
        try:
            while spent.unkept:
                store.keep_call(spent.unkept[0])
                spent.used.append(spent.unkept.pop(0).id)
            if settled.error is not None and spent.concluded:
                store.keep_result((), settles=spent.used)
        except StoreError as fault:
            # What was read is in hand, and only a later run would have to ask for it again.
            log.error("a part could not be stored: %s", fault.message)  # noqa: TRY400 - no trace


def _found(settled: Settled | None) -> Found:
    if settled is None or settled.finished is None:
        raise Stopped
    content = settled.finished.content
    assert isinstance(content, Found)  # noqa: S101 - a brief's format gives nothing else
    return content


def _unread(job: Job, error: FormatError) -> Unread:
    """Why a part could not be read, as the formats tell it that cannot go on."""
    label = job.format.label[0].lower() + job.format.label[1:]
    return Unread(f"{label} could not be read: {error.message}", hint=error.hint)


def _notes(found: Sequence[Found]) -> Iterator[str]:
    """What an editor should know of what the parts gave."""
    silent = [number for number, each in enumerate(found, start=1) if not each.points]
    if silent:
        places = ", ".join(map(str, silent))
        yield f"nothing noted in part{'s' if len(silent) > 1 else ''} {places} of {len(found)}"
    unproven = sum(each.unproven for each in found)
    if unproven:
        yield f"{unproven} quotes, names or numbers left out that the source does not have"
    surplus = sum(each.surplus for each in found)
    if surplus:
        yield f"{surplus} points left out, beyond {MOST_POINTS} of a part"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
