"""Rows as a person reads them, and as a program does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from repurpose.core.record import Measures, Row
from repurpose.core.result import FormatResult
from repurpose.platforms import PLATFORMS

__all__ = ["json_line", "measures_phrase", "result_object", "row_object", "row_text", "table"]

_UNIT_WORDS = {
    "code_points": "characters",
    "utf16": "characters",
    "x_weighted": "weighted characters",
    "graphemes": "graphemes",
    "utf8_bytes": "bytes",
}


def row_text(row: Row) -> str:
    """A row with a heading that says what it is, how long, and what wrote it."""
    name = row.label if row.variant == "default" else f"{row.label}: {_variant_label(row.variant)}"
    if row.status == "failed":
        return f"# {name} failed\n\n{row.message}\n"
    facts = [measures_phrase(row.measures)] if row.measures else []
    return f"# {name} ({'; '.join([*facts, row.provenance])})\n\n{row.text}\n"


def measures_phrase(measures: Measures) -> str:
    """How long a text is and what was done to make it fit.

    >>> measures_phrase(Measures(269, "x_weighted", 280, True, "sentence"))
    '269 of 280 weighted characters, shortened at a sentence end'
    """
    unit = _UNIT_WORDS.get(measures.unit, measures.unit)
    limit = "" if measures.max_length is None else f" of {measures.max_length:,}"
    where = "a sentence end" if measures.cut_mode == "sentence" else "a word"
    cut = f", shortened at {where}" if measures.shortened else ""
    tags = measures.hashtags_dropped
    dropped = f", {tags} hashtag{'s' if tags != 1 else ''} dropped" if tags else ""
    return f"{measures.length:,}{limit} {unit}{cut}{dropped}"


def result_object(result: FormatResult) -> dict[str, object]:
    """A format's result for programs: its envelope, the facts beside it, and its rows."""
    return {
        "format": result.format,
        "label": result.label,
        "envelope": result.envelope.to_map(),
        "meta": asdict(result.meta),
        "rows": [row_object(row) for row in result.rows],
    }


def row_object(row: Row) -> dict[str, object]:
    """Every stored fact of a row, with its measures and quotes as objects."""
    return asdict(row)


def json_line(value: Mapping[str, object]) -> str:
    """One JSON object on one line, in the characters it was written in."""
    return json.dumps(value, ensure_ascii=False)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Aligned columns; the last one is as wide as it likes."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, *lines)
    )


def _variant_label(variant: str) -> str:
    platform = PLATFORMS.get(variant)
    return platform.label if platform else variant
