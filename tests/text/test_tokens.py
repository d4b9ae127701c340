"""Estimates of tokens: by script, additive, and corrected by what a server reports."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.text.tokens import corrected_factor, estimated_tokens, reach, token_weight

TEXTS = st.text(st.sampled_from("aé漢か한яद👍 \n。"), max_size=1500)


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("road", 0.22),
        ("éßñ", 1.18),
        ("東京", 0.90),
        ("タワー", 0.75),
        ("한국", 0.69),
        ("नमस्ते", 0.33),
        ("дорога", 0.33),
        ("😀🎉", 1.5),
    ],
)
def test_a_character_weighs_what_its_script_does(text: str, weight: float) -> None:
    assert token_weight(text) == pytest.approx(weight * len(text))


def test_an_estimate_is_rounded_up_and_takes_the_models_factor() -> None:
    assert estimated_tokens("a" * 100) == 22
    assert estimated_tokens("a" * 101) == 23
    assert estimated_tokens("a" * 100, 1.5) == 33
    assert estimated_tokens("") == 0


@given(TEXTS, TEXTS)
def test_two_texts_weigh_what_both_weigh(one: str, other: str) -> None:
    assert token_weight(one + other) == pytest.approx(token_weight(one) + token_weight(other))


@given(TEXTS, st.integers(0, 400), st.integers(0, 100))
def test_what_is_reached_fits_and_one_character_more_does_not(
    text: str, limit: int, start: int
) -> None:
    end = reach(text, limit, start)
    assert token_weight(text[start:end]) <= limit + 1e-6
    assert end >= min(start, len(text))
    if end < len(text):
        assert token_weight(text[start : end + 1]) > limit - 1e-6


@pytest.mark.parametrize(
    ("estimated", "reported", "factor"),
    [
        (10_000, 12_500, 1.25),
        (10_000, 9_000, 0.9),
        (10_000, None, 1.0),
        (10_000, 0, 1.0),
        (200, 400, 1.0),  # mostly the server's own template
        (10_000, 120, 0.8),  # what the cache did not hold, for example
        (10_000, 900_000, 4.0),
    ],
)
def test_the_factor_is_what_the_server_reports_within_reason(
    estimated: int, reported: int | None, factor: float
) -> None:
    assert corrected_factor(estimated, reported) == pytest.approx(factor)


def test_a_megabyte_takes_well_below_a_second() -> None:
    text = "Ein Turmfalke rüttelt über der Straße, 鷹が道の上に。 " * 20_000
    began = time.perf_counter()
    estimated_tokens(text)
    assert time.perf_counter() - began < 1


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "tokens"),
    [  # counted with the o200k vocabulary
        ("ar-finding-users", 3134),
        ("es-getting-paid", 3826),
        ("fr-metrics", 2315),
        ("hi-starting-a-project", 7682),
        ("ja-metrics", 3338),
        ("toml-front-matter-de", 2420),
        ("zh-hans-finding-users", 2779),
    ],
)
def test_an_article_is_estimated_within_ten_percent(shared: Path, file: str, tokens: int) -> None:
    text = (shared / "corpus" / "md" / f"{file}.md").read_text(encoding="utf-8")
    assert estimated_tokens(text) == pytest.approx(tokens, rel=0.1)
