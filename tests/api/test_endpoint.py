"""What is said about a model server, against servers of every kind."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mock_server import KEY_ECHO, MockServer
from repurpose.api._diagnosis import Diagnosis
from repurpose.api._endpoint import probed
from repurpose.config import Settings

GOOD = '{"fruit": "quince", "word": "tangerine"}'
UNSEEN = '{"fruit": "quince", "word": "apple"}'
AS_TOLD = '{"colour": "red"}'
WORDS_FIRST = f"Here it is: {GOOD}"
KEY = "sk-test-91c0"


def seen(server_url: str, profile: str | None = None, **changes: Any) -> dict[str, Diagnosis]:
    fields: dict[str, Any] = {"model": "small", "base_url": server_url, "profile": profile}
    settings = Settings(database=Path(os.devnull), **{**fields, **changes})
    return {found.name.split(" ")[0]: found for found in asyncio.run(probed(settings))}


@dataclass(frozen=True)
class Case:
    """A kind of server, and what is said about the profile in use."""

    name: str
    set_up: Callable[[MockServer], object]
    state: str
    advice: str | None
    """The profile that is advised, or None where the one in use fits."""
    profile: str | None = None


def answering(probe: str, prompted: str) -> Callable[[MockServer], object]:
    """What it says under a schema, and what without one."""
    return lambda server: server.answers.update({"probe": probe, "": prompted})


def refusing_schemas(prompted: str) -> Callable[[MockServer], object]:
    def set_up(server: MockServer) -> None:
        server.plan("unsupported", schema="probe")
        server.answers[""] = prompted

    return set_up


def refusing(*steps: str) -> Callable[[MockServer], object]:
    return lambda server: server.plan(*steps)


def lost_after_refusing(server: MockServer) -> None:
    server.plan("unsupported", schema="probe")
    server.plan("500")


IGNORING = answering(AS_TOLD, WORDS_FIRST)
CONSTRAINED = answering(UNSEEN, "I cannot do JSON.")
SHOWING = answering(GOOD, WORDS_FIRST)

CASES = [
    Case("constrained", CONSTRAINED, "ok", None),
    Case("constrained, lax profile", CONSTRAINED, "ok", None, profile="vllm"),
    Case("constrained, weak profile", CONSTRAINED, "note", "deepseek:strict", profile="deepseek"),
    Case("constrained, not shown", CONSTRAINED, "note", "generic", profile="openai"),
    Case("constrained and shown", SHOWING, "ok", None, profile="openai"),
    Case("ignoring", IGNORING, "note", "generic:none"),
    Case("ignoring, known", IGNORING, "ok", None, profile="anthropic"),
    Case("JSON only", answering(AS_TOLD, GOOD), "note", "generic:object"),
    Case("JSON only, known", answering(AS_TOLD, GOOD), "ok", None, profile="deepseek"),
    Case("refusing schemas", refusing_schemas(GOOD), "fault", "generic:object"),
    Case("refusing schemas, known", refusing_schemas(GOOD), "ok", None, profile="deepseek"),
    Case("refusing lax ones", refusing_schemas(GOOD), "fault", "vllm:object", profile="vllm"),
    Case("refusing strict", refusing("badschema", "ok"), "fault", "generic:schema"),
    Case("refusing strict, known", refusing("badschema", "ok"), "ok", None, profile="vllm"),
    Case("refusing all", refusing("unsupported"), "fault", "generic:none"),
    Case("refusing all, known", refusing("unsupported"), "ok", None, profile="anthropic"),
    Case("cut in its reasoning", refusing("empty"), "note", "NAME:KIND"),
    Case("lost in the second call", lost_after_refusing, "fault", "generic:object"),
    Case("lost, known", lost_after_refusing, "note", "NAME:KIND", profile="deepseek"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_profile_that_fits_is_named_after_two_calls_at_most(
    case: Case, mock_server: MockServer
) -> None:
    case.set_up(mock_server)
    verdict = seen(mock_server.url, case.profile)["profile"]
    assert verdict.state == case.state
    if case.advice is None:
        assert (verdict.found, verdict.advice) == ("fits this server", None)
    else:
        assert f"--profile {case.advice}," in str(verdict.advice)
    assert 1 <= len(mock_server.requests) <= 2
    assert all(
        sent.body.get("max_tokens", sent.body.get("max_completion_tokens")) == 200
        for sent in mock_server.requests
    )


def test_the_first_call_is_always_strict_and_without_the_schema_in_its_prompt(
    mock_server: MockServer,
) -> None:
    seen(mock_server.url, "anthropic")
    body = mock_server.requests[0].body
    assert body["response_format"]["json_schema"]["strict"] is True
    assert "tangerine" not in str(body["messages"])


def test_a_constrained_server_is_told_from_one_that_obeys(mock_server: MockServer) -> None:
    CONSTRAINED(mock_server)
    found = seen(mock_server.url)
    assert found["strict"].found == "kept, against what the prompt asked for"
    mock_server.reset()
    IGNORING(mock_server)
    assert "passes over it" in seen(mock_server.url)["strict"].found


def test_the_model_that_answered_and_the_time_it_took_are_told(mock_server: MockServer) -> None:
    endpoint = seen(mock_server.url)["endpoint"]
    assert endpoint.state == "ok"
    assert "small answered as mock-model in 0." in endpoint.found
    assert "profile generic (any OpenAI-compatible server), chosen by the address" in endpoint.found
    assert "named by you" in seen(mock_server.url, "vllm")["endpoint"].found


def test_usage_and_cached_tokens_are_told(mock_server: MockServer) -> None:
    usage = seen(mock_server.url)["usage"]
    assert usage.found == "reported (120 tokens in, 45 out); cached tokens reported"
    mock_server.plan("nousage")
    silent = seen(mock_server.url)["usage"]
    assert (silent.state, silent.found.split(":")[0]) == ("note", "not reported")


def test_what_a_user_of_such_a_server_should_know_is_told(mock_server: MockServer) -> None:
    about = seen(mock_server.url, "ollama")["about"]
    assert "4,096 tokens" in about.found
    assert "OLLAMA_CONTEXT_LENGTH" in about.found


# --- servers that cannot be asked -------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "message", "advice"),
    [
        ("401", "wants an API key", "set OPENAI_API_KEY"),
        ("quota", "no quota left", "billing"),
        ("404", "has no model small", "--model"),
        ("html", "a web page", "--base-url"),
        ("500", "no answer in 1 request", "try again later"),
        ("reset", "no answer in 1 request", "try again later"),
        ("429", "limits the rate just now", "try again in a minute"),
        ("429=3", "limits the rate just now", "try again in a minute"),
        ("nochoices", "without any choice", ""),
    ],
)
def test_a_server_that_cannot_be_asked_is_one_fault_after_one_request(
    plan: str, message: str, advice: str, mock_server: MockServer
) -> None:
    mock_server.plan(plan)
    found = seen(mock_server.url)
    assert list(found) == ["endpoint"]
    assert found["endpoint"].state == "fault"
    assert message in found["endpoint"].found
    assert advice in str(found["endpoint"].advice)
    assert len(mock_server.requests) == 1


def test_a_server_that_is_not_there_is_a_fault_that_says_what_to_check() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    endpoint = seen(f"http://127.0.0.1:{port}/v1")["endpoint"]
    assert endpoint.state == "fault"
    assert endpoint.found == f"no server answers at 127.0.0.1:{port} (1 request)"
    assert endpoint.advice == "check --base-url, and that the server is running"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base_url": "ftp://models.example"}, "cannot be used"),
        ({"base_url": "http://[::1"}, "cannot be used"),
        ({"base_url": None}, "needs a key"),
        ({"model": "acme/small", "base_url": None}, "acme"),
        ({"profile": "vlm"}, "did you mean vllm?"),
    ],
)
def test_settings_that_cannot_be_used_are_a_fault_and_no_request(
    changes: dict[str, Any], message: str, mock_server: MockServer
) -> None:
    found = seen(mock_server.url, **changes) if changes else {}
    assert found["endpoint"].state == "fault"
    assert message in f"{found['endpoint'].found} {found['endpoint'].advice}"
    assert not mock_server.requests


def test_neither_key_nor_answer_is_shown(mock_server: MockServer) -> None:
    for plan in ("401", "unsupported", "ok"):
        mock_server.reset()
        mock_server.plan(plan)
        mock_server.answers["probe"] = "My secret diary."
        told = repr(seen(mock_server.url, api_key=KEY))
        assert KEY not in told
        assert KEY_ECHO not in told
        assert "diary" not in told
