"""Results made from rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repurpose.core.envelope import Meta
from repurpose.core.paths import MISSING
from repurpose.core.record import Row, Run, RunStatus
from repurpose.core.result import FormatResult, RunResult, envelope_of, outputs_of, run_status
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
    assert set(envelope.data) == {"summary"}


POSTS = tuple(
    replace(ROW, format="social", label="Social posts", variant=name, content={"text": name})
    for name in ("x", "x.2")
)


def whole_run(status: RunStatus = "done", *formats: str) -> Run:
    return Run("run", "s", formats or ("faq", "social"), "scripted", None, "2026", status=status)


def test_a_stored_run_is_read_as_envelopes_from_its_rows_alone() -> None:
    outputs = outputs_of(whole_run(), [*POSTS, ROW])
    assert list(outputs) == ["faq", "social"]
    assert outputs["faq"] == envelope_of([ROW])
    assert outputs["social"].data == {"x": {"text": "x"}, "x.2": {"text": "x.2"}}


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("partial", "not begun"),
        ("failed", "not begun"),
        ("interrupted", "not finished"),
        ("running", "not finished"),
    ],
)
def test_a_format_without_rows_is_a_failure_that_says_why(status: RunStatus, told: str) -> None:
    outputs = outputs_of(whole_run(status), [ROW])
    assert outputs["social"].to_map() == {"status": 400, "message": told, "data": {}}


def test_a_run_that_is_not_whole_is_no_success() -> None:
    stopped = RunResult(
        whole_run("interrupted"), Source("t", "-", "text"), {"faq": result("faq", ROW)}
    )
    assert stopped.envelope.status == 400
    assert stopped.envelope.message == "part failed: [social] not finished"


def test_a_run_is_read_by_path_and_laid_flat() -> None:
    both = {"faq": result("faq", ROW), "social": result("social", *POSTS)}
    whole = RunResult(whole_run(), Source("t", "-", "text"), both)
    assert whole.at("faq.pairs.0.question") == "a"
    assert whole.at("social.data.x.text") == "x"
    assert whole.at("social.x.2.text") == "x.2"
    assert whole.at("faq.status") is MISSING
    assert whole.at("podcast.title") is MISSING
    assert set(whole.flat) == {"faq__pairs", "social__x", "social__x.2"}
    assert whole.envelope.message == "FAQ done (1 retry); FAQ done (1 retry)"
