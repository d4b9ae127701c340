"""Results made from rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repurpose.core.envelope import Meta
from repurpose.core.record import Row, Run, RunStatus
from repurpose.core.result import FormatResult, RunResult, envelope_of, run_status
from repurpose.core.source import Source

ROW = Row(
    id="r1",
    run_id="run",
    source_id="s",
    format="faq",
    label="FAQ",
    variant="default",
    status="done",
    message="FAQ done (1 retry)",
    idempotency_key="k",
    engine="scripted",
    provenance="model m",
    created_at="2026-11-29T00:00:00.000Z",
    attempts=2,
    text="Q: a\nA: b",
    content={"pairs": [{"question": "a", "answer": "b"}]},
)
FAILED = replace(
    ROW, status="failed", message="FAQ generation error: no", text=None, content=None, kind="x"
)


def result(name: str, *rows: Row) -> FormatResult:
    meta = Meta(run_id="run", attempts=1, elapsed_ms=1, provenance="model m")
    return FormatResult(name, name.upper(), envelope_of(rows), meta, rows)


def test_a_done_format_hands_on_its_fields() -> None:
    assert envelope_of([ROW]).to_map() == {
        "status": 200,
        "message": "FAQ done (1 retry)",
        "data": {"pairs": [{"question": "a", "answer": "b"}]},
    }


def test_variants_are_keyed_by_name() -> None:
    posts = [replace(ROW, variant="x", content={"text": "a"}), replace(ROW, variant="linkedin")]
    assert set(envelope_of(posts).data) == {"x", "linkedin"}


def test_a_variant_that_could_not_be_stored_is_named_and_its_siblings_stand() -> None:
    lost = replace(FAILED, variant="x", message="Social posts (x) storage error: full")
    envelope = envelope_of([replace(ROW, variant="linkedin", message="Social posts done"), lost])
    assert envelope.status == 200
    assert envelope.message == "Social posts done; Social posts (x) storage error: full"
    assert set(envelope.data) == {"linkedin"}


@pytest.mark.parametrize(
    ("rows", "wanted", "status"),
    [
        ([ROW], 1, "done"),
        ([FAILED], 1, "failed"),
        ([ROW, FAILED], 2, "partial"),
        ([ROW], 2, "interrupted"),
        ([], 1, "interrupted"),
    ],
)
def test_a_run_ends_as_its_rows_say(rows: list[Row], wanted: int, status: RunStatus) -> None:
    assert run_status([result(f"f{i}", row) for i, row in enumerate(rows)], wanted) == status


@pytest.mark.parametrize(
    ("status", "code"), [("done", 0), ("partial", 1), ("failed", 4), ("interrupted", 130)]
)
def test_each_end_has_its_exit_code(status: RunStatus, code: int) -> None:
    run = Run("run", "s", ("faq",), "scripted", None, "2026", status=status)
    assert RunResult(run, Source("t", "-", "text"), {}).exit_code == code


def test_one_failure_among_several_makes_the_whole_400_and_names_itself() -> None:
    run = Run("run", "s", ("faq", "summary"), "scripted", None, "2026")
    both = {"summary": result("summary", ROW), "faq": result("faq", FAILED)}
    envelope = RunResult(run, Source("t", "-", "text"), both).envelope
    assert envelope.status == 400
    assert envelope.message == "part failed: [faq] FAQ generation error: no"
    assert envelope.data["faq"] == {}
