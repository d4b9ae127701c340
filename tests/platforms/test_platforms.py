"""The table of platforms: complete, dated, and in units that can be counted."""

from __future__ import annotations

from datetime import date

import pytest

from repurpose.errors import UsageError
from repurpose.platforms import PLATFORMS, Platform, platform_named
from repurpose.text.counting import MEASURES


@pytest.mark.parametrize(
    ("name", "limit", "unit", "hashtags"),
    [
        ("linkedin", 3000, "utf16", None),
        ("x", 280, "x_weighted", None),
        ("instagram", 2200, "utf16", 5),
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
    assert platform.max_hashtags is None or platform.max_hashtags > 0
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
        'unknown platform "linkdin"; did you mean linkedin? known: linkedin, x, instagram'
    )


def test_a_name_like_no_other_is_answered_with_the_list_alone() -> None:
    with pytest.raises(UsageError) as caught:
        platform_named("fax")
    assert caught.value.message.endswith('"fax"; known: linkedin, x, instagram')


def test_the_table_cannot_be_changed_by_its_readers() -> None:
    with pytest.raises(TypeError):
        PLATFORMS["x"] = PLATFORMS["linkedin"]  # type: ignore[index]
