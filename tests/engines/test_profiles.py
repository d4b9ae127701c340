"""The known kinds of servers: their data, how one is chosen, and what each is sent."""

from __future__ import annotations

import asyncio
import itertools
from datetime import date
from typing import Any, get_args

import httpx2
import openai
import pytest

from repurpose.core.call import Call
from repurpose.core.json_types import JsonObject
from repurpose.core.keys import call_key
from repurpose.core.profile import (
    SCHEMA_KINDS,
    CacheKind,
    OutputParameter,
    Profile,
    SchemaKind,
)
from repurpose.core.source import Source
from repurpose.engines._gate import Final
from repurpose.engines._openai_faults import Party, fault_of
from repurpose.engines._profiles import (
    PROFILES,
    ShapeRefused,
    profile_for,
    profile_named,
    weaker,
)
from repurpose.engines.openai import OPENAI_URL, openai_engine
from repurpose.errors import EngineError, NeverStarted, UsageError
from repurpose.ports import Engine

WIRE: JsonObject = {
    "type": "object",
    "properties": {"ferry": {"type": "string"}},
    "required": ["ferry"],
    "additionalProperties": False,
}
CALL = Call(
    format="memo",
    system="Name the ferry.",
    user="The ferry Aurora sails at six.",
    schema=WIRE,
    wire=WIRE,
    source=Source("The ferry Aurora sails at six.", "ferry.md", "markdown"),
    output_tokens=90,
)
STRICT = {
    "type": "json_schema",
    "json_schema": {"name": "memo", "strict": True, "schema": WIRE},
}
LAX = {"type": "json_schema", "json_schema": {"name": "memo", "schema": WIRE}}
OBJECT = {"type": "json_object"}
ROUTED = {"provider": {"require_parameters": True}}

SENT: dict[str, dict[str, Any]] = {
    "generic": {"response_format": STRICT, "max_tokens": 90},
    "openai": {"response_format": STRICT, "max_completion_tokens": 90},
    "azure": {"response_format": STRICT, "max_completion_tokens": 90},
    "openrouter": {"response_format": STRICT, "max_tokens": 90, **ROUTED},
    "ollama": {"response_format": LAX, "max_tokens": 90},
    "ollama-cloud": {"max_tokens": 90},
    "vllm": {"response_format": LAX, "max_tokens": 90},
    "llamacpp": {"response_format": LAX, "max_tokens": 90},
    "lmstudio": {"response_format": LAX, "max_tokens": 90},
    "deepseek": {"response_format": OBJECT, "max_tokens": 90},
    "gemini": {"response_format": LAX, "max_tokens": 90},
    "anthropic": {"max_tokens": 90},
}
"""By profile: the body beside model and messages."""

SCHEMA_SHOWN_BY_THE_SERVER = {"openai", "azure"}


def engine_with(url: str, clock: Any, profile: str | None) -> Engine:
    return openai_engine(model="small", base_url=url, clock=clock, profile=profile)


def body_sent(server: Any, clock: Any, profile: str | None) -> dict[str, Any]:
    async def ask() -> None:
        engine = engine_with(server.url, clock, profile)
        await engine.answer(CALL)
        await engine.close()

    asyncio.run(ask())
    body: dict[str, Any] = server.requests[-1].body
    return body


# --- the data ---------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_every_profile_has_a_source_and_the_day_it_was_read(profile: Profile) -> None:
    assert "." in profile.source
    assert date(2026, 1, 1) <= date.fromisoformat(profile.checked)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_every_fact_of_a_profile_is_one_that_we_know_the_meaning_of(profile: Profile) -> None:
    assert profile.schema in get_args(SchemaKind)
    assert profile.cache in get_args(CacheKind)
    assert profile.output_parameter in get_args(OutputParameter)
    assert profile.schema_in_prompt is (profile.name not in SCHEMA_SHOWN_BY_THE_SERVER)
    assert isinstance(profile.content_parts, bool)
    assert profile.context_tokens is None or profile.context_tokens > 0


def test_no_extra_item_of_a_body_replaces_one_of_ours() -> None:
    ours = {"model", "messages", "response_format", "temperature", *get_args(OutputParameter)}
    assert not [p.name for p in PROFILES.values() if ours & p.extra_body.keys()]


