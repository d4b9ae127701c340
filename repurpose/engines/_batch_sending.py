"""From queued requests to batches that the provider has: never one request in two of them.

A batch is stored before anything is sent, and the provider's id before anything else is done.
Between the two a process may die, so a batch without that id is looked for at the provider, by our
id in its metadata, before it is sent.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from repurpose.core.provider_batch import ProviderBatch, Submitted
from repurpose.engines._batch_lines import Told, line_of
from repurpose.engines._batch_server import BatchServer
from repurpose.errors import EngineError, NeverStarted
from repurpose.ports import Clock, Engine, NewId, ProviderBatches

__all__ = ["Claims", "Limits", "Sender", "stamp"]

log = logging.getLogger(__name__)

_READ = 200
"""Bodies read from the store at once."""
_LOOKS = (2.0, 4.0, 8.0)
"""Seconds before each look for a batch whose creation was not answered."""
_CREATES = 3


class Claims(Protocol):
    """Leases that are renewed while their process lives, and end when it does not."""

    def claim(self, name: str) -> str | None:
        """Take a lease; None when it is ours, else who has it."""

    def release(self, name: str) -> None:
        """Give a lease up."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one batch may hold (OpenAI, batch guide, 2026-11)."""

    lines: int = 50_000
    size: int = 200_000_000
    """Bytes. A single line beyond it has a batch of its own, which the provider refuses."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends the queued requests of one engine."""

    server: BatchServer
    engine: Engine
    batches: ProviderBatches
    claims: Claims
    clock: Clock
    new_id: NewId
    limits: Limits = Limits()

    async def submit(self, wanted_since: str | None = None) -> Submitted:
        """Send what is queued, and first what an earlier process left half sent.

        `wanted_since` leaves out what no run has asked for since then.

        Raises:
            StoreError: the store fails; nothing is sent twice for that.
        """
        attached, sent, faults = await self._left_over(send=True)
        try:
            while not faults and (batch := await self._next(wanted_since)) is not None:
                sent.append(batch)
        except EngineError as error:
            faults.append(error.message)
        return Submitted(tuple(sent), tuple(attached), tuple(faults))

    async def attach(self) -> Submitted:
        """Find what an earlier process sent and could not store; send nothing."""
        attached, _, faults = await self._left_over(send=False)
        return Submitted((), tuple(attached), tuple(faults))

    async def _left_over(
        self, *, send: bool
    ) -> tuple[list[ProviderBatch], list[ProviderBatch], list[str]]:
        """Batches without the provider's id: those found there, those sent now, and what failed."""
        attached: list[ProviderBatch] = []
        sent: list[ProviderBatch] = []
        faults: list[str] = []
        for batch in self.batches.batches(self.server.address.shown):
            if batch.state != "prepared":
                continue
            try:
                with self._claimed(batch.id) as mine:
                    if not mine:
                        faults.append(f"batch {batch.id} is being sent by another process")
                        continue
                    told = await self.server.found(batch.id)
                    if told is not None:
                        attached.append(self._submitted(batch, told))
                    elif send:
                        sent.append(await self._sent(batch))
            except EngineError as error:
                faults.append(error.message)
        return attached, sent, faults

    async def _next(self, wanted_since: str | None) -> ProviderBatch | None:
        """One more batch from the front of the queue, sent; None where the queue is empty."""
        with tempfile.TemporaryDirectory(prefix="repurpose-") as folder:
            path = Path(folder) / "requests.jsonl"
            while True:
                filled = self._filled(path, wanted_since)
                if filled is None:
                    return None
                call_ids, digest = filled
                batch = ProviderBatch(
                    id=self.new_id(),
                    endpoint=self.server.address.shown,
                    model=self.engine.model,
                    lines=len(call_ids),
                    digest=digest,
                    created_at=stamp(self.clock.now()),
                )
                with self._claimed(batch.id):
                    # Else another process was faster with one of them, and we look again.
                    if self.batches.prepare(batch, call_ids):
                        return await self._uploaded(batch, path)

    def _filled(self, path: Path, wanted_since: str | None) -> tuple[list[str], str] | None:
        """Write the file of the next batch; the calls in it, and its digest."""
        call_ids: list[str] = []
        digest = hashlib.sha256()
        size = 0
        with path.open("wb") as file:
            for call_id, line in self._queue(wanted_since):
                full = size + len(line) > self.limits.size or len(call_ids) == self.limits.lines
                if call_ids and full:
                    break
                file.write(line)
                digest.update(line)
                size += len(line)
                call_ids.append(call_id)
        return (call_ids, digest.hexdigest()) if call_ids else None

    def _queue(self, wanted_since: str | None) -> Iterator[tuple[str, bytes]]:
        """Calls and their lines, in the order they were queued."""
        after = 0
        while page := self.batches.queued(
            self.engine, after=after, limit=_READ, wanted_since=wanted_since
        ):
            for queued in page:
                yield queued.call_id, line_of(queued.call_id, queued.body)
            after = page[-1].place

    async def _sent(self, batch: ProviderBatch) -> ProviderBatch:
        """A batch of an earlier process that the provider does not know, sent now."""
        if batch.file_id is not None:
            try:
                return await self._created(batch, batch.file_id)
            except NeverStarted as error:
                if error.status in (400, 404):  # the file is gone; the next time, it is sent anew
                    self.batches.note(replace(batch, file_id=None))
                raise
        with tempfile.TemporaryDirectory(prefix="repurpose-") as folder:
            path = Path(folder) / "requests.jsonl"
            self._written(batch, path)
            return await self._uploaded(batch, path)

    def _written(self, batch: ProviderBatch, path: Path) -> None:
        """The same file as before, from the bodies that are stored."""
        after = 0
        with path.open("wb") as file:
            while page := self.batches.bodies(batch.id, after=after, limit=_READ):
                for after, call_id, body in page:  # noqa: B007 - the last one is where to go on
                    file.write(line_of(call_id, body))

    async def _uploaded(self, batch: ProviderBatch, path: Path) -> ProviderBatch:
        file_id = await self.server.upload(path, f"{batch.id}.jsonl")
        held = replace(batch, file_id=file_id)
        self.batches.note(held)
        return await self._created(held, file_id)

    async def _created(self, batch: ProviderBatch, file_id: str) -> ProviderBatch:
        """The batch, made at the provider; after a lost answer only if it is not there.

        Raises:
            EngineError: it is not known to be there. The next `submit` looks again.
        """
        for attempt in range(1, _CREATES + 1):
            try:
                return self._submitted(
                    batch, await self.server.create(file_id, batch.id, batch.digest)
                )
            except NeverStarted:
                raise
            except EngineError as error:
                log.info("the answer to a new batch was lost: %s", error.kind)
                told = await self._looked_for(batch.id)
                if told is not None:
                    return self._submitted(batch, told)
                if attempt == _CREATES:
                    raise
        raise AssertionError  # the last round returns or raises

    async def _looked_for(self, batch_id: str) -> Told | None:
        for seconds in _LOOKS:
            await self.clock.sleep(seconds)
            told = await self.server.found(batch_id)
            if told is not None:
                return told
        return None

    def _submitted(self, batch: ProviderBatch, told: Told) -> ProviderBatch:
        """Store the provider's id, before anything else."""
        submitted = replace(
            batch,
            state="submitted",
            batch_id=told.batch_id,
            status=told.status,
            submitted_at=stamp(self.clock.now()),
        )
        self.batches.note(submitted)
        log.info("batch %s of %d requests is at the provider", batch.id, batch.lines)
        return submitted

    @contextmanager
    def _claimed(self, batch_id: str) -> Iterator[bool]:
        """Whether this process may send the batch: no other one is doing so."""
        name = f"provider batch {batch_id}"
        if self.claims.claim(name) is not None:
            yield False
            return
        try:
            yield True
        finally:
            self.claims.release(name)


def stamp(moment: datetime) -> str:
    """A UTC moment to the millisecond, as ISO 8601 with `Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
