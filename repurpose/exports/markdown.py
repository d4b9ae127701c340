"""A run as one Markdown document, to read, edit and paste from.

A text stays as it was written, except that no text can add to the document's headings or swallow
those that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from repurpose.core.json_types import JsonObject
from repurpose.core.record import Measures, Row, Run
from repurpose.core.source import Source
from repurpose.exports._markdown_text import (
    faq_lines,
    heading,
    newsletter_lines,
    one_line,
    text_lines,
)
from repurpose.exports.base import after_parts, by_format, pairs_of
from repurpose.platforms import variant_label

__all__ = ["markdown_export"]


def markdown_export(run: Run, source: Source, rows: Sequence[Row]) -> str:
    """Title, where the text comes from, then a section a format and a subsection a platform.

    A failed row stands in its place as a note with the reason. Lengths and cuts stand in the
    subsection's heading: `X (269 of 280, shortened)`.
    """
    found = by_format(run, rows)
    parts = [f"# {heading(source.title or source.origin)}", _origin(run, source, rows)]
    for of_format in found.values():
        parts.append(f"## {heading(of_format[0].label)}")
        parts.extend(part for row in of_format for part in _section(row))
    missing = [name for name in run.formats if name not in found]
    if missing:
        parts.append(f"> **Not made:** {', '.join(missing)}")
    return "\n\n".join(parts) + "\n"


def _origin(run: Run, source: Source, rows: Sequence[Row]) -> str:
    """Where the text comes from and what wrote it, as one line."""
    writers = dict.fromkeys(row.provenance for row in rows)
    facts = [source.url or source.origin, *writers, f"run {run.id}", run.started_at]
    return one_line(f"Source: {' · '.join(facts)}")


def _section(row: Row) -> Iterator[str]:
    """A row's parts, a subheading first where its format has several variants."""
    if row.variant != "default":
        yield f"### {heading(variant_label(row.variant) + _facts(row.measures))}"
    if row.status == "failed":
        yield f"> **Failed:** {one_line(row.message)}"
        return
    body = _BODIES.get(row.format, _no_parts)(row.content or {})
    below = after_parts(row.text or "", row.content) if body else ""
    yield from body or [text_lines(row.text or "")]
    if below:
        yield text_lines(below)


def _facts(measures: Measures | None) -> str:
    """` (269 of 280, shortened)`; nothing where no limit holds."""
    if measures is None or measures.max_length is None:
        return ""
    facts = [f"{measures.length} of {measures.max_length}"]
    if measures.shortened:
        facts.append("shortened")
    if measures.hashtags_dropped:
        tags = "hashtag" if measures.hashtags_dropped == 1 else "hashtags"
        facts.append(f"{measures.hashtags_dropped} {tags} dropped")
    return f" ({', '.join(facts)})"


def _faq(content: JsonObject) -> list[str]:
    """Each question as a heading over its answer."""
    return faq_lines(pairs_of(content))


def _newsletter(content: JsonObject) -> list[str]:
    """The parts of a newsletter, those that are not read as body with their names."""
    match content:
        case {
            "subject": str(subject),
            "preheader": str(preheader),
            "paragraphs": [*paragraphs],
            "callToAction": str(call_to_action),
        }:
            return newsletter_lines(
                subject, preheader, [str(paragraph) for paragraph in paragraphs], call_to_action
            )
        case _:
            return []


def _no_parts(_: JsonObject) -> list[str]:
    """For a format that is written as its text."""
    return []


_BODIES: Mapping[str, Callable[[JsonObject], list[str]]] = {
    "faq": _faq,
    "newsletter": _newsletter,
}
"""Formats whose parts are shown as parts; content of another shape falls back to the text."""
