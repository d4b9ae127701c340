"""What the forms of a composite share: the facts beside its payload, and its parts as types."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Row, Run
from repurpose.core.source import Source
from repurpose.exports.base import after_parts, pairs_of

__all__ = [
    "CompositeFacts",
    "Faq",
    "Newsletter",
    "Part",
    "Plain",
    "Record",
    "Renderer",
    "Texts",
    "Value",
    "dropped_lines",
    "facts_of",
    "heading_of",
    "part_of",
    "places_of",
    "sections_of",
]

_LONGEST_LABEL = 16
"""Characters that may stand between two parts: `Q:`, `Preheader:`. What is longer is a text that
somebody put there, and would be lost if only the parts were shown."""
_SHOWN = 60
"""Characters of a passage that has no place with a name."""


@dataclass(frozen=True, slots=True)
class CompositeFacts:
    """What a reader is told beside the sections of a composite."""

    name: str
    title: str
    """Of the source; its origin where it has none."""
    origin: str
    """The address, path or pipe that the source came from."""
    run_id: str | None = None
    started_at: str | None = None
    provenance: tuple[str, ...] = ()
    """What wrote the texts, each once."""
    language: str | None = None
    """Of the texts: the one asked for, else the source's."""

    @property
    def line(self) -> str:
        """Where the texts come from and what wrote them, as one line."""
        run = [f"run {self.run_id}"] if self.run_id else []
        when = [self.started_at] if self.started_at else []
        return f"Source: {' · '.join([self.origin, *self.provenance, *run, *when])}"


Renderer: TypeAlias = Callable[[JsonObject, CompositeFacts], str]
"""From a composite's payload and the facts beside it to the text of a file, which ends with a
newline. Equal values give equal bytes."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A text as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Faq:
    """Questions with their answers, and what stands below them."""

    pairs: tuple[tuple[str, str], ...]
    below: str = ""


@dataclass(frozen=True, slots=True)
class Newsletter:
    """The parts of a newsletter, and what stands below them."""

    subject: str
    preheader: str
    paragraphs: tuple[str, ...]
    call_to_action: str
    below: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A flat record: each field's name with its value."""

    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Texts:
    """A list of texts."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """Anything deeper, as compact JSON."""

    json: str


Part: TypeAlias = Plain | Faq | Newsletter | Record | Texts | Value | None
"""How a section's content is shown; None where it has none."""


def facts_of(
    name: str, source: Source, run: Run | None = None, rows: Sequence[Row] = ()
) -> CompositeFacts:
    """The facts of a composite with this name, of a source and a run's rows."""
    return CompositeFacts(
        name=name,
        title=source.title or source.origin,
        origin=source.url or source.origin,
        run_id=run.id if run else None,
        started_at=run.started_at if run else None,
        provenance=tuple(dict.fromkeys(row.provenance for row in rows if row.status == "done")),
        language=(run.language if run else None) or source.language,
    )


def sections_of(payload: JsonObject) -> Iterator[JsonObject]:
    """The sections of a payload; what is none is passed over."""
    match payload.get("sections"):
        case [*entries]:
            yield from (each for each in entries if isinstance(each, Mapping))
        case _:
            return


def heading_of(section: JsonObject) -> str:
    """A section's label, else its name."""
    return str(section.get("displayLabel") or section.get("sectionName") or "")


def part_of(section: JsonObject) -> Part:
    """How a section's content is shown.

    A FAQ and a newsletter are shown in parts where their text is made of just these; any other
    text as it is. Fields are shown only where there is no text.
    """
    text = str(section.get("textContent") or "").strip()
    data = section.get("structuredData")
    if text:
        return _known_parts(text, data) or Plain(text)
    return _shown(data)


def places_of(section: JsonObject) -> tuple[str, ...]:
    """Where a section's passages stand in the source, each place once: label, title or id.

    Of a passage without any of these, its beginning in quotation marks.
    """
    match section.get("citations"):
        case [*entries]:
            found = (_place(entry) for entry in entries if isinstance(entry, Mapping))
            return tuple(dict.fromkeys(place for place in found if place))
        case _:
            return ()


def dropped_lines(payload: JsonObject) -> Iterator[tuple[str, str]]:
    """The name of each section that was dropped, and why."""
    match payload.get("dropped"):
        case [*entries]:
            for entry in entries:
                if isinstance(entry, Mapping):
                    yield str(entry.get("sectionName", "")), str(entry.get("reason", ""))
        case _:
            return


def _place(citation: JsonObject) -> str:
    named = next((citation[key] for key in ("label", "title", "id") if citation.get(key)), None)
    if named is not None:
        return " ".join(str(named).split())
    passage = " ".join(str(citation.get("text") or "").split())
    if not passage:
        return ""
    return f"“{passage}”" if len(passage) <= _SHOWN else f"“{passage[:_SHOWN].rstrip()}…”"


def _known_parts(text: str, data: JsonValue) -> Faq | Newsletter | None:
    """The content in parts, where the text holds all of them in their order."""
    if not isinstance(data, Mapping):
        return None
    pairs = tuple(pairs_of(data))
    if pairs and _holds(text, [part for pair in pairs for part in pair]):
        return Faq(pairs, after_parts(text, data))
    match data:
        case {
            "subject": str(subject),
            "preheader": str(preheader),
            "paragraphs": [*paragraphs],
            "callToAction": str(action),
        }:
            parts = tuple(map(str, paragraphs))
            whole = _holds(text, [subject, preheader, *parts, action])
            below = after_parts(text, data)
            return Newsletter(subject, preheader, parts, action, below) if whole else None
        case _:
            return None


def _holds(text: str, parts: Sequence[str]) -> bool:
    """Whether the parts stand in the text, one after the other, with only labels between them."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0 or len(text[at:found].strip()) > _LONGEST_LABEL:
            return False
        at = found + len(part)
    return True


def _shown(data: JsonValue) -> Part:
    if data in (None, "", [], (), {}):
        return None
    match data:
        case str():
            return Plain(data)
        case Mapping() if not any(isinstance(v, Mapping | list | tuple) for v in data.values()):
            return Record(tuple((str(key), _scalar(value)) for key, value in data.items()))
        case [*items] if all(isinstance(item, str) for item in items):
            return Texts(tuple(map(str, items)))
        case _:
            return Value(_compact(data))


def _scalar(value: JsonValue) -> str:
    return value if isinstance(value, str) else _compact(value)


def _compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
