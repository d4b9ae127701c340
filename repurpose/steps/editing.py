"""From a row and what a person made of it to the new text, content and measures.

What is always true here: what a person wrote is kept as it was written, but for white space at
the ends, or refused with the reason. Nothing is cut, capped or dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from repurpose.checks.voice import banned_in
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Measures, Row
from repurpose.core.voice import Voice
from repurpose.errors import UnusableOutput, UsageError
from repurpose.formats.base import FinishContext, Finished, Format
from repurpose.schema.validate import compile_schema
from repurpose.steps._editing_posts import edited_post, is_post
from repurpose.steps._editing_sentences import sentences_of
from repurpose.text.counting import MEASURES
from repurpose.text.trimming import trimmed

__all__ = ["Edited", "edited_content", "edited_text", "editing_kind", "revised"]

_SHOWN = 3
"""So many places are named that an edit cannot be kept for."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What a person made of a row."""

    text: str
    content: JsonObject
    measures: Measures
    notes: tuple[str, ...] = ()
    """What an editor should know, one line each."""


def editing_kind(row: Row, *, known: bool = True) -> Literal["text", "content"]:
    """Whether a row is edited as its text, or as its fields.

    Posts, summaries, and whatever has one text are edited as text; what has several fields, as
    those. Where the format is not `known` any more, nobody can say what its fields mean, so there
    is only the text.
    """
    content = row.content or {}
    if not known or not content or is_post(content) or _has_sentences(row):
        return "text"
    values = list(content.values())
    text = values[0] if len(values) == 1 else None
    alone = isinstance(text, str) and (row.text or "").startswith(text)
    return "text" if alone else "content"


def edited_text(
    row: Row, written: str, *, format: Format | None, context: FinishContext
) -> Edited | None:
    """The row with another text, or None where it is the same text.

    `format` is None where it is not known any more. The platform of a post is one of `context`.

    Raises:
        UsageError: nothing is left of the text, it is too long for its platform, or the format
            would not leave it as it is.
    """
    text = _tidied(written)
    if not text:
        raise UsageError("the text is empty", hint="write at least a word")
    if text == trimmed(row.text or ""):
        return None
    content = row.content or {}
    platform = context.platforms.get(row.variant.partition(".")[0])
    if is_post(content) and platform is not None:
        edited = Edited(*edited_post(text, platform, content))
    elif format is None:
        edited = _of_unknown(row, text)
    elif editing_kind(row) == "content":
        raise UsageError(f"{row.label} has several fields", hint="edit its content, not its text")
    else:
        edited = _of_one_text(row, text, format, context)
    return _noted(edited, context.voice)


def edited_content(
    row: Row, content: JsonObject, *, format: Format, context: FinishContext
) -> Edited | None:
    """The row with other fields, or None where they are the same.

    Raises:
        UsageError: they are not of the format's shape, or the format would not leave them as they
            are; the message names the places.
    """
    if is_post(row.content or {}):
        raise UsageError("a post is edited as one text", hint="edit its text, not its content")
    wanted = _tidied_fields(content)
    if wanted == _tidied_fields(row.content or {}):
        return None
    finished = _finished(wanted, format, context)
    text = finished.pieces[0].text
    below = _below(row, format, context)
    text = f"{text}\n\n{below}" if below else text
    return _noted(_measured(row, text, finished.fields), context.voice)


def revised(row: Row, edited: Edited, *, row_id: str, by: str, now: str) -> Row:
    """The revision that an edit makes of a row; the facts of calls are those of the row before."""
    return replace(
        row,
        id=row_id,
        status="done",
        message=f"{row.label} edited by {by}",
        created_at=now,
        attempts=0,
        elapsed_ms=0,
        text=edited.text,
        content=edited.content,
        measures=edited.measures,
        quotes=tuple(quote for quote in row.quotes if quote.text in edited.text),
        coerced=(),
        dropped=(),
        notes=edited.notes,
        provenance=_edited_by(row.provenance, by),
        reused_from=None,
        action="edited",
        author=by,
        instruction=None,
    )


def _edited_by(provenance: str, by: str) -> str:
    """What wrote the text, and who changed it since.

    >>> _edited_by(_edited_by("model m", "Ann"), "Ann")
    'model m, edited by Ann'
    """
    added = f", edited by {by}"
    return provenance if f"{added}," in f"{provenance}," else provenance + added


# --- one text -----------------------------------------------------------------------------------


def _has_sentences(row: Row) -> bool:
    """Whether the row's only field is a list of sentences, as a summary's is."""
    return row.format == "summary" and set(row.content or {}) == {"sentences"}


