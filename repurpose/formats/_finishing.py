"""What the built-in formats share: reading an answer, telling what was changed, one piece of text.

Reading never fails: a key of another type reads as nothing, so that what is left decides
whether there is something to publish.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repurpose.checks import one_line, trimmed
from repurpose.core.json_types import JsonObject
from repurpose.core.record import Measures
from repurpose.errors import UsageError
from repurpose.formats.base import Finished, Piece
from repurpose.resources import schema_text
from repurpose.schema.intake import decode
from repurpose.text.counting import code_points

__all__ = [
    "capped_note",
    "dropped_note",
    "finished_text",
    "line_at",
    "list_at",
    "schema_object",
    "text_at",
]


def schema_object(name: str) -> JsonObject:
    """The schema file of this name, decoded.

    Raises:
        UsageError: the file is missing, or holds no JSON object.
    """
    schema = decode(schema_text(name))
    if not isinstance(schema, Mapping):
        raise UsageError(f"schemas/{name}.schema.json is not a JSON object")
    return schema


def text_at(answer: object, key: str) -> str:
    """The trimmed text under `key`, or an empty text."""
    value = answer.get(key) if isinstance(answer, Mapping) else None
    return trimmed(value) if isinstance(value, str) else ""


def line_at(answer: object, key: str) -> str:
    """The text under `key` on one line, or an empty text."""
    return one_line(text_at(answer, key))


def list_at(answer: object, key: str) -> Sequence[object]:
    """The list under `key`, or an empty one."""
    value = answer.get(key) if isinstance(answer, Mapping) else None
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def dropped_note(dropped: int, kind: str, noun: str) -> list[str]:
    """`["1 incomplete pair dropped"]`, or nothing where nothing was dropped."""
    return [f"{_counted(dropped, f'{kind} {noun}')} dropped"] if dropped else []


def capped_note(found: int, kept: int, noun: str) -> list[str]:
    """`["12 pairs, the first 10 kept"]`, or nothing where all were kept."""
    return [f"{_counted(found, noun)}, the first {kept} kept"] if found > kept else []


def finished_text(content: object, fields: JsonObject, text: str, notes: Sequence[str]) -> Finished:
    """The content of a format that yields one text, which has no limit."""
    measures = Measures(length=code_points(text), unit="code_points")
    piece = Piece(variant="default", text=text, content=fields, measures=measures)
    return Finished(content=content, fields=fields, pieces=(piece,), notes=tuple(notes))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
