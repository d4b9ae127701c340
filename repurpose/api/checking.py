"""Whether everything that a run needs is right, found out without a call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from repurpose.api.adapters import open_store
from repurpose.api.runs import job_for
from repurpose.config import Settings, from_environment
from repurpose.core.finding import Finding
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import RepurposeError
from repurpose.formats import FORMATS
from repurpose.schema.wire import check_strict
from repurpose.steps.request import repair_call

__all__ = ["checked"]


def checked(database: str | Path | None = None) -> Iterator[tuple[str, str | None]]:
    """Each thing that a run needs, with what is wrong with it, or None."""
    for name in FORMATS:
        yield f"format {name}", _fault(lambda name=name: _checked_format(name))  # type: ignore[misc]  # the default binds the loop's value
    settings = from_environment(os.environ, database=database)
    yield f"database {settings.database}", _fault(lambda: open_store(settings.database).close())


def _checked_format(name: str) -> None:
    """Raise what would stop a run of this format before its first call."""
    example = Source(text="One sentence.", origin="example", kind="text")
    job = job_for(name, example, Steering(), Settings(database=Path(os.devnull)), None)
    check_strict(job.first.wire)
    finding = Finding("parse", "", "not a JSON object")
    repair_call(job.first, attempt=2, findings=[finding], rejected="", output_tokens=None)


def _fault(act: Callable[[], object]) -> str | None:
    """What our own error says about `act`, or None where it went well."""
    try:
        act()
    except RepurposeError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return None
