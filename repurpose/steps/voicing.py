"""What a voice asks of an answer: names spelled right, no banned word, a disclaimer below.

Without a voice, nothing here changes anything. What an engine quotes from the source is the
author's: there a banned word or another spelling is told, and the words stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from repurpose.checks.quality import Prose
from repurpose.checks.voice import banned_in, is_read, respelled
from repurpose.core.finding import Finding
from repurpose.core.json_types import JsonObject
from repurpose.core.voice import Voice
from repurpose.formats.base import Finished, Piece
from repurpose.schema.validate import Validator
from repurpose.text.counting import MEASURES

__all__ = ["Voiced", "disclosed", "voiced"]


@dataclass(frozen=True, slots=True)
class Voiced:
    """An answer in a voice, and what an editor would say about it."""

    answer: JsonObject
    unusable: tuple[Finding, ...] = ()
    """Banned words that a model wrote."""
    notes: tuple[str, ...] = ()


def voiced(
    answer: JsonObject,
    voice: Voice | None,
    *,
    prose: Prose,
    validator: Validator,
    quoted: bool,
) -> Voiced:
    """A valid answer with the voice's names as they are spelled, and its banned words found.

    All texts of the answer are looked at for banned words, and those that people read, by
    `prose`, for names. `quoted` says that the engine repeats the source's own words. An answer
    that would not be valid with the right spelling stays as it is.
    """
    if voice is None:
        return Voiced(answer)
    spelled = respelled(answer, voice.names, paths=is_read(prose), quoted=quoted)
    if not validator.accepts(spelled.answer):
        spelled = respelled(answer, voice.names, paths=is_read(prose), quoted=True)
    banned = [
        Finding("quality", path, f'uses the banned word "{word}"')
        for path, word in banned_in(spelled.answer, voice.banned)
    ]
    if not quoted:
        return Voiced(spelled.answer, tuple(banned), spelled.notes)
    return Voiced(spelled.answer, (), (*spelled.notes, *_told(banned)))


def _told(findings: Sequence[Finding]) -> list[str]:
    """The findings as notes about words that are the source's own."""
    return [f"{finding}, as the source does" for finding in findings]


def disclosed(finished: Finished, voice: Voice | None) -> Finished:
    """The content with the voice's disclaimer as the last paragraph of each text.

    Declared fields stay as they are. A text that ends with it already is not given it twice.
    """
    notice = voice.notice if voice else ""
    if not notice or finished.disclosed:
        return finished
    return replace(finished, pieces=tuple(_noticed(piece, notice) for piece in finished.pieces))


def _noticed(piece: Piece, notice: str) -> Piece:
    if piece.text.endswith(notice):
        return piece
    text = f"{piece.text}\n\n{notice}"
    counted = MEASURES.get(piece.measures.unit, len)
    return replace(piece, text=text, measures=replace(piece.measures, length=counted(text)))
