"""Anthropic and Gemini through instructor, against servers that speak as they do."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from provider_servers import ANTHROPIC, GEMINI, REFUSAL, THOUGHT, ProviderServer
from repurpose.api.loading import load
from repurpose.api.runs import run
from repurpose.config import Settings
from repurpose.core.call import Call, Reply, Usage
from repurpose.core.source import Source
from repurpose.engines.instructor import instructor_engine
from repurpose.errors import BrokenReply, EngineError, NeverStarted, StillWorking, UsageError
from repurpose.ports import Engine, Store

# google-genai derives a class from aiohttp's session at its first request.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Inheritance class AiohttpClientSession:DeprecationWarning"
)

KEY = "sk-ant-4f9b2c7d1e8a6350"
SYSTEM = "You write about lighthouses. {{ secret }} {% tag"
USER = "Every evening the keeper climbed up. {{ secret }} {% tag %} https://lamp.example/a.png"
ANSWER = {"headline": "The last keeper", "points": ["He stayed until spring."]}
TEXT = '{"headline": "The last keeper", "points": ["He stayed until spring."]}'
WIRE = {
    "type": "object",
    "properties": {
        "headline": {"type": "string", "description": "At most 80 characters."},
        "points": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["headline", "points"],
    "additionalProperties": False,
}
SECRETS = re.compile(r"sk-ant|4f9b2c7d|lighthouse|keeper|until spring|I am sorry|[Ll]og in|secret")
PACKAGES = {"anthropic": "anthropic", "google": "google.genai"}
NAMES = {"anthropic": "Anthropic", "google": "Google"}
MODELS = {"anthropic": "anthropic/claude-mock", "google": "google/gemini-mock"}
VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}
PROVIDERS = sorted(NAMES)


def call(**changes: Any) -> Call:
    source = Source(USER, "keeper.md", "markdown")
    fields = {"format": "brief", "system": SYSTEM, "user": USER, "schema": WIRE, "wire": WIRE}
    return Call(**{**fields, "source": source, **changes})


@pytest.fixture(autouse=True)
def _no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test speaks TLS, and reading the system's certificates takes longer than most of them."""
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, ProviderServer]]:
    made = {"anthropic": ProviderServer(ANTHROPIC), "google": ProviderServer(GEMINI)}
    yield made
    for server in made.values():
        server.close()


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    """A provider whose SDK is installed."""
    name: str = request.param
    for package in ("instructor", PACKAGES[name]):
        pytest.importorskip(package, reason=f"the extra [{name}] is not installed")
    return name


@pytest.fixture
def server(provider: str, servers: dict[str, ProviderServer]) -> Iterator[ProviderServer]:
    """The provider's server, with a known answer."""
    chosen = servers[provider]
    chosen.answer = ANSWER
    yield chosen
    chosen.reset()


@pytest.fixture
def engine(provider: str, server: ProviderServer, clock: Any) -> Callable[..., Engine]:
    """An engine for the provider's server."""

    def made(**options: Any) -> Engine:
        fields = {"api_key": KEY, "base_url": server.url, "jitter": lambda: 0.0, **options}
        return instructor_engine(model=MODELS[provider], clock=clock, **fields)

    return made


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


# --- every plan: the outcome, and exactly how many requests -----------------------------------


@dataclass(frozen=True)
class Case:
    """What a server does, and what comes of it; PROVIDER stands for its name."""

    plan: str
    requests: int = 1
    text: str = TEXT
    finish: str = "stop"
    error: type[EngineError] | None = None
    message: str = ""
    status: int | None = None


def replied(plan: str, text: str = TEXT, finish: str = "stop", requests: int = 1) -> Case:
    return Case(plan, requests, text, finish)


def failed(
    plan: str,
    error: type[EngineError],
    message: str,
    status: int | None = None,
    *,
    requests: int = 1,
) -> Case:
    return Case(plan, requests, error=error, message=message, status=status)


