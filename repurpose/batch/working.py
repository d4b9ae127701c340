"""Works through the plan of a batch: so many calls at once, each result stored before the next.

What is always true here: an item is worked on by one process at a time, which holds its lease;
what is in memory does not grow with the plan; and one item that fails stops no other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from repurpose.asking import Stopped, iso
from repurpose.batch.leases import Leases
from repurpose.batch.making import Making
from repurpose.batch.tally import Ended, Tally
from repurpose.core.call import Call, Reply
from repurpose.core.item import BatchStatus, Found, Item, Planned, after_failure, decided
from repurpose.core.progress import Progress
from repurpose.core.result import FormatResult, RunResult
from repurpose.errors import RepurposeError, SourceError, StoreError, UsageError
from repurpose.ports import BatchStore, Clock, Engine

__all__ = ["Work"]

log = logging.getLogger(__name__)

_BUDGET_CODE = 5
"""The exit code of the error that a budget's end is."""
_CHUNK = 64
"""Items of the plan that are looked up together."""
_LOOK_AGAIN = 1.0
"""Seconds between two looks at items that another process holds."""
_HOPELESS = 10
"""Items in a row whose every call is turned away: then the endpoint is at fault and not they."""
_NOT_ITS_FAULT = frozenset(
    {"never_started", "still_working", "broken_reply", "interrupted", "store", "format"}
)
"""Kinds of failure that say nothing about the source, so that they are no try of it: the endpoint
or the database failed, or another format did that this one reads."""


