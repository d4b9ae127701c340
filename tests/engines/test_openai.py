"""The OpenAI-compatible engine against a server that answers and fails in every known way."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from repurpose.core.call import Call, Reply, Usage
from repurpose.core.source import Source
from repurpose.engines._profiles import ShapeRefused
from repurpose.engines.openai import OPENAI_URL, openai_engine
from repurpose.errors import (
    BrokenReply,
    EngineError,
    NeverStarted,
    StillWorking,
    UsageError,
)
from repurpose.ports import Engine

KEY = "sk-test-4f9b2c7d1e8a6350"
SYSTEM = "You write short texts about lighthouses."
USER = "Every evening the keeper climbed the stairs of Ardnamurchan."
ANSWER = {"headline": "The last keeper", "points": ["He stayed until spring."]}
TEXT = '{"headline": "The last keeper", "points": ["He stayed until spring."]}'
SCHEMA = {
    "type": "object",
    "properties": {
        "headline": {"type": "string", "maxLength": 80},
        "points": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["headline", "points"],
    "additionalProperties": False,
}
WIRE = {
    **SCHEMA,
    "properties": {
        "headline": {"type": "string", "description": "at most 80 characters"},
        "points": {"type": "array", "items": {"type": "string"}},
    },
}
SECRETS = re.compile(r"sk-test|lighthouse|Ardnamurchan|keeper|until spring|I am sorry|log in")


def call(**changes: Any) -> Call:
    source = Source(USER, "keeper.md", "markdown")
    fields = {"format": "brief", "system": SYSTEM, "user": USER, "schema": SCHEMA, "wire": WIRE}
    return Call(**{**fields, "source": source, **changes})


def engine_at(url: str, clock: Any, **options: Any) -> Engine:
    settings = {"model": "small", "api_key": KEY, "jitter": lambda: 0.0, **options}
    return openai_engine(base_url=url, clock=clock, **settings)


async def answered(engine: Engine, asked: Call) -> Reply:
    return await engine.answer(asked)


def ask(engine: Engine, *calls: Call) -> list[Reply | EngineError]:
    """What each call led to, one after another, and everything closed."""

    async def one(asked: Call) -> Reply | EngineError:
        try:
            return await engine.answer(asked)
        except EngineError as error:
            return error

    async def all_calls() -> list[Reply | EngineError]:
        try:
            return [await one(asked) for asked in calls]
        finally:
            await engine.close()

    return asyncio.run(all_calls())


@pytest.fixture
def server(mock_server: Any) -> Any:
    """The mock server, with a known answer."""
    mock_server.answers["brief"] = ANSWER
    return mock_server


# --- every plan: the outcome, and exactly how many requests -----------------------------------


@dataclass(frozen=True)
class Case:
    """What a server does, and what comes of it."""

    plan: str
    requests: int = 1
    text: str = TEXT
    finish: str = "stop"
    error: type[EngineError] | None = None
    message: str = ""
    hint: str = ""
    status: int | None = None


def replied(plan: str, text: str = TEXT, finish: str = "stop", requests: int = 1) -> Case:
    return Case(plan, requests, text, finish)


def failed(
    plan: str,
    error: type[EngineError],
    message: str,
    *,
    requests: int = 1,
    hint: str = "",
    status: int | None = None,
) -> Case:
    return Case(plan, requests, error=error, message=message, hint=hint, status=status)


CASES = [
    replied("ok"),
    replied("nousage"),
    replied("parts"),
    # what the content is worth is intake's to say; the engine hands it on as it came
    replied("fenced", f"```json\n{TEXT}\n```"),
    replied("think", f"<think>Let me see. {{Not}} this.</think>\n{TEXT}"),
    replied("prose", f"Here is what you asked for:\n\n{TEXT}\n\nI hope it helps."),
    replied("missing", '{"points": ["He stayed until spring."]}'),
    replied("wrongtype", '{"headline": {"not": "this"}, "points": ["He stayed until spring."]}'),
    replied("extra", TEXT[:-1] + ', "undeclared": "value"}'),
    replied("dupkey", '{"headline": "The last keeper", ' + TEXT[1:]),
    replied("malformed", TEXT[:-2]),
    replied("surrogate", TEXT[:-1] + ', "half": "\\ud83d"}'),
    replied("empty", ""),
    replied("null", ""),
    replied("tool_calls", ""),
    # outcomes of their own
    replied("refusal", "", finish="refusal"),
    replied("length", TEXT[: len(TEXT) // 2], finish="length"),
    replied("content_filter", TEXT[:5], finish="content_filter"),
    replied("filtered", "", finish="content_filter"),
    # bodies that are no completion
    failed("nochoices", BrokenReply, "HOST answered without any choice", status=200),
    failed("nomessage", BrokenReply, "HOST answered without a message", status=200),
    failed("notobject", BrokenReply, "HOST answered with JSON that is not an object", status=200),
    failed(
        "errorbody",
        BrokenReply,
        "HOST sent an error in place of an answer (code 502)",
        status=200,
    ),
    failed(
        "html",
        BrokenReply,
        "HOST answered with a web page, not with JSON (status 200)",
        hint="check --base-url; it usually ends in /v1",
        status=200,
    ),
    failed(
        "badjson",
        BrokenReply,
        "HOST answered with a body that is not JSON (status 200)",
        status=200,
    ),
    # what passes
    replied("429=2+ok", requests=2),
    replied("429+429+429+429+429+ok", requests=6),
    replied("500+ok", requests=2),
    replied("503=3+502+504+ok", requests=4),
    replied("408+409+ok", requests=3),
    replied("reset+partial+ok", requests=3),
    # what does not pass
    failed(
        "500",
        StillWorking,
        "HOST gave no answer in 4 requests; the last one: status 500",
        requests=4,
        status=500,
    ),
    failed(
        "429+500+500+429+500+500",
        StillWorking,
        "HOST gave no answer in 6 requests; the last one: status 500",
        requests=6,
        status=500,
    ),
    failed(
        "reset",
        StillWorking,
        "HOST gave no answer in 4 requests; the last one: the connection was lost",
        requests=4,
    ),
    failed(
        "partial",
        StillWorking,
        "HOST gave no answer in 4 requests; the last one: the connection was lost",
        requests=4,
    ),
    failed(
        "429=100",
        StillWorking,
        "HOST kept limiting the rate beyond the 600 s of a call (6 requests)",
        requests=6,
        hint="try again later, or with fewer calls at once",
        status=429,
    ),
    # what was never accepted
    failed(
        "quota",
        NeverStarted,
        "the account at HOST has no quota left"
        " (status 429, code insufficient_quota, type insufficient_quota)",
        hint="check its plan and billing, or set another key in OPENAI_API_KEY",
        status=429,
    ),
    failed(
        "402",
        NeverStarted,
        "the account at HOST has no quota left (status 402, type server_error)",
        hint="check its plan and billing, or set another key in OPENAI_API_KEY",
        status=402,
    ),
    failed(
        "401",
        NeverStarted,
        "HOST refused the API key (status 401, code invalid_api_key, type invalid_request_error)",
        hint="set a valid key in OPENAI_API_KEY",
        status=401,
    ),
    failed(
        "403",
        NeverStarted,
        "HOST does not allow this key to use small (status 403, type server_error)",
        hint="use another --model, or set another key in OPENAI_API_KEY",
        status=403,
    ),
    failed(
        "404",
        NeverStarted,
        "HOST has no model small"
        " (status 404, code model_not_found, type invalid_request_error, param model)",
        hint="choose another --model",
        status=404,
    ),
    failed(
        "308",
        NeverStarted,
        "HOST sends on to another address (status 308, type server_error)",
        hint="give the address that it sends on to as --base-url",
        status=308,
    ),
    failed(
        "context",
        NeverStarted,
        "the text is too long for small"
        " (status 400, code context_length_exceeded, type invalid_request_error, param messages)",
        hint="use a --model with a larger context, or a shorter text",
        status=400,
    ),
    failed(
        "badschema",
        ShapeRefused,
        "small at HOST does not take our JSON schema"
        " (status 400, code invalid_json_schema, type invalid_request_error,"
        " param response_format)",
        hint="add --profile generic:schema; repurpose doctor says what this server takes",
        status=400,
    ),
    failed(
        "unsupported",
        ShapeRefused,
        "small at HOST does not take our JSON schema"
        " (status 400, type invalid_request_error, param response_format)",
        hint="add --profile generic:object; repurpose doctor says what this server takes",
        status=400,
    ),
    failed(
        "422",
        NeverStarted,
        "HOST refused the request (status 422, type server_error)",
        hint="check --model and --base-url",
        status=422,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.plan)
def test_every_plan_has_its_outcome_and_its_number_of_requests(
    case: Case, server: Any, clock: Any
) -> None:
    server.plan(*case.plan.split("+"))
    (outcome,) = ask(engine_at(server.url, clock), call())
    assert len(server.requests) == case.requests
    if isinstance(outcome, Reply):
        assert case.error is None
        assert (outcome.text, outcome.finish) == (case.text, case.finish)
        assert outcome.requests == case.requests
    else:
        assert type(outcome) is case.error
        assert outcome.message == case.message.replace("HOST", server.host)
        assert outcome.status == case.status
        assert not case.hint or outcome.hint == case.hint
        assert not SECRETS.search(f"{outcome} {outcome.hint}")


def test_a_server_that_hangs_costs_the_timeout_for_each_request_of_the_budget(
    server: Any, clock: Any
) -> None:
    server.plan("hang")
    (outcome,) = ask(engine_at(server.url, clock, timeout=0.2, transport_budget=2), call())
    assert isinstance(outcome, StillWorking)
    assert outcome.message == (
        f"{server.host} gave no answer in 2 requests; the last one: no answer within 0.2 s"
    )
    assert len(server.requests) == 2


def test_a_hanging_request_is_followed_by_one_that_is_answered(server: Any, clock: Any) -> None:
    server.plan("hang", "ok")
    (outcome,) = ask(engine_at(server.url, clock, timeout=0.2), call())
    assert isinstance(outcome, Reply)
    assert outcome.requests == 2


def test_an_address_where_nothing_listens_is_a_call_that_never_started(clock: Any) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    (outcome,) = ask(engine_at(f"http://127.0.0.1:{port}/v1", clock), call())
    assert isinstance(outcome, NeverStarted)
    assert outcome.message == f"no server answers at 127.0.0.1:{port} (4 requests)"
    assert outcome.hint == "check --base-url, and that the server is running"


def test_the_transport_budget_is_configurable(server: Any, clock: Any) -> None:
    server.plan("500")
    ask(engine_at(server.url, clock, transport_budget=2), call())
    assert len(server.requests) == 2


def test_retry_after_is_honoured(server: Any, clock: Any) -> None:
    server.plan("429=7", "ok")
    ask(engine_at(server.url, clock), call())
    assert clock.slept == [pytest.approx(7.0)]


def test_one_rate_limit_holds_all_lanes_of_an_engine_back(
    server: Any, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.plan("429=30", "ok")
    engine = engine_at(server.url, clock)
    waiting = asyncio.Semaphore(0)
    opened = asyncio.Event()

    async def held(_: float) -> None:
        waiting.release()
        await opened.wait()
        clock.seconds = 30.0

    async def lanes() -> int:
        first = asyncio.create_task(answered(engine, call()))
        await waiting.acquire()
        others = [asyncio.create_task(answered(engine, call())) for _ in range(7)]
        for _ in others:
            await waiting.acquire()
        sent_while_held = len(server.requests)
        opened.set()
        await asyncio.gather(first, *others)
        await engine.close()
        return sent_while_held

    monkeypatch.setattr(clock, "sleep", held)
    assert asyncio.run(lanes()) == 1
    assert len(server.requests) == 9


# --- what is sent -----------------------------------------------------------------------------


def test_the_body_holds_what_was_declared_and_nothing_else(server: Any, clock: Any) -> None:
    ask(engine_at(server.url, clock), call())
    (request,) = server.requests
    assert request.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": USER},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "brief", "strict": True, "schema": WIRE},
        },
    }
    assert list(request.body["response_format"]["json_schema"]["schema"]) == list(WIRE)


def test_temperature_and_output_tokens_are_sent_only_when_given(server: Any, clock: Any) -> None:
    ask(engine_at(server.url, clock, temperature=0.0), call(output_tokens=900))
    (request,) = server.requests
    assert request.body["temperature"] == 0.0
    assert request.body["max_tokens"] == 900
    assert "max_completion_tokens" not in request.body


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (OPENAI_URL, "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://api.openai.com.example/v1", "max_tokens"),
        ("http://localhost:11434/v1", "max_tokens"),
    ],
)
def test_only_openai_is_told_the_limit_by_its_new_name(url: str, name: str, clock: Any) -> None:
    chat = engine_at(url, clock).answer.__self__  # type: ignore[attr-defined]  # the bound method
    assert chat._body(call(output_tokens=5)).keys() - chat._body(call()).keys() == {name}


def test_a_format_name_that_no_provider_takes_is_made_one(server: Any, clock: Any) -> None:
    ask(engine_at(server.url, clock), call(format="étude nº 1 " + "x" * 80))
    name = server.requests[0].body["response_format"]["json_schema"]["name"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)


def test_the_key_and_the_caller_are_headers(server: Any, clock: Any) -> None:
    ask(engine_at(server.url, clock, api_key=f" {KEY}\n"), call())
    headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["x-repurpose-caller"] == "repurpose.brief"


def test_without_a_key_nothing_of_the_environment_reaches_another_server(
    server: Any, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", f"secret-{name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ask(engine_at(server.url, clock, api_key=None), call())
    assert "authorization" not in server.requests[0].headers
    assert "secret-" not in json.dumps(server.requests[0].headers)


def test_a_server_that_wants_a_key_gets_the_variable_named(server: Any, clock: Any) -> None:
    server.plan("401")
    (outcome,) = ask(engine_at(server.url, clock, api_key=None, key_variable="MY_KEY"), call())
    assert isinstance(outcome, NeverStarted)
    assert outcome.message.startswith(f"{server.host} wants an API key (status 401")
    assert outcome.hint == "set MY_KEY"


# --- what is read -----------------------------------------------------------------------------


def test_a_reply_holds_usage_model_and_request_id(server: Any, clock: Any) -> None:
    (reply,) = ask(engine_at(server.url, clock), call())
    assert isinstance(reply, Reply)
    assert reply.usage == Usage(120, 45, cached_tokens=64, reasoning_tokens=7)
    assert (reply.model, reply.request_id) == ("mock-model", "req-mock")


def test_a_reply_without_usage_reports_none_and_not_zero(server: Any, clock: Any) -> None:
    server.plan("nousage")
    (reply,) = ask(engine_at(server.url, clock), call())
    assert isinstance(reply, Reply)
    assert reply.usage == Usage()


def test_a_refusal_is_kept_apart_from_the_text(server: Any, clock: Any) -> None:
    server.plan("refusal")
    (reply,) = ask(engine_at(server.url, clock), call())
    assert isinstance(reply, Reply)
    assert reply.refusal == "I am sorry, but I will not help with that."


def test_reasoning_in_a_field_of_its_own_is_kept_apart(server: Any, clock: Any) -> None:
    server.plan("reasoning")
    (reply,) = ask(engine_at(server.url, clock), call())
    assert isinstance(reply, Reply)
    assert (reply.text, reply.reasoning) == ("", TEXT)


# --- event loops ------------------------------------------------------------------------------


def test_one_engine_serves_two_event_loops_one_after_another_without_being_closed(
    server: Any, clock: Any
) -> None:
    engine = engine_at(server.url, clock)
    for _ in range(2):
        assert asyncio.run(answered(engine, call())).text == TEXT


def test_a_closed_engine_opens_again(server: Any, clock: Any) -> None:
    engine = engine_at(server.url, clock)

    async def twice() -> list[str]:
        texts = []
        for _ in range(2):
            texts.append((await engine.answer(call())).text)
            await engine.close()
            await engine.close()
        return texts

    assert asyncio.run(twice()) == [TEXT, TEXT]


def test_a_cancelled_call_stays_cancelled(server: Any, clock: Any) -> None:
    server.plan("hang")
    engine = engine_at(server.url, clock)

    async def cancelled() -> bool:
        task = asyncio.create_task(answered(engine, call()))
        await asyncio.to_thread(server.asked.wait, 5)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())
    assert len(server.requests) == 1


def test_a_surprise_inside_the_client_reaches_nobody_as_it_is(
    server: Any, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise AttributeError(USER)

    monkeypatch.setattr(aiohttp.ClientSession, "_request", broken)
    (outcome,) = ask(engine_at(server.url, clock), call())
    assert isinstance(outcome, EngineError)
    assert outcome.message == "the openai client failed (AttributeError)"
    assert isinstance(outcome.__cause__, AttributeError)


# --- configuration and logs -------------------------------------------------------------------


@pytest.mark.parametrize("url", ["localhost:8080/v1", "ftp://x/v1", "http://", "http://[::1"])
def test_an_address_that_is_none_is_refused_before_any_call(url: str, clock: Any) -> None:
    with pytest.raises(UsageError) as refused:
        engine_at(url, clock)
    assert refused.value.hint == "check --base-url; it starts with http:// or https://"


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"deadline": -1}, {"transport_budget": 0}, {"api_key": "sk-\x7f1"}]
)
def test_settings_out_of_range_are_refused(options: dict[str, Any], clock: Any) -> None:
    with pytest.raises(UsageError):
        engine_at(OPENAI_URL, clock, **options)


def test_parameters_name_the_endpoint_without_a_password(clock: Any) -> None:
    engine = engine_at("https://me:secret@models.example:8443/v1/?key=secret", clock)
    assert engine.parameters == {"endpoint": "https://models.example:8443/v1"}
    assert (engine.name, engine.model) == ("openai", "small")
    assert "secret" not in repr(engine)
    assert KEY not in repr(engine)


def test_logs_hold_neither_key_nor_prompt_nor_answer(
    server: Any, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server.plan("429", "500", "401", schema=None)
    with caplog.at_level(logging.DEBUG):
        ask(engine_at(server.url, clock), call())
        server.plan("ok")
        ask(engine_at(server.url, clock), call())
    assert "1 requests" in caplog.text
    assert not SECRETS.search(caplog.text)
    assert KEY not in caplog.text


def test_importing_the_engines_loads_no_client() -> None:
    script = "import sys, repurpose.engines; print('openai' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout == "False\n"


# --- the same against the shared mock server --------------------------------------------------

SHARED_CASES = [
    replied(plan, finish=finish, text="", requests=requests)
    for plan, finish, requests in [
        ("ok", "stop", 1),
        ("fenced", "stop", 1),
        ("think", "stop", 1),
        ("prose", "stop", 1),
        ("malformed", "stop", 1),
        ("trailing", "stop", 1),
        ("missing", "stop", 1),
        ("wrongtype", "stop", 1),
        ("extra", "stop", 1),
        ("dupkey", "stop", 1),
        ("surrogate", "stop", 1),
        ("hostile", "stop", 1),
        ("empty", "stop", 1),
        ("null", "stop", 1),
        ("toolcall", "stop", 1),
        ("nousage", "stop", 1),
        ("refusal", "refusal", 1),
        ("length", "length", 1),
        ("content_filter", "content_filter", 1),
        ("429=0.2+ok", "stop", 2),
        ("500+ok", "stop", 2),
        ("503+reset+partial+ok", "stop", 4),
    ]
]
SHARED_FAILURES = [
    failed("nochoices", BrokenReply, "without any choice"),
    failed("html", BrokenReply, "a web page"),
    failed("badjson", BrokenReply, "not JSON"),
    failed("500", StillWorking, "in 4 requests; the last one: status 500", requests=4),
    failed("reset", StillWorking, "in 4 requests; the last one: the connection", requests=4),
    failed("partial", StillWorking, "in 4 requests; the last one: the connection", requests=4),
    failed("429=300", StillWorking, "kept limiting the rate", requests=5),
    failed("quota", NeverStarted, "no quota left"),
    failed("401", NeverStarted, "refused the API key"),
    failed("404", NeverStarted, "has no model"),
    failed("context", NeverStarted, "too long"),
    failed("badschema", ShapeRefused, "does not take our JSON schema"),
    failed("unsupported", ShapeRefused, "does not take our JSON schema"),
]


@pytest.fixture(scope="module")
def shared_mock(shared: Path) -> Iterator[str]:
    """The address of the shared mock server, started for this module."""
    script = shared / "bench" / "mock_openai.py"
    if not script.is_file():
        pytest.skip(f"{script} is not there")
    command = [sys.executable, str(script), "--port", "0", "--record", "100"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().split()[-1])
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def recorded(address: str) -> list[Any]:
    with urllib.request.urlopen(f"{address}/__mock/requests") as response:
        return list(json.load(response))  # noqa: TID251 - a test reads its own server


@pytest.mark.shared
@pytest.mark.parametrize("case", [*SHARED_CASES, *SHARED_FAILURES], ids=lambda case: case.plan)
def test_the_shared_mock_server_leads_to_the_same_outcomes(
    case: Case, shared_mock: str, clock: Any
) -> None:
    urllib.request.urlopen(
        urllib.request.Request(f"{shared_mock}/__mock/reset", method="POST")
    ).close()
    engine = engine_at(f"{shared_mock}/v1", clock, model=f"mock:{case.plan}")
    (outcome,) = ask(engine, call())
    assert len(recorded(shared_mock)) == case.requests
    if isinstance(outcome, Reply):
        assert case.error is None
        assert (outcome.finish, outcome.requests) == (case.finish, case.requests)
    else:
        assert type(outcome) is case.error
        assert case.message in outcome.message
        assert not SECRETS.search(f"{outcome} {outcome.hint}")


@pytest.mark.shared
def test_a_hang_of_the_shared_mock_server_ends_at_the_timeout(shared_mock: str, clock: Any) -> None:
    engine = engine_at(f"{shared_mock}/v1", clock, model="mock:hang", timeout=0.05)
    (outcome,) = ask(engine, call())
    assert isinstance(outcome, StillWorking)
