"""The library's doors, as a program uses them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repurpose import (
    Engine,
    FaqGenerator,
    NewsletterGenerator,
    SocialGenerator,
    SummaryGenerator,
    load,
    open_store,
    run,
)
from repurpose.config import Settings
from repurpose.core.call import Call, Reply
from repurpose.core.policy import RetryPolicy
from repurpose.engines.scripted import scripted_engine
from repurpose.errors import InvalidAnswer, SourceError, UsageError
from repurpose.formats.faq import FaqContent
from repurpose.formats.newsletter import NewsletterContent
from repurpose.formats.social import SocialContent
from repurpose.formats.summary import SummaryContent

GENERATORS = {
    "summary": (SummaryGenerator, SummaryContent),
    "faq": (FaqGenerator, FaqContent),
    "social": (SocialGenerator, SocialContent),
    "newsletter": (NewsletterGenerator, NewsletterContent),
}


@pytest.fixture
def article(root: Path) -> Path:
    return root / "fixtures" / "sources" / "article.md"


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_alone_gives_typed_content_without_a_model(name: str, article: Path) -> None:
    generator, content = GENERATORS[name]
    result = generator().generate(article)
    assert isinstance(result.content, content)
    assert result.envelope.status == 200
    assert result.meta.provenance == "extracted, no model"
    assert all(result.texts.values())


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_takes_any_engine_and_works_in_an_event_loop(
    name: str, article: Path, golden: Callable[[str], Any]
) -> None:
    generator, content = GENERATORS[name]
    result = asyncio.run(generator(scripted_engine([golden(name)])).agenerate(load(article)))
    assert isinstance(result.content, content)
    assert result.meta.run_id is None


def test_a_function_is_an_engine(golden: Callable[[str], Any]) -> None:
    async def mine(call: Call) -> Reply:
        assert call.caller == "repurpose.faq"
        return Reply('{"pairs": [{"question": "Who?", "answer": "Me."}]}')

    result = FaqGenerator(Engine(name="mine", answer=mine)).generate(b"A text of mine.")
    assert result.content is not None
    assert result.content.pairs[0].answer == "Me."
    assert result.text == "Q: Who?\nA: Me."
    assert result.meta.provenance == "engine mine"


def test_a_failure_is_an_envelope_and_not_an_exception(article: Path) -> None:
    engine = scripted_engine(["no", "no"])
    result = FaqGenerator(engine).generate(article)
    assert (result.content, result.envelope.status, result.envelope.data) == (None, 400, {})
    assert isinstance(result.error, InvalidAnswer)


def test_a_generators_policy_holds(article: Path) -> None:
    engine = scripted_engine(["no"])
    result = FaqGenerator(engine, retry=RetryPolicy(max_attempts=1)).generate(article)
    assert len(engine.calls) == 1
    assert "retr" not in result.envelope.message


def test_a_generators_wishes_reach_the_prompt(article: Path) -> None:
    engine = scripted_engine(["no", "no"])
    FaqGenerator(engine, language="de", audience="CFOs", tone="dry").generate(article)
    assert all(word in engine.calls[0].system for word in ("(de)", "CFOs", "dry"))


def test_a_source_that_is_not_there_is_raised() -> None:
    with pytest.raises(SourceError, match=r"nowhere\.md"):
        FaqGenerator().generate("nowhere.md")


def test_generate_inside_an_event_loop_says_what_to_await(article: Path) -> None:
    async def inside() -> None:
        FaqGenerator().generate(article)

    with pytest.raises(UsageError, match="event loop"):
        asyncio.run(inside())


def test_run_stores_where_its_settings_say(article: Path, tmp_path: Path) -> None:
    database = tmp_path / "own" / "runs.db"
    result = run(article, ["faq", "FAQ"], settings=Settings(database=database))
    assert list(result.results) == ["faq"]
    store = open_store(database)
    assert len(store.rows(result.run.id)) == 1
    store.close()


def test_without_a_model_wishes_change_neither_text_nor_labels(article: Path) -> None:
    plain = FaqGenerator().generate(article)
    wished = FaqGenerator(language="de", tone="merry").generate(article)
    assert wished.text == plain.text


def test_a_key_for_one_provider_is_not_given_to_another() -> None:
    from repurpose.config import from_environment

    keys = {"OPENAI_API_KEY": "sk-openai", "REPURPOSE_API_KEY": "own"}
    assert from_environment(keys).api_key == "sk-openai"
    assert from_environment(keys, base_url="http://localhost:1/v1").api_key == "own"
    del keys["REPURPOSE_API_KEY"]
    assert from_environment(keys, base_url="http://localhost:1/v1").api_key is None
    assert "sk-openai" not in repr(from_environment(keys))
