"""From how a format ended to rows: declared fields only, and what a failed row holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.record import Measures, Row
from repurpose.errors import UnusableOutput
from repurpose.formats import format_named
from repurpose.formats.base import Finished, Format, Piece
from repurpose.steps.repair import Settled
from repurpose.steps.rows import Stamp, failed, rows_of

STAMP = Stamp(
    run_id="run",
    source_id="s",
    idempotency_key="k",
    engine="scripted",
    provenance="model m",
    created_at="2026-11-29T00:00:00.000Z",
    elapsed_ms=7,
    model="m",
    language="en",
)
MEASURES = Measures(1, "code_points")


def settled(*pieces: Piece, **facts: Any) -> Settled:
    return Settled(1, finished=Finished(None, {}, pieces), **facts)


def made(format: Format, ended: Settled) -> tuple[Row, ...]:
    return rows_of(format, ended, STAMP, iter(["r1", "r2"]))


def test_an_undeclared_field_is_gone_from_the_content_and_named_among_the_dropped() -> None:
    piece = Piece("default", "text", {"mood": "glad", "pairs": [], "_runId": 7}, MEASURES)
    (row,) = made(format_named("faq"), settled(piece, dropped=("pairs.0.note",)))
    assert row.content == {"pairs": []}
    assert row.dropped == ("pairs.0.note", "mood", "_runId")


def test_the_fields_of_a_variant_are_its_formats_business() -> None:
    piece = Piece("x", "text", {"text": "text", "length": 4}, MEASURES)
    (row,) = made(format_named("social"), settled(piece))
    assert row.content == {"text": "text", "length": 4}
    assert row.dropped == ()


@pytest.mark.parametrize(
    ("attempts", "message"),
    [(1, "FAQ done"), (2, "FAQ done (1 retry)"), (3, "FAQ done (2 retries)")],
)
def test_a_done_row_tells_its_retries(attempts: int, message: str) -> None:
    piece = Piece("default", "text", {"pairs": []}, MEASURES)
    (row,) = made(format_named("faq"), replace(settled(piece), attempts=attempts))
    assert (row.message, row.attempts) == (message, attempts)


@pytest.mark.parametrize(("attempts", "end"), [(0, "no"), (1, "no"), (2, "no (1 retry)")])
def test_a_failed_row_tells_its_retries_after_the_reason(attempts: int, end: str) -> None:
    (row,) = made(format_named("faq"), Settled(attempts, error=UnusableOutput("no")))
    assert row.message == f"FAQ generation error: {end}"
    assert (row.variant, row.kind, row.text) == ("default", "unusable", None)


def test_a_failed_row_holds_nothing_that_was_found_in_a_text_it_does_not_have() -> None:
    piece = Piece("x", "text", {"text": "text"}, MEASURES)
    (row,) = made(format_named("social"), settled(piece, notes=("x: cut",), coerced=("x.n",)))
    lost = failed(row, "no", "store")
    assert (lost.text, lost.content, lost.measures, lost.quotes) == (None, None, None, ())
    assert (lost.notes, lost.coerced, lost.dropped) == ((), (), ())
