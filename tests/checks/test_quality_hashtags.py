"""Hashtags that no platform links are dropped, and an editor is told."""

from __future__ import annotations

import pytest

from repurpose.checks.quality import sound_hashtags
from repurpose.formats import format_named
from repurpose.formats.base import FinishContext


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("#123", "hashtag #123 is digits only, dropped"),
        ("2031", "hashtag #2031 is digits only, dropped"),
        ("__7__", "hashtag #7 is digits only, dropped"),
        ("9" * 50, "a hashtag is digits only, dropped"),
        ("https://example.org/a", "a hashtag is a link, dropped"),
        ("#www.example.org", "a hashtag is a link, dropped"),
        ("example.org/bees", "a hashtag is a link, dropped"),
        ("caf\ufffd", "a hashtag holds broken characters, dropped"),
        ("BÃ¼cher", "a hashtag holds broken characters, dropped"),
        ("bees\x07", "a hashtag holds broken characters, dropped"),
    ],
)
def test_what_is_no_hashtag_is_dropped_with_a_reason(item: str, reason: str) -> None:
    assert sound_hashtags([item, "bees"]) == (("bees",), (reason,))


def test_many_in_one_item_come_apart_and_are_judged_one_by_one() -> None:
    kept, reasons = sound_hashtags(["#151312#bees#151312 #roof_garden"])
    assert kept == ("bees", "roof_garden")
    assert reasons == ("hashtag #151312 is digits only, dropped",)


@pytest.mark.parametrize(
    "tag",
    ["#bees", "growth2031", "2031goals", "#München", "naïve", "蜂蜜", "हिन्दी", "AI-driven",
     "São_Paulo", "node.js", "Ã"],
)  # fmt: skip
def test_hashtags_that_can_be_linked_are_kept(tag: str) -> None:
    assert sound_hashtags([tag]) == ((tag.lstrip("#"),), ())


def test_a_post_loses_its_unsound_hashtags_and_an_editor_is_told() -> None:
    post = {"text": "Bees like flat roofs.", "hashtags": ["#123", "bees", "https://example.org/"]}
    finished = format_named("social", platforms=("x",)).finish({"x": post}, FinishContext())
    assert finished.pieces[0].text == "Bees like flat roofs. #bees"
    assert finished.notes == (
        "x: hashtag #123 is digits only, dropped",
        "x: a hashtag is a link, dropped",
    )
