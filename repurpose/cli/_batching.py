"""A batch on the command line: Ctrl-C heard, and each item told as fits where it goes."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from repurpose.batch.night import Night, Outcome
    from repurpose.batch.plan import Plan, Step
    from repurpose.batch.tally import Ended, Tally

__all__ = ["Telling", "worked"]

_LOOKS = 200
"""Sources after which a terminal is told how far the plan is."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what a service manager ends a service with."""


def worked(night: Night, telling: Telling) -> Outcome:
    """Work through the plan, stopping when it is asked to.

    Raises:
        KeyboardInterrupt: the user pressed Ctrl-C twice.
    """
    return asyncio.run(_worked(night, telling))


async def _worked(night: Night, telling: Telling) -> Outcome:
    asked: list[int] = []
    with telling.progress(night) as tell:
        work = asyncio.ensure_future(night.worked(stopping=lambda: bool(asked), ended=tell))

        def hear(number: int) -> None:
            asked.append(number)
            if len(asked) == 1:
                click.echo("stopping after what is in flight; again stops now", err=True)
            else:
                work.cancel()

        with _heard(hear):
            try:
                return await work
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None


@contextmanager
def _heard(hear: Callable[[int], None]) -> Iterator[None]:
    """Hear the signals while in this context."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        try:
            loop.add_signal_handler(number, hear, number)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda got, _: loop.call_soon_threadsafe(hear, got))
    try:
        yield
    finally:
        for number in _SIGNALS:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)


class Telling:
    """What a batch says: plan and summary on standard output, items on standard error.

    With `as_json`, all of it is JSON lines on standard output, each with its `event`.
    """

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self._as_json = as_json
        self._quiet = quiet
        self._planned = 0

    def step(self, step: Step) -> None:
        """One item of a plan that is only shown."""
        if self._as_json:
            self._line("planned", _step_object(step))
        elif not self._quiet:
            click.echo(_step_line(step))

    def unread(self, step: Step) -> None:
        """One item of a plan that is carried out: told only where it cannot be read."""
        self._planned += 1
        if self._planned % _LOOKS == 0 and sys.stderr.isatty() and not self._quiet:
            click.echo(f"\r{self._planned:,} sources looked at", nl=False, err=True)
        if step.decision.action == "failed":
            if self._as_json:
                self._line("planned", _step_object(step))
            parked = "; not tried again" if step.item.state == "parked" else ""
            click.echo(f"Error: {step.decision.reason}{parked}", err=True)

    def plan(self, plan: Plan, model: str | None) -> None:
        """The plan in numbers."""
        if self._planned >= _LOOKS and sys.stderr.isatty() and not self._quiet:
            click.echo("\r\033[K", nl=False, err=True)
        if self._as_json:
            self._line("plan", plan.to_json())
        elif not self._quiet:
            for line in plan_lines(plan, model):
                click.echo(line)

    def summary(self, outcome: Outcome) -> None:
        """How the batch ended."""
        batch = outcome.batch
        if self._as_json:
            head = {"batch": batch.id, "status": batch.status, "exit_code": outcome.exit_code}
            self._line("summary", {**head, **batch.summary})
        elif not self._quiet:
            for line in summary_lines(outcome):
                click.echo(line)
        if outcome.reason is not None:
            from repurpose.cli import tell

            tell(outcome.reason)

    @contextmanager
    def progress(self, night: Night) -> Iterator[Callable[[Ended], None]]:
        """A function to tell each ended item to."""
        live = sys.stderr.isatty() and not (self._quiet or (self._as_json and sys.stdout.isatty()))
        with _bar(night) if live else _lines(night, quiet=self._quiet) as shown:

            def tell(ended: Ended) -> None:
                if self._as_json:
                    self._line("ended", _ended_object(ended))
                shown(ended)

            yield tell

    def _line(self, event: str, facts: dict[str, object] | object) -> None:
        from repurpose.cli._render import json_line

        assert isinstance(facts, dict)  # noqa: S101 - every event is an object
        click.echo(json_line({"event": event, **facts}))


@contextmanager
def _lines(night: Night, *, quiet: bool) -> Iterator[Callable[[Ended], None]]:
    """One line an item, or only the failures."""

    def tell(ended: Ended) -> None:
        bad = ended.item.state in ("failed", "parked")
        if bad or not quiet:
            place = f"[{night.tally.ended - night.tally.unread}/{night.plan.todo}] "
            click.echo(f"{'' if quiet else place}{_ended_line(ended)}", err=True)

    yield tell


@contextmanager
def _bar(night: Night) -> Iterator[Callable[[Ended], None]]:
    """A bar with rate, cost and time left; failures stand above it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False) as progress:
        task = progress.add_task("", total=night.plan.todo, facts="")

        def tell(ended: Ended) -> None:
            if ended.item.state in ("failed", "parked"):
                progress.console.print(_ended_line(ended), markup=False, highlight=False)
            elapsed = progress.tasks[0].elapsed or 0.0
            facts = _rate_phrase(night.tally, elapsed)
            progress.update(task, completed=night.tally.ended - night.tally.unread, facts=facts)

        yield tell


