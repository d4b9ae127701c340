"""The whole way from a file to stored rows, against a server that misbehaves in every way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mock_server import REFUSAL, MockServer
from repurpose.api.loading import load
from repurpose.api.runs import run
from repurpose.config import Settings
from repurpose.core.result import RunResult
from repurpose.core.source import Source
from repurpose.engines.openai import openai_engine
from repurpose.formats import FORMATS
from repurpose.ports import Engine, Store

KEY = "sk-hunter2hunter2"


@pytest.fixture
def source(root: Path) -> Source:
    return load(root / "fixtures" / "sources" / "article.md")


@pytest.fixture
def engine(mock_server: MockServer, clock: Any) -> Engine:
    return openai_engine(
        model="mock-model", base_url=mock_server.url, api_key=KEY, clock=clock, jitter=lambda: 0.5
    )


@pytest.fixture
def faq(
    mock_server: MockServer,
    engine: Engine,
    store: Store,
    source: Source,
    golden: Callable[[str], Any],
) -> Callable[..., RunResult]:
    """Run the FAQ of the article against these steps of the server."""

    def run_faq(*steps: str, **settings: Any) -> RunResult:
        mock_server.answers["faq"] = golden("faq")
        mock_server.plan(*steps)
        chosen = Settings(database=Path("unused"), **settings)
        return run(source, ["faq"], engine=engine, store=store, settings=chosen)

    return run_faq


@dataclass(frozen=True)
class Outcome:
    """What a plan must lead to."""

    requests: int
    message: str
    """How the envelope's message begins."""
    kind: str | None = None
    """The kind of the failed row, or None for a done one."""
    attempts: int = 1
    settings: dict[str, Any] = field(default_factory=dict)


DONE = "FAQ done"
REPAIRED = "FAQ done (1 retry)"
ERROR = "FAQ generation error: "

OUTCOMES = {
    "ok": Outcome(1, DONE),
    "fenced": Outcome(1, DONE),
    "think": Outcome(1, DONE),
    "prose": Outcome(1, DONE),
    "parts": Outcome(1, DONE),
    "nousage": Outcome(1, DONE),
    "reasoning": Outcome(1, DONE),
    "missing+ok": Outcome(2, REPAIRED, attempts=2),
    "missing+missing": Outcome(2, ERROR, "invalid_answer", attempts=2),
    "wrongtype+ok": Outcome(2, REPAIRED, attempts=2),
    "wrongtype+wrongtype": Outcome(2, ERROR, "invalid_answer", attempts=2),
    "extra+ok": Outcome(2, REPAIRED, attempts=2),
    "extra+extra": Outcome(2, ERROR, "invalid_answer", attempts=2),
    "dupkey+ok": Outcome(2, REPAIRED, attempts=2),
    "dupkey+dupkey": Outcome(2, ERROR, "invalid_answer", attempts=2),
    "malformed+ok": Outcome(2, REPAIRED, attempts=2),
    "surrogate+ok": Outcome(2, REPAIRED, attempts=2),
    "empty+ok": Outcome(2, REPAIRED, attempts=2),
    "null+empty": Outcome(2, ERROR, "invalid_answer", attempts=2),
    "refusal": Outcome(1, f"{ERROR}the model refused", "refused"),
    "content_filter": Outcome(1, f"{ERROR}the provider's content filter", "refused"),
    "length": Outcome(1, f"{ERROR}the reply was cut", "cut_short"),
    "length+ok": Outcome(2, REPAIRED, attempts=2, settings={"output_tokens": 500}),
    "length+length": Outcome(
        2, f"{ERROR}the reply was cut", "cut_short", attempts=2, settings={"output_tokens": 500}
    ),
    "429=0.2+ok": Outcome(2, DONE),
    "500+ok": Outcome(2, DONE),
    "500": Outcome(4, ERROR, "still_working"),
    "reset+ok": Outcome(2, DONE),
    "partial+ok": Outcome(2, DONE),
    "html": Outcome(1, ERROR, "broken_reply"),
    "badjson": Outcome(1, ERROR, "broken_reply"),
    "nochoices": Outcome(1, ERROR, "broken_reply"),
    "quota": Outcome(1, ERROR, "never_started"),
    "401": Outcome(1, ERROR, "never_started"),
    "context": Outcome(1, ERROR, "never_started"),
}


