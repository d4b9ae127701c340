"""The brief of a long source: its points, found part by part, and the text they make together.

What is always true here: a quotation of a brief stands in the source letter for letter, and so do
its names and the digits of its numbers; what does not is left out and counted. Each point knows
the stretch of the source that it comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Literal

from repurpose.checks import one_line
from repurpose.checks.quality import Prose
from repurpose.core.call import Quote
from repurpose.core.json_types import JsonObject
from repurpose.core.record import Measures
from repurpose.core.source import Block, BlockKind, Source
from repurpose.errors import UsageError
from repurpose.formats.base import FinishContext, Finished, Format, Piece
from repurpose.resources import prompt_text, schema_text
from repurpose.schema.intake import decode
from repurpose.steps._evidence import Letters
from repurpose.steps._overlap import repetitions
from repurpose.steps._stretches import Stretch, Stretches
from repurpose.text.tokens import token_weight

__all__ = [
    "BRIEF",
    "MOST_POINTS",
    "Brief",
    "Found",
    "Point",
    "Stretch",
    "brief_format",
    "composed",
    "groups_of",
    "without_repetitions",
]

BRIEF = "brief"
"""What calls for a brief are called, and the kind of the source that it becomes."""
MOST_POINTS = 60
"""Points of one call at most: what a reply of about 8,000 tokens holds."""

PointKind = Literal["main", "detail", "example", "caveat"]

_RANKS: dict[PointKind, int] = {"main": 0, "caveat": 1, "detail": 2, "example": 3}
"""What is kept first where not all can be."""


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that a source says."""

    text: str
    """In the words of the model, on one line."""
    kind: PointKind
    place: Stretch
    """Where in the source it comes from: a section, or the whole part that was read."""
    names: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    """Passages of the source, in its own words."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one call found in its stretch of the source."""

    points: tuple[Point, ...]
    unproven: int = 0
    """Quotations, names and numbers that were left out, since the stretch does not have them."""
    surplus: int = 0
    """Points that were left out, beyond those that may be."""


@dataclass(frozen=True, slots=True)
class Brief:
    """A source made short, for formats to work from."""

    source: Source
    """The composed text, with the title, author, date, language and address of the original."""
    points: tuple[Point, ...]
    """What it was composed from, in the order of the original, with their places there."""
    parts: int
    """Into how many parts the original was cut."""
    notes: tuple[str, ...] = ()
    """What an editor should know of how it came about, one line each."""


# --- asking -----------------------------------------------------------------------------------


def brief_format(
    task: Literal["brief", "merge"],
    source: Source,
    start: int,
    end: int,
    *,
    label: str,
    most: int = MOST_POINTS,
) -> Format:
    """What asks for the points of `source.text[start:end]`; never a deliverable of its own.

    `task` is the prompt: `brief` for a part of the source, `merge` for notes on that stretch. A
    valid answer ends as content of the type `Found`, with `most` points at most: what is more goes
    from the least of them, examples first. An answer without points is valid, too.

    Raises:
        UsageError: its prompt or schema file is missing.
    """

    def finish(answer: JsonObject, _: FinishContext) -> Finished:
        return _finished(answer, _Reader(source, start, end), most)

    return Format(
        name=BRIEF,
        label=label,
        version=1,
        task=prompt_text(task),
        schema=_schema(),
        declared=("points",),
        finish=finish,
        # Nobody reads the points as they are, and what is said twice is made one anyway.
        prose=Prose(strings=("points.*.text",), most=most),
        extra="drop",
    )


@cache  # one object, since what is made of a schema is remembered by its identity
def _schema() -> JsonObject:
    schema = decode(schema_text(BRIEF))
    if not isinstance(schema, Mapping):
        raise UsageError(f"schemas/{BRIEF}.schema.json is not a JSON object")
    return schema


# --- answers ----------------------------------------------------------------------------------


def _finished(answer: JsonObject, reader: _Reader, most: int) -> Finished:
    """The points of an answer that have something to read, with their evidence looked up."""
    entries = [each for each in _list_at(answer, "points") if isinstance(each, Mapping)]
    points = [point for each in entries if (point := reader.point(each))]
    kept = _weightiest(points, most)
    found = Found(kept, reader.unproven, len(points) - len(kept))
    text = "\n".join(point.text for point in kept)
    piece = Piece("default", text, answer, Measures(length=len(text), unit="code_points"))
    return Finished(content=found, fields=answer, pieces=(piece,))


def _weightiest(points: Sequence[Point], most: int) -> tuple[Point, ...]:
    """At most so many points, in their order; of one kind, the first ones."""
    ranked = sorted(range(len(points)), key=lambda index: _RANKS[points[index].kind])
    return tuple(points[index] for index in sorted(ranked[:most]))


