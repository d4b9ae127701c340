"""Providers with an OpenAI-like interface through instructor: every fault plan, and each SDK."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mock_server import ERRORS, REFUSAL, SPOILED, MockServer
from provider_servers import COHERE, GROQ, MISTRAL, ProviderServer
from repurpose.api.loading import load
from repurpose.api.runs import run
from repurpose.config import Settings
from repurpose.core.call import Call, Reply, Usage
from repurpose.core.source import Source
from repurpose.engines.instructor import instructor_engine
from repurpose.errors import BrokenReply, EngineError, NeverStarted, StillWorking
from repurpose.ports import Store

KEY = "sk-test-4f9b2c7d1e8a6350"
USER = "Every evening the keeper climbed up. {{ secret }}"
SYSTEM = "You write about lighthouses."
TEXT = '{"headline": "The last keeper"}'
WIRE = {
    "type": "object",
    "properties": {"headline": {"type": "string"}},
    "required": ["headline"],
    "additionalProperties": False,
}
SECRETS = re.compile(r"sk-test|4f9b2c7d|lighthouse|keeper|secret|I am sorry|log in")


@pytest.fixture(autouse=True)
def _no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test speaks TLS, and reading the system's certificates takes longer than most of them."""
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)


# --- every plan of the mock server, through a whole run ----------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a plan must lead to: requests, the row's kind (None for done), its attempts."""

    requests: int
    kind: str | None = None
    attempts: int = 1
    settings: dict[str, Any] = field(default_factory=dict)
    engine: dict[str, Any] = field(default_factory=dict)


REPAIRED = Outcome(2, attempts=2)
TWICE_WRONG = Outcome(2, "invalid_answer", attempts=2)
BROKEN = Outcome(1, "broken_reply")
REFUSED = Outcome(1, "refused")
NEVER = Outcome(1, "never_started")
GIVEN_UP = Outcome(4, "still_working")

OUTCOMES = {
    **dict.fromkeys(
        ["ok", "fenced", "think", "prose", "parts", "reasoning", "nousage"], Outcome(1)
    ),
    **dict.fromkeys(
        [
            f"{kind}+ok"
            for kind in [
                *["malformed", "missing", "wrongtype", "extra", "dupkey", "surrogate"],
                *["empty", "null", "tool_calls"],
            ]
        ],
        REPAIRED,
    ),
    "missing+missing": TWICE_WRONG,
    "wrongtype+extra": TWICE_WRONG,
    "null+empty": TWICE_WRONG,
    "refusal": REFUSED,
    "content_filter": REFUSED,
    "filtered": REFUSED,
    "length": Outcome(1, "cut_short"),
    "length+ok": Outcome(2, attempts=2, settings={"output_tokens": 500}),
    **dict.fromkeys(
        ["nochoices", "nomessage", "notobject", "errorbody", "html", "badjson"], BROKEN
    ),
    "partial+ok": Outcome(2),
    "partial": GIVEN_UP,
    "reset+ok": Outcome(2),
    "reset": GIVEN_UP,
    "hang": Outcome(2, "still_working", engine={"timeout": 0.2, "transport_budget": 2}),
    "429=2+ok": Outcome(2),
    "429+429+429+429+429+ok": Outcome(6),
    "429=100": Outcome(6, "still_working"),
    "408+409+ok": Outcome(3),
    "503=3+502+504+ok": Outcome(4),
    "500": GIVEN_UP,
    **dict.fromkeys(
        ["401", "402", "403", "404", "422", "308", "quota", "context", "badschema", "unsupported"],
        NEVER,
    ),
}


def test_the_table_names_every_plan_of_the_mock_server() -> None:
    named = {step.partition("=")[0] for plan in OUTCOMES for step in plan.split("+")}
    assert set(SPOILED) | set(ERRORS) <= named


@pytest.fixture(scope="module")
def source(root: Path) -> Source:
    return load(root / "fixtures" / "sources" / "article.md")


