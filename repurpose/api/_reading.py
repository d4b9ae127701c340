"""Whether a run has to read its source in parts first, which is known before any call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from repurpose.config import Settings
from repurpose.contexts import context_of, output_of
from repurpose.core.policy import RetryOverrides, RetryPolicy
from repurpose.core.profile import Profile
from repurpose.core.progress import ContextUnknown, Progress
from repurpose.core.source import Source
from repurpose.engines._instructor_providers import provider_of
from repurpose.engines._profiles import profile_for, profile_named
from repurpose.errors import SourceError, UsageError
from repurpose.formats.base import FinishContext
from repurpose.ports import Engine
from repurpose.sources.base import shown
from repurpose.steps.job import Job
from repurpose.steps.reading import Briefing, Window
from repurpose.text.sentences import segmenter_named
from repurpose.text.tokens import estimated_tokens

__all__ = ["briefing_for", "context_tokens"]

log = logging.getLogger(__name__)

_LONG = 100_000
"""Tokens that not every model takes: where nobody knows, the user is told."""
_LEAST_ROOM = 256
"""Tokens of a source that a call must have room for, or there would be no end of calls."""


def briefing_for(
    jobs: Sequence[Job],
    formats: Callable[[Source], Sequence[Job]],
    engine: Engine,
    settings: Settings,
    *,
    retry: RetryPolicy | None = None,
    report: Callable[[Progress], None],
) -> Briefing | None:
    """How the source of `jobs` is read where it does not fit into the model's context, else None.

    None as well where the size of the context is not known; a long source is told of then.

    Raises:
        SourceError: `too-large`, where it does not fit and `settings.no_brief` forbids parts.
        UsageError: the context has no room for any source beside the prompts.
    """
    source = jobs[0].first.source
    size = context_tokens(engine, settings)
    if size is None:
        _tell_long(source, report)
        return None
    window = Window(size, output_of(engine.model), engine.schema_in_prompt)
    if all(window.fits(job.first) for job in jobs):
        return None
    if settings.no_brief:
        raise SourceError(
            "too-large",
            f"{shown(source.origin)}: about {estimated_tokens(source.text):,} tokens, and"
            f" {engine.model or engine.name} takes {size:,} with prompt and reply",
            hint="leave out --no-brief to have it read in parts, or use a model with more context",
        )
    briefing = Briefing(
        source=source,
        window=window,
        formats=formats,
        policy=retry or settings.retry.layered(RetryOverrides(max_attempts=settings.max_attempts)),
        finish=FinishContext(segmenter=segmenter_named(settings.segmenter)),
        output_tokens=settings.output_tokens,
    )
    _refuse_cramped(window, [briefing.room(), *(window.spare(j.first) for j in jobs)])
    return briefing


def context_tokens(engine: Engine, settings: Settings) -> int | None:
    """How many tokens fit into a call to this engine, or None where nobody knows.

    What the user says; else what the model in this process is loaded with; else the least of what
    the kind of server takes by itself and what the model is known to take at its provider.
    """
    if settings.context_tokens is not None:
        return settings.context_tokens
    loaded = engine.parameters.get("context_tokens")
    if isinstance(loaded, int):
        return loaded
    served = _served_by(engine, settings)
    sizes = (served.context_tokens if served else None, context_of(engine.model))
    return min((size for size in sizes if size is not None), default=None)


def _served_by(engine: Engine, settings: Settings) -> Profile | None:
    """The profile of the server that the engine asks, where it asks one."""
    if engine.name == "endpoint":
        return None  # what serves texts there is no model's server, whatever its address
    if settings.profile:
        return profile_named(settings.profile)
    endpoint = engine.parameters.get("endpoint")
    if not isinstance(endpoint, str):
        named = provider_of(engine.model or "")
        return profile_named(named[0].profile) if named else None
    return profile_for(_host(endpoint))


def _host(endpoint: str) -> str:
    return urlsplit(endpoint).netloc.rpartition("@")[2]


def _tell_long(source: Source, report: Callable[[Progress], None]) -> None:
    tokens = estimated_tokens(source.text)
    if tokens > _LONG:
        try:
            report(ContextUnknown(tokens))
        except Exception as foreign:  # noqa: BLE001 - a display belongs to the caller
            log.warning("progress could not be reported: %s", type(foreign).__name__)


def _refuse_cramped(window: Window, rooms: Sequence[int]) -> None:
    if min(rooms) < _LEAST_ROOM:
        missing = _LEAST_ROOM - min(rooms)
        raise UsageError(
            f"a context of {window.tokens:,} tokens has no room for a source beside prompt and"
            f" reply; about {missing:,} more are needed",
            hint="use a model with more context, or --context-tokens if it has more",
        )
