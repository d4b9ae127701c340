"""What `repurpose run` says on standard error about sources and runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from repurpose.errors import BudgetReached

if TYPE_CHECKING:
    from repurpose.api.loading import Loaded
    from repurpose.config import Settings
    from repurpose.core.result import RunResult
    from repurpose.core.source import Source
    from repurpose.errors import SourceError

__all__ = [
    "Tally",
    "tell_duplicate",
    "tell_end",
    "tell_heading",
    "tell_model",
    "tell_refused",
    "tell_settings",
    "tell_source",
]


BUDGET = BudgetReached.exit_code
"""How a run ends that may spend no more."""


@dataclass(slots=True)
class Tally:
    """How many sources came to what."""

    codes: list[int] = field(default_factory=list)
    """The exit code of each run."""
    refused: int = 0
    duplicates: int = 0

    @property
    def sources(self) -> int:
        """All that were looked at."""
        return len(self.codes) + self.refused + self.duplicates

    @property
    def exit_code(self) -> int:
        """0 all done, 1 some failed, 3 none read, 4 every format failed, 5 the budget reached."""
        if not self.codes:
            return 3
        if BUDGET in self.codes:
            return BUDGET
        if set(self.codes) == {4}:
            return 4
        return 1 if any(self.codes) or self.refused else 0

    def line(self) -> str:
        """The counts in words, without those that are 0.

        >>> Tally([0, 0, 1], refused=1).line()
        '4 sources: 2 done, 1 in part, 1 refused'
        """
        parts = {
            "done": self.codes.count(0),
            "in part": self.codes.count(1),
            "failed": self.codes.count(4),
            "unfinished": self.codes.count(BUDGET),
            "interrupted": self.codes.count(130),
            "refused": self.refused,
            "duplicate": self.duplicates,
        }
        told = ", ".join(f"{count} {what}" for what, count in parts.items() if count)
        return f"{self.sources} source{'' if self.sources == 1 else 's'}: {told}"


def tell_heading(loaded: Loaded, number: int) -> None:
    """Which of many sources the next lines are about."""
    from repurpose.api.loading import shown_origin

    click.echo(f"[{number}] {shown_origin(loaded.origin)}", err=True)


def tell_duplicate(loaded: Loaded) -> None:
    """That one of many sources is left out, and for which other."""
    from repurpose.api.loading import shown_origin

    origin, first = shown_origin(loaded.origin), shown_origin(loaded.duplicate_of or "")
    click.echo(f"Note: {origin}: the same as {first}; left out", err=True)


def tell_refused(error: SourceError) -> None:
    """Why one of many sources is left out, on one line."""
    hint = f" ({error.hint})" if error.hint else ""
    click.echo(f"Error: {error.message}{hint}", err=True)


def tell_source(source: Source) -> None:
    """What was loaded, and what a user should know about it."""
    from repurpose.api.loading import shown_origin

    name = source.title or shown_origin(source.origin)
    language = source.language or "unknown language"
    click.echo(f"{name}: {source.kind}, {language}, {len(source.text):,} characters", err=True)
    if source.hidden:
        click.echo(f"Note: {source.hidden} hidden characters or nodes were removed", err=True)
    for warning in source.warnings:
        click.echo(f"Note: {warning}", err=True)


def tell_end(result: RunResult) -> None:
    """What was changed, what it took, and where it is stored."""
    from repurpose.cli._render import usage_phrase

    for outcome in result.results.values():
        for note in outcome.meta.notes:
            click.echo(f"Note: {outcome.label}: {note}", err=True)
        if outcome.meta.reused_from:
            click.echo(
                f"Note: {outcome.label}: reused from run {outcome.meta.reused_from};"
                " --force calls again",
                err=True,
            )
    lacking = [name for name in result.run.formats if name not in result.results]
    if lacking and result.run.status in {"partial", "failed"}:
        click.echo(f"Note: not begun after a failure: {', '.join(lacking)}", err=True)
    if result.stopped_by is not None:
        click.echo(f"Note: not finished: {', '.join(lacking)}", err=True)
    done = sum(outcome.done for outcome in result.results.values())
    click.echo(
        f"run {result.run.id} {result.run.status}: {done} of {len(result.run.formats)} formats,"
        f" {usage_phrase(result.usage)}; see: repurpose show {result.run.id}",
        err=True,
    )


def tell_settings() -> None:
    """Which settings file is used: it decides where texts are sent."""
    from repurpose.cli._settings import file_used

    file = file_used()
    if file is not None:
        click.echo(f"Settings: {file.path}", err=True)


def tell_model(settings: Settings) -> None:
    """How to use a model, where none was used."""
    if settings.chosen_engine != "extractive":
        return
    if settings.language or settings.audience or settings.tone:
        click.echo("Note: without a model, language, audience and tone change nothing", err=True)
    click.echo(
        "No model was used: these are the source's own sentences. To have them written, set"
        " OPENAI_API_KEY and add --model gpt-4.1-mini, or --base-url of a server of yours.",
        err=True,
    )