def test_no_host_is_claimed_twice() -> None:
    hosts = [host for profile in PROFILES.values() for host in profile.hosts]
    assert len(hosts) == len(set(hosts))


# --- the choice -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("api.openai.com", "openai"),
        ("eu.api.openai.com", "openai"),
        ("API.OpenAI.com:443", "openai"),
        ("acme.openai.azure.com", "azure"),
        ("acme.services.ai.azure.com", "azure"),
        ("openrouter.ai", "openrouter"),
        ("localhost:11434", "ollama"),
        ("127.0.0.1:11434", "ollama"),
        ("[::1]:11434", "ollama"),
        ("ollama.com", "ollama-cloud"),
        ("localhost:1234", "lmstudio"),
        ("api.deepseek.com", "deepseek"),
        ("generativelanguage.googleapis.com", "gemini"),
        ("api.anthropic.com", "anthropic"),
        # these look like one of the above
        ("api.openai.com.example", "generic"),
        ("notapi.openai.com", "generic"),
        ("localhost:8000", "generic"),
        ("localhost", "generic"),
        ("[fe80::1234]", "generic"),
        ("[*", "generic"),
        ("", "generic"),
    ],
)
def test_a_profile_is_chosen_by_the_host(host: str, name: str) -> None:
    assert profile_for(host).name == name


@pytest.mark.parametrize(
    ("url", "parameters"),
    [
        (OPENAI_URL, {"output_parameter": "max_completion_tokens"}),
        ("https://api.deepseek.com", {"schema": "object"}),
        ("https://me:secret@openrouter.ai/api/v1", {"extra_body": ROUTED}),
        ("https://models.example/v1", {}),
    ],
)
def test_the_address_chooses_where_no_profile_is_named(
    url: str, parameters: dict[str, Any], clock: Any
) -> None:
    engine = engine_with(url, clock, None)
    assert {k: v for k, v in engine.parameters.items() if k != "endpoint"} == parameters


def test_a_named_profile_wins_over_the_address(clock: Any) -> None:
    engine = engine_with("https://api.deepseek.com", clock, "anthropic")
    assert engine.parameters["schema"] == "none"


@pytest.mark.parametrize("choice", [*PROFILES, "Generic ", "vllm:object", "anthropic:strict"])
def test_a_profile_is_known_by_its_own_name(choice: str) -> None:
    assert profile_named(choice).name == choice.strip().lower()
    assert profile_named(profile_named(choice).name) == profile_named(choice)


