"""Posts and hashtags of the embedded engine."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from repurpose.core.call import Call, Reply
from repurpose.core.source import Source
from repurpose.engines.extractive import extractive_engine
from repurpose.errors import UsageError
from repurpose.formats import format_named
from repurpose.platforms import PLATFORMS, platform_named
from repurpose.schema.validate import compile_schema
from repurpose.text.counting import MEASURES

ARTICLE = """\
# The night ferry to Sandvar

Every night at ten a small ferry leaves Port Ellis for the island of Sandvar. It carried 48,000 \
people last year, three times as many as the bridge company had predicted.

## A ship without cars

The night ferry has no car deck at all. Passengers push their bicycles into a hall with 120 hooks.

## The crew

Nine sailors and two cooks live on board for two weeks in a row. A cook who has worked on the \
ferry for thirty years bakes cinnamon buns at four in the morning, which makes the whole ship \
smell like a bakery and wakes even those passengers who had sworn to sleep until the harbour.

## Fuel and noise

An electric engine drives the ferry since March. Fishermen in the harbour of Sandvar say that \
they no longer hear it come in. The battery weighs 19 tonnes and costs 800,000 euros.

## What the islanders want

The islanders ask for a second night ferry in summer. The council will decide in May.
"""


async def _answered(call: Call) -> Reply:
    return await extractive_engine().answer(call)


def posts_of(
    text: str = ARTICLE, *platforms: str, language: str = "en", title: str | None = None
) -> dict[str, dict[str, Any]]:
    schema: dict[str, Any] = {
        "properties": {name: {} for name in platforms or ("linkedin", "x", "instagram")}
    }
    source = Source(text, "-", "markdown", title=title, language=language)
    reply = asyncio.run(_answered(Call("social", "", "", schema, {}, source)))
    posts: dict[str, dict[str, Any]] = json.loads(reply.text)  # noqa: TID251 - our own answer
    return posts


def tags_of(text: str, language: str = "en", title: str | None = None) -> list[str]:
    tags: list[str] = posts_of(text, "instagram", language=language, title=title)["instagram"][
        "hashtags"
    ]
    return tags


def published(platform: str, post: dict[str, Any]) -> str:
    """The post as the platform counts it: text, gap, hashtags."""
    gap = " " if platform_named(platform).hashtags_after == "space" else "\n\n"
    line = " ".join(f"#{tag}" for tag in post["hashtags"])
    return f"{post['text']}{gap + line if line else ''}"


def test_exactly_the_platforms_of_the_schema_are_answered_in_its_order() -> None:
    assert list(posts_of(ARTICLE, "instagram", "x")) == ["instagram", "x"]
    with pytest.raises(UsageError, match="unknown platform"):
        posts_of(ARTICLE, "telegraph")


def test_every_platform_keeps_its_limit_with_hashtags() -> None:
    names = [name for name, each in PLATFORMS.items() if each.post]
    for name, post in posts_of(ARTICLE, *names).items():
        platform = platform_named(name)
        assert MEASURES[platform.unit](published(name, post)) <= platform.limit
        most = platform.max_hashtags
        assert most is None or len(post["hashtags"]) <= most


def test_the_posts_differ_and_open_differently() -> None:
    posts = posts_of()
    hooks = {post["text"].split("\n\n")[0] for post in posts.values()}
    assert len(hooks) == 3


def test_x_takes_one_or_two_sentences_and_linkedin_more() -> None:
    posts = posts_of()
    assert 1 <= len(posts["x"]["text"].split("\n\n")) <= 2
    assert 3 <= len(posts["linkedin"]["text"].split("\n\n")) <= 6


def test_two_sentences_of_a_short_post_follow_each_other_in_the_text() -> None:
    hook, *more = posts_of()["x"]["text"].split("\n\n")
    assert all(f"{hook} {following}" in ARTICLE for following in more)


def test_no_hook_leans_on_a_sentence_that_is_not_there() -> None:
    for post in posts_of().values():
        assert not post["text"].startswith(("It ", "This ", "They "))


def test_where_each_sentence_is_too_long_the_title_is_posted_whole() -> None:
    text = "The night ferry " + "and its crew of sailors and cooks " * 12 + "leaves at ten."
    assert posts_of(text, "x", title="The night ferry")["x"]["text"] == "The night ferry"


def test_hashtags_come_from_title_and_headings_and_name_what_the_text_is_about() -> None:
    tags = tags_of(ARTICLE)
    assert "NightFerry" in tags
    assert "Sandvar" in tags
    assert 0 < len(tags) <= 5


def test_few_hashtags_on_x() -> None:
    assert len(posts_of()["x"]["hashtags"]) <= 2


def test_no_hashtag_is_a_number_a_function_word_or_a_phrase_with_spaces() -> None:
    text = (
        "# The 2024 report on our reefs\n\nThe reefs of 2024 grew in 2024. The reefs are older "
        "than the report, and the report on our reefs says so. On the reefs live 2024 species."
    )
    tags = tags_of(text)
    assert set(tags) <= {"reefs", "report"}
    assert "reefs" in tags


def test_german_hashtags_are_nouns() -> None:
    text = (
        "# Warum Ludwigsau neue Bäume pflanzt\n\nDie Bäume in Ludwigsau sind alt. In Ludwigsau "
        "pflanzt man jedes Jahr zehn Bäume. Wer in Ludwigsau Bäume pflanzt, bekommt Wasser."
    )
    assert set(tags_of(text, "de")) == {"Ludwigsau", "Bäume"}


def test_japanese_hashtags_are_runs_of_kanji_or_katakana() -> None:
    text = (
        "# 海辺の図書館とボランティア\n\n図書館は海辺にある。図書館ではボランティアが働く。"
        "ボランティアは週に二日、図書館に通う。"
    )
    assert set(tags_of(text, "ja")) <= {"図書館", "ボランティア", "海辺"}
    assert {"図書館", "ボランティア"} <= set(tags_of(text, "ja"))


def test_chinese_hashtags_are_words_that_title_and_text_share() -> None:
    text = "# 图书馆的志愿者\n\n图书馆在海边。志愿者每周去图书馆两天。志愿者喜欢图书馆的花园。"
    assert set(tags_of(text, "zh")) == {"图书馆", "志愿者"}


def test_a_language_whose_words_run_together_gets_no_guessed_hashtags() -> None:
    text = "# ห้องสมุดริมทะเล\n\nห้องสมุดอยู่ริมทะเล ห้องสมุดเปิดทุกวัน"
    assert tags_of(text, "th") == []


def built(*platforms: str, text: str = ARTICLE, **options: Any) -> dict[str, dict[str, Any]]:
    """What the engine answers to the schema of the format itself."""
    format = format_named("social", platforms=platforms, **options)
    source = Source(text, "-", "markdown", language="en")
    reply = asyncio.run(_answered(Call("social", "", "", format.schema, {}, source)))
    answer: dict[str, dict[str, Any]] = json.loads(reply.text)  # noqa: TID251 - our own answer
    assert compile_schema(format.schema, "social").findings(answer) == []
    return answer


def test_every_platform_that_posts_gets_a_valid_answer_with_its_title() -> None:
    names = [name for name, each in PLATFORMS.items() if each.post]
    answer = built(*names)
    assert list(answer) == names
    for name, post in answer.items():
        rule = PLATFORMS[name].title
        assert ("title" in post) == (rule is not None)
        if rule:
            assert 0 < MEASURES[rule.unit](post["title"]) <= rule.limit


def test_without_a_title_a_heading_or_a_sentence_is_one() -> None:
    assert built("reddit")["reddit"]["title"] == "The night ferry to Sandvar"
    plain = ARTICLE.replace("#", "")
    assert built("reddit", text=plain)["reddit"]["title"].strip()


def test_a_thread_is_longer_than_a_post_and_bounded() -> None:
    single, thread = built("x")["x"]["text"], built("x", threads=True)["x"]["text"]
    assert MEASURES["x_weighted"](single) <= 280 < MEASURES["x_weighted"](thread) <= 1500
    assert "LinkedIn" not in thread
    assert built("linkedin", threads=True) == built("linkedin")


def test_variants_open_differently() -> None:
    answer = built("x", "linkedin", variants=3)
    assert list(answer) == ["x", "x_2", "x_3", "linkedin", "linkedin_2", "linkedin_3"]
    hooks = [post["text"].split("\n\n")[0] for post in answer.values()]
    assert len(set(hooks)) == 6