@pytest.mark.parametrize("plan", OUTCOMES)
def test_each_fault_has_its_outcome_and_its_number_of_requests(
    plan: str,
    mock_server: MockServer,
    store: Store,
    clock: Any,
    source: Source,
    golden: Callable[[str], Any],
) -> None:
    pytest.importorskip("instructor", reason="the extra [instructor] is not installed")
    expected = OUTCOMES[plan]
    mock_server.answers["faq"] = golden("faq")
    mock_server.plan(*plan.split("+"))
    options = {"api_key": KEY, "base_url": mock_server.url, "jitter": lambda: 0.5}
    result = run(
        source,
        ["faq"],
        engine=instructor_engine(
            model="openrouter/some/model", clock=clock, **options, **expected.engine
        ),
        store=store,
        settings=Settings(database=Path("unused"), **expected.settings),
    )
    (row,) = store.rows(result.run.id)
    assert len(mock_server.requests) == expected.requests
    assert (row.kind, row.attempts) == (expected.kind, expected.attempts), row.message
    assert (row.status == "done") == (expected.kind is None)
    if row.status == "failed":
        assert row.message.startswith("FAQ generation error: ")
        told = [line for line in source.text.splitlines() if len(line) > 40]
        told += [pair["question"] for pair in golden("faq")["pairs"]]
        assert not any(text in row.message for text in [KEY, REFUSAL, *told])
    for request in mock_server.requests:
        assert request.body["response_format"]["json_schema"]["strict"] is True
        assert request.body["messages"][1]["content"].count("<source_material>") == 1
        assert len(request.body["messages"]) == 2


# --- each SDK ---------------------------------------------------------------------------------

SDKS = {
    "mistral": ("mistralai", "Mistral", MISTRAL),
    "cohere": ("cohere", "Cohere", COHERE),
    "groq": ("groq", "Groq", GROQ),
    "deepseek": ("openai", "DeepSeek", GROQ),
    "together": ("openai", "Together AI", GROQ),
    "perplexity": ("openai", "Perplexity", GROQ),
    "ollama": ("openai", "Ollama", GROQ),
}


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, ProviderServer]]:
    made = {name: ProviderServer(wire) for name, (_, _, wire) in SDKS.items()}
    yield made
    for server in made.values():
        server.close()


@pytest.fixture(params=sorted(SDKS))
def provider(request: pytest.FixtureRequest) -> str:
    """A provider whose SDK is installed."""
    name: str = request.param
    for package in ("instructor", SDKS[name][0]):
        pytest.importorskip(package, reason=f"what --model {name}/... needs is not installed")
    return name


@pytest.fixture
def server(provider: str, servers: dict[str, ProviderServer]) -> Iterator[ProviderServer]:
    chosen = servers[provider]
    chosen.answer = {"headline": "The last keeper"}
    yield chosen
    chosen.reset()


@pytest.fixture
def ask(provider: str, server: ProviderServer, clock: Any) -> Callable[..., Reply | EngineError]:
    """What one call leads to, everything closed."""

    def asked(**options: Any) -> Reply | EngineError:
        engine = instructor_engine(
            model=f"{provider}/some-model",
            clock=clock,
            jitter=lambda: 0.0,
            **{"api_key": KEY, "base_url": server.url, **options},
        )
        source = Source(USER, "keeper.md", "markdown")
        call = Call("brief", SYSTEM, USER, WIRE, WIRE, source, output_tokens=700)

        async def once() -> Reply | EngineError:
            try:
                return await engine.answer(call)
            except EngineError as error:
                return error
            finally:
                await engine.close()

        return asyncio.run(once())

    return asked


