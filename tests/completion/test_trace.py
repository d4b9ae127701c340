"""Asking a trace source: when the work has ended, and for what came of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.completion.trace import drive
from repurpose.core.endpoint import Endpoint, Trace, TraceState
from repurpose.core.exchange import WireError
from repurpose.errors import NeverStarted, UsageError
from scripted_endpoints import NEVER, ScriptedTraces, ScriptedWire, answer
from virtual_time import VirtualClock, run_virtually

RECORD = {"response": {"answer": "text"}}


def traced(
    traces: ScriptedTraces | None, wire: ScriptedWire | None = None, **completion: Any
) -> CompletionOutcome:
    return run_virtually(driven(traces, wire or ScriptedWire(NEVER), **completion))


def driven(traces: ScriptedTraces | None, wire: ScriptedWire, **completion: Any) -> Any:
    endpoint = Endpoint(
        "writer",
        "http://writer.test",
        result_path="response.answer",
        completion=Trace(source={"kind": "scripted"}, **completion),
    )
    return drive(endpoint, {"run_id": "r1"}, Environment(wire, VirtualClock(), traces=traces))


def test_a_submit_that_never_answers_does_not_hold_up_completion():
    traces, wire = ScriptedTraces(["running", "done"], [RECORD]), ScriptedWire(NEVER)

    outcome = traced(traces, wire)

    assert (outcome.status, outcome.response) == ("done", RECORD)
    assert traces.state_keys == ["r1", "r1"]
    assert traces.record_keys == ["r1"]
    assert outcome.elapsed == pytest.approx(2.0, abs=0.1)
    assert wire.open_requests == 0


def test_a_submit_that_is_refused_fails_it_at_the_next_look():
    traces = ScriptedTraces(["absent"])

    with pytest.raises(NeverStarted, match="no connection"):
        traced(traces, ScriptedWire(WireError("no connection")))
    assert len(traces.state_keys) == 1


def test_a_submit_that_is_refused_while_time_is_up_is_still_told():
    with pytest.raises(NeverStarted, match="answered 500"):
        traced(ScriptedTraces(["absent"]), ScriptedWire(answer({}, 500)), timeout=0.5)


def test_a_source_that_cannot_be_asked_is_asked_again():
    traces = ScriptedTraces([WireError("answered 503"), WireError("x"), "done"], [RECORD])

    assert traced(traces).status == "done"
    assert len(traces.state_keys) == 3


def test_a_source_that_cannot_be_asked_to_the_end_is_a_timeout_that_says_so():
    outcome = traced(ScriptedTraces([WireError("the server answered 401")]))

    assert outcome.status == "timeout"
    assert outcome.diagnosis == "its traces cannot be read: the server answered 401"
    assert outcome.elapsed == pytest.approx(120.0, abs=0.1)


def test_a_timeout_names_the_diagnosis_of_the_source():
    outcome = traced(ScriptedTraces([TraceState("absent", "no trace with this run id yet")]))

    assert outcome.diagnosis == "no trace with this run id yet"


def test_a_failed_run_needs_no_record():
    traces = ScriptedTraces(["running", "failed"])

    assert traced(traces).status == "failed"
    assert traces.record_keys == []


@pytest.mark.parametrize("early", [None, {"response": {}}, {}, WireError("answered 500")])
def test_a_record_that_is_not_whole_yet_is_pulled_again(early):
    traces = ScriptedTraces(["done"], [early, RECORD])

    assert traced(traces).response == RECORD
    assert len(traces.record_keys) == 2


def test_a_record_without_the_answer_is_handed_on_after_four_pulls():
    traces = ScriptedTraces(["done"], [{"response": {}}])

    outcome = traced(traces)

    assert (outcome.status, outcome.response) == ("done", {"response": {}})
    assert len(traces.record_keys) == 4


def test_without_a_source_nothing_is_submitted():
    wire = ScriptedWire()

    with pytest.raises(UsageError, match="needs a source"):
        traced(None, wire)
    assert wire.sent == []


def test_cancelling_wins_over_a_submit_that_fails_because_of_it():
    class Failing(ScriptedWire):
        async def send(self, request, timeout):  # noqa: ASYNC109
            try:
                return await super().send(request, timeout)
            except asyncio.CancelledError:
                raise WireError("the connection was closed") from None

    async def cancelled() -> None:
        task = asyncio.create_task(driven(ScriptedTraces(["running"]), Failing(NEVER)))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtually(cancelled())