class _Reader:
    """Reads the points that a model found in one stretch of a source."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.unproven = 0
        self._letters = Letters(source.text, start, end, plain=source.plain)
        self._stretches = Stretches(source, start, end)

    def point(self, entry: Mapping[str, object]) -> Point | None:
        """The point of an entry, or None where it says nothing."""
        text = _text_at(entry, "text")
        if not text:
            return None
        quotes = self._proven([self._letters.quote(each) for each in _texts_at(entry, "quotes")])
        first = quotes[0].start if quotes else None
        return Point(
            text=text,
            kind=_kind_at(entry),
            place=self._stretches.place(first, _text_at(entry, "heading")),
            names=self._standing(_texts_at(entry, "names"), self._letters.hold),
            numbers=self._standing(_texts_at(entry, "numbers"), self._letters.hold_number),
            quotes=quotes,
        )

    def _proven(self, quotes: Sequence[Quote | None]) -> tuple[Quote, ...]:
        kept = [quote for quote in quotes if quote is not None]
        self.unproven += len(quotes) - len(kept)
        return tuple(dict.fromkeys(kept))

    def _standing(self, words: Sequence[str], stand: Callable[[str], bool]) -> tuple[str, ...]:
        kept = [each for each in words if stand(each)]
        self.unproven += len(words) - len(kept)
        return tuple(dict.fromkeys(kept))


def _text_at(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return one_line(value) if isinstance(value, str) else ""


def _texts_at(entry: Mapping[str, object], key: str) -> list[str]:
    texts = [each for each in _list_at(entry, key) if isinstance(each, str)]
    return [line for each in texts if (line := one_line(each))]


def _list_at(entry: Mapping[str, object], key: str) -> Sequence[object]:
    value = entry.get(key)
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _kind_at(entry: Mapping[str, object]) -> PointKind:
    match entry.get("kind"):
        case "main" | "detail" | "example" | "caveat" as kind:
            return kind
        case _:
            return "detail"


# --- putting together -------------------------------------------------------------------------


def without_repetitions(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points, those that say the same made one, in the order of the source.

    What stays takes over the names, numbers and quotations of what goes, and is a main point
    where either was.
    """
    said = repetitions([point.text for point in points])
    kept = {index: point for index, point in enumerate(points) if index not in said}
    for index, other in said.items():
        kept[other] = _joined(kept[other], points[index])
    return tuple(sorted(kept.values(), key=lambda point: point.place.start))


def _joined(point: Point, other: Point) -> Point:
    return replace(
        point,
        kind="main" if "main" in (point.kind, other.kind) else point.kind,
        names=tuple(dict.fromkeys((*point.names, *other.names))),
        numbers=tuple(dict.fromkeys((*point.numbers, *other.numbers))),
        quotes=tuple(dict.fromkeys((*point.quotes, *other.quotes))),
    )


def composed(source: Source, points: Sequence[Point]) -> Source:
    """The points as a Markdown source that stands for `source`.

    A list under the headings of the original, with page or time where it has them; main points in
    bold, quotations below what they belong to, names and numbers behind a point that lacks them.
    """
    lines: list[tuple[BlockKind, str, tuple[str, ...]]] = []
    for label, group in groupby(points, key=lambda point: _label(source, point)):
        path: tuple[str, ...] = (label,) if label else ()
        if label:
            lines.append(("heading", f"## {label}", ()))
        lines += [("list", _item(point), path) for point in group]
    blocks: list[Block] = []
    place = 0
    for kind, line, path in lines:
        level = 2 if kind == "heading" else 0
        blocks.append(Block(kind, place, place + len(line), path, level))
        place += len(line) + 2
    text = "\n\n".join(line for _, line, _ in lines)
    return replace(source, text=text, kind=BRIEF, blocks=tuple(blocks), hidden=0, warnings=())


def _label(source: Source, point: Point) -> str:
    """What a point stands under; the title is told apart."""
    path = point.place.headings
    return replace(point.place, headings=path[1:] if path[:1] == (source.title,) else path).label


def _item(point: Point) -> str:
    """A point as an item of a Markdown list."""
    lacking = [each for each in (*point.names, *point.numbers) if each not in point.text]
    behind = f" ({'; '.join(lacking)})" if lacking else ""
    text = f"**{point.text}**" if point.kind == "main" else point.text
    quoted = [quote.text for quote in point.quotes if quote.text not in point.text]
    return "\n".join([f"- {text}{behind}", *(f"  > {passage}" for passage in quoted)])


def groups_of(source: Source, points: Sequence[Point], limit: int) -> tuple[tuple[Point, ...], ...]:
    """The points in groups that are composed to at most `limit` tokens, of much the same size.

    A single point that is longer is a group of its own.
    """
    weights = [token_weight(composed(source, [point]).text) for point in points]
    count = math.ceil(sum(weights) / limit)
    share = sum(weights) / count if count else 0.0
    groups: list[list[Point]] = []
    filled = math.inf
    for point, weight in zip(points, weights, strict=True):
        # A group may go beyond its share by half of the last point, so that shares stay even.
        if filled + weight > limit or filled + weight / 2 > share:
            groups.append([])
            filled = 0.0
        groups[-1].append(point)
        filled += weight
    return tuple(map(tuple, groups))
