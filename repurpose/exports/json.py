"""A run as one JSON object with every stored fact; for programs, and to keep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from repurpose.core.record import Row, Run
from repurpose.core.source import Source
from repurpose.exports.base import by_format, pairs_of
from repurpose.formats.faq import Pair, faq_json_ld

__all__ = ["json_export"]


def json_export(run: Run, source: Source, rows: Sequence[Row]) -> str:
    """`{run, source, rows}` with two spaces of indent, in the characters it was written in.

    A field that a record does not have is null, never absent. The source's text is not in it.
    A FAQ row has `json_ld` beside its content: schema.org `FAQPage` as text that may stand in a
    `script` element as it is.
    """
    exported = {
        "run": asdict(run),
        "source": {
            "title": source.title,
            "author": source.author,
            "date": source.date,
            "origin": source.origin,
            "url": source.url,
            "kind": source.kind,
            "language": source.language,
            "digest": source.digest,
            "warnings": source.warnings,
        },
        "rows": [_row(row) for found in by_format(run, rows).values() for row in found],
    }
    return json.dumps(exported, ensure_ascii=False, indent=2) + "\n"


def _row(row: Row) -> dict[str, object]:
    pairs = pairs_of(row.content) if row.format == "faq" else []
    if not pairs:
        return asdict(row)
    asked = [Pair(question, answer) for question, answer in pairs]
    return asdict(row) | {"json_ld": faq_json_ld(asked, row.language)}
