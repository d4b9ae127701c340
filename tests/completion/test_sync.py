"""The answer to the submit as the result."""

from __future__ import annotations

from typing import Any

import pytest

from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.completion.sync import drive
from repurpose.core.endpoint import Endpoint, Sync
from repurpose.errors import BrokenReply, NeverStarted
from scripted_endpoints import NEVER, ScriptedWire, answer, text
from virtual_time import VirtualClock, run_virtually


def answered(
    reply: Any, timeout: float = 600.0, **changes: Any
) -> tuple[CompletionOutcome, ScriptedWire]:
    wire = ScriptedWire(reply)
    endpoint = Endpoint("writer", "http://writer.test", completion=Sync(timeout), **changes)
    outcome = run_virtually(drive(endpoint, {"run_id": "r1"}, Environment(wire, VirtualClock())))
    return outcome, wire


def test_it_takes_one_post_and_no_look():
    outcome, wire = answered(answer({"answer": 1}))

    assert (outcome.status, outcome.response) == ("done", {"answer": 1})
    assert [each.method for each in wire.sent] == ["POST"]


def test_an_endpoint_that_does_not_say_how_it_ends_is_synchronous_with_ten_minutes():
    assert Endpoint("writer", "http://writer.test").completion == Sync(timeout=600.0)


def test_the_timeout_reaches_the_socket():
    outcome, wire = answered(NEVER, timeout=0.08)

    assert (outcome.status, wire.timeouts) == ("timeout", [0.08])


def test_a_text_is_the_result_where_the_whole_answer_is_wanted():
    assert answered(text("Dear reader"))[0].response == "Dear reader"


def test_a_text_is_a_broken_reply_where_a_part_of_it_is_wanted():
    with pytest.raises(BrokenReply, match="endpoint writer: the answer is no JSON"):
        answered(text("Dear reader"), result_path="output")


def test_a_web_page_is_never_the_result():
    with pytest.raises(BrokenReply, match="the answer is a web page"):
        answered(text("<html>Welcome</html>", kind="text/html; charset=utf-8"))


def test_a_redirect_is_not_followed_and_says_what_to_change():
    with pytest.raises(NeverStarted, match="answered 307") as error:
        answered(answer({}, 307, location="http://elsewhere.test/"))
    assert "base_url" in error.value.hint


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_says_where_to_look(status):
    with pytest.raises(NeverStarted) as error:
        answered(answer({}, status))
    assert "[endpoints.writer]" in error.value.hint
