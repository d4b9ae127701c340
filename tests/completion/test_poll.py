"""Asking for the state: how often, where, and what an answer that is none means."""

from __future__ import annotations

from typing import Any

import pytest

from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.completion.poll import drive
from repurpose.core.endpoint import Endpoint, Poll, StatusMatch
from repurpose.core.exchange import WireError
from repurpose.errors import AgentFailed, BrokenReply
from scripted_endpoints import NEVER, ScriptedWire, SteppingClock, answer, text
from virtual_time import VirtualClock, run_virtually

DONE = StatusMatch("state", ("completed",))
RUNNING, COMPLETED = answer({"state": "running"}), answer({"state": "completed"})


def polled(
    wire: ScriptedWire, *, clock: Any = None, returned_id: str | None = None, **changes: Any
) -> CompletionOutcome:
    settings: dict[str, Any] = {"status_path": "/runs/{id}/status", "done": DONE, "timeout": 120.0}
    endpoint = Endpoint(
        "writer",
        "http://writer.test/",
        path="/runs",
        body={"text": "{{system}}"},
        returned_id=returned_id,
        completion=Poll(**{**settings, **changes}),
    )
    environment = Environment(wire, clock or VirtualClock())
    return run_virtually(drive(endpoint, {"run_id": "fixed", "system": "rules"}, environment))


def test_running_running_done_takes_three_looks_an_interval_apart():
    wire = ScriptedWire(states=[RUNNING, RUNNING, COMPLETED])

    outcome = polled(wire, interval=2.0)

    assert len(wire.looks) == 3
    assert outcome.elapsed == pytest.approx(4.0, abs=0.1)


def test_the_result_is_the_last_state_and_not_the_answer_to_the_submit():
    wire = ScriptedWire(
        answer({"state": "completed", "from": "submit"}),
        [answer({"state": "completed", "from": "state"})],
    )

    assert polled(wire).response == {"state": "completed", "from": "state"}


@pytest.mark.parametrize(
    ("returned_id", "path"),
    [(None, "/runs/fixed/status"), ("data.id", "/runs/agent-9/status")],
)
def test_the_state_is_asked_for_under_the_returned_id_or_else_under_ours(returned_id, path):
    wire = ScriptedWire(answer({"data": {"id": "agent-9"}}), [COMPLETED])

    polled(wire, returned_id=returned_id)

    assert [each.url for each in wire.looks] == [f"http://writer.test{path}"]
    assert [(each.method, each.body) for each in wire.looks] == [("GET", None)]


@pytest.mark.parametrize(
    ("returned", "path"),
    [
        ("../admin", "/runs/..%2Fadmin/status"),
        ("a/b?x#y", "/runs/a%2Fb%3Fx%23y/status"),
        ("%2e%2e", "/runs/%252e%252e/status"),
    ],
)
def test_a_returned_id_cannot_lead_to_another_path(returned, path):
    wire = ScriptedWire(answer({"id": returned}), [COMPLETED])

    polled(wire, returned_id="id")

    assert wire.looks[0].url == f"http://writer.test{path}"


@pytest.mark.parametrize("returned", [".", ".."])
def test_a_returned_id_that_is_a_way_up_is_refused(returned):
    with pytest.raises(BrokenReply, match="which is no name"):
        polled(ScriptedWire(answer({"id": returned}), [COMPLETED]), returned_id="id")


def test_a_returned_id_may_have_a_thousand_characters_and_no_more():
    kept = polled(ScriptedWire(answer({"id": "x" * 1000}), [COMPLETED]), returned_id="id")
    assert kept.remote_id == "x" * 1000

    with pytest.raises(BrokenReply, match="more than 1000 characters"):
        polled(ScriptedWire(answer({"id": "x" * 1001}), [COMPLETED]), returned_id="id")


def test_with_a_clock_in_steps_of_a_second_a_timeout_of_one_and_a_half_leaves_one_look():
    wire = ScriptedWire(states=[RUNNING])

    outcome = polled(wire, clock=SteppingClock(1.0), timeout=1.5)

    assert outcome.status == "timeout"
    assert outcome.response == {"state": "running"}
    assert len(wire.looks) == 1


@pytest.mark.parametrize(
    "not_yet",
    [
        answer({}, 408),
        answer({}, 429),
        answer({}, 500),
        answer({"state": "completed"}, 503),
        text("<html>Bad gateway</html>", 502, "text/html"),
        text('{"state": "comple'),
        text("", 204),
        WireError("the connection broke"),
    ],
)
def test_what_passes_is_waited_out(not_yet):
    wire = ScriptedWire(states=[not_yet, not_yet, COMPLETED])

    assert polled(wire).status == "done"
    assert len(wire.looks) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422, 302])
def test_what_does_not_pass_ends_the_wait_at_the_first_look_with_its_cause(status):
    wire = ScriptedWire(states=[answer({"detail": "gone"}, status), COMPLETED])

    with pytest.raises(AgentFailed, match=f"answered {status}: .*gone"):
        polled(wire)
    assert len(wire.looks) == 1


def test_a_server_that_asks_for_time_gets_it():
    wire = ScriptedWire(states=[answer({}, 429, **{"retry-after": "30"}), COMPLETED])

    assert polled(wire).elapsed == pytest.approx(30.0, abs=0.1)


def test_a_server_may_ask_for_time_by_a_date_or_in_milliseconds():
    for header, seconds in (
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after-ms": "20000"}, 20.0),
    ):
        wire = ScriptedWire(states=[answer({}, 503, **header), COMPLETED])
        assert polled(wire).elapsed == pytest.approx(seconds, abs=0.1)


def test_a_server_that_asks_for_more_time_than_there_is_does_not_hold_us():
    wire = ScriptedWire(states=[answer({}, 503, **{"retry-after": "9999"})])

    outcome = polled(wire, timeout=10.0)

    assert (outcome.status, outcome.diagnosis) == ("timeout", "its state address answered 503")
    assert outcome.elapsed == pytest.approx(10.0, abs=0.1)


def test_a_look_that_hangs_does_not_use_up_the_whole_wait():
    wire = ScriptedWire(states=[NEVER, COMPLETED])

    assert polled(wire).status == "done"
    assert wire.timeouts == [120.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"state": "running"}, "its state says neither done nor failed"),
        ({"error": {"code": -32001}}, "its state holds nothing at state"),
    ],
)
def test_a_timeout_says_whether_the_state_stood_where_it_was_looked_for(state, why):
    assert polled(ScriptedWire(states=[answer(state)])).diagnosis == why


def test_a_state_may_be_asked_for_by_post():
    wire = ScriptedWire(answer({"id": "t-1"}), [COMPLETED])

    polled(
        wire,
        returned_id="id",
        status_path="/rpc",
        status_method="POST",
        status_body={"method": "GetTask", "params": {"id": "{{id}}"}},
    )

    assert wire.looks[0].method == "POST"
    assert wire.looks[0].body == b'{"method":"GetTask","params":{"id":"t-1"}}'


def test_the_submit_is_sent_once_whatever_comes_after():
    wire = ScriptedWire(states=[WireError("broken"), answer({}, 500), COMPLETED])

    polled(wire)

    assert [each.method for each in wire.sent] == ["POST", "GET", "GET", "GET"]
