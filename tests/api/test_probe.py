"""What the replies to the two probing calls show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.api._probe import MOST_TOKENS, Shown, contrary_call, prompted_call, shown_by
from repurpose.core.call import Reply
from repurpose.schema.wire import check_strict, wire_schema

GOOD = '{"fruit": "quince", "word": "tangerine"}'
UNSEEN = '{"fruit": "medlar", "word": "apple"}'


def test_each_call_is_cheap_and_its_schema_is_taken_by_every_provider() -> None:
    for call in (contrary_call(), prompted_call()):
        assert call.output_tokens == MOST_TOKENS <= 200
        assert len(call.system) + len(call.user) < 1000
        assert call.wire == wire_schema(call.schema)
        check_strict(call.wire)


def test_only_the_second_call_has_the_schema_in_its_prompt() -> None:
    assert "tangerine" not in contrary_call().system + contrary_call().user
    assert json.dumps(prompted_call().schema) in prompted_call().system


def test_doing_what_the_first_prompt_asks_breaks_its_schema() -> None:
    asked = contrary_call().user.partition(": ")[2]
    assert shown_by(Reply(asked)) == Shown("no", only_json=True, word_known=False, cut=False)


def test_doing_what_the_second_prompt_asks_is_no_json_alone() -> None:
    shown = shown_by(Reply(f"Here it is: {GOOD}"))
    assert shown == Shown("yes", only_json=False, word_known=True, cut=False)


@pytest.mark.parametrize(
    ("reply", "kept", "only_json", "word_known"),
    [
        (Reply(GOOD), "yes", True, True),
        (Reply(UNSEEN), "yes", True, False),
        (Reply(f"<think>A fruit.</think>{GOOD}"), "yes", True, True),
        (Reply("", reasoning=GOOD), "yes", False, True),
        (Reply(f"```json\n{GOOD}\n```"), "yes", False, True),
        (Reply('{"colour": "red"}'), "no", True, False),
        (Reply("I would rather write about boats."), "no", False, False),
        (Reply('{"fruit": "plum", "word": "tangerine"}'), "no", True, False),
        (Reply(""), "unknown", False, False),
        (Reply("", finish="refusal", refusal="No."), "unknown", False, False),
        (Reply("I can", finish="content_filter"), "unknown", False, False),
        (Reply("", finish="length"), "unknown", False, False),
        (Reply("Let me see", finish="length"), "unknown", False, False),
        # a decoder that holds to the schema and finds no end
        (Reply('{ "fruit": "quince", "word": "aaaaaa', finish="length"), "yes", True, False),
    ],
)
def test_a_reply_shows_what_its_server_keeps_to(
    reply: Reply, kept: Any, only_json: bool, word_known: bool
) -> None:
    shown = shown_by(reply)
    assert (shown.schema_kept, shown.word_known) == (kept, word_known)
    assert shown.only_json is only_json
    assert shown.cut is (reply.finish == "length")


@given(st.text(max_size=80), st.sampled_from(["stop", "length", "refusal", "content_filter"]))
def test_no_reply_is_too_odd(text: str, finish: Any) -> None:
    assert shown_by(Reply(text, finish=finish)).schema_kept in ("yes", "no", "unknown")
