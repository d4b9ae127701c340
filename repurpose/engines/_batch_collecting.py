"""From batches at a provider to replies in the store, each once, whatever was killed before.

A batch ends here only when every line that the provider says there is was read; until then it is
read again, and what is stored already is left as it is.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from repurpose.core.provider_batch import (
    Answered,
    BatchRequest,
    Collected,
    Outcome,
    ProviderBatch,
    Refusal,
)
from repurpose.engines._batch_lines import LineFault, Told, outcome_of
from repurpose.engines._batch_sending import stamp
from repurpose.engines._batch_server import BatchServer
from repurpose.errors import EngineError, NeverStarted
from repurpose.ports import Clock, ProviderBatches
from repurpose.prices import Price, cost_of

__all__ = ["Collector"]

log = logging.getLogger(__name__)

_MOST_SENDS = 3
"""Batches that a request may be in without an answer, as a live call may be lost four times."""
_MOST_MISSES = 3
_LOST_AFTER = timedelta(hours=48)
"""Twice the window of a batch: whatever cannot be read then, never can."""
_WRITTEN = 200
"""Outcomes stored at once."""
_MOST_TOLD = 20
"""Refused requests that are named; all of them become failed rows."""
_QUEUE_FULL = frozenset({"token_limit_exceeded", "rate_limit_exceeded"})
"""OpenAI refuses a whole batch so, where the tokens that wait are as many as the account may have
waiting: nothing is wrong with its requests."""
_OVER = frozenset({"completed", "expired", "cancelled"})


@dataclass(slots=True)
class _Read:
    """What the files of one batch held."""

    requests: Mapping[str, BatchRequest]
    lines: set[str] = field(default_factory=set)
    """Calls that had a line."""
    outputs: int = 0
    """How many of them in the output file."""
    answered: int = 0
    costs: list[float | None] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    unknown: int = 0
    repeated: int = 0
    broken: int = 0


@dataclass(frozen=True, slots=True)
class Collector:
    """Collects what one server has answered."""

    server: BatchServer
    batches: ProviderBatches
    clock: Clock
    prices: Mapping[str, Price] = field(default_factory=dict)
    """A user's own prices by the name of the model, over those of the table."""

    async def collect(self) -> Collected:
        """Whatever is over; a batch that cannot be asked for is told and left as it is.

        Raises:
            StoreError: the store fails; what was stored before stays.
        """
        total = Collected()
        working: list[ProviderBatch] = []
        faults: list[str] = []
        for batch in self.batches.batches(self.server.address.shown):
            if batch.batch_id is None:
                continue
            try:
                one = await self._one(batch, batch.batch_id)
            except EngineError as error:
                faults.append(f"batch {batch.id}: {error.message}")
                working.append(batch)
            else:
                total += one
                working.extend(one.working)
        return replace(total, working=tuple(working), faults=tuple(faults))

    async def _one(self, batch: ProviderBatch, batch_id: str) -> Collected:
        try:
            told = await self.server.told(batch_id)
        except NeverStarted as error:
            if error.status != 404:
                raise
            return self._missed(batch, error.message)
        now = replace(batch, status=told.status)
        if told.status == "failed":
            return self._failed(now, told)
        if told.status in _OVER:
            return await self._over(now, told)
        if told.status != batch.status:
            self.batches.note(now)
        return Collected(working=(now,))

    async def _over(self, batch: ProviderBatch, told: Told) -> Collected:
        """Read the files of a batch that the provider has done with."""
        read = _Read({each.call_id: each for each in self.batches.requests(batch.id)})
        absent: str | None = None
        with tempfile.TemporaryDirectory(prefix="repurpose-") as folder:
            # First the answers: they are what is paid for.
            for file_id in (told.output_file_id, told.error_file_id):
                if file_id is not None:
                    absent = await self._file(batch, file_id, Path(folder), read) or absent
                if file_id == told.output_file_id:
                    read.outputs = len(read.lines)
        result = self._result(batch, read)
        missing = max((told.completed or 0) - read.outputs, 0)
        if told.status == "completed":
            missing = max(missing, len(read.requests) - len(read.lines))
        if missing or absent:
            why = absent or f"{_counted(missing, 'line')} of its files are missing"
            return result + self._missed(batch, why)
        return result + self._ended(batch, most_sends=_counting(told.status))

    async def _file(
        self, batch: ProviderBatch, file_id: str, folder: Path, read: _Read
    ) -> str | None:
        """Store what a file holds; why it cannot be had, where the provider has it no more."""
        path = folder / "lines.jsonl"
        try:
            await self.server.download(file_id, path)
        except NeverStarted as error:
            if error.status != 404:
                raise
            return error.message
        self._stored(batch, path, read)
        return None

    def _stored(self, batch: ProviderBatch, path: Path, read: _Read) -> None:
        """Store the outcomes of a file, some at a time."""
        outcomes: list[Outcome] = []
        with path.open("rb") as file:
            for line in file:
                outcome = self._outcome(batch, line, read)
                if outcome is not None:
                    outcomes.append(outcome)
                if len(outcomes) == _WRITTEN:
                    self._kept(batch, outcomes, read)
                    outcomes = []
        self._kept(batch, outcomes, read)

    def _outcome(self, batch: ProviderBatch, line: bytes, read: _Read) -> Outcome | None:
        """What a line comes to, with its cost; None where there is nothing to store."""
        if not line.strip():
            return None
        outcome = outcome_of(line, self.server.party, self.clock.now())
        if outcome is None:
            read.broken += 1
            return None
        request = read.requests.get(outcome.call_id)
        if request is None:
            read.unknown += 1
            return None
        if outcome.call_id in read.lines:
            read.repeated += 1
            return None
        read.lines.add(outcome.call_id)
        if request.state != "batched":  # stored by an earlier process that did not end
            return None
        return self._priced(batch, outcome) if isinstance(outcome, Answered) else outcome

    def _priced(self, batch: ProviderBatch, answered: Answered) -> Answered:
        reply = answered.reply
        own = self.prices.get(reply.model or "") or self.prices.get(batch.model or "")
        model = reply.model or batch.model
        return replace(answered, cost=cost_of(reply.usage, model, batch.endpoint, own, batch=True))

    def _kept(self, batch: ProviderBatch, outcomes: Iterable[Outcome], read: _Read) -> None:
        outcomes = tuple(outcomes)
        if not outcomes:
            return
        self.batches.keep_outcomes(batch.id, outcomes)
        answered = [each for each in outcomes if isinstance(each, Answered)]
        read.answered += len(answered)
        read.costs.extend(each.cost for each in answered)
        read.refused.extend(each for each in outcomes if isinstance(each, Refusal))

    def _result(self, batch: ProviderBatch, read: _Read) -> Collected:
        odd = {
            "answer to a request that is not ours": read.unknown,
            "second answer to a request": read.repeated,
            "line that cannot be read": read.broken,
        }
        warnings = [
            f"batch {batch.id}: left out: {count} times {what}"
            for what, count in odd.items()
            if count
        ]
        return Collected(
            answered=read.answered,
            refused=len(read.refused),
            cost=None if None in read.costs else sum(cost or 0.0 for cost in read.costs),
            warnings=(*_named(read.refused, read.requests), *warnings),
        )

    def _failed(self, batch: ProviderBatch, told: Told) -> Collected:
        """A batch that the provider did not begin: nothing is paid.

        Only the lines that it names are refused; the others go back into the queue. Where it names
        none, the whole batch is refused, unless the provider only had no room for it.
        """
        requests = self.batches.requests(batch.id)
        refused = _refused_lines(requests, told.faults)
        whole = told.faults[0] if told.faults else LineFault(None, "", None)
        message = f"the provider refused the batch{whole.codes}"
        if not refused and whole.code not in _QUEUE_FULL:
            refused = [_unpaid(each.call_id, message) for each in requests]
        self.batches.keep_outcomes(batch.id, refused)
        known = {each.call_id: each for each in requests}
        told_so = Collected(
            refused=len(refused),
            warnings=(f"batch {batch.id}: {message}", *_named(refused, known)),
        )
        return told_so + self._ended(replace(batch, message=message), most_sends=None)

    def _missed(self, batch: ProviderBatch, why: str) -> Collected:
        """Leave a batch for another time, or give it up where that was tried often and long."""
        tried = replace(batch, misses=batch.misses + 1, message=why)
        age = self.clock.now() - datetime.fromisoformat(batch.submitted_at or batch.created_at)
        if tried.misses >= _MOST_MISSES and age > _LOST_AFTER:
            lost = f"batch {batch.id}: {why}; given up, its open requests are asked again"
            return Collected(warnings=(lost,)) + self._ended(tried, most_sends=_MOST_SENDS)
        self.batches.note(tried)
        return Collected(working=(tried,), warnings=(f"batch {batch.id}: {why}; collect again",))

    def _ended(self, batch: ProviderBatch, *, most_sends: int | None) -> Collected:
        ended = replace(batch, state="ended", ended_at=stamp(self.clock.now()))
        again, given_up = self.batches.end(ended, most_sends=most_sends)
        log.info("batch %s ended %s, %d requests again", batch.id, batch.status, again)
        warnings = []
        if again:
            warnings.append(
                f"batch {batch.id} ended {batch.status}: {_counted(again, 'request')} to do again"
            )
        if given_up:
            gone = _counted(given_up, "request")
            warnings.append(f"batch {batch.id}: {gone} given up after {most_sends} batches")
        return Collected(refused=given_up, again=again, ended=(ended,), warnings=tuple(warnings))


def _counting(status: str) -> int | None:
    """After how many batches a request is given up; a cancelled one is nobody's failure."""
    return None if status == "cancelled" else _MOST_SENDS


def _refused_lines(
    requests: tuple[BatchRequest, ...], faults: Iterable[LineFault]
) -> list[Refusal]:
    """The requests that the provider names by their lines, each once."""
    by_line = {each.line: each.call_id for each in requests}
    named = {
        by_line[fault.line]: fault.codes
        for fault in faults
        if fault.line is not None and fault.line in by_line
    }
    return [
        _unpaid(call_id, f"the provider refused the request{codes}")
        for call_id, codes in named.items()
    ]


def _unpaid(call_id: str, message: str) -> Refusal:
    return Refusal(call_id, message, NeverStarted.kind, hint="check --model and --profile")


def _named(refused: list[Refusal], requests: Mapping[str, BatchRequest]) -> Iterable[str]:
    """One line for each refused request, by its format and source; of many, the first ones."""
    for refusal in refused[:_MOST_TOLD]:
        request = requests[refusal.call_id]
        yield f"{request.format} of {request.origin}: {refusal.message}"
    if len(refused) > _MOST_TOLD:
        yield f"and {len(refused) - _MOST_TOLD} more refused requests"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
