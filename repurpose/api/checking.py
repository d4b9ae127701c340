"""Whether everything that a run needs is right, found out without a call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from repurpose.api._declared_composites import checked_composite, declared_fault, refuse_renamed
from repurpose.api._needed import with_needed
from repurpose.api.adapters import engine_for, open_store
from repurpose.api.runs import job_for
from repurpose.config import ENDPOINT, Settings, from_environment
from repurpose.core.finding import Finding
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import RepurposeError, UsageError
from repurpose.formats import FORMATS, Formats, ordered
from repurpose.schema.wire import check_strict
from repurpose.steps.request import repair_call

__all__ = ["checked"]


def checked(
    database: str | Path | None = None,
    known: Formats | None = None,
    declaring: Settings | None = None,
) -> Iterator[tuple[str, str | None]]:
    """Each thing that a run needs, with what is wrong with it, or None.

    Formats are all that `known` knows: the built-in ones, the user's own, and those that packages
    offer; composites and endpoints are those that the settings `declaring` them have. Whatever is
    wrong with one of them is told on its line.
    """
    known = known or Formats()
    for name in known.names():
        yield f"format {name}", _fault(partial(_checked_format, name, known))
    settings = from_environment(os.environ, database=database)
    if declaring is not None:
        yield from _declared(declaring, known, settings.database)
    yield f"database {settings.database}", _fault(lambda: open_store(settings.database).close())


def _declared(
    settings: Settings, known: Formats, database: Path
) -> Iterator[tuple[str, str | None]]:
    """Composites and endpoints."""
    for name, table in settings.composites.items():
        check = partial(_checked_composite, name, table, known, database)
        fault = _fault(check)
        yield f"composite {name}", fault and fault.removeprefix(f"composite {name}: ")
    for name in settings.endpoints:
        fault = _fault(partial(_checked_endpoint, name, settings))
        yield f"endpoint {name}", fault and fault.removeprefix(f"endpoint {name}").lstrip(": ")


def _checked_format(name: str, known: Formats) -> None:
    """Raise what would stop a run of this format before its first call."""
    example = Source(text="One sentence.", origin="example", kind="text")
    format = name if name in FORMATS else known.named(name)
    job = job_for(format, example, Steering(), Settings(database=Path(os.devnull)), None)
    if job.refused is not None:
        raise job.refused
    ordered(with_needed([job.format], known))
    if not job.format.structured:
        return
    check_strict(job.first.wire, name)
    finding = Finding("parse", "", "not a JSON object")
    repair_call(job.first, attempt=2, findings=[finding], rejected="", output_tokens=None)


def _checked_composite(name: str, table: object, known: Formats, database: Path) -> None:
    """Raise what would stop this composite, or leave a section of it out for sure."""
    composite = checked_composite(name, table)
    fault = declared_fault(composite, known)
    if fault is not None:
        raise UsageError(fault)
    if not database.exists():
        return
    store = open_store(database)
    try:
        refuse_renamed(composite, store.section_names(composite.name, composite.version))
    finally:
        store.close()


def _checked_endpoint(name: str, settings: Settings) -> None:
    """Raise what would stop the first call of this endpoint before it is sent."""
    engine_for(replace(settings, engine=f"{ENDPOINT}{name}"))


def _fault(act: Callable[[], object]) -> str | None:
    """What our own error says about `act`, or None where it went well."""
    try:
        act()
    except RepurposeError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return None
