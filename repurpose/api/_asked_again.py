"""What a stored run asked for: its platforms, its engine, and which of its sections is meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from repurpose.api.adapters import engine_for
from repurpose.config import ENDPOINT, Settings
from repurpose.core.compose import section_input, split_input
from repurpose.core.record import Row, Run
from repurpose.errors import UsageError
from repurpose.formats.social import asked_for
from repurpose.platforms import DEFAULT_PLATFORMS, platform_chosen, platform_named
from repurpose.ports import Engine, Store

__all__ = ["Meant", "as_stored", "engine_again", "meant_by", "spelled_platforms"]


@dataclass(frozen=True, slots=True)
class Meant:
    """Which rows of a run a section's input stands for."""

    format: str
    rows: tuple[Row, ...]
    """The current rows of the format; none where it was not begun."""
    variant: str | None = None
    """None where the whole format is meant."""

    @property
    def shown(self) -> tuple[Row, ...]:
        """The rows that are meant and have a text."""
        return tuple(
            row for row in self.rows if row.status == "done" and self.variant in (None, row.variant)
        )


def meant_by(store: Store, run: Run, section: str, settings: Settings) -> Meant:
    """What `faq`, `social` or `social.linkedin` stands for in this run.

    Where the whole format failed, a variant that was asked for stands for the format.

    Raises:
        UsageError: the run has no such section; the line names those that it has.
    """
    format, variant = split_input(section.strip().casefold())
    rows = store.rows(run.id)
    of_format = tuple(row for row in rows if row.format == format)
    known = {row.variant for row in of_format if row.status == "done"}
    if format in run.formats and variant in (None, *known):
        return Meant(format, of_format, None if known == {"default"} else variant)
    if format in run.formats and not known and variant in _asked_variants(store, run, settings):
        return Meant(format, of_format)
    lacking = [name for name in run.formats if not any(row.format == name for row in rows)]
    has = ", ".join([*map(section_input, rows), *lacking])
    raise UsageError(f"run {run.id} has no section {section!r}; it has: {has}")


def as_stored(settings: Settings, store: Store, run: Run) -> Settings:
    """The settings with the posts that the run asked for, and the limits that it held them to.

    Options and limits of platforms that the settings name themselves are over those.
    """
    rows = [row for row in store.history(run.id) if row.format == "social"]
    runs = [run.id, *dict.fromkeys(row.reused_from for row in rows if row.reused_from)]
    calls = (call for each in runs for call in store.calls(each) if call.call.format == "social")
    asked = next(calls, None)
    if asked is not None:
        names, threads, variants = asked_for(asked.call.schema)
    else:
        names = tuple(dict.fromkeys(_platform_of(row) for row in rows if row.status == "done"))
        threads = any("posts" in (row.content or {}) for row in rows)
        variants = max((_number_of(row) for row in rows), default=1)
    if not names:
        return settings
    platforms = spelled_platforms(settings, names, rows)
    return replace(settings, platforms=platforms, thread=threads, variants=variants)


def spelled_platforms(
    settings: Settings, names: Sequence[str], rows: Sequence[Row]
) -> tuple[str, ...]:
    """The platforms as the settings name them, else with the limit that their rows were held to."""
    given = {platform_chosen(each).name: each for each in settings.platforms}
    limits = {
        _platform_of(row): row.measures.max_length
        for row in rows
        if row.measures and row.measures.max_length
    }

    def spelled(name: str) -> str:
        held = limits.get(name, platform_named(name).limit)
        return given.get(name, name if held == platform_named(name).limit else f"{name}={held}")

    return tuple(map(spelled, names))


def engine_again(settings: Settings, run: Run) -> Engine:
    """The engine that the settings choose; where they name no model, that of the run.

    Its model is asked at the settings' server, in the background if it was before, and an endpoint
    by the table of its name. A run without a model is made again without one.

    Raises:
        UsageError: the run's model cannot be asked; the hint says what to give.
    """
    if settings.model or settings.engine or run.engine == "extractive":
        return engine_for(settings)
    if run.model is None or run.engine == "local":
        what = f"the model {run.model} in this process" if run.model else f"engine {run.engine}"
        path = f"local:PATH of {run.model}" if run.model else "gpt-4.1-mini"
        raise UsageError(f"run {run.id} was made by {what}", hint=f"give --model {path}")
    named = {"endpoint": f"{ENDPOINT}{run.model}", "responses": "responses"}
    return engine_for(replace(settings, engine=named.get(run.engine), model=run.model))


def _asked_variants(store: Store, run: Run, settings: Settings) -> set[str]:
    """The first variants that the run's posts were asked for."""
    names = as_stored(settings, store, run).platforms or DEFAULT_PLATFORMS
    return {platform_chosen(name).name for name in names}


def _platform_of(row: Row) -> str:
    return row.variant.partition(".")[0]


def _number_of(row: Row) -> int:
    number = row.variant.partition(".")[2]
    return int(number) if number.isdecimal() else 1
