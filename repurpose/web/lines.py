"""Numbered lines of a run: how they are sent, and what of them stays when the run is over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repurpose.core.json_types import JsonObject, JsonValue

__all__ = ["Line", "numbered", "settled"]

_SECTION = ("section_started", "section_data", "section_completed")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a run."""

    number: int
    """Counted from 1 within its run."""
    kind: str
    """`section_data`, `progress` and the like."""
    payload: JsonObject
    since: int
    """The number of the first of the lines that were merged into it; else its own."""

    def encoded(self, shift: int = 0) -> bytes:
        """As an event stream has it; `shift` is added to its number."""
        told = json.dumps(self.payload, ensure_ascii=False, separators=(",", ":"))
        return f"id: {self.number + shift}\nevent: {self.kind}\ndata: {told}\n\n".encode(
            errors="replace"
        )


def numbered(told: Iterable[tuple[str, JsonObject]]) -> list[Line]:
    """Lines of these types and payloads, numbered from 1."""
    return [Line(n, kind, payload, n) for n, (kind, payload) in enumerate(told, 1)]


def settled(lines: Sequence[Line]) -> list[Line]:
    """What a viewer still needs: each section's last telling, its deltas as one.

    Numbers stay, so that viewers go on where they are.
    """
    begun: dict[object, int] = {}
    progress: dict[object, int] = {}
    for line in lines:
        if line.kind == "section_started":
            begun[line.payload.get("sectionName")] = line.number
        elif line.kind in ("progress", "row_changed"):
            progress[_topic(line)] = line.number
    kept: list[Line] = []
    deltas: dict[object, list[Line]] = {}
    for line in lines:
        name = line.payload.get("sectionName")
        if line.kind in _SECTION and line.number < begun.get(name, 0):
            continue  # it was told again later
        if line.kind in ("progress", "row_changed") and progress[_topic(line)] != line.number:
            continue
        if line.kind == "section_data":
            deltas.setdefault(name, []).append(line)
            continue
        if line.kind == "section_completed" and name in deltas:
            kept.append(_merged(deltas.pop(name)))
        kept.append(line)
    kept.extend(map(_merged, deltas.values()))
    return sorted(kept, key=lambda line: line.number)


def _topic(line: Line) -> object:
    return line.kind, line.payload.get("format"), line.payload.get("section")


def _merged(deltas: Sequence[Line]) -> Line:
    """One delta in place of several; a viewer in the midst of them passes it over."""
    first, last = deltas[0], deltas[-1]
    if first is last:
        return first
    payload: dict[str, JsonValue] = {}
    for delta in deltas:
        text = str(payload.get("textDelta", "")) + str(delta.payload.get("textDelta") or "")
        payload |= delta.payload
        payload["textDelta"] = text
    return Line(last.number, "section_data", payload, first.since)
