"""Trim, drop, cap, and fit: what happens to an answer before it is published."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.checks import (
    MAX_HASHTAGS,
    MAX_PAIRS,
    MAX_SENTENCES,
    FittedPost,
    capped,
    fit_post,
    non_blank,
    normalised_hashtags,
    one_line,
    trimmed,
)
from repurpose.errors import UsageError
from repurpose.platforms import PLATFORMS, Platform

LINKEDIN, X, INSTAGRAM = (PLATFORMS[name] for name in ("linkedin", "x", "instagram"))
INSTAGRAM_30 = replace(INSTAGRAM, max_hashtags=30)
SENTENCE_45 = "The new branch in Leipzig opens in May 2031. "


def fit(
    text: str, hashtags: list[str], platform: Platform, disclosure: str | None = None
) -> FittedPost:
    return fit_post(text, hashtags, platform, language="en", segmenter=None, disclosure=disclosure)


def test_list_caps_are_8_10_and_30() -> None:
    assert (MAX_SENTENCES, MAX_PAIRS, MAX_HASHTAGS) == (8, 10, 30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  First.  ", "First."),
        ("\n\tFirst.\r\n", "First."),
        ("\u3000全角。\u3000", "全角。"),
        ("\ufeffFirst.\u200b", "First."),
        (" \u200b\u2060 ", ""),
        ("in  the\nmiddle", "in  the\nmiddle"),
        ("👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"),
    ],
)
def test_white_space_and_invisible_characters_go_from_both_ends(text: str, expected: str) -> None:
    assert trimmed(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Subject\r\nBcc: everyone", "Subject Bcc: everyone"),
        ("one\n\n two", "one two"),
        ("a\u2028b\x0bc", "a b c"),
        ("kept  as it is", "kept  as it is"),
    ],
)
def test_a_line_stays_one_line(text: str, expected: str) -> None:
    assert one_line(text) == expected


def test_blank_texts_are_dropped_and_the_others_trimmed() -> None:
    assert non_blank([" a ", "", "  \n", "\u200b", "b"]) == ("a", "b")


def test_the_first_items_win() -> None:
    assert capped(range(12), 10) == tuple(range(10))
    assert capped([1, 2], 10) == (1, 2)


# --- hashtags ---------------------------------------------------------------------------------


def test_hashtags_are_split_cleaned_and_listed_once() -> None:
    given_tags = [
        "AI-driven", "growth #Leipzig", "#Growth", "##Leipzig", "Größe!", "new_year 2026",
        "", "   ", "#-!",
    ]  # fmt: skip
    assert " ".join(normalised_hashtags(given_tags)) == (
        "#AIdriven #growth #Leipzig #Größe #new_year #2026"
    )
    assert fit("Text.", given_tags, INSTAGRAM_30).measures.hashtags_dropped == 0


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("हिन्दी", ("#हिन्दी",)),  # vowel signs and viramas belong to their letters
        ("می\u200cخواهم", ("#می\u200cخواهم",)),  # so does a joiner between two letters
        ("＃東京", ("#東京",)),
        ("Gro\u0308ße", ("#Größe",)),
        ("👨\u200d👩", ()),
        ("1\ufe0f\u20e3", ("#1",)),
        ("__", ()),
        ("#a#b", ("#a", "#b")),
    ],
)
def test_hashtags_keep_the_letters_of_every_script(item: str, expected: tuple[str, ...]) -> None:
    assert normalised_hashtags([item]) == expected


@given(st.lists(st.text(max_size=20), max_size=10))
def test_normalised_hashtags_are_stable_and_unlike_each_other(items: list[str]) -> None:
    tags = normalised_hashtags(items)
    assert normalised_hashtags(tags) == tags
    assert len({tag.casefold() for tag in tags}) == len(tags)
    assert all(tag.count("#") == 1 and not any(c.isspace() for c in tag) for tag in tags)


def test_with_room_for_30_tags_as_many_stay_as_take_half_the_limit() -> None:
    tags = [f"tag{n:02}".ljust(50, "x") for n in range(30)]
    fitted = fit("Caption with a few words. " * 120, tags, INSTAGRAM_30)
    assert len(fitted.hashtags) == 21
    assert fitted.measures.hashtags_dropped == 9
    assert len(fitted.text.rpartition("\n\n")[2]) <= 1100
    assert len(fitted.body) >= 1050
    assert fitted.measures.length <= 2200


def test_of_40_tags_30_are_kept() -> None:
    fitted = fit("Caption.", [f"tag{n}" for n in range(40)], INSTAGRAM_30)
    assert fitted.hashtags == tuple(f"#tag{n}" for n in range(30))
    assert fitted.measures.hashtags_dropped == 10


@pytest.mark.parametrize("platform", [LINKEDIN, X])
def test_no_list_is_longer_than_30_where_the_platform_has_no_rule(platform: Platform) -> None:
    fitted = fit("Post.", [f"t{n}" for n in range(31)], platform)
    assert len(fitted.hashtags) == 30
    assert fitted.measures.hashtags_dropped == 1


def test_instagram_takes_five_hashtags() -> None:
    fitted = fit("Caption.", list("abcdefg"), INSTAGRAM)
    assert fitted.text == "Caption.\n\n#a #b #c #d #e"
    assert fitted.measures.hashtags_dropped == 2


def test_a_tag_that_alone_is_too_long_does_not_take_the_others_with_it() -> None:
    fitted = fit("Post.", ["x" * 150, "growth"], X)
    assert fitted.text == "Post. #growth"
    assert fitted.measures.hashtags_dropped == 1


def test_without_hashtags_nothing_follows_the_text() -> None:
    assert fit(" Caption. ", [], INSTAGRAM).text == "Caption."
    assert fit("Caption.", ["", "#-!"], INSTAGRAM).text == "Caption."


@pytest.mark.parametrize(
    ("platform", "expected"),
    [(X, "Post. #a #b"), (LINKEDIN, "Post.\n\n#a #b"), (INSTAGRAM, "Post.\n\n#a #b")],
)
def test_hashtags_stand_where_the_platform_has_them(platform: Platform, expected: str) -> None:
    assert fit("Post.", ["a", "b"], platform).text == expected


@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
def test_a_block_of_hashtags_in_the_text_is_not_repeated(between: str) -> None:
    fitted = fit(f"We open in May.{between}#growth #Leipzig", ["Leipzig", "reuse"], INSTAGRAM)
    assert fitted.text == "We open in May.\n\n#Leipzig #reuse #growth"


def test_a_hashtag_that_is_part_of_a_sentence_stays_there() -> None:
    assert fit("See you at #OpenDay", ["reuse"], X).text == "See you at #OpenDay #reuse"


def test_a_post_of_hashtags_alone_is_left_as_it_is() -> None:
    assert fit("#growth #Leipzig", [], X).text == "#growth #Leipzig"


def test_hashtags_in_the_text_count_towards_the_maximum() -> None:
    fitted = fit("The #choir and the #town met.", list("abcde"), INSTAGRAM)
    assert fitted.text == "The #choir and the #town met.\n\n#a #b #c"
    assert fitted.measures.hashtags_dropped == 2


def test_hashtags_in_the_text_beyond_the_maximum_become_words() -> None:
    fitted = fit("#a, #b, #c, #d, #e, #f and #g meet at no #1.", ["h"], INSTAGRAM)
    assert fitted.text == "#a, #b, #c, #d, #e, f and g meet at no #1."
    assert fitted.measures.hashtags_dropped == 3


def test_the_fragment_of_an_address_is_no_hashtag() -> None:
    text = "See https://example.com/#one https://example.com/page#two"
    assert fit(text, [], replace(INSTAGRAM, max_hashtags=1)).body == text


# --- length -----------------------------------------------------------------------------------


def test_a_short_post_is_left_as_it_is() -> None:
    fitted = fit("Revenue +12 %. New branch in Leipzig.", [], X)
    assert fitted.text == "Revenue +12 %. New branch in Leipzig."
    assert fitted.measures.length == 37
    assert fitted.measures.max_length == 280
    assert not fitted.measures.shortened


@pytest.mark.parametrize(("platform", "times"), [(LINKEDIN, 80), (X, 8), (INSTAGRAM, 60)])
def test_a_long_post_ends_with_a_sentence(platform: Platform, times: int) -> None:
    assert len(SENTENCE_45) == 45
    fitted = fit(SENTENCE_45 * times, [], platform)
    assert fitted.measures.length <= platform.limit
    assert fitted.measures.cut_mode == "sentence"
    assert fitted.measures.shortened
    assert fitted.text.endswith("May 2031.")


def test_x_keeps_six_sentences_of_45_characters() -> None:
    fitted = fit(SENTENCE_45 * 8, [], X)
    assert fitted.text == (SENTENCE_45 * 6).strip()
    assert fitted.measures.length == 269


def test_the_hashtag_line_counts() -> None:
    """The caption alone would fit; with its line it does not."""
    caption = ("word " * 439)[:2194] + "."
    assert len(caption) == 2195
    fitted = fit(caption, ["growth", "Leipzig"], INSTAGRAM)
    assert fitted.text.endswith("…\n\n#growth #Leipzig")
    assert fitted.measures.cut_mode == "word"
    assert fitted.measures.length <= 2200


def test_141_cjk_characters_are_282_on_x_and_are_cut() -> None:
    fitted = fit("界" * 141, [], X)
    assert fitted.measures.shortened
    assert fitted.measures.length <= 280


def test_an_answer_of_300_characters_is_published_with_280() -> None:
    fitted = fit(("A model that writes on. " * 13)[:300], ["ai"], X)
    assert fitted.measures.length <= 280
    assert fitted.text.endswith("A model that writes on. #ai")


def test_line_breaks_are_line_feeds_only() -> None:
    assert fit("One.\r\n\r\nTwo.\rThree.", [], LINKEDIN).text == "One.\n\nTwo.\nThree."


def test_characters_that_x_refuses_are_left_out() -> None:
    assert fit("a\ufeffb\uffff c\ufffe", [], X).text == "ab c"


def test_the_whole_is_measured_and_not_the_sum_of_its_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A counter that reads links may find more in a whole than in its parts."""

    def dearer_when_joined(text: str) -> int:
        return len(text) + 10 * text.count(". #")

    monkeypatch.setattr("repurpose.checks.fitting.MEASURES", {"x_weighted": dearer_when_joined})
    fitted = fit(SENTENCE_45 * 6, ["growth"], replace(X, limit=280))
    assert dearer_when_joined(fitted.text) == fitted.measures.length <= 280
    assert fitted.text == (SENTENCE_45 * 5).strip() + " #growth"


# --- disclosure -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "expected"),
    [(X, "Post. #a\nAdvertisement"), (LINKEDIN, "Post.\n\n#a\n\nAdvertisement")],
)
def test_a_disclosure_is_the_last_line(platform: Platform, expected: str) -> None:
    assert fit("Post.", ["a"], platform, " Advertisement\n").text == expected


def test_a_disclosure_is_reserved_before_the_text_is_cut() -> None:
    fitted = fit(SENTENCE_45 * 8, ["growth"], X, "Written with AI")
    assert fitted.text.endswith("May 2031. #growth\nWritten with AI")
    assert fitted.measures.length <= 280
    assert fitted.measures.cut_mode == "sentence"


def test_a_blank_disclosure_leaves_no_line() -> None:
    assert fit("Post.", [], LINKEDIN, "  ").text == "Post."


def test_a_disclosure_may_not_take_more_than_half() -> None:
    with pytest.raises(UsageError, match="too long for X"):
        fit("Post.", [], X, "d" * 140)
