"""Putting a composite together from rows: pure, so the same rows give the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repurpose.core.composite import Composite, Section, composite_from, split_input
from repurpose.core.envelope import Envelope
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Row
from repurpose.core.source import Block, Source

__all__ = [
    "Composed",
    "Composite",
    "Dropped",
    "Section",
    "citations_of",
    "compose",
    "composite_from",
    "section_input",
    "split_input",
]

_MOST_SHOWN = 200
"""Characters of a warning."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A section that is not part of a composite, and why, in words for an editor."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Composed:
    """A composite as it was put together."""

    payload: JsonObject
    """`{destination, widgetType, sections, dropped}`, in the order of the declaration."""
    envelope: Envelope
    """200, or 400 where a section was dropped; its data is the payload either way."""
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()
    """What looks wrong in a text, one line each, at most 200 characters."""

    @property
    def exit_code(self) -> int:
        """0 whole, 1 some sections were dropped, 4 all of them were."""
        if not self.dropped:
            return 0
        return 1 if self.payload["sections"] else 4


def compose(
    composite: Composite,
    rows: Sequence[Row],
    source: Source | None = None,
    outputs: Mapping[str, Envelope] | None = None,
) -> Composed:
    """The composite, put together from a run's current rows.

    `outputs` are the envelopes of formats by name, which say why one has no row. The source is
    asked where its quotes stand. What has no text to give is dropped, and the rest is delivered.
    """
    found = {section_input(row): row for row in rows}
    sections: list[JsonValue] = []
    dropped: list[Dropped] = []
    warnings: list[str] = []
    for section in composite.sections:
        row = found.get(section.input)
        if row is None or row.status == "failed":
            reason = _reason(section.input, row, rows, outputs or {})
            dropped.append(Dropped(section.name, reason))
        else:
            sections.append(_section(section, row, source))
            warnings += _leftovers(section.name, row.text or "")
    payload: JsonObject = {
        "destination": composite.destination,
        "widgetType": composite.renderer,
        "sections": sections,
        "dropped": [{"sectionName": each.name, "reason": each.reason} for each in dropped],
    }
    message = _message(composite, len(sections), dropped)
    envelope = Envelope(400 if dropped else 200, message, payload)
    return Composed(payload, envelope, tuple(dropped), tuple(warnings))


def section_input(row: Row) -> str:
    """What a section names to get this row: `faq`, `social.x`, `social.x.2`."""
    return row.format if row.variant == "default" else f"{row.format}.{row.variant}"


def citations_of(row: Row, source: Source | None = None) -> list[JsonValue]:
    """Where the row's passages stand in the source: `{text, start, end, label}` each.

    The label is the nearest heading, else the page, else the time; null where the source has none
    of them, or is not given.
    """
    return [
        {
            "text": quote.text,
            "start": quote.start,
            "end": quote.end,
            "label": _label(source, quote.start) if source else None,
        }
        for quote in row.quotes
    ]


def _section(section: Section, row: Row, source: Source | None) -> JsonObject:
    return {
        "sectionName": section.name,
        "displayLabel": section.label,
        "textContent": row.text or "",
        "structuredData": row.content,
        "citations": citations_of(row, source),
    }


def _label(source: Source, at: int) -> str | None:
    block = next((each for each in source.blocks if each.start <= at < each.end), None)
    if block is None:
        return None
    if block.kind == "heading":
        lines = source.text[block.start : block.end].strip().splitlines()
        return lines[0].strip("# \t") if lines else _place(block)
    return _place(block)


def _place(block: Block) -> str | None:
    if block.headings:
        return block.headings[-1]
    if block.page is not None:
        return f"page {block.page}"
    if block.time is None:
        return None
    minutes, seconds = divmod(int(block.time), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _reason(
    wanted: str, row: Row | None, rows: Sequence[Row], outputs: Mapping[str, Envelope]
) -> str:
    """Why there is no text for an input, on one line."""
    format, variant = split_input(wanted)
    of_format = [each for each in rows if each.format == format]
    failed = row or next((each for each in of_format if _is_whole_failure(each)), None)
    if failed is not None:
        return _failure(failed)
    if not of_format and format in outputs and outputs[format].status != 200:
        said = _line(outputs[format].message)
        return f"{format} was {said}" if said.startswith("not ") else said
    if variant is not None:
        what = "post for" if format == "social" else "variant"
        return f"{format} has no {what} {variant} in this run"
    if of_format:
        have = ", ".join(sorted(map(section_input, of_format)))
        return f"{format} has several texts in this run; name one of {have}"
    return f"no format {format} in this run"


def _is_whole_failure(row: Row) -> bool:
    return row.status == "failed" and row.variant == "default"


def _failure(row: Row) -> str:
    """`FAQ failed: no valid answer`; words that name the format already stay as they are."""
    said = _line(row.message)
    bare = said.removeprefix(f"{row.label} generation error: ")
    if bare == said and said.startswith(f"{row.label} "):
        return said
    return f"{row.label} failed: {bare}"


def _message(composite: Composite, delivered: int, dropped: Sequence[Dropped]) -> str:
    if not dropped:
        count = {0: "no sections", 1: "1 section"}.get(delivered, f"{delivered} sections")
        return f"{composite.name} put together: {count}"
    named = "; ".join(f"{each.name} ({each.reason})" for each in dropped)
    return f"{composite.name}: {delivered} of {len(composite.sections)} sections; dropped: {named}"


def _leftovers(name: str, text: str) -> Iterator[str]:
    """A warning where a place of a template is left in a finished text."""
    at = text.find("{{")
    if at >= 0:
        warning = f"section {name} has a place that nothing was put into: {_line(text[at:][:200])}"
        yield warning if len(warning) <= _MOST_SHOWN else f"{warning[: _MOST_SHOWN - 1]}…"


def _line(text: str) -> str:
    return " ".join(text.split())
