"""From how a format ended to the rows that tell it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from repurpose.core.envelope import retries_phrase
from repurpose.core.record import Row
from repurpose.errors import FormatError, Unexpected
from repurpose.formats.base import Format, Piece
from repurpose.steps.repair import Settled

__all__ = ["Stamp", "failed", "rows_of"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What every row of one result shares, whatever it says."""

    run_id: str
    source_id: str
    idempotency_key: str
    engine: str
    provenance: str
    created_at: str
    elapsed_ms: int
    model: str | None
    language: str | None


def rows_of(format: Format, settled: Settled, stamp: Stamp, ids: Iterator[str]) -> tuple[Row, ...]:
    """One row for each piece, or one failed row (variant `default`) with the labelled reason."""
    blank = _blank(format, settled, stamp)
    if settled.finished is None:
        assert settled.error is not None  # noqa: S101 - a settled format has one of the two
        message = _reason(format.label, settled.error) + retries_phrase(settled.attempts)
        return (replace(failed(blank, message, settled.error.kind), id=next(ids)),)
    return tuple(
        _done(_projected(blank, format, piece), piece, settled, next(ids))
        for piece in settled.finished.pieces
    )


def failed(row: Row, message: str, kind: str) -> Row:
    """`row` as a failed one, without anything that could be taken for a result."""
    return replace(
        row,
        variant="default",
        status="failed",
        message=message,
        kind=kind,
        text=None,
        content=None,
        measures=None,
        quotes=(),
        coerced=(),
        dropped=(),
        notes=(),
    )


def _blank(format: Format, settled: Settled, stamp: Stamp) -> Row:
    return Row(
        id="",
        run_id=stamp.run_id,
        source_id=stamp.source_id,
        format=format.name,
        label=format.label,
        variant="default",
        status="failed",
        message="",
        idempotency_key=stamp.idempotency_key,
        engine=stamp.engine,
        provenance=stamp.provenance,
        created_at=stamp.created_at,
        attempts=settled.attempts,
        elapsed_ms=stamp.elapsed_ms,
        model=stamp.model,
        language=stamp.language,
        coerced=settled.coerced,
        dropped=settled.dropped,
        notes=settled.notes,
        validated=format.structured,
    )


def _projected(blank: Row, format: Format, piece: Piece) -> Row:
    """`blank` with the piece's declared fields, and the names of the others among the dropped.

    A variant stands under its own name in the data of its envelope, so there it is the variant
    that was declared, and its fields are the format's business.
    """
    if piece.variant != "default":
        return replace(blank, content=piece.content)
    fields = {name: piece.content[name] for name in format.declared if name in piece.content}
    others = tuple(name for name in piece.content if name not in fields)
    return replace(blank, content=fields, dropped=(*blank.dropped, *others))


def _done(blank: Row, piece: Piece, settled: Settled, row_id: str) -> Row:
    return replace(
        blank,
        id=row_id,
        variant=piece.variant,
        status="done",
        message=f"{blank.label} done{retries_phrase(settled.attempts)}",
        text=piece.text,
        measures=piece.measures,
        quotes=tuple(quote for quote in settled.quotes if quote.text in piece.text),
    )


def _reason(label: str, error: FormatError) -> str:
    if isinstance(error, Unexpected):
        return error.message
    hint = f"; {error.hint}" if error.hint else ""
    return f"{label} generation error: {error.message}{hint}"
