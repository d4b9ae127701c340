"""Whatever a server sends, reading it gives a reply or a broken reply, never anything else."""

from __future__ import annotations

from typing import Any

import pytest

from repurpose.core.call import Usage
from repurpose.engines._openai_reply import read_reply
from repurpose.errors import BrokenReply


def body(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "text"}, "finish_reason": "stop", **choice}]}


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        (None, "stop"),
        (7, "stop"),
        ("eos", "stop"),
        ("tool_calls", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
    ],
)
def test_finish_reasons_of_other_servers_are_understood(reason: object, finish: str) -> None:
    assert read_reply(body(finish_reason=reason), server="here").finish == finish


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}], "a"),
        ([{"type": "text"}, "b", None, 3], ""),
        ({"text": "a"}, ""),
        (7, ""),
    ],
)
def test_content_of_any_type_is_text_or_nothing(content: object, text: str) -> None:
    assert read_reply(body(message={"content": content}), server="here").text == text


@pytest.mark.parametrize(
    "usage",
    [None, [], "many", {"prompt_tokens": True}, {"prompt_tokens": -1}, {"prompt_tokens": 10**40}],
)
def test_a_count_that_is_none_is_none(usage: object) -> None:
    assert read_reply({**body(), "usage": usage}, server="here").usage == Usage()


@pytest.mark.parametrize(
    "broken",
    [
        None,
        "text",
        {},
        {"choices": None},
        {"choices": {}},
        {"choices": ["text"]},
        {"choices": [{}]},
        {"choices": [{"message": "text"}]},
        {"choices": [{"finish_reason": "error", "error": {"code": 502}}]},
    ],
)
def test_a_body_without_a_message_is_a_broken_reply(broken: object) -> None:
    with pytest.raises(BrokenReply):
        read_reply(broken, server="here")