@pytest.mark.parametrize(
    ("choice", "message", "hint"),
    [
        ("olama", "no profile 'olama'; did you mean ollama?", "choose from generic, openai"),
        ("", "no profile ''", "choose from generic"),
        ("vllm:json", "'json' is no way to ask", "vllm:KIND with one of strict, schema, object"),
        ("vllm:", "'' is no way to ask", "strict, schema, object, none"),
    ],
)
def test_an_unknown_profile_names_the_known_ones(choice: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        profile_named(choice)
    assert message in refused.value.message
    assert hint in str(refused.value.hint)


# --- what is sent -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROFILES)
def test_each_profile_has_its_body(name: str, mock_server: Any, clock: Any) -> None:
    assert body_sent(mock_server, clock, name) == {
        "model": "small",
        "messages": [
            {"role": "system", "content": CALL.system},
            {"role": "user", "content": CALL.user},
        ],
        **SENT[name],
    }


@pytest.mark.parametrize(
    ("kind", "format"),
    [("strict", STRICT), ("schema", LAX), ("object", OBJECT), ("none", None)],
)
def test_a_kind_changes_the_shape_asked_for_and_nothing_else(
    kind: str, format: Any, mock_server: Any, clock: Any
) -> None:
    own = body_sent(mock_server, clock, "openrouter")
    body = body_sent(mock_server, clock, f"openrouter:{kind}")
    assert body.get("response_format") == format
    assert {**body, "response_format": STRICT} == own


@pytest.mark.parametrize("name", PROFILES)
def test_an_engine_hands_on_whether_prompts_need_the_schema(name: str, clock: Any) -> None:
    engine = engine_with("https://models.example/v1", clock, name)
    assert engine.schema_in_prompt is (name not in SCHEMA_SHOWN_BY_THE_SERVER)


def test_two_requests_have_one_key_exactly_if_they_are_the_same(
    mock_server: Any, clock: Any
) -> None:
    """Whatever a profile changes on the wire is in the key, and its name is not."""
    choices = [f"{name}:{kind}" for name in PROFILES for kind in SCHEMA_KINDS]
    bodies = {choice: body_sent(mock_server, clock, choice) for choice in choices[::3]}
    keys = {}
    for choice in bodies:
        engine = engine_with(mock_server.url, clock, choice)
        keys[choice] = call_key(
            CALL, engine=engine.name, model=engine.model, parameters=engine.parameters
        )
    for one, other in itertools.combinations(bodies, 2):
        assert (bodies[one] == bodies[other]) is (keys[one] == keys[other]), (one, other)


# --- where a server refuses one ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "plan", "hinted"),
    [
        ("generic", "unsupported", "generic:object"),
        ("generic", "badschema", "generic:schema"),
        ("openrouter", "unsupported", "openrouter:object"),
        ("ollama", "unsupported", "ollama:object"),
        ("deepseek", "unsupported", "deepseek:none"),
    ],
)
def test_a_refused_shape_names_the_next_weaker_profile_and_the_doctor(
    choice: str, plan: str, hinted: str, mock_server: Any, clock: Any
) -> None:
    mock_server.plan(plan)
    with pytest.raises(NeverStarted) as refused:
        body_sent(mock_server, clock, choice)
    assert isinstance(refused.value, ShapeRefused)
    assert refused.value.next_profile.name == hinted
    assert f"add --profile {hinted}; repurpose doctor" in str(refused.value.hint)
    assert len(mock_server.requests) == 1  # nothing weaker is tried unasked


def test_with_no_shape_asked_for_none_can_be_refused(mock_server: Any, clock: Any) -> None:
    mock_server.plan("unsupported")
    with pytest.raises(NeverStarted) as refused:
        body_sent(mock_server, clock, "anthropic")
    assert not isinstance(refused.value, ShapeRefused)


def refusal(status: int, body: object, profile: str) -> EngineError:
    request = httpx2.Request("POST", "https://models.example/v1/chat/completions")
    response = httpx2.Response(status, request=request)
    error = openai.APIStatusError("text", response=response, body=body)
    party = Party("models.example", "small", "MY_KEY", 60.0, None, profile_named(profile))
    fault = fault_of(error, party, None)  # type: ignore[arg-type]  # no time is looked at
    assert isinstance(fault, Final)
    return fault.error


@pytest.mark.parametrize(
    ("status", "body", "profile", "hinted"),
    [
        # LM Studio: the body's error is a text
        (400, "'response_format.type' must be 'json_schema' or 'text'", "lmstudio:object", "none"),
        # a server that checks the body and knows no `strict`
        (422, {"message": "json_schema.strict: extra inputs not permitted"}, "generic", "schema"),
        # DeepSeek
        (400, {"message": "This response_format type is unavailable now"}, "generic", "object"),
        # OpenRouter, where no provider of the model takes a schema
        (
            404,
            {"code": 404, "message": "No endpoints found that support the requested parameters."},
            "openrouter",
            "object",
        ),
    ],
)
def test_servers_refuse_a_shape_in_their_own_ways(
    status: int, body: object, profile: str, hinted: str
) -> None:
    error = refusal(status, body, profile)
    assert isinstance(error, ShapeRefused)
    assert error.next_profile.schema == hinted
    assert "requested" not in error.message  # no text of the server


def test_an_unknown_model_is_no_refused_shape() -> None:
    assert not isinstance(refusal(404, {"code": "model_not_found"}, "generic"), ShapeRefused)
    assert not isinstance(refusal(404, {"message": "Not Found"}, "generic"), ShapeRefused)


def test_the_way_down_ends_without_a_schema() -> None:
    path = [PROFILES["openai"]]
    while (following := weaker(path[-1])) is not None:
        path.append(following)
    assert [profile.schema for profile in path] == ["strict", "object", "none"]
    assert all(profile.output_parameter == "max_completion_tokens" for profile in path)
