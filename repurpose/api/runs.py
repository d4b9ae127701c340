"""One source through several formats, stored as they are done."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from repurpose.api.adapters import SystemClock, engine_for, load, new_id, open_store
from repurpose.config import Settings, from_environment
from repurpose.core.policy import RetryOverrides, RetryPolicy
from repurpose.core.progress import Progress
from repurpose.core.result import RunResult
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import UsageError
from repurpose.formats import FORMATS, format_named
from repurpose.formats.base import FinishContext, Format
from repurpose.platforms import PLATFORMS
from repurpose.ports import Engine, Store
from repurpose.runner import Runner
from repurpose.steps.job import Job, prepare
from repurpose.text.sentences import segmenter_named

__all__ = ["RunOptions", "arun", "job_for", "run", "runner_for", "steering_for", "waited"]

ReturnT = TypeVar("ReturnT")


class RunOptions(TypedDict, total=False):
    """What `run` and `arun` take beside the source and the formats."""

    engine: Engine
    """What answers; without it, the engine that `settings` choose."""
    store: Store
    """Where results are kept; without it, the database that `settings` name."""
    settings: Settings
    """Without them, those of the environment."""
    retry: RetryPolicy
    """Over the policies of the formats."""
    force: bool
    """Call even where a finished row is stored."""
    report: Callable[[Progress], None]
    """Told of every step, in the thread of the event loop."""
    stopping: Callable[[], bool]
    """Asked before anything new begins; True ends the run as interrupted."""


async def arun(
    source: Source | str | Path | bytes,
    formats: Sequence[str] = tuple(FORMATS),
    **options: Unpack[RunOptions],
) -> RunResult:
    """All `formats` of one source, run side by side and stored as they are done.

    Raises:
        SourceError: the source cannot be read.
        UsageError: a format or setting that is not known.
        StoreError: the database cannot be opened.
    """
    settings = options.get("settings") or from_environment(os.environ)
    source = source if isinstance(source, Source) else load(source)
    engine = options.get("engine") or engine_for(settings)
    steering = steering_for(engine, settings)
    made = (
        job_for(
            name,
            source,
            steering,
            settings,
            options.get("retry"),
            schema_in_prompt=engine.schema_in_prompt,
        )
        for name in formats
    )
    jobs = {job.format.name: job for job in made}
    if not jobs:
        raise UsageError("no format is named", hint=f"choose from {', '.join(FORMATS)}")
    store = options.get("store") or open_store(settings.database)
    runner = runner_for(engine, store, settings, options)
    try:
        return await runner.run(source, list(jobs.values()), steering)
    finally:
        if "engine" not in options:
            await engine.close()
        if "store" not in options:
            store.close()


def run(
    source: Source | str | Path | bytes,
    formats: Sequence[str] = tuple(FORMATS),
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
    )


def steering_for(engine: Engine, settings: Settings) -> Steering:
    """The editor's wishes, or none for an engine that repeats the source's own sentences."""
    if engine.extractive:
        return Steering()
    return Steering(settings.language, settings.audience, settings.tone)


def job_for(
    name: str,
    source: Source,
    steering: Steering,
    settings: Settings,
    retry: RetryPolicy | None,
    *,
    schema_in_prompt: bool = True,
) -> Job:
    """The named format of `source`, checked and ready; `schema_in_prompt` is the engine's."""
    format = _built(name)
    policy = retry or _policy(settings, format)
    return prepare(
        format,
        source,
        steering,
        policy=policy,
        context=FinishContext(platforms=PLATFORMS, segmenter=segmenter_named(settings.segmenter)),
        finishing={
            "segmenter": settings.segmenter,
            "limits": {n: [p.limit, p.unit, p.max_hashtags] for n, p in PLATFORMS.items()},
        },
        output_tokens=settings.output_tokens,
        schema_in_prompt=schema_in_prompt,
    )


@cache  # its prompt and schema files do not change while a process runs
def _built(name: str) -> Format:
    """The named format."""
    return format_named(name)


def _policy(settings: Settings, format: Format) -> RetryPolicy:
    """The flag's number of attempts over the format's own policy over the default."""
    return RetryPolicy().layered(RetryOverrides(max_attempts=settings.max_attempts), format.retry)


def _silent(_: Progress) -> None:
    """For a run that nobody watches."""


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
