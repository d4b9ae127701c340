"""Progress on standard error: a live line per format on a terminal, plain lines elsewhere.

The state is a plain table from format to what is known of it; showing it is all that differs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import click

from repurpose.core.progress import (
    BriefEnded,
    BriefPlanned,
    CallStarted,
    ContextUnknown,
    FormatEnded,
    FormatStarted,
    Progress,
)

__all__ = ["Line", "line_for", "shown"]


@dataclass(frozen=True, slots=True)
class Line:
    """What is known of one format."""

    label: str
    text: str
    state: str
    """working, done or failed."""


def line_for(progress: Progress) -> Line:
    """The line that a step of progress leads to."""
    match progress:
        case FormatStarted(label=label):
            return Line(label, "started", "working")
        case CallStarted(format=BriefEnded.format, label=label, attempt=1):
            return Line(label, "reading", "working")
        case CallStarted(label=label, attempt=1):
            return Line(label, "writing", "working")
        case CallStarted(label=label, attempt=attempt):
            return Line(label, f"correcting (attempt {attempt})", "working")
        case FormatEnded(label=label, reused=True):
            return Line(label, "already done, no call made", "done")
        case FormatEnded(label=label, status=status, message=message, elapsed_ms=elapsed_ms):
            said = message.removeprefix(f"{label} ")
            return Line(label, f"{said}, {elapsed_ms / 1000:.1f} s", status)
        case ContextUnknown(label=label, tokens=tokens):
            return Line(label, _context_phrase(tokens), "done")
        case BriefPlanned(label=label):
            return Line(label, _plan_phrase(progress), "done")
        case BriefEnded(label=label, status=status, message=message, elapsed_ms=elapsed_ms):
            return Line(label, f"{message}, {elapsed_ms / 1000:.1f} s", status)


def _context_phrase(tokens: int) -> str:
    return (
        f"about {_rounded(tokens)} tokens; how many the model takes is not known, so it is sent"
        " whole (--context-tokens N has it read in parts)"
    )


def _plan_phrase(plan: BriefPlanned) -> str:
    size = f"about {_rounded(plan.tokens)} tokens, the model takes {plan.context:,}"
    parts = "1 part is" if plan.parts == 1 else f"{plan.parts} parts are"
    if plan.known == plan.parts:
        return f"{size}: {parts} read already"
    before = f", {plan.known} of them already" if plan.known else ""
    calls = "1 call" if plan.calls == 1 else f"{plan.calls} calls"
    tokens = _rounded(plan.call_tokens)
    return f"{size}: {parts} read first{before} ({calls}, about {tokens} tokens)"


def _rounded(count: int) -> str:
    """An estimate without digits that it does not have.

    >>> _rounded(388_135), _rounded(5_468)
    ('388,000', '5,470')
    """
    return f"{round(count, 3 - len(str(count))):,}"


@contextmanager
def shown(*, quiet: bool = False, steady: bool = False) -> Iterator[Callable[[Progress], None]]:
    """A function to report progress to, shown as fits where standard error goes.

    With `steady`, on a terminal too as lines that stay as they are; with `quiet`, only what failed.
    """
    if quiet:
        yield _failures
    elif sys.stderr.isatty() and not steady:
        with _live() as report:
            yield report
    else:
        yield _plain


def _plain(progress: Progress) -> None:
    """One line for each step worth a line in a log file."""
    if not isinstance(progress, FormatStarted):
        line = line_for(progress)
        click.echo(f"{line.label}: {line.text}", err=True)


def _failures(progress: Progress) -> None:
    """A line for each format that failed: whoever wants no news wants to know that."""
    if isinstance(progress, FormatEnded) and line_for(progress).state == "failed":
        _plain(progress)


@contextmanager
def _live() -> Iterator[Callable[[Progress], None]]:
    """A line per format that changes in place, with a spinner while it is in work."""
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.table import Table
    from rich.text import Text

    lines: dict[str, Line] = {}
    spinner = Spinner("dots")
    marks = {"done": Text("✓", style="green"), "failed": Text("✗", style="red")}

    def grid() -> Table:
        drawn = Table.grid(padding=(0, 1))
        for line in lines.values():
            drawn.add_row(marks.get(line.state, spinner), line.label, Text(line.text))
        return drawn

    # Standard output stays what it is: rich would send it to the terminal, away from a pipe.
    with Live(
        get_renderable=grid,
        console=Console(stderr=True),
        refresh_per_second=8,
        redirect_stdout=False,
    ) as live:

        def report(progress: Progress) -> None:
            lines[progress.format] = line_for(progress)
            live.refresh()

        yield report