@dataclass(slots=True)
class Work:
    """The work of one batch in this process."""

    making: Making
    store: BatchStore
    clock: Clock
    leases: Leases
    batch_id: str
    stopping: Callable[[], bool]
    """Whether the user asked to stop: what is in flight is finished, nothing new begins."""
    force: bool = False
    report: Callable[[Progress], None] = lambda _: None
    ended: Callable[[Ended], None] = lambda _: None
    """Told of each item that was worked on, when it is stored."""
    tally: Tally = field(default_factory=Tally)
    stopped: BatchStatus | None = None
    """Why the work ended before the plan did."""
    reason: RepurposeError | None = None
    """The error that ended it."""
    in_flight: int = 0
    _hopeless: int = 0
    _held: list[Planned] = field(default_factory=list)
    """Items that another process holds; never more than it has in work."""

    async def run(self) -> None:
        """Work through the plan, until its end, the budget's or the user's.

        Raises:
            StoreError: the database failed; what was in flight has ended.
            UsageError: nothing can be made with these settings.
        """
        beat = asyncio.ensure_future(self.leases.keep())
        try:
            await self._through(self._plan())
            # What other processes held is theirs when it is done, and ours where they died.
            while self._held and not self._asked():
                await self.clock.sleep(_LOOK_AGAIN)
                held, self._held = self._held, []
                await self._through(held)
        finally:
            beat.cancel()
            with suppress(asyncio.CancelledError):
                await beat
        if self.reason is not None and self.stopped is None:
            raise self.reason
        if self._asked() and self.stopped is None:
            self.stopped = "interrupted"

    def _asked(self) -> bool:
        """Whether nothing new may begin."""
        if self.leases.lost and self.stopped is None:
            self.stopped = "interrupted"
            self.reason = StoreError(
                "another process may have taken over what this one was working on",
                hint="it was not heard of for a minute; run the same command again",
            )
        return self.stopping() or self.stopped is not None or self.reason is not None

    async def _through(self, planned: Iterable[Planned]) -> None:
        """These items, some of them side by side."""
        lanes = self._lanes
        # Enough that a slow last call of some does not leave lanes empty.
        items = min(lanes, 2 * -(-lanes // len(self.making.probes)) + 4)
        slots = asyncio.Semaphore(items)
        engine = self._guarded(asyncio.Semaphore(lanes))
        tasks: set[asyncio.Task[None]] = set()
        try:
            for each in planned:
                await slots.acquire()
                if self._asked():
                    break
                task = asyncio.create_task(self._in_slot(slots, each, engine))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    def _plan(self) -> Iterator[Planned]:
        """The plan, of which only a small part is in memory."""
        after = 0
        while found := self.store.planned(self.batch_id, after, _CHUNK):
            yield from found
            after = found[-1].number

    async def _in_slot(self, slots: asyncio.Semaphore, planned: Planned, engine: Engine) -> None:
        try:
            await self._item(planned, engine)
        finally:
            slots.release()

    async def _item(self, planned: Planned, engine: Engine) -> None:
        """One item; what is wrong with the database or the settings ends the work."""
        digest = planned.item.digest or planned.item.key
        try:
            if self.leases.claim(digest) is not None:
                self._held.append(planned)
                return
            try:
                await self._claimed(planned, engine)
            finally:
                self.leases.release(digest)
        except (StoreError, UsageError) as fault:
            self.reason = self.reason or fault

    async def _claimed(self, planned: Planned, engine: Engine) -> None:
        """An item whose lease we have: as it is now, which may be done by another process."""
        began = self.clock.monotonic()
        item = self.store.items([planned.item.key]).get(planned.item.key)
        if item is None or item.digest != planned.item.digest:
            self._tell(Ended(item or planned.item, None, 0.0, elsewhere=True))
            return
        names = self._lacking(item, planned)
        if not names:
            self._tell(Ended(item, None, 0.0, elsewhere=True))
            return
        result: RunResult | None = None
        try:
            source = self.store.source(item.digest or "")
            jobs, prepared = self.making.prepared(source, names, self.report)
            runner = self.making.runner(
                engine,
                self.store,
                {"force": self.force, "report": self.report, "stopping": self._asked},
            )
            result = await runner.run(source, jobs, self.making.steering, prepared)
        except SourceError as error:
            item = after_failure(item, error.message, error.kind, counts=True)
        except RepurposeError:
            raise
        except Exception as foreign:
            log.exception("an item could not be worked on")
            message = f"an error of the program: {type(foreign).__name__}"
            item = after_failure(item, message, "unexpected", counts=True)
        else:
            item = self._after(item, result)
        item = replace(item, batch_id=self.batch_id, seen_at=iso(self.clock.now()))
        self.store.settle_item(item)
        self._tell(Ended(item, result, self.clock.monotonic() - began))
        self._count_hopeless(result)

    def _lacking(self, item: Item, planned: Planned) -> tuple[str, ...]:
        """The formats that are still to be made: another process may have made some meanwhile."""
        wanted = planned.decision.formats
        if self.force:
            return wanted
        now = decided(item, Found(item.key, item.digest), self.making.prints, self.making.needs)
        if now.action == "parked":
            return ()
        return tuple(name for name in wanted if name in now.formats)

    def _after(self, item: Item, result: RunResult) -> Item:
        """The item as its run left it."""
        good = {name: self.making.prints[name] for name, each in _whole(result)}
        item = replace(item, done={**item.done, **good}, run_id=result.run.id)
        bad = [each for name, each in result.results.items() if name not in good]
        if result.run.status == "interrupted":
            return replace(item, state="todo")
        if not bad:
            return replace(item, state="done", tries=0, error=None, error_kind=None)
        kinds = [row.kind or "" for each in bad for row in each.rows if row.status == "failed"]
        first = next((kind for kind in kinds if kind not in _NOT_ITS_FAULT), kinds[0])
        message = next(
            row.message for each in bad for row in each.rows if (row.kind or "") == first
        )
        return after_failure(item, message, first, counts=first not in _NOT_ITS_FAULT)

    def _count_hopeless(self, result: RunResult | None) -> None:
        """Stop where the endpoint turns everything away: a wrong key, an empty account."""
        rows = [row for each in result.results.values() for row in each.rows] if result else []
        if not rows or any(row.kind != "never_started" for row in rows):
            self._hopeless = 0
            return
        self._hopeless += 1
        if self._hopeless >= _HOPELESS and self.reason is None:
            self.stopped = "failed"
            self.reason = RepurposeError(
                f"stopped: {_HOPELESS} sources in a row had every call turned away",
                hint=rows[0].message,
            )

    def _tell(self, ended: Ended) -> None:
        self.tally.add(ended)
        try:
            self.ended(ended)
        except Exception as foreign:  # noqa: BLE001 - a display is no reason to stop
            log.warning("an item could not be told: %s", type(foreign).__name__)

    @property
    def _lanes(self) -> int:
        settings, engine = self.making.settings, self.making.engine
        return min(settings.concurrency, engine.lanes or settings.concurrency)

    def _guarded(self, lanes: asyncio.Semaphore) -> Engine:
        """The engine, with so many calls at once over all items, and none after the budget."""
        inner = self.making.engine

        async def answer(call: Call) -> Reply:
            async with lanes:
                if self._asked():
                    raise Stopped
                self.in_flight += 1
                try:
                    return await inner.answer(call)
                except RepurposeError as error:
                    if error.exit_code != _BUDGET_CODE:
                        raise
                    self.stopped, self.reason = "budget", error
                    raise Stopped from error
                finally:
                    self.in_flight -= 1

        return replace(inner, answer=answer)


def _whole(result: RunResult) -> Sequence[tuple[str, FormatResult]]:
    """The formats of which every row is done."""
    return [
        (name, each)
        for name, each in result.results.items()
        if all(row.status == "done" for row in each.rows)
    ]
