"""The social posts: one call, one post and one row per platform, each within its limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repurpose.errors import UnusableOutput, UsageError
from repurpose.formats.base import FinishContext, Finished
from repurpose.formats.social import Post, SocialContent, build
from repurpose.platforms import PLATFORMS
from repurpose.schema.subset import check_subset
from repurpose.schema.validate import compile_schema

SHORT = "Revenue +12 %. New branch in Leipzig."
SENTENCE_45 = "The new branch in Leipzig opens in May 2031. "


def post(text: str, *hashtags: str) -> dict[str, Any]:
    return {"text": text, "hashtags": list(hashtags)}


def answer(linkedin: Any = None, x: Any = None, instagram: Any = None) -> dict[str, Any]:
    given = {"linkedin": linkedin, "x": x, "instagram": instagram}
    return {name: value or post(SHORT) for name, value in given.items()}


def finish(given: dict[str, Any], **context: Any) -> Finished:
    return build().finish(given, FinishContext(language="en", **context))


def test_one_answer_gives_one_piece_per_platform() -> None:
    finished = finish(answer())
    assert [piece.variant for piece in finished.pieces] == ["linkedin", "x", "instagram"]
    assert [piece.text for piece in finished.pieces] == [SHORT] * 3
    assert finished.notes == ()


def test_a_post_tells_its_length_limit_and_what_was_done() -> None:
    finished = finish(answer(x=post(SHORT, "growth", "Leipzig")))
    assert isinstance(finished.content, SocialContent)
    assert finished.content.posts["x"] == Post(
        text=f"{SHORT} #growth #Leipzig",
        hashtags=("#growth", "#Leipzig"),
        length=54,
        max_length=280,
        unit="x_weighted",
        shortened=False,
        cut_mode="none",
        hashtags_dropped=0,
    )
    assert finished.fields["x"] == {
        "text": f"{SHORT} #growth #Leipzig",
        "hashtags": ["#growth", "#Leipzig"],
        "length": 54,
        "max_length": 280,
        "unit": "x_weighted",
        "shortened": False,
        "cut_mode": "none",
        "hashtags_dropped": 0,
    }
    piece = finished.pieces[1]
    assert piece.content == finished.fields["x"]
    assert (piece.measures.length, piece.measures.max_length) == (54, 280)


def test_posts_that_are_too_long_are_cut_and_told() -> None:
    finished = finish(answer(post(SENTENCE_45 * 80), post(SENTENCE_45 * 8), post(SENTENCE_45 * 60)))
    for piece in finished.pieces:
        assert piece.measures.cut_mode == "sentence"
        assert piece.measures.shortened
        assert piece.measures.max_length == PLATFORMS[piece.variant].limit
        assert piece.measures.length <= PLATFORMS[piece.variant].limit
    assert finished.pieces[1].measures.length == 269
    assert finished.notes == (
        "linkedin: shortened at a sentence end to 2,969 of 3,000",
        "x: shortened at a sentence end to 269 of 280",
        "instagram: shortened at a sentence end to 2,159 of 2,200",
    )


def test_a_cut_at_a_word_and_dropped_hashtags_are_told() -> None:
    finished = finish(answer(x=post("word " * 70), instagram=post(SHORT, *"abcdef")))
    assert finished.notes[0].startswith("x: shortened at a word to 2")
    assert finished.notes[1] == "instagram: 1 hashtag dropped"


@pytest.mark.parametrize("blank", ["", "  \n", "\u200b"])
def test_a_blank_post_leaves_no_posts(blank: str) -> None:
    with pytest.raises(UnusableOutput, match=r'^the answer has no "x" post$'):
        finish(answer(x=post(blank, "growth")))


def test_every_blank_post_is_named() -> None:
    with pytest.raises(UnusableOutput, match=r'^the answer has no "linkedin" and no "x" post$'):
        finish(answer(linkedin=post(""), x=post("")))


def test_platforms_may_be_chosen_in_any_order() -> None:
    format = build(["instagram", "X", "x"])
    assert format.declared == ("instagram", "x")
    finished = format.finish({"x": post("A."), "instagram": post("B.")}, FinishContext())
    assert [piece.variant for piece in finished.pieces] == ["instagram", "x"]


def test_the_schema_asks_for_the_chosen_platforms_only() -> None:
    format = build(["x"])
    check_subset(format.schema, "social")
    validator = compile_schema(format.schema, "social")
    assert not validator.findings({"x": post("A.")})
    assert validator.findings({"x": post("A."), "linkedin": post("B.")})
    assert validator.findings({})


def test_the_task_describes_the_chosen_platforms_only() -> None:
    task = build(["x"]).task
    assert "- `x`, the post for X: at most 280 characters, where" in task
    assert "LinkedIn" not in task


def test_all_default_platforms_have_one_line_each() -> None:
    lines = [line for line in build().task.splitlines() if line.startswith("- `")]
    assert [line.split("`")[1] for line in lines] == ["linkedin", "x", "instagram"]
    assert "At most 5 hashtags." in lines[2]


def test_a_new_platform_takes_the_shape_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform is one entry in the table; neither schema nor code has to know it."""
    minitel = replace(PLATFORMS["x"], name="minitel", label="Minitel", limit=500, unit="utf8_bytes")
    monkeypatch.setattr("repurpose.platforms.PLATFORMS", {**PLATFORMS, "minitel": minitel})
    format = build(["x", "minitel"])
    check_subset(format.schema, "social")
    assert not compile_schema(format.schema, "social").findings(
        {"x": post("A."), "minitel": post("B.")}
    )
    assert "`minitel`, the post for Minitel: at most 500 bytes" in format.task
    finished = format.finish({"x": post("A."), "minitel": post("ä" * 251)}, FinishContext())
    assert finished.pieces[1].measures.length <= 500
    assert finished.pieces[1].measures.shortened


def test_an_unknown_platform_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean linkedin"):
        build(["linkdin"])


def test_no_platform_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one platform"):
        build([])


def test_the_limits_of_the_run_are_those_that_count() -> None:
    premium = {"x": replace(PLATFORMS["x"], limit=25_000)}
    finished = finish(answer(x=post(SENTENCE_45 * 8)), platforms=premium)
    assert finished.pieces[1].measures.max_length == 25_000
    assert not finished.pieces[1].measures.shortened