def _of_one_text(row: Row, text: str, format: Format, context: FinishContext) -> Edited:
    """The edit of a summary, or of a format whose only field is its text."""
    (name,) = row.content or {"": ""}
    below = _below(row, format, context)
    body = trimmed(text.removesuffix(below)) if below else text
    if not _has_sentences(row):
        finished = _finished({name: body}, format, context)
        return _measured(row, text, finished.fields)
    before = [each for each in _items((row.content or {})[name]) if isinstance(each, str)]
    sentences = list(sentences_of(body, before, context.language, context.segmenter))
    finished = _finished({name: sentences}, format, context)
    return _measured(row, text, finished.fields)


def _of_unknown(row: Row, text: str) -> Edited:
    """The edit of a row whose format is not known any more: its text, and that as its one field."""
    content = row.content or {}
    (name, *others) = content or ("text",)
    alone = not others and content.get(name) == row.text
    lost = ("the format is not known any more, so only its text is kept",)
    fields: JsonObject = {name: text} if alone else {"text": text}
    edited = _measured(row, text, fields)
    most = edited.measures.max_length
    if most is not None and edited.measures.length > most:
        over = edited.measures.length - most
        raise UsageError(f"{row.variant}: {over:,} too many; it takes {most:,}")
    return edited if alone else replace(edited, notes=lost)


# --- fields -------------------------------------------------------------------------------------


def _finished(content: JsonObject, format: Format, context: FinishContext) -> Finished:
    """What post-validation makes of fields that it leaves as they are.

    Raises:
        UsageError: they are not of the format's shape, or it would change them.
    """
    findings = compile_schema(format.schema, format.name).findings(content)
    if findings:
        raise UsageError(f"{format.label}: {'; '.join(map(str, findings[:_SHOWN]))}")
    try:
        finished = format.finish(content, context)
    except UnusableOutput as error:
        raise UsageError(f"{format.label}: {error.message}") from error
    if len(finished.pieces) != 1:
        raise UsageError(f"{format.label} has several texts", hint="edit each by itself")
    made = _tidied_fields(finished.fields)
    if made != content:
        changed = list(_unlike(content, made, ""))[:_SHOWN]
        reasons = finished.notes or [f"{path} would be changed" for path in changed]
        raise UsageError(
            f"{format.label} cannot be kept as it was written: {'; '.join(reasons)}",
            hint="write it so that nothing has to be changed",
        )
    return finished


def _unlike(given: JsonValue, made: JsonValue, path: str) -> Iterator[str]:
    """The paths where two JSON values differ, as far down as both have the same parts."""
    if given == made:
        return
    if isinstance(given, Mapping) and isinstance(made, Mapping) and given.keys() == made.keys():
        for name, value in given.items():
            yield from _unlike(value, made[name], f"{path}.{name}" if path else name)
    elif _items(given) and len(_items(given)) == len(_items(made)):
        for place, (one, other) in enumerate(zip(_items(given), _items(made), strict=True)):
            yield from _unlike(one, other, f"{path}.{place}")
    else:
        yield path or "it"


def _tidied_fields(fields: JsonObject) -> JsonObject:
    """The fields with every text in them trimmed, and its lines ended alike."""
    return {name: _deeply(value) for name, value in fields.items()}


def _deeply(value: JsonValue) -> JsonValue:
    """The value with every text in it trimmed, and its lines ended alike."""
    match value:
        case str():
            return _tidied(value)
        case Mapping():
            return _tidied_fields(value)
        case Sequence():
            return [_deeply(inner) for inner in value]
        case _:
            return value


def _items(value: JsonValue) -> Sequence[JsonValue]:
    """The items of a list; none of anything else."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


# --- what both have -----------------------------------------------------------------------------


def _tidied(text: str) -> str:
    """The text with line feeds only, as a form of a web page does not send it, and trimmed."""
    return trimmed(text.replace("\r\n", "\n").replace("\r", "\n"))


def _below(row: Row, format: Format, context: FinishContext) -> str:
    """What stands under the fields in the row's text: a voice's disclaimer, or nothing."""
    try:
        finished = format.finish(row.content or {}, context)
    except Exception:  # noqa: BLE001 - a format of today need not take what was stored long ago
        return ""
    made = finished.pieces[0].text if finished.pieces else ""
    text = row.text or ""
    return trimmed(text.removeprefix(made)) if made and text.startswith(made) else ""


def _measured(row: Row, text: str, content: JsonObject) -> Edited:
    """The edit with its length, in the unit of the row before."""
    before = row.measures or Measures(0, "code_points")
    length = MEASURES.get(before.unit, len)(text)
    measures = Measures(length=length, unit=before.unit, max_length=before.max_length)
    return Edited(text, content, measures)


def _noted(edited: Edited, voice: Voice | None) -> Edited:
    """The edit with what a voice has to say: a person decides, so it is said and nothing more."""
    if voice is None:
        return edited
    words = dict.fromkeys(word for _, word in banned_in({"text": edited.text}, voice.banned))
    notes = [f'uses the banned word "{word}"' for word in words]
    if voice.notice and voice.notice not in edited.text:
        notes.append(f"lacks the disclaimer of voice {voice.name}")
    return replace(edited, notes=(*edited.notes, *notes))
