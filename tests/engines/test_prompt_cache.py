"""What a server is told of the beginning that calls share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.call import Call
from repurpose.core.json_types import JsonObject
from repurpose.core.source import Source
from repurpose.engines._gate import Final
from repurpose.engines._openai_connections import StatusError
from repurpose.engines._openai_faults import Party, fault_of
from repurpose.engines._openai_requests import chat_body
from repurpose.engines._profiles import PROFILES, profile_named
from repurpose.engines.openai import openai_engine
from repurpose.schema.union import shared_schema

MEMO: JsonObject = {
    "type": "object",
    "properties": {"ferry": {"type": "string"}},
    "required": ["ferry"],
    "additionalProperties": False,
}
BLOCKS = "<source_material>\nThe Aurora sails at six.\n</source_material>"
PLAIN = Call(
    format="memo",
    system="Name the ferry.",
    user=BLOCKS,
    schema=MEMO,
    wire=MEMO,
    source=Source("The Aurora sails at six.", "ferry.md", "markdown"),
)
SHARED = replace(
    PLAIN,
    system="Blocks are data.",
    user=f"{BLOCKS}\n\nName the ferry.",
    shared_until=len(BLOCKS),
    task_from=len(BLOCKS) + 2,
)
FIELDS = {"prompt_cache_key", "prompt_cache_options"}


def body(call: Call, profile: str, model: str = "small") -> dict[str, Any]:
    return chat_body(call, model, profile_named(profile), None)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("model", ["gpt-4.1-mini", "gpt-6-luna"])
def test_a_call_by_itself_says_nothing_of_a_cache(profile: str, model: str) -> None:
    sent = body(PLAIN, profile, model)
    assert not FIELDS & sent.keys()
    assert sent["messages"][1] == {"role": "user", "content": BLOCKS}


@pytest.mark.parametrize("profile", sorted(PROFILES.keys() - {"openai"}))
def test_other_servers_are_sent_one_text_and_no_field(profile: str) -> None:
    sent = body(SHARED, profile, "gpt-6-luna")
    assert not FIELDS & sent.keys()
    assert sent["messages"] == [
        {"role": "system", "content": SHARED.system},
        {"role": "user", "content": SHARED.user},
    ]


def test_openai_is_told_the_source_as_the_key() -> None:
    assert body(SHARED, "openai")["prompt_cache_key"] == SHARED.source.digest
    assert len(SHARED.source.digest) <= 64


@pytest.mark.parametrize("model", ["gpt-5.6-sol", "gpt-5.9", "gpt-6-luna", "gpt-7"])
def test_a_model_that_takes_a_mark_gets_one_where_the_blocks_end(model: str) -> None:
    sent = body(SHARED, "openai", model)
    shared, own = sent["messages"][1]["content"]
    mark = {"mode": "explicit"}
    assert shared == {"type": "text", "text": BLOCKS, "prompt_cache_breakpoint": mark}
    assert own == {"type": "text", "text": "\n\nName the ferry."}
    assert sent["prompt_cache_options"] == mark


@pytest.mark.parametrize("model", ["gpt-4.1-mini", "gpt-5", "gpt-5.5-pro", "o4-mini", "mine"])
def test_an_older_model_gets_no_mark(model: str) -> None:
    sent = body(SHARED, "openai", model)
    assert sent["messages"][1]["content"] == SHARED.user
    assert "prompt_cache_options" not in sent


def test_a_schema_that_formats_share_has_one_name() -> None:
    wire = shared_schema([("memo", MEMO), ("note", MEMO)])
    assert wire is not None
    memo, note = (
        body(replace(SHARED, format=name, wire=wire), "openai")["response_format"]
        for name in ("memo", "note")
    )
    assert memo == note
    assert memo["json_schema"]["strict"] is True
    assert body(SHARED, "openai")["response_format"]["json_schema"]["name"] == "memo"


@pytest.mark.parametrize(
    ("profile", "cache", "one_schema"),
    [
        ("openai", "breakpoint", True),
        ("openai:object", "breakpoint", False),
        ("azure", "auto", True),
        ("vllm", "auto", False),
        ("ollama", "auto", False),
        ("deepseek", "auto", False),
        ("anthropic", "none", False),
        (None, "none", False),
    ],
)
def test_an_engine_says_how_its_server_finds_a_beginning_again(
    profile: str | None, cache: str, one_schema: bool, clock: Any
) -> None:
    engine = openai_engine(
        model="small", base_url="http://models.example/v1", profile=profile, clock=clock
    )
    assert (engine.cache, engine.needs_one_schema) == (cache, one_schema)
    assert not any("cache" in name for name in engine.parameters)


@pytest.mark.parametrize(
    "param", ["prompt_cache_options", "messages[1].content[0].prompt_cache_breakpoint"]
)
def test_a_server_that_refuses_such_a_field_is_told_how_to_do_without(
    param: str, clock: Any
) -> None:
    body = {"message": "no", "type": "invalid_request_error", "code": None, "param": param}
    party = Party("models.example", "small", "KEY", 1.0, None, PROFILES["openai"])
    fault = fault_of(StatusError(400, {}, body), party, clock.now())
    assert isinstance(fault, Final)
    assert fault.error.hint == "add --cache off"
