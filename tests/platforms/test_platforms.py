"""The table of platforms: complete, dated, and in units that can be counted."""

from __future__ import annotations

import subprocess
import sys
from datetime import date

import pytest

import repurpose.platforms
from repurpose.errors import UsageError
from repurpose.platforms import (
    DEFAULT_PLATFORMS,
    PLATFORMS,
    Limit,
    Platform,
    changed,
    chosen_platforms,
    keyed,
    platform_chosen,
    platform_named,
    variant_label,
)
from repurpose.text.counting import MEASURES


@pytest.mark.parametrize(
    ("name", "limit", "unit", "hashtags"),
    [
        ("linkedin", 3000, "utf16", None),
        ("x", 280, "x_weighted", None),
        ("instagram", 2200, "utf16", 5),
        ("facebook", 63_206, "utf16", None),
        ("threads", 500, "utf8_bytes", 1),
        ("bluesky", 300, "graphemes", None),
        ("mastodon", 500, "mastodon", None),
        ("tiktok", 2200, "utf16", 5),
        ("tiktok_photo", 4000, "utf16", 5),
        ("youtube", 5000, "utf8_bytes", 60),
        ("pinterest", 500, "utf16", None),
        ("reddit", 40_000, "utf16", 0),
        ("google_business", 1500, "utf16", 0),
        ("newsletter_subject", 50, "graphemes", None),
        ("newsletter_preheader", 90, "graphemes", None),
    ],
)
def test_limits_are_those_of_the_platforms(
    name: str, limit: int, unit: str, hashtags: int | None
) -> None:
    platform = PLATFORMS[name]
    assert (platform.limit, platform.unit, platform.max_hashtags) == (limit, unit, hashtags)


@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=list(PLATFORMS))
def test_every_entry_can_be_used_and_checked(platform: Platform) -> None:
    assert platform.unit in MEASURES
    assert platform.limit >= 2
    assert platform.hashtags_after in {"blank line", "space"}
    limits = (platform.max_hashtags, platform.max_mentions, platform.max_links)
    assert all(most is None or most >= 0 for most in limits)
    assert all(limit.unit in MEASURES for limit in (platform.also, platform.title) if limit)
    assert all(changed(platform, rules) != platform for rules in platform.options.values())
    assert platform.label
    assert platform.source
    assert platform.confidence
    assert date.fromisoformat(platform.checked).isoformat() == platform.checked


@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=list(PLATFORMS))
def test_every_limit_can_be_said_in_words(platform: Platform) -> None:
    assert platform.limit_in_words.startswith(f"{platform.limit:,} ")
    assert platform.unit not in platform.limit_in_words


def test_the_limit_of_x_is_explained_as_it_counts() -> None:
    assert PLATFORMS["x"].limit_in_words == (
        "280 characters, where an emoji or a Chinese, Japanese or Korean character counts as two"
        " and a link as 23"
    )


@pytest.mark.parametrize("spelling", ["linkedin", "LinkedIn", " LINKEDIN "])
def test_a_platform_is_found_whatever_the_case(spelling: str) -> None:
    assert platform_named(spelling) is PLATFORMS["linkedin"]


def test_an_unknown_platform_is_answered_with_the_nearest_and_the_list() -> None:
    with pytest.raises(UsageError) as caught:
        platform_named("linkdin")
    assert caught.value.message == (
        f'unknown platform "linkdin"; did you mean linkedin? known: {", ".join(PLATFORMS)}'
    )


def test_a_name_like_no_other_is_answered_with_the_list_alone() -> None:
    with pytest.raises(UsageError) as caught:
        platform_named("fax")
    assert caught.value.message.endswith(f'"fax"; known: {", ".join(PLATFORMS)}')


def test_the_table_cannot_be_changed_by_its_readers() -> None:
    with pytest.raises(TypeError):
        PLATFORMS["x"] = PLATFORMS["linkedin"]  # type: ignore[index]


def test_second_limits_and_titles_are_those_of_the_platforms() -> None:
    assert PLATFORMS["bluesky"].also == Limit(3000, "utf8_bytes")
    titles = {name: each.title.limit for name, each in PLATFORMS.items() if each.title}
    assert titles == {"tiktok_photo": 90, "youtube": 100, "pinterest": 100, "reddit": 300}


def test_threads_are_for_the_four_platforms_that_read_them() -> None:
    able = [name for name, each in PLATFORMS.items() if each.thread]
    assert able == ["x", "threads", "bluesky", "mastodon"]


@pytest.mark.parametrize(
    ("named", "limit", "hashtags"),
    [
        ("x=premium", 25_000, None),
        (" Mastodon = 1000 ", 1000, None),
        ("instagram=hashtags30", 2200, 30),
        ("facebook=page", 5000, None),
        ("pinterest=api", 800, None),
    ],
)
def test_an_option_or_a_number_changes_the_rules(
    named: str, limit: int, hashtags: int | None
) -> None:
    platform = platform_chosen(named)
    assert (platform.limit, platform.max_hashtags) == (limit, hashtags)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("x=gold", "x has no option 'gold'"),
        ("mastodon=", "mastodon has no option ''"),
        ("mastodon=9", "limit = 9 is no number from 20 up"),
        ("mastodon=٩٩٩", "has no option"),
        ("newsletter_subject", "field of the newsletter"),
        ("linkdin", "did you mean linkedin"),
    ],
)
def test_what_cannot_be_chosen_is_said(named: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        chosen_platforms([named])


def test_platforms_are_chosen_in_order_and_each_once_as_named_last() -> None:
    chosen = chosen_platforms(["bluesky", "x", "x=premium"])
    assert [(name, each.limit) for name, each in chosen.items()] == [
        ("bluesky", 300),
        ("x", 25_000),
    ]
    assert list(chosen_platforms(DEFAULT_PLATFORMS)) == ["linkedin", "x", "instagram"]


@pytest.mark.parametrize("rules", [{"unit": 3}, {"limit": True}, {"max_links": -1}])
def test_only_numbers_of_limits_can_be_changed(rules: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        changed(PLATFORMS["x"], rules)


def test_a_key_of_an_answer_names_its_platform_and_number() -> None:
    assert keyed("x_3") == (PLATFORMS["x"], 3)
    assert keyed("tiktok_photo_2") == (PLATFORMS["tiktok_photo"], 2)
    with pytest.raises(UsageError):
        keyed("telegraph_2")


def test_a_variant_is_shown_with_its_platforms_name() -> None:
    assert variant_label("x.2") == "X, variant 2"
    assert variant_label("default") == "default"


def test_the_rules_of_a_platform_hold_all_that_decides_how_a_text_fits() -> None:
    assert PLATFORMS["x"].rules == {"limit": 280, "unit": "x_weighted"}
    assert PLATFORMS["bluesky"].rules == {
        "limit": 300,
        "unit": "graphemes",
        "also": [3000, "utf8_bytes"],
    }
    assert PLATFORMS["reddit"].rules["max_hashtags"] == 0
    assert PLATFORMS["newsletter_subject"].rules["enforced"] is False


def test_importing_the_table_loads_neither_counters_nor_segmenter() -> None:
    code = (
        "import sys, repurpose.platforms as p; p.PLATFORMS['x'];"
        "print(sorted({'regex', 'tldextract', 'nltk', 'sentencex'} & set(sys.modules)));"
        "from repurpose.platforms import fit; print(fit('Hello.').text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["[]", "Hello."]


def test_every_public_name_can_be_imported() -> None:
    for name in repurpose.platforms.__all__:
        assert getattr(repurpose.platforms, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = repurpose.platforms.nonsense
