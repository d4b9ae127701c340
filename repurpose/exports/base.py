"""What an export is: a pure function from stored values to one text; it calls no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Row, Run
from repurpose.core.source import Source

__all__ = ["Export", "by_format", "pairs_of"]

Export: TypeAlias = Callable[[Run, Source, Sequence[Row]], str]
"""From a run, its source and its rows to the text of a file, which ends with a newline.

Equal values give equal bytes: no clock, no settings, no order that depends on speed.
"""


def by_format(run: Run, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each format, formats in the order in which the run was asked for them.

    Rows are stored as formats finish, which differs from run to run; within a format they keep
    their order. A format without rows is missing.
    """
    grouped: dict[str, list[Row]] = {name: [] for name in run.formats}
    for row in rows:
        grouped.setdefault(row.format, []).append(row)
    return {name: found for name, found in grouped.items() if found}


def pairs_of(content: JsonObject | None) -> list[tuple[str, str]]:
    """The questions and answers of a FAQ's content; none where it is not one.

    >>> pairs_of({"pairs": [{"question": "Why?", "answer": "Because."}]})
    [('Why?', 'Because.')]
    """
    match content:
        case {"pairs": [*entries]}:
            return [pair for pair in map(_pair, entries) if pair]
        case _:
            return []


def _pair(entry: JsonValue) -> tuple[str, str] | None:
    match entry:
        case Mapping() if isinstance(entry.get("question"), str):
            return str(entry["question"]), str(entry.get("answer", ""))
        case _:
            return None