CASES = [
    replied("ok"),
    replied("nousage"),
    replied("thinking"),
    replied("unknown"),
    # what the content is worth is intake's to say; the engine hands it on as it came
    replied("missing", '{"points": ["He stayed until spring."]}'),
    replied("extra", TEXT[:-1] + ', "undeclared": "value"}'),
    replied("dupkey", '{"headline": "The last keeper", ' + TEXT[1:]),
    replied("surrogate", TEXT[:-1] + ', "half": "\\ud83d"}'),
    replied("fenced", f"```json\n{TEXT}\n```"),
    replied("empty", ""),
    replied("length", TEXT[: len(TEXT) // 2], finish="length"),
    # bodies that are no reply
    failed("nochoices", BrokenReply, "PROVIDER answered without any choice", 200),
    failed("notobject", BrokenReply, "PROVIDER answered", 200),
    failed("html", BrokenReply, "PROVIDER answered with a web page, not with JSON", 200),
    failed(
        "html=application/json",
        BrokenReply,
        "PROVIDER answered with a web page, not with JSON",
        200,
    ),
    failed("badjson", BrokenReply, "PROVIDER answered with a body that is not JSON", 200),
    # what passes
    replied("429=2+ok", requests=2),
    replied("429+429+429+429+429+ok", requests=6),
    replied("overloaded+ok", requests=2),
    replied("500+502+503=3+ok", requests=4),
    replied("reset+partial+ok", requests=3),
    # what does not pass
    failed(
        "500",
        StillWorking,
        "PROVIDER gave no answer in 4 requests; the last one: status 500",
        500,
        requests=4,
    ),
    failed(
        "reset",
        StillWorking,
        "PROVIDER gave no answer in 4 requests; the last one: the connection was lost",
        requests=4,
    ),
    failed(
        "partial",
        StillWorking,
        "PROVIDER gave no answer in 4 requests; the last one: the connection was lost",
        requests=4,
    ),
    failed(
        "429=100",
        StillWorking,
        "PROVIDER kept limiting the rate beyond the 600 s of a call (6 requests)",
        429,
        requests=6,
    ),
    # what was never accepted
    failed("key", NeverStarted, "PROVIDER refused the API key (status 401, ", 401),
    failed("403", NeverStarted, "PROVIDER does not allow this key to use ", 403),
    failed("model", NeverStarted, "PROVIDER has no model ", 404),
    failed("context", NeverStarted, "the text is too long for ", 400),
    failed("quota", NeverStarted, "the account at PROVIDER has no quota left "),
    failed("422", NeverStarted, "PROVIDER refused the request (status 422", 422),
    failed("redirect", NeverStarted, "PROVIDER sends on to another address (status 308", 308),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.plan)
def test_every_plan_has_its_outcome_and_its_number_of_requests(
    case: Case, provider: str, server: ProviderServer, engine: Callable[..., Engine]
) -> None:
    server.plan(*case.plan.split("+"))
    (outcome,) = ask(engine(), call())
    assert len(server.requests) == case.requests
    if isinstance(outcome, Reply):
        assert case.error is None, outcome
        assert (outcome.text, outcome.finish) == (case.text, case.finish)
        assert outcome.requests == case.requests
    else:
        assert type(outcome) is case.error, outcome
        assert outcome.message.startswith(case.message.replace("PROVIDER", NAMES[provider]))
        assert case.status in (outcome.status, None)
        assert not SECRETS.search(f"{outcome} {outcome.hint}")
        assert "--base-url" not in f"{outcome.hint}"


def test_a_schema_that_is_refused_is_named_as_the_reason(
    provider: str, server: ProviderServer, engine: Callable[..., Engine]
) -> None:
    server.plan("schema")
    (outcome,) = ask(engine(), call())
    model = MODELS[provider].partition("/")[2]
    assert isinstance(outcome, NeverStarted)
    assert outcome.message == (
        f"{model} at {NAMES[provider]} does not take our JSON schema (status 400)"
    )
    assert outcome.hint == "use a --model with structured outputs"


def test_a_refusal_is_a_finish_of_its_own_and_keeps_the_models_words_apart(
    provider: str, server: ProviderServer, engine: Callable[..., Engine]
) -> None:
    server.plan("refusal", "filtered")
    first, second = ask(engine(), call(), call())
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert (first.text, second.text) == ("", "")
    if provider == "anthropic":
        assert (first.finish, second.finish) == ("refusal", "refusal")
        assert (first.refusal, second.refusal) == (REFUSAL, REFUSAL)
    else:
        assert (first.finish, second.finish) == ("content_filter", "content_filter")


def test_usage_counts_cached_and_reasoning_tokens_within_the_whole(
    server: ProviderServer, engine: Callable[..., Engine]
) -> None:
    (reply,) = ask(engine(), call())
    assert isinstance(reply, Reply)
    assert reply.usage == Usage(120, 45, 64, 7)
    assert (reply.model or "").endswith("-mock-1")
    assert (reply.request_id or "").endswith("_mock")


def test_usage_that_was_not_reported_is_unknown(
    server: ProviderServer, engine: Callable[..., Engine]
) -> None:
    server.plan("nousage")
    (reply,) = ask(engine(), call())
    assert isinstance(reply, Reply)
    assert reply.usage == Usage()


def test_thoughts_are_kept_apart_from_the_text(
    server: ProviderServer, engine: Callable[..., Engine]
) -> None:
    server.plan("thinking")
    (reply,) = ask(engine(), call())
    assert isinstance(reply, Reply)
    assert (reply.text, reply.reasoning) == (TEXT, THOUGHT)


def test_a_rate_limit_is_waited_out_as_long_as_the_server_asks(
    provider: str, server: ProviderServer, engine: Callable[..., Engine], clock: Any
) -> None:
    server.plan("429=7", "wait", "ok")
    ask(engine(), call())
    in_the_body = 9.0 if provider == "google" else 0.5 * 2  # Anthropic's says it in the header only
    assert clock.slept == [pytest.approx(7.0), pytest.approx(in_the_body)]


def test_a_server_that_hangs_costs_the_timeout_for_each_request_of_the_budget(
    provider: str, server: ProviderServer, engine: Callable[..., Engine]
) -> None:
    server.plan("hang")
    (outcome,) = ask(engine(timeout=0.2, transport_budget=2), call())
    assert isinstance(outcome, StillWorking)
    assert outcome.message == (
        f"{NAMES[provider]} gave no answer in 2 requests; the last one: no answer within 0.2 s"
    )
    assert len(server.requests) == 2


def test_a_provider_that_cannot_be_reached_is_a_call_that_never_started(
    provider: str, engine: Callable[..., Engine]
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    (outcome,) = ask(engine(base_url=url), call())
    assert isinstance(outcome, NeverStarted)
    assert outcome.message == f"no server answers at {NAMES[provider]} (4 requests)"
    assert outcome.hint == "check the network connection"


# --- what is sent -----------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["anthropic"], indirect=True)
def test_anthropic_is_sent_our_schema_and_both_prompts_as_they_are(
    server: ProviderServer, clock: Any
) -> None:
    engine = instructor_engine(
        model="anthropic/claude-mock",
        clock=clock,
        api_key=f" {KEY}\n",
        base_url=server.url,
        temperature=0.0,
    )
    ask(engine, call(), call(output_tokens=64_000))  # the SDK would want a stream for so many
    first, second = server.requests
    assert first.path == "/v1/messages"
    assert first.body == {
        "model": "claude-mock",
        "max_tokens": 8192,
        "system": [{"type": "text", "text": SYSTEM}],
        "messages": [{"role": "user", "content": USER}],
        "output_config": {"format": {"type": "json_schema", "schema": WIRE}},
        "temperature": 0.0,
    }
    assert second.body["max_tokens"] == 64_000
    assert KEY in (first.headers.get("x-api-key"), first.headers["authorization"][len("Bearer ") :])
    assert first.headers["x-repurpose-caller"] == "repurpose.brief"


@pytest.mark.parametrize("provider", ["google"], indirect=True)
def test_gemini_is_sent_our_schema_and_both_prompts_as_they_are(
    server: ProviderServer, clock: Any
) -> None:
    engine = instructor_engine(
        model="gemini/gemini-mock",
        clock=clock,
        api_key=KEY,
        base_url=server.url,
        temperature=0.0,
    )
    with_const = {**WIRE, "properties": {"kind": {"type": "string", "const": "a"}}}
    ask(engine, call(), call(output_tokens=900, wire=with_const))
    first, second = server.requests
    assert re.fullmatch(r"/v1(beta)?/models/gemini-mock:generateContent", first.path)
    assert first.body["systemInstruction"]["parts"] == [{"text": SYSTEM}]
    assert first.body["contents"] == [{"role": "user", "parts": [{"text": USER}]}]
    assert first.body["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": WIRE,
        "temperature": 0.0,
    }
    assert first.body.keys() == {"systemInstruction", "contents", "generationConfig"}
    generation = second.body["generationConfig"]
    assert generation["maxOutputTokens"] == 900
    assert generation["responseJsonSchema"]["properties"] == {
        "kind": {"type": "string", "enum": ["a"]}
    }
    assert first.headers["x-goog-api-key"] == KEY
    assert first.headers["x-repurpose-caller"] == "repurpose.brief"


# --- through a run ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def source(root: Path) -> Source:
    return load(root / "fixtures" / "sources" / "article.md")


@pytest.fixture
def faq(
    server: ProviderServer,
    engine: Callable[..., Engine],
    store: Store,
    source: Source,
    golden: Callable[[str], Any],
) -> Callable[..., Any]:
    """Run the FAQ of the article against these steps of the server."""

    def run_faq(*steps: str, **settings: Any) -> Any:
        server.answer = golden("faq")
        server.plan(*steps)
        result = run(
            source,
            ["faq"],
            engine=engine(),
            store=store,
            settings=Settings(database=Path("unused"), **settings),
        )
        (row,) = store.rows(result.run.id)
        return row

    return run_faq


def test_an_invalid_answer_is_repaired_once_with_our_own_words(
    provider: str, server: ProviderServer, faq: Callable[..., Any]
) -> None:
    row = faq("extra", "ok")
    assert (row.status, row.message, row.attempts) == ("done", "FAQ done (1 retry)", 2)
    first, repair = server.requests
    (first_user,), (repair_user,) = (
        [message["content"] for message in asked.body["messages"]]
        if provider == "anthropic"
        else [part["text"] for content in asked.body["contents"] for part in content["parts"]]
        for asked in (first, repair)
    )
    assert repair_user.startswith(first_user)
    assert repair_user.count("<source_material>") == 1
    assert repair_user.count("<previous_answer>") == 1
    system = str(repair.body.get("system") or repair.body["systemInstruction"])
    assert "undeclared" in system
    assert "Correct your JSON" not in str(repair.body)
    assert "Recall the function" not in str(repair.body)


@pytest.mark.parametrize(
    ("plan", "requests", "kind", "settings"),
    [
        ("missing+missing", 2, "invalid_answer", {}),
        ("dupkey+ok", 2, None, {}),
        ("surrogate+ok", 2, None, {}),
        ("empty+ok", 2, None, {}),
        ("fenced", 1, None, {}),
        ("refusal", 1, "refused", {}),
        ("filtered", 1, "refused", {}),
        ("length", 1, "cut_short", {}),
        ("length+ok", 2, None, {"output_tokens": 500}),
        ("429=0.2+ok", 2, None, {}),
        ("500", 4, "still_working", {}),
        ("key", 1, "never_started", {}),
        ("html", 1, "broken_reply", {}),
    ],
)
def test_a_run_ends_as_with_any_other_engine(
    plan: str,
    requests: int,
    kind: str | None,
    settings: dict[str, Any],
    server: ProviderServer,
    faq: Callable[..., Any],
) -> None:
    row = faq(*plan.split("+"), **settings)
    assert len(server.requests) == requests
    assert row.kind == kind
    assert row.status == ("done" if kind is None else "failed")
    assert KEY not in str(row)
    assert REFUSAL not in row.message


# --- event loops, logs, settings --------------------------------------------------------------


def test_one_engine_serves_two_event_loops_one_after_another_without_being_closed(
    server: ProviderServer, engine: Callable[..., Engine]
) -> None:
    opened = engine()

    async def answered() -> Reply:
        return await opened.answer(call())

    for _ in range(2):
        assert asyncio.run(answered()).text == TEXT


def test_logs_hold_neither_key_nor_prompt_nor_answer(
    server: ProviderServer, engine: Callable[..., Engine], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        for plan in (("429", "500", "key"), ("extra",), ("badjson",), ("notobject",)):
            server.requests.clear()
            server.plan(*plan)
            ask(engine(), call())
    assert "1 requests" in caplog.text
    assert not SECRETS.search(caplog.text)


def test_an_engine_shows_neither_its_key_nor_a_password(clock: Any, provider: str) -> None:
    made = instructor_engine(
        model=MODELS[provider],
        clock=clock,
        api_key=KEY,
        base_url="https://me:secret@proxy.example:8443/v1/?key=secret",
    )
    assert made.parameters == {"endpoint": "https://proxy.example:8443/v1"}
    assert (made.name, made.model) == ("instructor", MODELS[provider])
    assert not SECRETS.search(repr(made))


def test_a_missing_key_is_named_by_the_providers_variable(clock: Any, provider: str) -> None:
    with pytest.raises(UsageError) as refused:
        instructor_engine(model=MODELS[provider], clock=clock)
    assert refused.value.message == f"--model {MODELS[provider]} needs a key"
    assert refused.value.hint == f"set {VARIABLES[provider]}"


@pytest.mark.parametrize(
    ("missing", "model", "message", "extra"),
    [
        ("anthropic", "anthropic/x", "needs the package anthropic", "anthropic"),
        ("google.genai", "gemini/x", "needs the package google", "google"),
        ("instructor", "deepseek/x", "needs the package instructor", "instructor"),
        ("mistralai", "mistral/x", "needs the package mistralai", "mistral"),
    ],
)
def test_a_missing_package_is_a_usage_error_that_names_the_extra(
    missing: str,
    model: str,
    message: str,
    extra: str,
    clock: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "repurpose.engines._instructor_clients.find_spec",
        lambda name: None if name == missing else object(),
    )
    with pytest.raises(UsageError) as refused:
        instructor_engine(model=model, clock=clock, api_key=KEY)
    assert refused.value.message.endswith(message)
    assert refused.value.hint == f"pip install 'repurpose-text[{extra}]'"


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 0},
        {"deadline": -1},
        {"transport_budget": 0},
        {"api_key": "sk-\x7f1"},
        {"base_url": "ftp://x/v1"},
        {"base_url": "http://[::1"},
        {"profile": "generic"},
        {"model": "unheard/of"},
        {"model": "anthropic/"},
    ],
)
def test_settings_out_of_range_are_refused(
    options: dict[str, Any], clock: Any, provider: str
) -> None:
    with pytest.raises(UsageError):
        instructor_engine(**{"model": MODELS[provider], "clock": clock, "api_key": KEY, **options})


def test_a_surprise_inside_the_library_reaches_nobody_as_it_is(
    provider: str, engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    import instructor

    async def broken(*_: object, **__: object) -> None:
        raise AttributeError(USER)

    monkeypatch.setattr(instructor.AsyncInstructor, "create", broken)
    (outcome,) = ask(engine(), call())
    assert isinstance(outcome, EngineError)
    assert outcome.message == f"the client for {NAMES[provider]} failed (AttributeError)"


def test_a_client_that_cannot_be_made_is_an_engine_error_without_its_text(
    provider: str, engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    import instructor

    def broken(*_: object, **__: object) -> None:
        raise ValueError(KEY)

    monkeypatch.setattr(instructor, "from_provider", broken)
    (outcome,) = ask(engine(), call())
    assert isinstance(outcome, EngineError)
    assert outcome.message == f"no client for {NAMES[provider]} could be made (ValueError)"