def _rate_phrase(tally: Tally, seconds: float) -> str:
    from repurpose.cli._render import dollars

    usage = tally.usage
    rate = f"{60 * usage.calls / seconds:,.0f} calls/min" if seconds > 0 else ""
    unknown = " and unknown" if usage.cost.unknown else ""
    failed = f", {tally.failed} failed" if tally.failed else ""
    return f"{rate}, US$ {dollars(usage.cost.known)}{unknown}{failed}"


def _ended_line(ended: Ended) -> str:
    from repurpose.api.loading import shown_origin

    item = ended.item
    name = shown_origin(item.origin)
    if ended.elsewhere:
        return f"done by another process: {name}"
    if item.state == "todo":
        return f"not finished: {name}"
    if item.state != "done":
        parked = f" (tried {item.tries} times, not tried again)" if item.state == "parked" else ""
        return f"failed: {name}: {item.error}{parked}"
    calls = ended.result.usage.calls if ended.result else 0
    told = "no call" if not calls else f"{calls} call{'' if calls == 1 else 's'}"
    return f"done: {name}: {told}, {ended.seconds:.1f} s"


def _ended_object(ended: Ended) -> dict[str, object]:
    item = ended.item
    return {
        "key": item.key,
        "origin": item.origin,
        "title": item.title,
        "state": item.state,
        "run": item.run_id,
        "tries": item.tries,
        "error": item.error,
        "kind": item.error_kind,
        "seconds": round(ended.seconds, 3),
        "calls": ended.result.usage.calls if ended.result else 0,
        "by_another_process": ended.elsewhere,
    }


def _step_line(step: Step) -> str:
    from repurpose.api.loading import shown_origin

    decision = step.decision
    why = "" if decision.reason == decision.action else f": {decision.reason}"
    return f"{decision.action:<9} {shown_origin(step.item.origin)}{why}"


def _step_object(step: Step) -> dict[str, object]:
    takes = step.takes.to_json() if step.takes else {}
    return {
        "key": step.item.key,
        "origin": step.item.origin,
        "title": step.item.title,
        "action": step.decision.action,
        "reason": step.decision.reason,
        "formats": list(step.decision.formats),
        **(takes if isinstance(takes, dict) else {}),
    }


_ACTIONS = {
    "new": "new",
    "changed": "changed",
    "again": "to do again",
    "done": "done",
    "parked": "parked",
    "duplicate": "the same as another",
    "failed": "cannot be read",
}


def plan_lines(plan: Plan, model: str | None) -> Iterator[str]:
    """The plan in words."""
    from repurpose.cli._render import dollars

    found: dict[str, int] = {str(action): count for action, count in plan.counts.items()}
    parts = [f"{found[name]:,} {words}" for name, words in _ACTIONS.items() if found.get(name)]
    yield f"{plan.items:,} source{'' if plan.items == 1 else 's'}: {', '.join(parts) or 'none'}"
    if not plan.todo:
        return
    stored = f", {plan.stored:,} of them stored already" if plan.stored else ""
    yield f"Results to make: {plan.formats:,}{stored}"
    if plan.is_free:
        return
    least, expected, worst = plan.takes.least, plan.takes.expected, plan.takes.worst
    seen = f"in the last {plan.observed:,} calls" if plan.observed else "assumed"
    yield (
        f"Calls: {least.calls:,.0f} at least, {expected.calls:,.0f} expected"
        f" ({100 * plan.repairs:.1f} % asked again, {seen}), {worst.calls:,.0f} at worst"
    )
    yield (
        f"Tokens: about {least.tokens:,.0f} at least, {expected.tokens:,.0f} expected,"
        f" {worst.tokens:,.0f} at worst"
    )
    if worst.unpriced:
        yield f"Cost: unknown, since there is no price for {model}; give one under [prices]"
    else:
        costs = [f"US$ {dollars(case.cost)}" for case in (least, expected, worst)]
        yield f"Cost: {costs[0]} at least, {costs[1]} expected, {costs[2]} at worst"


def summary_lines(outcome: Outcome) -> Iterator[str]:
    """How a batch ended, in words."""
    from repurpose.cli._render import usage_phrase

    tally, batch = outcome.tally, outcome.batch
    items = {
        "done": tally.done,
        "failed": tally.failed,
        "not finished": tally.unfinished,
        "done by another process": tally.elsewhere,
    }
    told = ", ".join(f"{count:,} {what}" for what, count in items.items() if count)
    yield f"Batch {batch.id} {batch.status}: {told or 'nothing to do'}"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in tally.formats_failed.most_common())
    if kinds:
        yield f"Failed by kind: {kinds}"
    if tally.parked:
        yield (
            f"Parked, so not tried again: {tally.parked:,};"
            f" see them: repurpose status {batch.id}; try them again: repurpose retry {batch.id}"
        )
    yield (
        f"Results: {tally.formats_done:,} done, {tally.reused:,} of them reused,"
        f" {tally.repaired:,} repaired; {usage_phrase(tally.usage)}; {_time(outcome.seconds)}"
    )


def _time(seconds: float) -> str:
    """A duration as people say it.

    >>> _time(42.04), _time(4000)
    ('42.0 s', '1 h 6 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