def test_a_reply_comes_back_as_it_was_with_its_usage(
    provider: str, server: ProviderServer, ask: Callable[..., Any]
) -> None:
    reply = ask(temperature=0.0)
    assert (reply.text, reply.finish) == (TEXT, "stop")
    assert reply.usage == Usage(120, 45, 64)
    (request,) = server.requests
    assert [message["content"] for message in request.body["messages"]] == [SYSTEM, USER]
    assert request.body["model"] == "some-model"
    assert request.body["max_tokens"] == 700
    assert request.body["temperature"] == 0.0
    assert request.headers["x-repurpose-caller"] == "repurpose.brief"
    wanted = request.body["response_format"]
    if wanted["type"] == "json_schema":
        assert wanted["json_schema"]["schema"] == WIRE
    else:
        assert wanted["type"] == "json_object"
        assert wanted.get("json_schema", WIRE) == WIRE


OWN_SDKS = ["cohere", "groq", "mistral"]
"""The others use openai's, which the plans above went through."""


@pytest.mark.parametrize("provider", OWN_SDKS, indirect=True)
@pytest.mark.parametrize(
    ("plan", "text", "finish", "requests"),
    [
        ("extra", TEXT[:-1] + ', "undeclared": "value"}', "stop", 1),
        ("dupkey", '{"headline": "The last keeper", ' + TEXT[1:], "stop", 1),
        ("empty", "", "stop", 1),
        ("length", TEXT[: len(TEXT) // 2], "length", 1),
        ("429=2+ok", TEXT, "stop", 2),
        ("overloaded+500+ok", TEXT, "stop", 3),
        ("reset+partial+ok", TEXT, "stop", 3),
        ("hang+ok", TEXT, "stop", 2),
    ],
)
def test_an_answer_is_handed_on_whatever_it_is_worth(
    plan: str,
    text: str,
    finish: str,
    requests: int,
    server: ProviderServer,
    ask: Callable[..., Any],
) -> None:
    server.plan(*plan.split("+"))
    reply = ask(timeout=0.3 if "hang" in plan else 10.0)
    assert isinstance(reply, Reply), reply
    assert (reply.text, reply.finish, reply.requests) == (text, finish, requests)
    assert len(server.requests) == requests


@pytest.mark.parametrize("provider", OWN_SDKS, indirect=True)
@pytest.mark.parametrize(
    ("plan", "error", "message", "requests"),
    [
        ("html", BrokenReply, "PROVIDER answered ", 1),
        ("badjson", BrokenReply, "PROVIDER answered ", 1),
        ("500", StillWorking, "PROVIDER gave no answer in 4 requests; the last one: status 500", 4),
        ("reset", StillWorking, "PROVIDER gave no answer in 4 requests; the last one: the con", 4),
        ("429=100", StillWorking, "PROVIDER kept limiting the rate beyond the 600 s of a call", 6),
        ("key", NeverStarted, "PROVIDER refused the API key (status 401", 1),
        ("model", NeverStarted, "PROVIDER has no model some-model (status 404", 1),
        ("context", NeverStarted, "the text is too long for some-model (status 400", 1),
        ("quota", NeverStarted, "the account at PROVIDER has no quota left (status 402", 1),
        ("schema", NeverStarted, "some-model at PROVIDER does not take ", 1),
        ("redirect", NeverStarted, "PROVIDER sends on to another address (status 308", 1),
    ],
)
def test_a_fault_is_told_in_our_own_words_after_its_number_of_requests(
    plan: str,
    error: type[EngineError],
    message: str,
    requests: int,
    provider: str,
    server: ProviderServer,
    ask: Callable[..., Any],
) -> None:
    server.plan(*plan.split("+"))
    outcome = ask()
    assert isinstance(outcome, error), outcome
    assert outcome.message.startswith(message.replace("PROVIDER", SDKS[provider][1]))
    assert len(server.requests) == requests
    assert not SECRETS.search(f"{outcome} {outcome.hint}")


@pytest.mark.parametrize("provider", ["ollama"], indirect=True)
def test_a_provider_that_needs_no_key_is_never_sent_one_of_somebody_else(
    server: ProviderServer, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    reply = ask(api_key=None)
    assert reply.text == TEXT
    assert not re.search(f"{KEY}|mine", str(server.requests[0].headers))
