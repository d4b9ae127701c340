"""Every mode ends in the same ways: done, failed, timeout, cancelled; and compares by type.

One table says for each mode how an endpoint behaves that does so. No socket, and no real waiting.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from repurpose.completion import MODES
from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.core.endpoint import (
    Callback,
    Endpoint,
    Poll,
    StatusMatch,
    Stream,
    Sync,
    Trace,
    TraceState,
)
from repurpose.core.exchange import WireError
from repurpose.core.table import member
from repurpose.errors import BrokenReply, NeverStarted, StillWorking
from scripted_endpoints import (
    NEVER,
    ScriptedRendezvous,
    ScriptedTraces,
    ScriptedWire,
    answer,
    text,
)
from virtual_time import VirtualClock, run_virtually

DONE = StatusMatch("state", ("completed", 1, False))
FAILED = StatusMatch("state", ("failed", "canceled"))
BODY = {"run": "{{run_id}}", "reply_to": "{{callback_url}}"}
TIMEOUT = 5.0

COMPLETIONS: dict[str, Any] = {
    "sync": Sync(timeout=TIMEOUT),
    "poll": Poll(
        status_path="/runs/{id}/status", done=DONE, failed=FAILED, interval=1.0, timeout=TIMEOUT
    ),
    "stream": Stream(done=DONE, failed=FAILED, timeout=TIMEOUT),
    "callback": Callback(done=DONE, failed=FAILED, timeout=TIMEOUT),
    "trace": Trace(source={"kind": "scripted"}, interval=1.0, timeout=TIMEOUT),
}


@dataclass
class Peer:
    """An endpoint, as a script."""

    wire: ScriptedWire = field(default_factory=ScriptedWire)
    rendezvous: ScriptedRendezvous = field(default_factory=ScriptedRendezvous)
    traces: ScriptedTraces = field(default_factory=lambda: ScriptedTraces(["absent"]))

    def drive(self, mode: str, **changes: Any) -> Any:
        """The coroutine of one completion."""
        settings: dict[str, Any] = {
            "name": "writer",
            "base_url": "http://writer.test",
            "path": "/runs",
            "body": BODY,
            "completion": COMPLETIONS[mode],
            "result_path": "answer" if mode == "trace" else "",
        }
        endpoint = Endpoint(**{**settings, **changes})
        environment = Environment(self.wire, VirtualClock(), self.rendezvous, self.traces)
        return member(MODES[mode])(endpoint, {"run_id": "r1"}, environment)


def saying(mode: str, *states: Any) -> Peer:
    """An endpoint of this mode that tells of these states, one after another."""
    bodies = [{"state": each, "answer": f"of {each}"} for each in states]
    if mode == "sync":
        return Peer(ScriptedWire(answer(bodies[-1])))
    if mode == "poll":
        return Peer(ScriptedWire(states=map(answer, bodies)))
    if mode == "stream":
        chunks = [f"data: {json.dumps(each)}\n\n" for each in bodies]
        return Peer(ScriptedWire(chunks=[*chunks, NEVER]))
    if mode == "callback":
        return Peer(rendezvous=ScriptedRendezvous(bodies))
    known = {"completed": "done", "failed": "failed", "canceled": "failed"}
    said = [TraceState(known.get(each, "running")) for each in states]
    return Peer(traces=ScriptedTraces(said, [bodies[-1]]))


def silent(mode: str) -> Peer:
    """An endpoint that takes the work, or not even that, and is never heard of again."""
    if mode in ("poll", "callback"):
        return Peer(ScriptedWire(answer({}), states=[NEVER]))
    if mode == "stream":
        return Peer(ScriptedWire(chunks=[": hello\n\n", NEVER]))
    return Peer(ScriptedWire(NEVER))


def outcome_of(peer: Peer, mode: str, **changes: Any) -> CompletionOutcome:
    return run_virtually(peer.drive(mode, **changes))


@pytest.mark.parametrize("mode", MODES)
def test_work_that_is_done_ends_with_the_body_that_says_so(mode):
    peer = saying(mode, "working", "completed")

    outcome = outcome_of(peer, mode)

    assert outcome.status == "done"
    assert outcome.response == {"state": "completed", "answer": "of completed"}
    assert (outcome.run_id, outcome.remote_id) == ("r1", None)
    assert 0 <= outcome.elapsed < TIMEOUT
    assert peer.wire.open_requests == 0


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "sync"])
@pytest.mark.parametrize("state", ["failed", "canceled"])
def test_work_that_failed_is_said_to_have_failed(mode, state):
    outcome = outcome_of(saying(mode, "working", state), mode)

    assert (outcome.status, outcome.run_id) == ("failed", "r1")


def test_a_synchronous_endpoint_says_no_with_its_status():
    with pytest.raises(NeverStarted, match="answered 422"):
        outcome_of(Peer(ScriptedWire(answer({"detail": "too long"}, 422))), "sync")


@pytest.mark.parametrize("mode", ["poll", "stream", "callback"])
def test_failed_is_looked_at_before_done(mode):
    both = StatusMatch("state", ("over",))
    completion = COMPLETIONS[mode]
    changed = {
        "poll": Poll("/s", both, failed=both, timeout=TIMEOUT),
        "stream": Stream(both, failed=both, timeout=TIMEOUT),
        "callback": Callback(both, failed=both, timeout=TIMEOUT),
    }[completion.mode]

    outcome = outcome_of(saying(mode, "over"), mode, completion=changed)

    assert outcome.status == "failed"


@pytest.mark.parametrize("mode", MODES)
def test_an_endpoint_that_is_never_heard_of_again_ends_in_a_timeout_on_time(mode):
    peer = silent(mode)

    outcome = outcome_of(peer, mode)

    assert outcome.status == "timeout"
    assert outcome.diagnosis
    assert outcome.elapsed == pytest.approx(TIMEOUT, abs=0.1)
    assert peer.wire.open_requests == 0


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in ("sync", "trace")])
@pytest.mark.parametrize("state", ["1", True, 1.0, 0, None, "Completed", ["completed"], {}])
def test_a_state_of_another_type_is_no_match(mode, state):
    outcome = outcome_of(saying(mode, state), mode)

    assert outcome.status == "timeout"


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in ("sync", "trace")])
@pytest.mark.parametrize("state", [1, False])
def test_a_number_and_a_switch_match_themselves(mode, state):
    assert outcome_of(saying(mode, state), mode).status == "done"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("after", [0.0, 0.0005, 0.5, 1.5])
def test_cancelling_ends_a_wait_at_once_and_lets_go_of_everything(mode, after):
    peer = silent(mode)

    async def cancelled() -> float:
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(peer.drive(mode))
        await asyncio.sleep(after)
        began = loop.time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return loop.time() - began

    assert run_virtually(cancelled()) == 0
    assert peer.wire.open_requests == 0
    assert peer.rendezvous.forgotten == [ticket.key for ticket in peer.rendezvous.tickets]


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "sync"])
def test_cancelling_between_two_looks_is_no_timeout_and_no_further_look(mode):
    peer = saying(mode, "working")
    peer.rendezvous.deliveries.append(NEVER)

    async def cancelled() -> None:
        task = asyncio.create_task(peer.drive(mode))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtually(cancelled())
    assert len(peer.wire.looks) == (1 if mode == "poll" else 0)
    assert len(peer.traces.state_keys) == (1 if mode == "trace" else 0)
    assert peer.wire.read_chunks == (1 if mode == "stream" else 0)
    assert peer.wire.open_requests == 0


@pytest.mark.parametrize("mode", MODES)
def test_a_submit_that_reaches_nobody_never_started(mode):
    peer = Peer(ScriptedWire(WireError("no connection to writer.test")))

    with pytest.raises(NeverStarted, match=r"endpoint writer: no connection to writer\.test"):
        outcome_of(peer, mode)
    assert len(peer.wire.sent) == 1


@pytest.mark.parametrize("mode", ["sync", "poll", "stream"])
def test_a_submit_whose_connection_is_lost_may_have_begun_so_it_is_not_sent_again(mode):
    peer = Peer(ScriptedWire(WireError("the connection was lost", reached=True)))

    with pytest.raises(StillWorking, match="endpoint writer: the connection was lost"):
        outcome_of(peer, mode)
    assert len(peer.wire.sent) == 1


@pytest.mark.parametrize("mode", ["callback", "trace"])
def test_a_lost_submit_is_no_end_where_the_result_comes_another_way(mode):
    peer = saying(mode, "working", "completed")
    peer.wire.submitted = WireError("the connection was lost", reached=True)

    assert outcome_of(peer, mode).status == "done"


@pytest.mark.parametrize("mode", MODES)
def test_a_submit_that_is_refused_is_told_with_status_and_300_characters_of_it(mode):
    page = text("<html>\n bad\x00 gateway" + "x" * 9000, 502, "text/html")

    with pytest.raises(NeverStarted) as error:
        outcome_of(Peer(ScriptedWire(page)), mode)

    said = str(error.value).partition("answered 502: ")[2]
    assert said.startswith("<html> bad gateway")
    assert len(said) == 300
    assert error.value.status == 502


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "trace"])
@pytest.mark.parametrize("first", [{}, {"data": {"id": ""}}, {"data": {"id": 7}}, "text", None])
def test_a_first_answer_without_the_id_that_is_asked_for_is_a_broken_reply(mode, first):
    chunks = [f"data: {json.dumps(first)}\n\n"]
    peer = Peer(ScriptedWire(answer(first), states=[NEVER], chunks=chunks))

    with pytest.raises(BrokenReply, match=r"data\.id"):
        outcome_of(peer, mode, returned_id="data.id")


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "trace"])
def test_the_id_that_an_endpoint_returns_is_told_beside_ours(mode):
    first = {"data": {"id": "agent-9"}, "state": "working"}
    last = {"data": {"id": "other"}, "state": "completed"}
    chunks = [f"data: {json.dumps(each)}\n\n" for each in (first, last)]
    late = ScriptedRendezvous([{"state": "interim"}, last])
    peer = Peer(ScriptedWire(answer(first), states=[answer(last)], chunks=chunks), late)

    outcome = outcome_of(peer, mode, returned_id="data.id")

    assert (outcome.run_id, outcome.remote_id) == ("r1", "agent-9")
    assert outcome_of(peer, mode).remote_id is None


@pytest.mark.parametrize("mode", MODES)
def test_the_run_id_is_put_into_path_and_body_in_every_mode(mode):
    peer = saying(mode, "completed")

    outcome_of(peer, mode, path="/runs/{run_id}")

    assert peer.wire.sent[0].url == "http://writer.test/runs/r1"
    assert json.loads(peer.wire.sent[0].body)["run"] == "r1"  # noqa: TID251 - what was sent


@pytest.mark.parametrize("mode", MODES)
def test_only_the_callback_mode_has_a_callback_address(mode):
    peer = saying(mode, "completed")

    outcome_of(peer, mode)

    sent = json.loads(peer.wire.sent[0].body)["reply_to"]  # noqa: TID251 - what was sent
    ours = "http://127.0.0.1:1/callbacks/secret-1"
    assert sent == (ours if mode == "callback" else "{{callback_url}}")


def test_every_mode_of_the_table_is_in_this_suite():
    assert set(COMPLETIONS) == set(MODES)
