"""The plan of a batch: what is new, changed, done and left out, and what it takes.

It is streamed: a few dozen sources are in memory at a time, and the plan itself is in the store.
What a file held when it was last read is known by its size and time, so a file is read once.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from repurpose.api._contents import Pages
from repurpose.api.loading import Loaded, LoadOptions
from repurpose.asking import iso
from repurpose.batch.estimating import Estimator, Takes
from repurpose.batch.finding import Spot
from repurpose.batch.making import Making
from repurpose.batch.plan import Plan, Step
from repurpose.batch.reading import Readers, opened
from repurpose.core.item import (
    Decision,
    Found,
    Item,
    Planned,
    after_failure,
    decided,
    item_key,
)
from repurpose.core.source import Source
from repurpose.errors import SourceError, StoreError
from repurpose.fetching.showing import without_credentials
from repurpose.ports import BatchStore, Clock

__all__ = ["Planner"]

_CHUNK = 64
"""Items that are looked up and kept together."""
_CHUNK_CHARACTERS = 4_000_000
_PLAIN = frozenset({".md", ".txt", ".srt", ".vtt"})
"""Endings of files that our own code reads in a millisecond or two."""
_FEW = 200
"""Such files that are read before processes of their own are worth starting: half a second."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """One item as it was found: its source, why there is none, or that nothing changed."""

    item: Item
    source: Source | None = None
    error: SourceError | None = None
    duplicate_of: str | None = None
    spot: Spot | None = None
    lasting: bool = True
    """Whether an error is the source's own, and not that there is nothing at its place."""


