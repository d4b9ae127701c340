"""The shared cases of what each platform counts and lets through."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from repurpose.platforms import PLATFORMS, Limit, fit_post, platform_chosen
from repurpose.text.counting import MEASURES

pytestmark = pytest.mark.shared

NAMES = {
    "x_premium": "x=premium",
    "tiktok_video_caption": "tiktok",
    "tiktok_photo_description": "tiktok_photo",
    "youtube_description": "youtube",
    "pinterest_description": "pinterest",
}
TITLES = {
    "tiktok_photo_title": "tiktok_photo",
    "youtube_title": "youtube",
    "pinterest_title": "pinterest",
}


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[dict[str, Any]]:
    file = shared / "conformance" / "platform-limits.yaml"
    found: list[dict[str, Any]] = yaml.safe_load(file.read_text("utf-8"))["cases"]
    assert len(found) == 127
    return found


def described(case: dict[str, Any]) -> tuple[str, str]:
    return case["platform"], case["text"][:40]


def test_each_text_counts_as_much_as_its_platform_says(cases: list[dict[str, Any]]) -> None:
    wrong = []
    for case in cases:
        text = case["text"] * case.get("repeat", 1)
        rule: Limit | Any = (
            PLATFORMS[TITLES[case["platform"]]].title
            if (case["platform"] in TITLES)
            else platform_chosen(NAMES.get(case["platform"], case["platform"]))
        )
        if MEASURES[rule.unit](text) != case["expected_length"]:
            wrong.append(described(case))
    assert wrong == []


def test_each_text_is_left_alone_exactly_where_its_platform_lets_it_through(
    cases: list[dict[str, Any]],
) -> None:
    """But for white space around it, and what is told and not cut."""
    wrong = []
    for case in cases:
        text = case["text"] * case.get("repeat", 1)
        if case["platform"] in TITLES:
            platform = PLATFORMS[TITLES[case["platform"]]]
            rule = platform.title
            assert rule is not None
            platform = replace(platform, limit=rule.limit, unit=rule.unit, max_hashtags=None)
        else:
            platform = platform_chosen(NAMES.get(case["platform"], case["platform"]))
        fitted = fit_post(text, [], platform, language=None, segmenter=None)
        as_it_is = fitted.fits and not fitted.measures.shortened and not fitted.notes
        if as_it_is != case["fits"]:
            wrong.append((*described(case), case["fits"]))
    assert wrong == []


def test_the_limits_of_bluesky_are_those_of_its_lexicon(shared: Path) -> None:
    lexicon = yaml.safe_load((shared / "conformance/atproto/app.bsky.feed.post.json").read_text())
    text = lexicon["defs"]["main"]["record"]["properties"]["text"]
    platform = PLATFORMS["bluesky"]
    assert platform.also is not None
    assert (text["maxGraphemes"], text["maxLength"]) == (platform.limit, platform.also.limit)


def test_the_limit_of_x_is_that_of_its_configuration(shared: Path) -> None:
    config = yaml.safe_load((shared / "conformance/twitter-text/config-v3.json").read_text())
    assert config["maxWeightedTweetLength"] == PLATFORMS["x"].limit
    assert config["transformedURLLength"] == 23
