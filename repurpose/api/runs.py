"""One source through several formats, stored as they are done."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from repurpose.api.adapters import SystemClock, engine_for, new_id, open_store
from repurpose.api.loading import load
from repurpose.config import Settings, from_environment
from repurpose.core.policy import OnFailure, RetryOverrides, RetryPolicy
from repurpose.core.progress import Progress
from repurpose.core.result import FormatResult, RunResult
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import UsageError
from repurpose.formats import FORMATS, Formats, format_named, known_formats
from repurpose.formats.base import FinishContext, Format
from repurpose.platforms import (
    DEFAULT_PLATFORMS,
    Platform,
    changed,
    chosen_platforms,
    fit,
    platform_named,
)
from repurpose.ports import Engine, Listener, Store
from repurpose.runner import Prepared, Runner
from repurpose.steps.job import Job, prepare
from repurpose.steps.layout import arranged
from repurpose.text.sentences import segmenter_named

__all__ = [
    "RunOptions",
    "arun",
    "job_for",
    "prepared_for",
    "run",
    "runner_for",
    "steering_for",
    "waited",
]

ReturnT = TypeVar("ReturnT")


class RunOptions(TypedDict, total=False):
    """What `run` and `arun` take beside the source and the formats."""

    engine: Engine
    """What answers; without it, the engine that `settings` choose. Caps of the settings hold for
    each run by itself, unless the engine is `budgeted` already."""
    store: Store
    """Where results are kept; without it, the database that `settings` name."""
    settings: Settings
    """Without them, those of the environment."""
    known: Formats
    """Where formats are looked up by name; without it, the built-in ones, those that `settings`
    declare, and those that packages offer."""
    retry: RetryPolicy
    """Over the policies of the formats."""
    force: bool
    """Call even where a finished row is stored."""
    report: Callable[[Progress], None]
    """Told of every step, in the thread of the event loop."""
    stopping: Callable[[], bool]
    """Asked before anything new begins; True ends the run as interrupted."""
    on_failure: OnFailure
    """`skip`: the formats go on without the failed one. `abort`: those that are not begun yet are
    not begun, and have no row. Without it, what `settings` say."""
    on_result: Callable[[FormatResult], None]
    """Given each format's result as soon as it is stored, in the thread of the event loop."""
    listen: Callable[[str], Listener]
    """From a format's name to what hears its replies while they are written, where the engine
    streams. Without it nothing is streamed, and requests are as they always were."""


async def arun(
    source: Source | str | Path | bytes,
    formats: Sequence[str | Format] = tuple(FORMATS),
    **options: Unpack[RunOptions],
) -> RunResult:
    """All `formats` of one source, run side by side and stored as they are done.

    A format is named, or given as a value. One that reads others' results comes after them.

    Raises:
        SourceError: the source cannot be read, or is too long and must not be read in parts.
        UsageError: a format or setting that is not known.
        StoreError: the database cannot be opened.
    """
    settings = options.get("settings") or from_environment(os.environ)
    source = source if isinstance(source, Source) else load(source)
    engine = _within_budget(options.get("engine") or engine_for(settings), settings)
    steering = steering_for(engine, settings)
    retry = options.get("retry")

    known = options.get("known") or known_formats(
        settings.formats_dir, settings.declared, beside=settings.folder
    )

    def jobs_of(whole: Source) -> list[Job]:
        shown = engine.schema_in_prompt
        made = (
            job_for(each, whole, steering, settings, retry, known=known, schema_in_prompt=shown)
            for each in formats
        )
        jobs = list({job.format.name: job for job in made}.values())
        return arranged(jobs, engine, settings.cache)

    jobs = jobs_of(source)
    if not jobs:
        raise UsageError("no format is named", hint=f"choose from {', '.join(FORMATS)}")
    store = options.get("store") or open_store(settings.database)
    runner = runner_for(engine, store, settings, options)
    try:
        prepared = prepared_for(jobs, jobs_of, engine, settings, retry, runner.report)
        return _explained(await runner.run(source, jobs, steering, prepared), engine)
    finally:
        if "engine" not in options:
            await engine.close()
        if "store" not in options:
            store.close()


def run(
    source: Source | str | Path | bytes,
    formats: Sequence[str | Format] = tuple(FORMATS),
    **options: Unpack[RunOptions],
) -> RunResult:
    """`arun` for programs without an event loop; the same arguments, results and errors."""
    return waited(arun(source, formats, **options), "arun")


def runner_for(
    engine: Engine, store: Store | None, settings: Settings, options: RunOptions
) -> Runner:
    """A runner in real time, with fresh ids."""
    return Runner(
        engine=engine,
        clock=SystemClock(),
        new_id=new_id,
        store=store,
        force=options.get("force", False),
        concurrency=min(settings.concurrency, engine.lanes or settings.concurrency),
        report=options.get("report", _silent),
        stopping=options.get("stopping", _never),
        on_failure=_checked_strategy(options.get("on_failure", settings.on_failure)),
        on_result=options.get("on_result", _unread),
        prices=settings.prices,
        listen=options.get("listen"),
    )


