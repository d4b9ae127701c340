"""Rows and runs as JSON objects, the same wherever a program asks for them."""

from __future__ import annotations

from dataclasses import asdict

from repurpose.core.compose import citations_of, section_input
from repurpose.core.record import Row, Run
from repurpose.core.source import Source

__all__ = ["row_object", "run_object", "shown_row"]


def row_object(row: Row) -> dict[str, object]:
    """Every stored fact of a row, with its measures and quotes as objects."""
    return asdict(row)


def shown_row(row: Row, source: Source | None = None) -> dict[str, object]:
    """The same, with what follows from it: `locked`, its section, and where it is from.

    Citations have a place with a name where the source is given.
    """
    return {
        **row_object(row),
        "locked": row.locked,
        "section": section_input(row),
        "citations": citations_of(row, source),
    }


def run_object(run: Run, title: str | None, origin: str) -> dict[str, object]:
    """A run with what it was made of."""
    return {
        "id": run.id,
        "status": run.status,
        "title": title,
        "origin": origin,
        "formats": list(run.formats),
        "engine": run.engine,
        "model": run.model,
        "startedAt": run.started_at,
        "finishedAt": run.finished_at,
        "language": run.language,
        "audience": run.audience,
        "tone": run.tone,
    }
