"""Files of spans that grow, are rotated, break off, or are emptied, each line read once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from traces.otlp_lines import OTHER, append, line, record, source, span, state, text

from repurpose.core.exchange import WireError
from repurpose.core.paths import at
from repurpose.traces import _files


@pytest.fixture
def spans(tmp_path: Path) -> Path:
    return tmp_path / "spans.json"


def test_half_a_line_is_waited_for(spans: Path) -> None:
    whole = line(span())
    asked = source(spans)
    for cut in (10, whole.index("}]}") + 2, len(whole) - 2):
        spans.write_text(whole[:cut], encoding="utf-8")
        assert state(asked).status == "absent", cut
    spans.write_text(whole, encoding="utf-8")
    assert state(asked).status == "done"


def test_a_last_line_without_its_end_is_read_where_it_is_whole(spans: Path) -> None:
    append(spans, line(span()).rstrip("\n"))
    asked = source(spans)
    assert state(asked).status == "done"
    append(spans, "\n" + line(span("c3", traceId=OTHER, run="run2")))
    assert state(asked, "run2").status == "done"


def test_a_line_that_is_no_json_is_passed_over_and_told(spans: Path) -> None:
    append(spans, "Starting the collector\n" + '{"repurpose.run_id": \n' + "\n")
    asked = source(spans)
    absent = state(asked)
    assert absent.diagnosis == "no span with repurpose.run_id of this run yet; 2 lines were no JSON"
    append(spans, line(span()))
    assert state(asked).status == "done"


@pytest.mark.parametrize(
    "value",
    [
        {"resourceSpans": 1},
        {"resourceSpans": [1, {"scopeSpans": [{"spans": ["x", {"attributes": 5}]}]}]},
        {"resourceSpans": [{"resource": 7, "scopeSpans": [{"spans": [{"traceId": {}}]}]}]},
        {"resourceMetrics": []},
    ],
)
def test_json_of_another_shape_is_passed_over(spans: Path, value: object) -> None:
    append(spans, json.dumps({"repurpose.run_id": "run1", **dict(value)}) + "\n")  # type: ignore[call-overload]
    assert state(source(spans)).status == "absent"


def test_what_was_read_is_not_read_again(spans: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(spans, "".join(line(span(f"s{i}", traceId=f"{i:032x}", run=None)) for i in range(200)))
    asked = source(spans)
    assert state(asked).status == "absent"
    read: list[bytes] = []
    new_lines = _files._new_lines

    def noted(*given: Any) -> Any:
        for place, content in new_lines(*given):
            read.append(content)
            yield place, content

    monkeypatch.setattr(_files, "_new_lines", noted)
    append(spans, line(span()))
    assert state(asked).status == "done"
    assert state(asked).status == "done"
    assert len(read) == 1


def test_a_file_that_is_rotated_is_read_to_its_end_under_its_new_name(spans: Path) -> None:
    asked = source(spans)
    append(spans, line(span("b2", parentSpanId="a1")))
    assert state(asked).status == "running"
    append(spans, line(span("d4", run=None, parentSpanId="a1", name="late")))
    spans.rename(spans.with_name("spans-2026-01-31T10-00-00.000.json"))
    append(spans, line(span("a1")))
    assert state(asked).status == "done"
    assert [at(record(asked), f"spans.{i}.span_id") for i in range(3)] == ["b2", "d4", "a1"]


def test_a_file_that_is_rotated_to_a_number_is_followed_too(spans: Path) -> None:
    asked = source(spans)
    append(spans, line(span("b2", parentSpanId="a1")))
    assert state(asked).status == "running"
    spans.rename(spans.with_name("spans.json.1"))
    append(spans, line(span("a1")))
    assert state(asked).status == "done"


def test_a_file_that_is_emptied_and_written_anew_is_read_from_its_beginning(spans: Path) -> None:
    append(spans, line(span("s1", run="run2")))
    asked = source(spans)
    assert state(asked).status == "absent"
    filler = "".join(line(span(f"f{i}", traceId=f"{i:032x}", run=None)) for i in range(9))
    spans.write_text(line(span()) + filler, encoding="utf-8")  # longer than it was before
    assert state(asked).status == "done"


def test_a_file_that_is_deleted_takes_its_spans_along(spans: Path) -> None:
    append(spans, line(span()))
    asked = source(spans)
    assert state(asked).status == "done"
    spans.unlink()
    assert state(asked).status == "absent"


def test_all_files_of_a_folder_are_read(tmp_path: Path) -> None:
    asked = source(tmp_path)
    append(tmp_path / "one.jsonl", line(span("b2", parentSpanId="a1")))
    append(tmp_path / "two.json", line(span("a1", run=None)))
    (tmp_path / "spans.json.gz").write_bytes(b"\x1f\x8b\x00\n")
    assert state(asked).status == "done"


def test_of_what_was_there_before_only_the_end_is_read(
    spans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = line(span(run="run1")), line(span(traceId=OTHER, run="run2"))
    append(spans, older * 20 + newer)
    monkeypatch.setattr(_files, "_BACKLOG", len(newer) + 5)
    asked = source(spans)
    assert state(asked, "run1").status == "absent"
    assert state(asked, "run2").status == "done"


def test_a_line_beyond_all_bounds_is_passed_over(
    spans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "_LONGEST", 2000)
    asked = source(spans)
    append(spans, line(span(run="run2", attributes=[text("long", "x" * 7000)])))
    append(spans, line(span("c3", traceId=OTHER)))
    assert state(asked).status == "done"
    assert state(asked, "run2").status == "absent"


def test_a_folder_that_may_not_be_read_cannot_be_asked(
    spans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(spans, line(span()))

    def refused(*_: object) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(WireError) as caught:
        state(source(spans))
    assert str(caught.value) == "the traces cannot be read: Permission denied"


def test_a_home_folder_is_put_in(tmp_path: Path) -> None:
    append(Path(os.environ["HOME"]) / "spans.json", line(span()))
    assert state(source(Path("~/spans.json"))).status == "done"