def prepared_for(
    jobs: Sequence[Job],
    jobs_of: Callable[[Source], Sequence[Job]],
    engine: Engine,
    settings: Settings,
    retry: RetryPolicy | None,
    report: Callable[[Progress], None],
) -> Prepared | None:
    """What makes jobs for a brief, where the source of `jobs` does not fit; None where it does.

    Raises:
        SourceError: it does not fit and must not be read in parts.
        UsageError: nothing would fit beside the prompts.
    """
    if engine.extractive:
        return None  # it reads any source whole
    # Sizes, sentence ends and all: a run without a model need not wait for these to be loaded.
    from repurpose.api._reading import briefing_for  # noqa: PLC0415 - see above
    from repurpose.briefing import jobs_from_brief  # noqa: PLC0415 - likewise

    briefing = briefing_for(jobs, jobs_of, engine, settings, retry=retry, report=report)
    return partial(jobs_from_brief, briefing) if briefing else None


def steering_for(engine: Engine, settings: Settings) -> Steering:
    """The editor's wishes, or none for an engine that repeats the source's own sentences."""
    if engine.extractive:
        return Steering()
    return Steering(settings.language, settings.audience, settings.tone, settings.voice)


def job_for(
    wanted: str | Format,
    source: Source,
    steering: Steering,
    settings: Settings,
    retry: RetryPolicy | None,
    *,
    known: Formats | None = None,
    schema_in_prompt: bool = True,
) -> Job:
    """The wanted format of `source`, checked and ready; `schema_in_prompt` is the engine's."""
    platforms = platforms_for(settings) if wanted == "social" else {}
    _refuse_long_disclaimer(settings, platforms)
    if isinstance(wanted, Format):
        format = wanted
    elif platforms:
        format = _built_social(settings, platforms)
    else:
        format = _built(wanted) if wanted in FORMATS else format_named(wanted, known)
    policy = retry or _policy(settings, format)
    return prepare(
        format,
        source,
        steering,
        policy=policy,
        context=FinishContext(
            platforms=platforms,
            segmenter=segmenter_named(settings.segmenter),
            voice=settings.voice,
        ),
        finishing={
            "segmenter": settings.segmenter,
            **({"limits": {n: p.rules for n, p in platforms.items()}} if platforms else {}),
            **({"voice": settings.voice.rules} if settings.voice and settings.voice.rules else {}),
        },
        output_tokens=settings.output_tokens,
        schema_in_prompt=schema_in_prompt,
    )


def platforms_for(settings: Settings) -> dict[str, Platform]:
    """The platforms to write for, under the rules that the settings change.

    Raises:
        UsageError: a platform, an option or a rule that is not known.
    """
    chosen = chosen_platforms(settings.platforms or DEFAULT_PLATFORMS)
    for name, rules in settings.limits.items():
        platform = platform_named(name)
        ruled = changed(chosen.get(platform.name, platform), rules)
        if platform.name in chosen:
            chosen[platform.name] = ruled
    return chosen


def _built_social(settings: Settings, platforms: dict[str, Platform]) -> Format:
    """The social format for these platforms."""
    return _built(
        "social",
        platforms=tuple(platforms.values()),
        threads=settings.thread,
        variants=settings.variants,
    )


@cache  # its prompt and schema files do not change while a process runs
def _built(name: str, **options: Any) -> Format:  # noqa: ANN401 - those of its `build`
    """The named format."""
    return format_named(name, **options)


def _refuse_long_disclaimer(settings: Settings, platforms: Mapping[str, Platform]) -> None:
    """Raise UsageError where the voice's disclaimer leaves less than half of a post."""
    voice = settings.voice
    if voice is None or not voice.notice:
        return
    for platform in platforms.values():
        try:
            fit(".", platform, disclosure=voice.notice)
        except UsageError as error:
            raise UsageError(
                f"voice {voice.name}: its disclaimer leaves less than half of a post on"
                f" {platform.label}, which takes {platform.limit_in_words}",
                hint="shorten it, or leave that platform out",
            ) from error


def _policy(settings: Settings, format: Format) -> RetryPolicy:
    """The flag over the format's own policy over what file and environment say, over ours."""
    return settings.retry.layered(RetryOverrides(max_attempts=settings.max_attempts), format.retry)


def _within_budget(engine: Engine, settings: Settings) -> Engine:
    """The engine under the caps of the settings, where there are any."""
    if not settings.is_capped:
        return engine
    # Sizes and prices: a run without a cap need not wait for these to be loaded.
    from repurpose.api.budgeting import within_budget  # noqa: PLC0415 - see above

    return within_budget(engine, settings)


def _explained(result: RunResult, engine: Engine) -> RunResult:
    """The result, with the reason where it was the budget that interrupted the run."""
    if result.run.status != "interrupted":
        return result
    from repurpose.api.budgeting import BudgetedEngine  # noqa: PLC0415 - as above

    reached = engine.budget.reached if isinstance(engine, BudgetedEngine) else None
    return replace(result, stopped_by=reached)


def _silent(_: Progress) -> None:
    """For a run that nobody watches."""


def _unread(_: FormatResult) -> None:
    """For a run whose results are read at its end."""


def _checked_strategy(on_failure: str) -> OnFailure:
    if on_failure not in ("skip", "abort"):
        raise UsageError(f"on_failure is skip or abort, not {on_failure[:40]!r}")
    return on_failure  # type: ignore[return-value]  # just checked


def _never() -> bool:
    """For a run that nobody stops."""
    return False


def waited(work: Coroutine[Any, Any, ReturnT], asynchronous: str) -> ReturnT:
    """The outcome of `work`, run to its end in an event loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError(
        "an event loop is already running here", hint=f"await {asynchronous}(...) instead"
    )