@dataclass(slots=True)
class Planner:
    """Makes the plan of one batch."""

    making: Making
    store: BatchStore
    """What is known is read from it."""
    ledger: BatchStore
    """The plan is kept in it: the same store, or one that is thrown away."""
    batch_id: str
    clock: Clock
    options: LoadOptions
    estimator: Estimator
    force: bool = False
    tell: Callable[[Step], None] = lambda _: None
    few: int = _FEW
    plan: Plan = field(default_factory=Plan)
    _opened: int = 0
    _pages: Pages | None = None

    def planned(self, found: Iterable[Spot]) -> Plan:
        """The plan for all sources at these spots.

        Raises:
            StoreError: the database fails.
            UsageError: nothing can be made with these settings.
        """
        return self._planned(lambda readers: self._seen(found, readers))

    def again(self, items: Iterable[Item]) -> Plan:
        """The plan for items that failed: files and pages are read again, the others' texts kept.

        Raises:
            StoreError: the database fails.
            UsageError: nothing can be made with these settings.
        """

        def seen(readers: Readers) -> Iterator[_Seen]:
            for item in items:
                if item.entry_id is None and not item.key.startswith("- "):
                    yield from self._looked_at(Spot(item.key), None, readers)
                elif item.digest is not None:
                    yield _Seen(replace(item, seen_at=self._now))
                else:
                    lost = "it is read again by the next batch over its feed"
                    yield _Seen(item, error=SourceError("no-text", lost), lasting=False)

        return self._planned(seen)

    def _planned(self, seen: Callable[[Readers], Iterator[_Seen]]) -> Plan:
        self.plan.repairs = self.estimator.repairs
        self.plan.observed = self.estimator.observed
        self.plan.is_free = self.estimator.is_free
        readers = Readers(self.options)
        options = self.options
        pages = Pages(None, allow_private=options.allow_private, proxy=options.proxy)
        self._pages = pages
        try:
            for chunk in _chunks(seen(readers)):
                self._keep(chunk)
        finally:
            readers.close()
            pages.close()
        return self.plan

    def _seen(self, found: Iterable[Spot], readers: Readers) -> Iterator[_Seen]:
        """What is at each spot, in their order; files are read ahead in other processes."""
        waiting: deque[Iterator[_Seen]] = deque()
        most = 4 * readers.count
        for spots_ in _grouped(found):
            known = self.store.items([spot.key for spot in spots_])
            for spot in spots_:
                waiting.append(self._looked_at(spot, known.get(spot.key), readers))
                if len(waiting) > most:
                    yield from waiting.popleft()
        while waiting:
            yield from waiting.popleft()

    def _looked_at(self, spot: Spot, known: Item | None, readers: Readers) -> Iterator[_Seen]:
        """One spot's sources, which are read elsewhere from now on, or here when it is its turn."""
        stat = spot.stat(self.clock.now().timestamp())
        if known is not None and stat is not None and known.stat == stat and known.is_settled:
            return iter([self._unchanged(spot, known)])
        work = readers.read(spot) if self._elsewhere(spot) else None
        return self._read(spot, stat, work)

    def _read(
        self, spot: Spot, stat: str | None, work: Future[list[Loaded]] | None
    ) -> Iterator[_Seen]:
        for loaded in self._here(spot) if work is None else work.result():
            yield self._told(spot, stat, loaded)

    def _here(self, spot: Spot) -> Iterator[Loaded]:
        return opened(spot, self.options, self._pages)

    def _elsewhere(self, spot: Spot) -> bool:
        if spot.may_list:
            return False
        self._opened += 1
        return self._opened > self.few or PurePath(spot.origin).suffix.lower() not in _PLAIN

    def _unchanged(self, spot: Spot, known: Item) -> _Seen:
        """What is known of a file that is as it was."""
        item = replace(known, within=spot.within, seen_at=self._now)
        if known.digest is None:
            return _Seen(item, error=SourceError("unreadable", known.error or "cannot be read"))
        return _Seen(item, spot=spot)

    def _told(self, spot: Spot, stat: str | None, loaded: Loaded) -> _Seen:
        """What was loaded, as an item."""
        source = loaded.source
        entry = loaded.entry_id is not None
        key = item_key(spot.key, spot.key, loaded.entry_id)
        if spot.origin == "-" and source is not None and not entry:
            key = f"- {source.digest}"
        item = Item(
            key=key,
            origin=loaded.origin if entry else without_credentials(spot.origin),
            digest=source.digest if source else None,
            title=source.title if source else None,
            within=loaded.within or spot.within,
            entry_id=loaded.entry_id,
            stat=None if entry else stat,
            seen_at=self._now,
        )
        lasting = spot.error is None
        return _Seen(item, source, loaded.error, loaded.duplicate_of, lasting=lasting)

    def _keep(self, chunk: Sequence[_Seen]) -> None:
        """Decide on some items, keep them in the plan, and count what they take."""
        known = self.store.items([seen.item.key for seen in chunk])
        steps = [self._step(seen, known.get(seen.item.key)) for seen in chunk]
        before = self.store.known_sources(
            [step.item.digest for step, _ in steps if step.decision.works and step.item.digest]
        )
        kept = self.ledger.keep_planned(
            self.batch_id,
            [Planned(step.item, step.decision) for step, _ in steps],
            [source for _, source in steps if source is not None],
        )
        for seen, (step, source), twin in zip(chunk, steps, kept, strict=True):
            told = step
            if twin is not None:
                told = Step(step.item, Decision("duplicate", f"the same as {twin}"))
            elif step.decision.works and source is not None:
                told = self._estimated(step, source, ran=step.item.digest in before)
            elif step.decision.action == "failed":
                told = replace(step, item=self._tried(step.item, counts=seen.lasting))
            self.plan.counts[told.decision.action] += 1
            self.tell(told)

    def _step(self, seen: _Seen, known: Item | None) -> tuple[Step, Source | None]:
        """What is to be done with an item, and its source where there is something to do."""
        item = seen.item if known is None else _renewed(known, seen.item)
        if seen.duplicate_of is not None:
            return Step(item, Decision("duplicate", f"the same as {seen.duplicate_of}")), None
        if seen.error is not None:
            found = Found(item.key, error=seen.error.message)
        else:
            found = Found(item.key, item.digest)
        decision = decided(known, found, self.making.prints, self.making.needs, force=self.force)
        if seen.error is not None and decision.action == "failed":
            item = replace(item, error=seen.error.message)
        if not decision.works:
            return Step(item, decision), None
        source = seen.source or self._stored(seen)
        if source is None:
            gone = "its text is not stored any more, and cannot be read again"
            return Step(item, Decision("failed", gone)), None
        return Step(replace(item, digest=source.digest), decision), source

    def _stored(self, seen: _Seen) -> Source | None:
        """The source of a file that was read in another night."""
        try:
            return self.store.source(seen.item.digest or "")
        except StoreError:
            again = self._here(seen.spot) if seen.spot else iter(())
            return next((loaded.source for loaded in again if loaded.source), None)

    def _estimated(self, step: Step, source: Source, *, ran: bool) -> Step:
        """The step with what it takes; results that are stored already take nothing."""
        names = step.decision.formats
        lacking: Sequence[str] = names
        if ran and not self.force:
            jobs = self.making.jobs(source, names)
            lacking = [
                job.format.name for job in jobs if not self.store.done_rows(self.making.key_of(job))
            ]
        try:
            takes = self.estimator.of(source, lacking)
        except SourceError:
            takes = Takes()  # too long; the item fails with the reason when it is its turn
        self.plan.formats += len(names)
        self.plan.stored += len(names) - len(lacking)
        self.plan.takes.plus(takes)
        return replace(step, takes=takes)

    def _tried(self, item: Item, *, counts: bool) -> Item:
        """The item after one more night in which it could not be read."""
        failed = after_failure(item, item.error or "", "source", counts=counts)
        failed = replace(failed, batch_id=self.batch_id)
        self.ledger.settle_item(failed)
        return failed

    @property
    def _now(self) -> str:
        return iso(self.clock.now())


def _renewed(known: Item, now: Item) -> Item:
    """What is known of an item, with what was found of it tonight."""
    return replace(
        known,
        origin=now.origin,
        digest=now.digest or known.digest,
        title=now.title or known.title,
        within=now.within,
        stat=now.stat,
        seen_at=now.seen_at,
    )


def _grouped(found: Iterable[Spot]) -> Iterator[list[Spot]]:
    """Some at a time."""
    each = iter(found)
    while group := list(itertools.islice(each, _CHUNK)):
        yield group


def _chunks(seen: Iterable[_Seen]) -> Iterator[list[_Seen]]:
    """Some at a time, fewer where they are long."""
    chunk: list[_Seen] = []
    size = 0
    for one in seen:
        chunk.append(one)
        size += len(one.source.text) if one.source else 0
        if len(chunk) == _CHUNK or size > _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
