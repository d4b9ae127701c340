"""Each platform, one below, at, and one above its limit, in its own unit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.checks import fit_post
from repurpose.platforms import PLATFORMS, Platform
from repurpose.text.counting import MEASURES

HEAVY = {"linkedin": "🎉", "x": "界", "instagram": "🎉"}  # two units each

every_platform = pytest.mark.parametrize("platform", PLATFORMS.values(), ids=list(PLATFORMS))


def words(length: int) -> str:
    """One sentence of exactly `length` code points."""
    return ("word " * length)[: length - 1].rstrip().ljust(length - 1, "d") + "."


@every_platform
@pytest.mark.parametrize("below", [0, 1])
def test_a_text_within_the_limit_is_left_as_it_is(platform: Platform, below: int) -> None:
    text = words(platform.limit - below)
    fitted = fit_post(text, [], platform, language="en", segmenter=None)
    assert fitted.text == text
    assert fitted.measures.length == platform.limit - below
    assert fitted.measures.max_length == platform.limit
    assert fitted.measures.unit == platform.unit
    assert not fitted.measures.shortened
    assert fitted.measures.cut_mode == "none"


@every_platform
def test_a_text_one_above_the_limit_is_shortened(platform: Platform) -> None:
    fitted = fit_post(words(platform.limit + 1), [], platform, language="en", segmenter=None)
    assert fitted.measures.length <= platform.limit
    assert fitted.measures.shortened
    assert fitted.measures.cut_mode == "word"


@every_platform
@pytest.mark.parametrize(("more", "shortened"), [(-1, False), (0, False), (1, True)])
def test_characters_that_weigh_two_count_twice(
    platform: Platform, more: int, shortened: bool
) -> None:
    text = HEAVY.get(platform.name, "🎉") * (platform.limit // 2 + more)
    fitted = fit_post(text, [], platform, language="ja", segmenter=None)
    assert fitted.measures.shortened is shortened
    assert fitted.measures.length <= platform.limit


def test_a_link_counts_23_on_x_whatever_its_length() -> None:
    link = "https://example.com/" + "p" * 80
    fitted = fit_post(f"Read {link} today.", [], PLATFORMS["x"], language="en", segmenter=None)
    assert link in fitted.text
    assert fitted.measures.length == len("Read  today.") + 23


FRAGMENTS = st.sampled_from(
    [
        "One short sentence. ", "word ", "Größe ", "界面。", "🎉", "👨‍👩‍👧‍👦", "e\u0301", "\n\n",
        "\r\n", "…", "https://example.com/a/long/path ", "example.com", ".", "#tag ", "＃札 ",
        "@user ", "\u200d", "नमस्ते ", "a" * 90, "1️⃣ ", "\ufeff", "! ", "co", "# ", "$12.50 ",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS | st.text(max_size=8), min_size=1, max_size=60).map("".join)
TAGS = st.lists(st.text(max_size=12) | FRAGMENTS | st.just("x" * 300), max_size=36)


@given(
    text=TEXTS,
    repeat=st.sampled_from([1, 3, 20]),
    tags=TAGS,
    platform=st.sampled_from(list(PLATFORMS.values())),
    disclosure=st.sampled_from([None, "Ad", "Written with AI, checked by an editor."]),
)
@settings(max_examples=60, deadline=None)
def test_no_post_ever_exceeds_its_limit(
    text: str, repeat: int, tags: list[str], platform: Platform, disclosure: str | None
) -> None:
    fitted = fit_post(
        text * repeat, tags, platform, language="en", segmenter=None, disclosure=disclosure
    )
    assert fitted.measures.length == MEASURES[platform.unit](fitted.text) <= platform.limit
    assert fitted.text.startswith(fitted.body)
    assert len(fitted.hashtags) <= (platform.max_hashtags or 30)
    assert disclosure is None or fitted.text.endswith(f"\n{disclosure}")
