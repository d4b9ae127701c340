"""Waiting for a post: which body counts, and what the answer to the submit has to do with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.completion.callback import drive
from repurpose.core.endpoint import Callback, Endpoint, StatusMatch
from repurpose.errors import NeverStarted, UsageError
from scripted_endpoints import NEVER, ScriptedRendezvous, ScriptedWire, answer, text
from virtual_time import VirtualClock, run_virtually

DONE = StatusMatch("state", ("completed",))
FAILED = StatusMatch("state", ("failed",))


def called_back(
    rendezvous: ScriptedRendezvous | None,
    wire: ScriptedWire | None = None,
    *,
    returned_id: str | None = None,
    **completion: Any,
) -> CompletionOutcome:
    endpoint = Endpoint(
        "writer",
        "http://writer.test",
        body={"to": "{{callback_url}}"},
        returned_id=returned_id,
        completion=Callback(**completion),
    )
    environment = Environment(wire or ScriptedWire(), VirtualClock(), rendezvous)
    return run_virtually(drive(endpoint, {"run_id": "r1"}, environment))


@pytest.mark.parametrize("body", [{"anything": 1}, "text", None, [], 0])
def test_without_done_any_post_is_the_result(body):
    outcome = called_back(ScriptedRendezvous([body]))

    assert (outcome.status, outcome.response) == ("done", body)


def test_without_done_a_body_that_is_no_json_is_the_text_that_it_is():
    outcome = called_back(ScriptedRendezvous(["Grüße".encode()]))

    assert outcome.response == "Grüße"


def test_interim_bodies_are_passed_over():
    bodies = [{"state": "working"}, b"no json", {"state": "completed", "answer": "x"}]

    outcome = called_back(ScriptedRendezvous(bodies), done=DONE)

    assert (outcome.status, outcome.response) == ("done", {"state": "completed", "answer": "x"})


def test_a_post_that_says_failed_ends_it_also_where_any_post_would_be_done():
    outcome = called_back(ScriptedRendezvous([{"state": "failed"}]), failed=FAILED)

    assert outcome.status == "failed"


def test_nothing_posted_is_a_timeout_after_two_minutes():
    outcome = called_back(ScriptedRendezvous())

    assert outcome.status == "timeout"
    assert outcome.elapsed == pytest.approx(120.0, abs=0.1)
    assert outcome.diagnosis == "nothing was posted to its callback address"


def test_only_interim_bodies_are_a_timeout_with_the_last_of_them():
    outcome = called_back(ScriptedRendezvous([{"state": "working"}]), done=DONE)

    assert (outcome.status, outcome.response) == ("timeout", {"state": "working"})
    assert outcome.diagnosis == "what was posted says neither done nor failed"


def test_the_wait_is_for_our_key_although_the_endpoint_has_an_id_of_its_own():
    rendezvous = ScriptedRendezvous([{"state": "completed"}])

    outcome = called_back(
        rendezvous, ScriptedWire(answer({"id": "agent-9"})), returned_id="id", done=DONE
    )

    assert set(rendezvous.waited) == {rendezvous.tickets[0].key}
    assert outcome.run_id == "r1"


@pytest.mark.parametrize("ack", [text("OK"), text("", 202), text("<html>", 200, "text/html")])
def test_whatever_success_the_submit_is_answered_with_is_not_looked_at(ack):
    outcome = called_back(ScriptedRendezvous([{"x": 1}]), ScriptedWire(ack))

    assert outcome.status == "done"


def test_a_submit_that_is_never_answered_does_not_hold_up_the_result():
    wire = ScriptedWire(NEVER)

    outcome = called_back(ScriptedRendezvous([{"x": 1}]), wire)

    assert outcome.status == "done"
    assert outcome.elapsed < 1
    assert wire.open_requests == 0


def test_an_endpoint_that_posts_before_it_answers_still_tells_its_id():
    class Later(ScriptedWire):
        async def send(self, request, timeout):  # noqa: ASYNC109
            await asyncio.sleep(1)
            return await super().send(request, timeout)

    wire = Later(answer({"id": "agent-9"}))

    assert called_back(ScriptedRendezvous([1]), wire, returned_id="id").remote_id == "agent-9"


@pytest.mark.parametrize("ack", [NEVER, answer({}), answer({}, 500)])
def test_an_id_that_does_not_come_takes_nothing_from_a_result_that_is_there(ack):
    class Later(ScriptedWire):
        async def send(self, request, timeout):  # noqa: ASYNC109
            await asyncio.sleep(1)
            return await super().send(request, timeout)

    outcome = called_back(ScriptedRendezvous([1]), Later(ack), returned_id="id")

    assert (outcome.status, outcome.remote_id) == ("done", None)
    assert outcome.elapsed < 3


def test_a_submit_that_is_refused_ends_the_wait_at_once():
    rendezvous = ScriptedRendezvous()

    with pytest.raises(NeverStarted, match="answered 404"):
        called_back(rendezvous, ScriptedWire(answer({}, 404)))
    assert rendezvous.forgotten == ["key-1"]


def test_every_attempt_has_an_address_of_its_own_and_a_late_body_is_never_matched():
    rendezvous = ScriptedRendezvous()
    called_back(rendezvous, timeout=1.0)

    called_back(rendezvous, timeout=1.0)

    first, second = rendezvous.tickets
    assert first.key != second.key
    assert first.url != second.url
    assert rendezvous.forgotten == [first.key, second.key]


def test_without_a_place_to_post_to_nothing_is_submitted():
    wire = ScriptedWire()

    with pytest.raises(UsageError, match="callback_base_url"):
        called_back(None, wire)
    assert wire.sent == []


def test_a_ticket_does_not_show_its_address():
    rendezvous = ScriptedRendezvous([{"x": 1}])
    called_back(rendezvous)

    assert "secret" not in repr(rendezvous.tickets[0])
