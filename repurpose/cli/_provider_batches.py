"""`repurpose batch --provider-batch`: rounds of collecting, working and submitting, in words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from repurpose.api.loading import LoadOptions
    from repurpose.batch.at_provider import AtProvider
    from repurpose.batch.night import Night
    from repurpose.cli._batching import Telling
    from repurpose.config import Settings
    from repurpose.core.provider_batch import Collected, Pending, Submitted
    from repurpose.ports import Engine

__all__ = ["Rounds"]

_INTERRUPTED = 130
_FRUITLESS = 3
"""Rounds in a row that brought nothing, after which nobody waits any longer."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What `batch` does where a provider answers its calls."""

    settings: Settings
    options: LoadOptions
    telling: Telling
    sources: tuple[str, ...]
    """Empty: what the last batch left open."""
    wait: bool
    repair_live: bool
    as_json: bool
    quiet: bool
    report: str | None

    def run(self) -> int:
        """Make one round, or with `wait` as many as it takes; the exit code of the last one.

        Raises:
            UsageError: the chosen engine has no such batches, or a setting cannot be used.
            StoreError: the database fails.
        """
        from repurpose.api.budgeting import within_budget
        from repurpose.api.provider_batches import gathering

        settings = self._as_last_time()
        # One budget for all rounds; a waiting call counts with the most that its batch may cost.
        engine = within_budget(gathering(settings, repair_live=self.repair_live), settings)
        fruitless = 0
        first = True
        while True:
            code, collected, left = self._round(settings, engine, wait=self.wait and not first)
            first = False
            fruitless = 0 if collected.answered or collected.refused else fruitless + 1
            stopped = code == _INTERRUPTED or bool(collected.faults)
            if not self.wait or stopped or not left.batches or fruitless > _FRUITLESS:
                return code

    def _as_last_time(self) -> Settings:
        """The settings, with the model of the last batch where only its answers are fetched.

        With another model, its open formats would be asked for again instead.
        """
        from repurpose.api.adapters import open_store

        if self.sources or self.settings.model:
            return self.settings
        store = open_store(self.settings.database)
        try:
            return replace(self.settings, model=store.batch("last").model)
        finally:
            store.close()

    def _round(
        self, settings: Settings, engine: Engine, *, wait: bool
    ) -> tuple[int, Collected, Pending]:
        from repurpose.asking import iso
        from repurpose.batch.at_provider import AtProvider
        from repurpose.batch.night import Night
        from repurpose.cli.batch import finished

        with Night(settings, self.options, engine=engine) as night:
            provider = AtProvider.of(settings, night.store)
            began = iso(provider.clock.now())
            collected = self._collected(provider, wait=wait)
            self._planned(night)
            code = finished(night, self.telling, self.report)
            submitted = asyncio.run(provider.submitted(began))
            self._tell("submitted", submitted_lines(submitted), _submitted_object(submitted))
            left = provider.pending
            self._tell("waiting", pending_lines(left), _pending_object(left))
        return code or int(bool(submitted.faults or collected.faults)), collected, left

    def _collected(self, provider: AtProvider, *, wait: bool) -> Collected:
        if wait and provider.pending.batches and not self.quiet:
            click.echo("waiting for the provider; Ctrl-C leaves it to the next run", err=True)
        collected = asyncio.run(provider.collected(wait=wait))
        self._tell("collected", collected_lines(collected), _collected_object(collected))
        return collected

    def _planned(self, night: Night) -> None:
        if self.sources:
            plan = night.planned(self.sources, self.telling.unread)
        else:
            plan = night.retried("last", ("todo",), self.telling.unread)
        self.telling.plan(plan, night.settings.model)

    def _tell(self, event: str, lines: Iterator[str], facts: dict[str, object]) -> None:
        from repurpose.cli._render import json_line

        if self.as_json:
            click.echo(json_line({"event": event, **facts}))
        elif not self.quiet:
            for line in lines:
                click.echo(line)


def collected_lines(collected: Collected) -> Iterator[str]:
    """What came from the provider, in words; nothing where nothing did."""
    from repurpose.cli._render import dollars

    if collected.answered or collected.refused or collected.again:
        cost = "unknown" if collected.cost is None else f"US$ {dollars(collected.cost)}"
        told = [f"{collected.answered:,} replies", f"cost {cost}"]
        told += [f"{collected.refused:,} refused"] if collected.refused else []
        told += [f"{collected.again:,} to do again"] if collected.again else []
        yield f"From the provider: {', '.join(told)}"
    for fault in (*collected.warnings, *collected.faults):
        click.echo(f"Warning: {fault}", err=True)


def submitted_lines(submitted: Submitted) -> Iterator[str]:
    """What went to the provider, in words; nothing where nothing did."""
    for batch in submitted.attached:
        yield f"Found again at the provider: {batch.lines:,} requests as {batch.batch_id}"
    for batch in submitted.batches:
        yield f"To the provider: {batch.lines:,} requests as {batch.batch_id}"
    for fault in submitted.faults:
        click.echo(f"Warning: {fault}; run the same command again", err=True)


def pending_lines(left: Pending) -> Iterator[str]:
    """What is still to come, in words."""
    if left.counts:
        batches = f"{len(left.counts):,} batch{'' if len(left.counts) == 1 else 'es'}"
        yield (
            f"At the provider: {sum(left.counts.values()):,} requests in {batches}; fetch the"
            " answers with the same command, or with: repurpose batch --collect"
        )
    if left.queued:
        yield f"Not sent: {left.queued:,} requests"


def _collected_object(collected: Collected) -> dict[str, object]:
    return {
        "answered": collected.answered,
        "refused": collected.refused,
        "again": collected.again,
        "cost": collected.cost,
        "ended": [batch.batch_id for batch in collected.ended],
        "working": {batch.batch_id: batch.status for batch in collected.working},
        "warnings": list(collected.warnings),
        "faults": list(collected.faults),
    }


def _submitted_object(submitted: Submitted) -> dict[str, object]:
    return {
        "requests": submitted.requests,
        "batches": [batch.batch_id for batch in submitted.batches],
        "attached": [batch.batch_id for batch in submitted.attached],
        "faults": list(submitted.faults),
    }


def _pending_object(left: Pending) -> dict[str, object]:
    return {
        "requests": left.requests,
        "queued": left.queued,
        "batches": [batch.batch_id for batch in left.batches],
    }
