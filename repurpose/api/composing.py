"""Composites: the formats that one needs are run once each, and its sections put together.

What is put together comes from stored rows alone, so the same run gives the same bytes again.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from repurpose.api._composed import (
    Deliverable,
    composed_from,
    composed_without_run,
    keep,
    rendered,
)
from repurpose.api._declared_composites import (
    checked_composite,
    composite_in,
    composite_named,
    declared_fault,
    formats_of,
    needs_of,
    refuse_renamed,
)
from repurpose.api.adapters import open_store
from repurpose.api.loading import load
from repurpose.api.runs import RunOptions, arun, waited
from repurpose.config import Settings, from_environment
from repurpose.core.composite import Composite
from repurpose.core.result import RunResult
from repurpose.core.source import Source
from repurpose.errors import FormatError, UsageError
from repurpose.ports import Store

__all__ = [
    "Deliverable",
    "acompose",
    "checked_composite",
    "compose",
    "composed_from",
    "composed_without_run",
    "composite_in",
    "composite_named",
    "declared_fault",
    "formats_of",
    "keep",
    "needs_of",
    "refuse_renamed",
    "rendered",
    "stopping_failure",
]


def compose(
    composite: Composite | str,
    source: Source | str | Path | bytes | None = None,
    *,
    run: str | None = None,
    **options: Unpack[RunOptions],
) -> Deliverable:
    """`acompose` for programs without an event loop; the same arguments, results and errors."""
    return waited(acompose(composite, source, run=run, **options), "acompose")


async def acompose(
    composite: Composite | str,
    source: Source | str | Path | bytes | None = None,
    *,
    run: str | None = None,
    **options: Unpack[RunOptions],
) -> Deliverable:
    """The composite of a source, whose formats are run first, or of a stored `run`, with no call.

    `composite` is a value, or the name of one that the settings declare. It is kept in the store;
    where it goes from there is the caller's business.

    Raises:
        SourceError: the source cannot be read.
        UsageError: the composite or a setting cannot be used, its sections were renamed under a
            known version, or not just one of `source` and `run` is given.
        FormatError: a format failed, and the run was to abort then.
        StoreError: the database cannot be opened.
    """
    settings = options.get("settings") or from_environment(os.environ)
    if isinstance(composite, str):
        composite = composite_named(composite, settings)
    if (source is None) == (run is None):
        raise UsageError("a composite is made of a source or of a run", hint="give one of the two")
    store = options.get("store") or open_store(settings.database)
    try:
        known = options.get("known") or formats_of(settings)
        if source is None:
            deliverable = composed_from(composite, store, str(run), known)
        else:
            loaded = source if isinstance(source, Source) else load(source)
            deliverable = await _made(
                composite, loaded, store, settings, {**options, "known": known}
            )
        keep(deliverable, store)
        return deliverable
    finally:
        if "store" not in options:
            store.close()


def stopping_failure(result: RunResult, on_failure: str) -> str | None:
    """Why a run that was to abort gives no composite, or None where it gives one."""
    if on_failure != "abort":
        return None
    failed = [each for each in result.results.values() if not each.done]
    return f"{failed[0].envelope.message}; on_failure is abort" if failed else None


async def _made(
    composite: Composite, source: Source, store: Store, settings: Settings, options: RunOptions
) -> Deliverable:
    """The composite of a source, after the run that it needs."""
    refuse_renamed(composite, store.section_names(composite.name, composite.version))
    known = options["known"]
    needs = needs_of(composite, settings, known)
    if not needs.formats:
        return composed_without_run(composite, source, known)
    given: RunOptions = {**options, "settings": needs.settings, "store": store}
    result = await arun(source, needs.formats, **given)
    reason = stopping_failure(result, options.get("on_failure", settings.on_failure))
    if reason is not None:
        raise FormatError(f"{composite.name} was not put together: {reason}")
    return replace(composed_from(composite, store, result.run.id, known), result=result)
