"""What an export is: a pure function from stored values to one text; it calls no model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Row, Run
from repurpose.core.source import Source

__all__ = ["Export", "after_parts", "by_format", "pairs_of"]

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


def after_parts(text: str, content: JsonObject | None) -> str:
    """What stands in a row's text after all that its content holds: a voice's disclaimer.

    Nothing where the text is not the content in its order.

    >>> after_parts("Q: Why? A: So. No advice.", {"pairs": [{"question": "Why?", "answer": "So."}]})
    'No advice.'
    """
    end = 0
    for part in _strings(content or {}):
        place = text.find(part, end)
        if place < 0:
            return ""
        end = place + len(part)
    return text[end:].strip()


def _strings(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for inner in value.values():
                yield from _strings(inner)
        case Sequence():
            for inner in value:
                yield from _strings(inner)
        case _:
            return


def _pair(entry: JsonValue) -> tuple[str, str] | None:
    match entry:
        case Mapping() if isinstance(entry.get("question"), str):
            return str(entry["question"]), str(entry.get("answer", ""))
        case _:
            return None
