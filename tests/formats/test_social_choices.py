"""Social posts for chosen platforms, with titles, as threads, and several to choose from."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from repurpose.api.runs import arun
from repurpose.config import Settings, from_environment
from repurpose.core.result import RunResult
from repurpose.core.source import Source
from repurpose.engines.scripted import ScriptedEngine, scripted_engine
from repurpose.errors import UnusableOutput, UsageError
from repurpose.formats.base import FinishContext, Finished
from repurpose.formats.social import SocialContent, ThreadPost, asked_for, build
from repurpose.platforms import PLATFORMS
from repurpose.platforms.threads import DELIMITER
from repurpose.ports import Store
from repurpose.schema.subset import check_subset
from repurpose.schema.validate import compile_schema
from repurpose.schema.wire import check_strict, wire_schema

FERRY = "The night ferry leaves Port Ellis at ten and carries no cars at all. "  # 69 characters
BUNS = "A cook bakes cinnamon buns at four, and the whole ship smells of them."
HOOKS = "In a hall hang 120 bicycles on hooks; their owners sleep until the harbour."

PIERS = " ".join(f"pier{number}" for number in range(150))

POSTS = [name for name, each in PLATFORMS.items() if each.post]


def post(text: str, *hashtags: str, title: str | None = None) -> dict[str, Any]:
    titled = {} if title is None else {"title": title}
    return {**titled, "text": text, "hashtags": list(hashtags)}


def finish(given: dict[str, Any], *platforms: str, **options: Any) -> Finished:
    return build(platforms, **options).finish(given, FinishContext(language="en"))


# --- platforms --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"threads": True}, {"variants": 3}])
def test_every_choice_gives_a_schema_that_can_be_sent(options: dict[str, Any]) -> None:
    format = build(POSTS, **options)
    check_subset(format.schema, "social")
    check_strict(wire_schema(format.schema))
    assert tuple(format.schema["required"]) == format.declared


def test_the_task_names_exactly_the_chosen_platforms_with_the_limits_in_force() -> None:
    task = build(["x=premium", "mastodon=1000", "reddit"]).task
    assert "`x`, the post for X: at most 25,000 characters" in task
    assert "`mastodon`, the post for Mastodon: at most 1,000 characters" in task
    assert "Its title: at most 300 characters" in task
    assert "No hashtags." in task
    assert "LinkedIn" not in task
    assert "thread" not in task


def test_a_title_is_asked_for_only_where_there_is_one() -> None:
    schema = build(["reddit", "x"]).schema
    shapes = {name: list(each["properties"]) for name, each in schema["properties"].items()}
    assert shapes == {"reddit": ["title", "text", "hashtags"], "x": ["text", "hashtags"]}
    validator = compile_schema(schema, "social")
    assert not validator.findings({"reddit": post("A.", title="T"), "x": post("B.")})
    assert validator.findings({"reddit": post("A."), "x": post("B.")})
    assert validator.findings({"reddit": post("A.", title="T"), "x": post("B.", title="T")})


def test_a_title_is_fitted_counted_and_published_first() -> None:
    finished = finish({"reddit": post(FERRY, "ferry", title="word " * 70)}, "reddit")
    (piece,) = finished.pieces
    content = finished.fields["reddit"]
    assert content["title"].endswith("word…")
    assert content["title_length"] == len(content["title"]) <= 300
    assert piece.text == f"{content['title']}\n\n{FERRY.strip()}"
    assert piece.measures.length == len(FERRY.strip())
    assert finished.notes == (
        "reddit: 1 hashtag dropped",
        f"reddit: title shortened at a word to {content['title_length']} of 300",
    )


def test_a_blank_title_leaves_no_post() -> None:
    with pytest.raises(UnusableOutput, match='no title for the "reddit" post'):
        finish({"reddit": post(FERRY, title=" ")}, "reddit")


def test_what_a_platform_takes_less_of_is_noted() -> None:
    links = " ".join(f"https://example.com/{n}" for n in range(6))
    long = "word " * 60
    finished = finish(
        {"threads": post(links), "youtube_community": post(long)}, "threads", "youtube_community"
    )
    assert finished.notes == (
        "threads: takes 5 links, not 6",
        "youtube_community: 299 long, of which about 288 show",
    )
    assert finished.pieces[1].text == long.strip()


def test_the_newsletters_fields_are_no_posts() -> None:
    with pytest.raises(UsageError, match="field of the newsletter"):
        build(["newsletter_subject"])


# --- threads ----------------------------------------------------------------------------------


def test_a_thread_is_asked_for_where_the_platform_has_threads() -> None:
    format = build(["x", "linkedin"], threads=True)
    assert (
        "`x`, a thread for X: at most 1,500 characters in all; it is split into posts of at most"
        " 280 characters" in format.task
    )
    assert "`linkedin`, the post for LinkedIn" in format.task
    assert "Do not number anything" in format.task
    texts = {n: s["properties"]["text"] for n, s in format.schema["properties"].items()}
    assert "whole thread" in texts["x"]["description"]
    assert "whole thread" not in texts["linkedin"]["description"]
    assert "$comment" not in str(wire_schema(format.schema))


def test_a_thread_is_one_row_with_its_posts_in_order() -> None:
    finished = finish({"x": post(FERRY * 9, "ferry")}, "x", threads=True)
    assert isinstance(finished.content, SocialContent)
    content = finished.content.posts["x"]
    assert [each.length for each in content.posts] == [280, 280, 80]
    assert content.posts[2] == ThreadPost(f"{FERRY.strip()} #ferry\n\n3/3", 80)
    (piece,) = finished.pieces
    assert piece.text.split(DELIMITER) == [each.text for each in content.posts]
    assert piece.content["posts"] == [
        {"text": each.text, "length": each.length} for each in content.posts
    ]
    assert (piece.measures.length, piece.measures.max_length) == (280, 280)
    assert not piece.measures.shortened
    assert finished.notes == ()


def test_a_short_text_is_a_thread_of_one_without_a_number() -> None:
    finished = finish({"x": post(FERRY), "linkedin": post(BUNS)}, "x", "linkedin", threads=True)
    assert finished.fields["x"]["posts"] == [{"text": FERRY.strip(), "length": 68}]
    assert "posts" not in finished.fields["linkedin"]


# --- variants ---------------------------------------------------------------------------------


def test_variants_are_keys_of_their_own_in_one_answer() -> None:
    format = build(["x", "mastodon"], variants=2)
    assert format.declared == ("x", "x_2", "mastodon", "mastodon_2")
    assert "`x` and `x_2`, the post for X, 2 of them" in format.task
    assert "There are 2 posts for each platform" in format.task
    described = [each["description"] for each in format.schema["properties"].values()]
    assert described[1] == "The post for X, 2 of 2 to choose from."


def test_each_variant_is_a_row() -> None:
    finished = finish({"x": post(FERRY), "x_2": post(BUNS), "x_3": post(HOOKS)}, "x", variants=3)
    assert [piece.variant for piece in finished.pieces] == ["x", "x.2", "x.3"]
    assert list(finished.fields) == ["x", "x_2", "x_3"]
    assert isinstance(finished.content, SocialContent)
    assert finished.content.posts["x.3"].text == HOOKS


def test_a_near_copy_is_dropped_and_said_and_the_others_move_up() -> None:
    copy = FERRY.replace("carries", "takes")
    finished = finish({"x": post(FERRY), "x_2": post(copy), "x_3": post(BUNS)}, "x", variants=3)
    assert [(piece.variant, piece.text) for piece in finished.pieces] == [
        ("x", FERRY.strip()),
        ("x.2", BUNS),
    ]
    assert finished.notes == ("x: variant 2 dropped, it says almost the same as variant 1",)


def test_the_same_text_for_two_platforms_is_no_copy() -> None:
    answer = {"x": post(FERRY), "x_2": post(BUNS), "mastodon": post(FERRY), "mastodon_2": post("")}
    finished = finish(answer, "x", "mastodon", variants=2)
    assert [piece.variant for piece in finished.pieces] == ["x", "x.2", "mastodon"]
    assert finished.notes == ("mastodon: variant 2 dropped, it is blank",)


def test_without_a_single_text_for_a_platform_there_are_no_posts() -> None:
    answer = {"x": post(" "), "x_2": post(""), "mastodon": post(FERRY), "mastodon_2": post(BUNS)}
    with pytest.raises(UnusableOutput, match=r'^the answer has no "x" post$'):
        finish(answer, "x", "mastodon", variants=2)


@pytest.mark.parametrize("variants", [0, 6, -1])
def test_there_are_one_to_five_variants(variants: int) -> None:
    with pytest.raises(UsageError, match="give 1 to 5"):
        build(["x"], variants=variants)


def test_one_variant_is_asked_for_as_ever() -> None:
    assert build(variants=1).schema == build().schema
    assert build(variants=1).task == build().task


@pytest.mark.parametrize(
    "asked",
    [
        (("linkedin", "x", "instagram"), False, 1),
        (("tiktok_photo", "mastodon"), True, 3),
        (("reddit",), False, 2),
    ],
)
def test_a_schema_tells_what_it_was_made_for(asked: tuple[tuple[str, ...], bool, int]) -> None:
    platforms, threads, variants = asked
    schema = build(platforms, threads=threads, variants=variants).schema
    assert asked_for(schema) == asked


# --- settings ---------------------------------------------------------------------------------


def settings(**flags: object) -> Settings:
    return from_environment({}, database=":memory:", **flags)


def ran(store: Store, engine: ScriptedEngine, chosen: Settings) -> RunResult:
    source = Source(text=FERRY * 20, origin="a.md", kind="text", language="en")
    return asyncio.run(arun(source, ["social"], engine=engine, store=store, settings=chosen))


def test_a_run_makes_the_platforms_of_its_settings_in_one_call(store: Store) -> None:
    answer = {"bluesky": post(BUNS), "mastodon": post(PIERS)}
    engine = scripted_engine({"social": [answer]})
    result = ran(store, engine, settings(platforms="bluesky, mastodon=600"))
    assert len(engine.calls) == 1
    rows = store.rows(result.run.id)
    assert [row.variant for row in rows] == ["bluesky", "mastodon"]
    assert rows[1].measures is not None
    assert rows[1].measures.max_length == 600


def test_platforms_and_rules_come_from_the_environment_too(store: Store) -> None:
    environment = {
        "REPURPOSE_PLATFORMS": "instagram,x=premium",
        "REPURPOSE_LIMITS": "instagram.max_hashtags=2, x.limit=300",
    }
    chosen = from_environment(environment, database=":memory:")
    engine = scripted_engine({"social": [{"instagram": post(BUNS, *"abc"), "x": post(PIERS)}]})
    rows = store.rows(ran(store, engine, chosen).run.id)
    assert rows[0].content is not None
    assert rows[0].content["hashtags"] == ["#a", "#b"]
    assert rows[1].measures is not None
    assert rows[1].measures.length <= rows[1].measures.max_length == 300


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"platforms": "telegraph"}, "unknown platform"),
        ({"platforms": "newsletter_subject"}, "field of the newsletter"),
        ({"platforms": "x=gold"}, "no option"),
        ({"variants": 9}, "give 1 to 5"),
        ({"limits": {"x": {"unit": 1}}}, "cannot be changed"),
        ({"limits": {"telegraph": {"limit": 100}}}, "unknown platform"),
    ],
)
def test_a_wrong_choice_is_refused_before_any_call(
    flags: dict[str, object], message: str, store: Store
) -> None:
    engine = scripted_engine({"social": []})
    with pytest.raises(UsageError, match=message):
        ran(store, engine, settings(**flags))
    assert engine.calls == []


def test_a_rule_of_the_environment_that_is_none_is_said() -> None:
    with pytest.raises(UsageError, match="'mastodon' is no rule"):
        from_environment({"REPURPOSE_LIMITS": "mastodon"})


def test_only_the_limits_in_force_decide_whether_a_stored_result_is_used_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A platform that is added to the table, or changed there, concerns only who writes for it."""
    engine = scripted_engine({"social": [{"x": post(BUNS)}, {"x": post(HOOKS)}]})
    chosen = settings(platforms="x")
    ran(store, engine, chosen)
    with monkeypatch.context() as patch:
        patch.setattr(
            "repurpose.platforms.PLATFORMS", {**PLATFORMS, "minitel": PLATFORMS["mastodon"]}
        )
        assert ran(store, engine, chosen).results["social"].meta.reused_from
    assert len(engine.calls) == 1
    ran(store, engine, settings(platforms="x", limits={"x": {"limit": 100}}))
    assert len(engine.calls) == 2
