"""Following a stream of events: both kinds, cut anywhere, up to the event that ends it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.completion._events import events_in
from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.completion.stream import drive
from repurpose.core.endpoint import Endpoint, StatusMatch, Stream
from repurpose.core.exchange import WireError
from repurpose.errors import NeverStarted
from scripted_endpoints import NEVER, ScriptedWire, SteppingClock, text
from virtual_time import VirtualClock, run_virtually

WORKING, COMPLETED = '{"state": "working", "n": 1}', '{"state": "completed", "n": 2}'
SSE, LINES = "text/event-stream", "application/x-ndjson"
DONE = StatusMatch("state", ("completed",))
FAILED = StatusMatch("state", ("failed", "canceled"))


def followed(
    *chunks: Any, kind: str = SSE, status: int = 200, clock: Any = None, **changes: Any
) -> tuple[CompletionOutcome, ScriptedWire]:
    wire = ScriptedWire(text("", status, kind), chunks=chunks or ["\n"])
    timeout = changes.pop("timeout", 60.0)
    completion = Stream(DONE, failed=FAILED, timeout=timeout)
    endpoint = Endpoint("writer", "http://writer.test", completion=completion, **changes)
    environment = Environment(wire, clock or VirtualClock())
    return run_virtually(drive(endpoint, {"run_id": "r1"}, environment)), wire


@pytest.mark.parametrize(
    ("kind", "chunks"),
    [
        (SSE, [f"data: {WORKING}\n\n", f"data: {COMPLETED}\n\n"]),
        (LINES, [f"{WORKING}\n", f"{COMPLETED}\n"]),
        ("application/json", [f"{WORKING}\n{COMPLETED}"]),
        ("", [f"data: {WORKING}\n\ndata: {COMPLETED}\n\n"]),
        ("", [f"{WORKING}\n{COMPLETED}"]),
    ],
)
def test_the_event_that_says_completed_is_the_result_of_either_kind(kind, chunks):
    outcome, _ = followed(*chunks, kind=kind)

    assert (outcome.status, outcome.response) == ("done", {"state": "completed", "n": 2})


@pytest.mark.parametrize(
    "body",
    [
        f"data:{COMPLETED}\n\n",
        f"data: {COMPLETED}\r\n\r\n",
        f"data: {COMPLETED}\r\r",
        f"\ufeffdata: {COMPLETED}\n\n",
        f": hello\n\nevent: status\nid: 7\ndata: {COMPLETED}\n\n",
        'data: {"state":\ndata: "completed",\ndata: "n": 2}\n\n',
        f"data: {COMPLETED}",
        f"data: {COMPLETED}\n",
        f"data: not json\n\ndata: {COMPLETED}\n\ndata: [DONE]\n\n",
    ],
)
def test_an_event_stream_is_read_by_the_rules_also_without_its_last_blank_line(body):
    outcome, _ = followed(body)

    assert (outcome.status, outcome.response) == ("done", {"state": "completed", "n": 2})


def test_a_stream_that_ends_with_done_and_no_match_is_a_timeout():
    outcome, _ = followed(f"data: {WORKING}\n\ndata: [DONE]\n\n")

    assert outcome.status == "timeout"
    assert outcome.diagnosis == "the stream ended, and its last event says neither done nor failed"
    assert outcome.response == {"state": "working", "n": 1}


def test_a_stream_without_json_says_so():
    outcome, _ = followed("hello\n", "world\n", kind="text/plain")

    assert outcome.diagnosis == "the stream ended, and no event was JSON"


@pytest.mark.parametrize("state", ["failed", "canceled"])
def test_one_of_the_failed_states_ends_it(state):
    outcome, _ = followed(f'data: {{"state": "{state}"}}\n\n', NEVER)

    assert outcome.status == "failed"


def test_what_comes_after_the_match_is_never_read():
    outcome, wire = followed(
        f"data: {COMPLETED}\n\n", 'data: {"state": "failed"}\n\n', NEVER, returned_id=None
    )

    assert outcome.status == "done"
    assert wire.read_chunks == 1
    assert wire.open_requests == 0


def test_the_id_is_that_of_the_first_event():
    first = '{"state": "working", "task": {"id": "agent-7"}}'
    later = '{"state": "completed", "task": {"id": "agent-8"}}'

    outcome, _ = followed(f"{first}\n{later}\n", kind=LINES, returned_id="task.id")

    assert outcome.remote_id == "agent-7"


def test_time_is_up_before_an_event_that_comes_too_late_is_looked_at():
    outcome, _ = followed(f"data: {COMPLETED}\n\n", clock=SteppingClock(10.0), timeout=5.0)

    assert outcome.status == "timeout"


def test_a_stream_that_talks_without_end_is_over_when_time_is_up():
    async def talkative() -> CompletionOutcome:
        wire = ScriptedWire(text("", 200, SSE), chunks=[f"data: {WORKING}\n\n"] * 9000)
        endpoint = Endpoint("writer", "http://w.test", completion=Stream(DONE, timeout=5.0))
        return await drive(endpoint, {"run_id": "r1"}, Environment(wire, VirtualClock()))

    outcome = run_virtually(talkative())

    assert outcome.status == "timeout"
    assert outcome.elapsed == pytest.approx(5.0, abs=0.1)


def test_a_connection_that_breaks_on_the_way_is_a_timeout_since_the_work_may_go_on():
    outcome, _ = followed(f"data: {WORKING}\n\n", WireError("the connection broke"))

    assert outcome.status == "timeout"
    assert outcome.diagnosis == "the stream broke: the connection broke"


def test_a_refusal_is_told_by_its_status_and_its_rest_is_not_waited_for():
    with pytest.raises(NeverStarted) as error:
        followed("x" * 2000, NEVER, status=429, kind="text/plain")

    assert str(error.value) == "endpoint writer: the submit was answered 429: " + "x" * 299 + "…"


@given(
    data=st.data(),
    separator=st.sampled_from(["\n", "\r\n"]),
    kind=st.sampled_from([SSE, LINES]),
)
def test_however_a_body_is_cut_its_events_are_the_same(data, separator, kind):
    texts = ['{"a": "Größe"}', '{"b": "日本 👩‍👩‍👧"}', "3"]
    if kind == SSE:
        body = "".join(f"data: {each}{separator}{separator}" for each in texts).encode()
    else:
        body = separator.join(texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]

    async def read() -> list[str]:
        async def chunks():
            for piece in pieces:
                yield piece

        return [event.strip() async for event in events_in(chunks(), kind)]

    assert asyncio.run(read()) == texts
