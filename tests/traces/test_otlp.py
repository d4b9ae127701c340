"""Which spans are a run's, whether they say that it has ended, and what they say of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from traces.otlp_lines import OTHER, TRACE, append, line, record, source, span, state, text

from repurpose.core.endpoint import TraceState
from repurpose.core.paths import at
from repurpose.errors import UsageError
from repurpose.traces.otlp import otlp_traces


@pytest.fixture
def spans(tmp_path: Path) -> Path:
    return tmp_path / "spans.json"


@pytest.mark.parametrize(
    ("status", "meant"),
    [
        ({}, "done"),
        ({"code": 1}, "done"),
        ({"code": "STATUS_CODE_OK"}, "done"),
        ({"code": 2, "message": "no"}, "failed"),
        ({"code": "STATUS_CODE_ERROR"}, "failed"),
    ],
)
def test_the_status_of_the_root_span_is_how_the_run_ended(
    spans: Path, status: dict[str, Any], meant: str
) -> None:
    append(spans, line(span(status=status)))
    assert state(source(spans)).status == meant


def test_a_file_that_is_not_there_yet_is_a_run_without_a_trace(spans: Path) -> None:
    asked = source(spans)
    assert state(asked) == TraceState("absent", "there is no file with traces yet")
    append(spans, line(span()))
    assert state(asked).status == "done"


def test_spans_of_other_runs_are_not_taken_for_it(spans: Path) -> None:
    append(spans, line(span(run="run2")) + line(span(run=None, traceId=OTHER)))
    absent = state(source(spans))
    assert absent == TraceState("absent", "no span with repurpose.run_id of this run yet")


def test_a_root_span_that_has_not_ended_leaves_the_run_running(spans: Path) -> None:
    asked = source(spans)
    append(spans, line(span(endTimeUnixNano="0")))
    running = state(asked)
    assert running.status == "running"
    assert running.diagnosis == "the trace has begun; its root span has not ended"
    append(spans, line(span()))
    assert state(asked).status == "done"


def test_a_child_that_ends_first_does_not_end_the_run(spans: Path) -> None:
    asked = source(spans)
    append(spans, line(span("b2", parentSpanId="a1")))
    assert state(asked).status == "running"
    append(spans, line(span("a1", run=None)))
    assert state(asked).status == "done"


def test_the_run_id_may_stand_on_any_span_of_the_trace_whichever_is_written_first(
    spans: Path,
) -> None:
    append(spans, line(span("a1", run=None)))
    asked = source(spans)
    assert state(asked).status == "absent"
    append(spans, line(span("b2", parentSpanId="a1")))
    assert state(asked).status == "done"


def test_the_run_id_may_stand_on_the_resource(spans: Path) -> None:
    append(spans, line(span(run=None), resource=[text("repurpose.run_id", "run1")]))
    assert state(source(spans)).status == "done"


def test_the_name_of_the_attribute_can_be_chosen(spans: Path) -> None:
    append(spans, line(span(attributes=[text("job.id", "run9")])))
    assert state(source(spans, attribute="job.id"), "run9").status == "done"


def test_the_record_is_the_root_span_with_its_attributes_in_plain_json(spans: Path) -> None:
    attributes = [
        text("output.value", '{"answer": {"title": "Bees"}}'),
        text("note", "{not json"),
        {"key": "tokens", "value": {"intValue": "64"}},
        {"key": "share", "value": {"doubleValue": 0.5}},
        {"key": "cached", "value": {"boolValue": False}},
        {"key": "tags", "value": {"arrayValue": {"values": [{"stringValue": "x"}, {}]}}},
        {"key": "map", "value": {"kvlistValue": {"values": [text("k", "v")]}}},
    ]
    events = [{"name": "written", "attributes": [text("draft", "[1, 2]")]}]
    child = span("b2", parentSpanId="a1", name="think", startTimeUnixNano="1581452772000000999")
    append(spans, line(child))
    append(spans, line(span(attributes=attributes, events=events)))
    read = record(source(spans))
    assert at(read, "name") == "agent.run"
    assert at(read, "attributes.output.value.answer.title") == "Bees"
    assert at(read, "attributes") == {
        "repurpose.run_id": "run1",
        "output.value": {"answer": {"title": "Bees"}},
        "note": "{not json",
        "tokens": 64,
        "share": 0.5,
        "cached": False,
        "tags": ["x", None],
        "map": {"k": "v"},
    }
    assert at(read, "events.0") == {"name": "written", "attributes": {"draft": [1, 2]}}
    assert at(read, "spans.0.name") == "agent.run"
    assert at(read, "spans.1.parent_span_id") == "a1"


def test_field_names_in_snake_case_are_read_as_well(spans: Path) -> None:
    made = {
        "trace_id": TRACE,
        "span_id": "a1",
        "name": "agent.run",
        "end_time_unix_nano": 9,
        "attributes": [{"key": "repurpose.run_id", "value": {"string_value": "run1"}}],
    }
    append(
        spans,
        json.dumps({"resource_spans": [{"scope_spans": [{"spans": [made]}]}]}) + "\n",
    )
    assert state(source(spans)).status == "done"


def test_runs_that_share_a_trace_are_told_apart(spans: Path) -> None:
    append(spans, line(span("a1", run="run1", attributes=[text("output", "one")])))
    append(spans, line(span("a1", run="run2", attributes=[text("output", "two")])))
    append(spans, line(span("a3", run="run3", endTimeUnixNano="0")))
    asked = source(spans)
    assert at(record(asked, "run1"), "attributes.output") == "one"
    assert at(record(asked, "run2"), "attributes.output") == "two"
    assert state(asked, "run3").status == "running"


def test_a_named_span_decides_where_one_is_named(spans: Path) -> None:
    asked = source(spans, root="write")
    append(spans, line(span("a1", name="POST /runs")))
    running = state(asked)
    assert running.diagnosis == 'the trace has begun; its span "write" has not ended'
    append(spans, line(span("b2", name="write", parentSpanId="a1", status={"code": 2})))
    assert state(asked).status == "failed"
    assert at(record(asked), "name") == "write"


def test_of_several_root_spans_the_one_that_began_last_decides(spans: Path) -> None:
    append(spans, line(span("a1", startTimeUnixNano="5", status={"code": 2})))
    append(spans, line(span("a9", traceId=OTHER, startTimeUnixNano="7")))
    assert state(source(spans)).status == "done"


def test_without_a_status_to_go_by_any_span_says_that_the_run_is_done(spans: Path) -> None:
    asked = source(spans, presence=True)
    assert state(asked).status == "absent"
    assert record(asked) is None
    append(spans, line(span("b2", parentSpanId="a1", name="written", endTimeUnixNano="0")))
    assert state(asked).status == "done"
    assert at(record(asked), "name") == "written"


def test_there_is_no_record_while_the_root_span_is_not_there(spans: Path) -> None:
    append(spans, line(span("b2", parentSpanId="a1")))
    assert record(source(spans)) is None


def test_several_runs_may_be_asked_for_at_once(spans: Path) -> None:
    append(spans, "".join(line(span(f"s{i}", traceId=f"{i:032x}", run=f"r{i}")) for i in range(50)))
    asked = source(spans)

    async def all_of_them() -> list[TraceState]:
        return await asyncio.gather(*(asked.state(f"r{i}") for i in range(50)))

    assert {each.status for each in asyncio.run(all_of_them())} == {"done"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"path": None}, "completion.source: path is missing"),
        ({"path": ""}, "completion.source.path must be a text"),
        ({"attribute": 'a"b'}, "completion.source.attribute must be a name"),
        ({"presence": "yes"}, "completion.source.presence must be true or false"),
        ({"root": 5}, "completion.source.root must be a text"),
        ({"file": "x"}, "completion.source: unknown key 'file'"),
    ],
)
def test_a_table_that_cannot_work_is_refused_with_its_key(
    spans: Path, table: dict[str, object], message: str
) -> None:
    given: dict[str, Any] = {"kind": "otlp", "path": str(spans), **table}
    with pytest.raises(UsageError) as caught:
        otlp_traces(given, wire_for=lambda *_: pytest.fail("no wire"))
    assert message in str(caught.value)