@pytest.mark.parametrize("plan", OUTCOMES)
def test_each_fault_has_its_outcome_and_its_number_of_requests(
    plan: str, faq: Callable[..., RunResult], mock_server: MockServer, store: Store
) -> None:
    expected = OUTCOMES[plan]
    result = faq(*plan.split("+"), **expected.settings)
    (row,) = store.rows(result.run.id)
    assert len(mock_server.requests) == expected.requests
    assert row.message.startswith(expected.message)
    assert (row.kind, row.attempts) == (expected.kind, expected.attempts)
    assert (row.status == "done") == (expected.kind is None) == (result.exit_code == 0)
    assert KEY not in str(row)
    assert REFUSAL not in row.message


def test_four_formats_are_four_requests_with_one_fenced_block_each(
    mock_server: MockServer,
    engine: Engine,
    store: Store,
    source: Source,
    golden: Callable[[str], Any],
) -> None:
    mock_server.answers.update({name: golden(name) for name in FORMATS})
    result = run(source, engine=engine, store=store, settings=Settings(database=Path("unused")))
    assert result.exit_code == 0
    assert len(mock_server.requests) == 4
    assert len(store.rows(result.run.id)) == 6
    for request in mock_server.requests:
        system, user = request.body["messages"]
        assert (system["role"], user["role"]) == ("system", "user")
        assert user["content"].count("<source_material>") == 1
        assert user["content"].endswith("</source_material>")
        assert source.title is not None
        assert source.title not in system["content"]
        assert request.body["response_format"]["json_schema"]["strict"] is True


def test_the_repair_request_holds_the_same_block_and_the_rejected_answer_apart(
    faq: Callable[..., RunResult], mock_server: MockServer
) -> None:
    faq("extra", "ok")
    first, repair = (request.body["messages"] for request in mock_server.requests)
    assert repair[1]["content"].startswith(first[1]["content"])
    assert repair[1]["content"].count("<source_material>") == 1
    assert repair[1]["content"].count("<previous_answer>") == 1
    assert "undeclared" in repair[0]["content"]


def test_usage_is_stored_and_what_was_not_reported_is_unknown(
    faq: Callable[..., RunResult], store: Store
) -> None:
    reported, unreported = faq("ok"), faq("nousage", output_tokens=99)
    (first,), (second,) = (store.calls(each.run.id) for each in (reported, unreported))
    assert first.reply is not None
    assert second.reply is not None
    usage = first.reply.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (120, 45)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (64, 7)
    assert second.reply.usage.prompt_tokens is None
    assert first.cost is None


def test_a_whole_run_logs_no_text_and_no_key(
    mock_server: MockServer,
    engine: Engine,
    store: Store,
    source: Source,
    golden: Callable[[str], Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    mock_server.answers.update({name: golden(name) for name in FORMATS})
    mock_server.plan("extra", "ok", schema="faq")
    mock_server.plan("401", schema="summary")
    mock_server.plan("refusal", schema="newsletter")
    result = run(source, engine=engine, store=store, settings=Settings(database=Path("unused")))
    assert result.exit_code == 1
    logged = caplog.text
    assert "repurpose" in logged
    assert KEY not in logged
    answers = [pair["question"] for pair in golden("faq")["pairs"]]
    sentences = [line for line in source.text.splitlines() if len(line) > 40]
    for text in [*answers, *sentences, REFUSAL, "undeclared"]:
        assert text not in logged


def test_a_generator_works_with_the_same_engine_in_two_event_loops(
    mock_server: MockServer, engine: Engine, source: Source, golden: Callable[[str], Any]
) -> None:
    from repurpose import FaqGenerator

    mock_server.answers["faq"] = golden("faq")
    generator = FaqGenerator(engine)
    first = generator.generate(source)
    second = asyncio.run(generator.agenerate(source))
    assert first.content == second.content
    assert first.envelope.status == 200
