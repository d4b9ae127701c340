"""How much a model takes: from the table where it says so, and never guessed."""

from __future__ import annotations

from datetime import date

import pytest

from repurpose.contexts import CONTEXTS, Context, context_of, output_of


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=lambda context: context.model)
def test_each_size_is_positive_dated_and_has_its_source(context: Context) -> None:
    assert context.input >= 4_096
    assert 0 < context.output <= context.input * 2
    assert "http" in context.source
    assert date.fromisoformat(context.checked) <= date.today()  # noqa: DTZ011 - a day is enough
    assert context.model == context.model.casefold()


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-4o", 128_000),
        ("gpt-5-mini", 272_000),
        ("claude-haiku-4-5", 200_000),
        ("claude-sonnet-5", 1_000_000),
        ("gemini-2.5-pro", 1_048_576),
    ],
)
def test_known_sizes(model: str, tokens: int) -> None:
    assert context_of(model) == tokens


@pytest.mark.parametrize(
    "model", ["anthropic/claude-haiku-4-5", "openrouter/anthropic/Claude-Haiku-4-5"]
)
def test_a_provider_before_the_name_is_passed_over(model: str) -> None:
    assert context_of(model) == 200_000


@pytest.mark.parametrize(
    "model", ["claude-haiku-4-5-20251001", "claude-haiku-4-5@20251001", "claude-haiku-4-5:beta"]
)
def test_a_version_has_the_size_of_its_name(model: str) -> None:
    assert context_of(model) == 200_000


def test_the_longest_entry_counts() -> None:
    assert (context_of("gpt-5.1"), context_of("gpt-5.1-chat-latest")) == (272_000, 128_000)
    assert (output_of("gpt-4o"), output_of("gpt-4o-2024-05-13")) == (16_384, 4_096)


@pytest.mark.parametrize(
    "model", [None, "", "-", "gpt-4.9", "o1x", "my-gpt-4o", "local:/models/gpt-4o.gguf"]
)
def test_nothing_is_guessed_from_a_similar_name(model: str | None) -> None:
    assert context_of(model) is None
    assert output_of(model) is None
