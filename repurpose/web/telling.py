"""Stored runs as the page and programs see them: their sections, and what an event stream tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repurpose.api._sections import PlannedSection, SectionStream, planned_sections
from repurpose.api.objects import shown_row
from repurpose.api.revising import editing_kind, proposal_in
from repurpose.api.runs import platforms_for
from repurpose.config import Settings
from repurpose.core.compose import section_input, split_input
from repurpose.core.envelope import Meta
from repurpose.core.events import payload_of, type_of
from repurpose.core.json_types import JsonObject
from repurpose.core.outputs import aggregate
from repurpose.core.record import Row, Run
from repurpose.core.result import FormatResult, envelope_of, outputs_of
from repurpose.core.source import Source
from repurpose.errors import RepurposeError
from repurpose.formats import Formats, label_of
from repurpose.platforms import PLATFORMS, Platform, variant_label
from repurpose.ports import Store

__all__ = ["Stored", "lines_of", "planned_of", "platform_of", "sections_of"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A run with all that is stored of it."""

    run: Run
    source: Source
    rows: tuple[Row, ...]
    """The current ones, formats in the order in which they were asked for."""
    history: tuple[Row, ...]

    @classmethod
    def of(cls, run: Run, store: Store) -> Stored:
        """What the store holds of a run."""
        place = {name: number for number, name in enumerate(run.formats)}
        rows = sorted(store.rows(run.id), key=lambda row: place.get(row.format, len(place)))
        return cls(run, store.source(run.source_id), tuple(rows), store.history(run.id))


def planned_of(stored: Stored, known: Formats) -> tuple[PlannedSection, ...]:
    """The sections that a stored run has: one for each row, and for each format without any."""
    named = []
    for name in dict.fromkeys((*stored.run.formats, *(row.format for row in stored.rows))):
        rows = [row for row in stored.rows if row.format == name]
        named += [(section_input(row), section_input(row), _label(row)) for row in rows]
        if not rows:
            named.append((name, name, _label_of_format(name, known)))
    plain = [name for name in stored.run.formats if not _is_structured(name, known)]
    return planned_sections(named, plain)


def lines_of(
    stored: Stored, sections: Sequence[PlannedSection]
) -> Iterator[tuple[str, JsonObject]]:
    """What is told of a run that is over: each section, then how the run ended."""
    lines: list[tuple[str, JsonObject]] = []
    stream = SectionStream(
        sections,
        lambda event: lines.append((type_of(event), payload_of(event))),
        source=stored.source,
    )
    for name in dict.fromkeys(row.format for row in stored.rows):
        rows = tuple(row for row in stored.rows if row.format == name)
        first, envelope = rows[0], envelope_of(rows)
        if envelope.status == 400:
            told = {"format": name, "label": first.label, "state": "ended", "status": "failed"}
            lines.append(("progress", {**told, "message": envelope.message}))
            continue
        meta = Meta(stored.run.id, first.attempts, first.elapsed_ms, first.provenance)
        stream.ended(FormatResult(name, first.label, envelope, meta, rows))
    yield from lines
    yield "run_ended", {"status": stored.run.status, "message": _how_it_ended(stored)}


def sections_of(
    sections: Sequence[PlannedSection], stored: Stored | None, settings: Settings, known: Formats
) -> list[dict[str, object]]:
    """The sections with the rows that are stored of them by now, in order.

    The sections of a format that failed as a whole all show its failed row.
    """
    rows = {section_input(row): row for row in stored.rows} if stored else {}
    whole = [row for row in rows.values() if row.variant == "default"]
    failed = {row.format: row for row in whole if row.status == "failed"}
    platforms = platforms_for(settings)
    return [
        _section(
            planned,
            rows.get(planned.input) or failed.get(split_input(planned.input)[0]),
            stored,
            platforms,
            known,
        )
        for planned in sections
    ]


def platform_of(variant: str | None, platforms: Mapping[str, Platform]) -> Platform | None:
    """The platform of a variant, under the rules of the settings where they name it."""
    name = (variant or "").partition(".")[0]
    return platforms.get(name) or PLATFORMS.get(name)


def _section(
    planned: PlannedSection,
    row: Row | None,
    stored: Stored | None,
    platforms: Mapping[str, Platform],
    known: Formats,
) -> dict[str, object]:
    format, variant = split_input(planned.input)
    platform = platform_of(variant, platforms) if format == "social" else None
    measures = row.measures if row else None
    proposal = proposal_in(stored.history, row) if stored and row else None
    source = stored.source if stored else None
    limit, unit = (platform.limit, platform.unit) if platform else (None, None)
    if measures is not None:
        limit, unit = measures.max_length, measures.unit
    return {
        "name": planned.name,
        "label": planned.label or planned.name,
        "format": format,
        "variant": variant or "default",
        "platform": platform.name if platform else None,
        "limit": limit,
        "unit": unit,
        "editing": editing_kind(row, known) if row else "text",
        "row": shown_row(row, source) if row else None,
        "proposal": shown_row(proposal, source) if proposal else None,
    }


def _label(row: Row) -> str:
    return row.label if row.variant == "default" else variant_label(row.variant)


def _label_of_format(name: str, known: Formats) -> str:
    try:
        return known.named(name).label
    except RepurposeError:
        return label_of(name)


def _is_structured(name: str, known: Formats) -> bool:
    try:
        return known.named(name).structured
    except RepurposeError:
        return True


def _how_it_ended(stored: Stored) -> str:
    match stored.run.status:
        case "running":
            return "another process works on it, or did before it was killed"
        case "interrupted":
            return "it was stopped before its end"
        case _:
            return aggregate(outputs_of(stored.run, stored.rows)).message
