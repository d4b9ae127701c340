"""Lines of a batch's files: written as the provider wants them, read whatever stands in them."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.core.provider_batch import Answered, Lost, Refusal
from repurpose.engines._batch_lines import LineFault, Told, line_of, outcome_of, told_from
from repurpose.engines._openai_faults import Party
from repurpose.errors import BrokenReply

PARTY = Party("api.example", "small", "OPENAI_API_KEY", 120.0)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def entry(**fields: Any) -> bytes:
    return json.dumps({"custom_id": "a", **fields}).encode()


def outcome(**fields: Any) -> Any:
    return outcome_of(entry(**fields), PARTY, NOW)


def test_a_line_holds_the_body_as_it_is():
    line = line_of("a", '{"model": "small", "n": [1]}')
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {  # noqa: TID251 - our own line
        "custom_id": "a",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "small", "n": [1]},
    }


@settings(max_examples=40)
@given(st.binary(max_size=60))
def test_any_bytes_are_an_outcome_or_no_line(line):
    outcome_of(line, PARTY, NOW)


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(["custom_id", "response", "error"]), JSON))
def test_any_object_is_an_outcome_or_no_line(fields):
    found = outcome_of(json.dumps(fields).encode(), PARTY, NOW)
    assert found is None or isinstance(found, Answered | Lost | Refusal)


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(["status_code", "request_id", "body"]), JSON))
def test_any_response_is_an_outcome(response):
    assert outcome(response=response) is not None


@settings(max_examples=40)
@given(JSON)
def test_any_batch_object_is_told_or_broken(body):
    with suppress(BrokenReply):
        told_from(body, "api.example", "ours")


@pytest.mark.parametrize("code", ["batch_expired", "batch_cancelled", "server_error", None])
def test_a_request_that_was_not_run_may_be_sent_again(code):
    error = {"code": code, "message": "This request could not be executed"}
    assert isinstance(outcome(response=None, error=error), Lost)


def test_a_reply_carries_the_id_of_its_request():
    body = {"choices": [{"message": {"content": "{}"}, "finish_reason": "length"}]}
    found = outcome(response={"status_code": 200, "request_id": "req_7", "body": body})
    assert (found.reply.request_id, found.reply.finish) == ("req_7", "length")
    assert found.cost is None


def test_a_batch_is_told_with_what_refused_it():
    body = {
        "id": "batch_1",
        "status": "failed",
        "metadata": {"ours": "b1"},
        "request_counts": {"total": 3, "completed": 2, "failed": 1},
        "errors": {"data": [{"code": "bad_line", "line": 2, "message": "x", "param": None}, 7]},
    }
    assert told_from(body, "api.example", "ours") == Told(
        "batch_1",
        "failed",
        completed=2,
        ours="b1",
        faults=(LineFault(2, " (code bad_line)", "bad_line"), LineFault(None, "", None)),
    )
