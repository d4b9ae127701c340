"""A text with hashtags, title, link and disclosure, made to fit its platform."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import repurpose.text._cutter
from repurpose.errors import UsageError
from repurpose.platforms import (
    PLATFORMS,
    FittedPost,
    Platform,
    fit_post,
    normalised_hashtags,
    platform_chosen,
)
from repurpose.platforms import fit as fit_named
from repurpose.platforms.hashtags import MAX_HASHTAGS
from repurpose.text.counting import MEASURES

LINKEDIN, X, INSTAGRAM = (PLATFORMS[name] for name in ("linkedin", "x", "instagram"))
INSTAGRAM_30 = replace(INSTAGRAM, max_hashtags=30)
SENTENCE_45 = "The new branch in Leipzig opens in May 2031. "


def fit(
    text: str, hashtags: list[str], platform: Platform, disclosure: str | None = None
) -> FittedPost:
    return fit_post(text, hashtags, platform, language="en", segmenter=None, disclosure=disclosure)


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


def test_no_list_of_hashtags_is_ever_longer_than_30() -> None:
    assert MAX_HASHTAGS == 30
    assert len(fit("Caption.", [f"t{n}" for n in range(60)], INSTAGRAM_30).hashtags) == 30


def test_the_option_for_30_hashtags_is_chosen_by_name() -> None:
    tags = [f"tag{n}" for n in range(35)]
    fitted = fit("Caption.", tags, platform_chosen("instagram=hashtags30"))
    assert len(fitted.hashtags) == 30
    assert fitted.measures.hashtags_dropped == 5


@pytest.mark.parametrize("name", ["reddit", "google_business"])
def test_where_hashtags_are_unknown_they_are_dropped_and_that_is_said(name: str) -> None:
    fitted = fit("We met the #choir. #growth", ["Leipzig"], PLATFORMS[name])
    assert fitted.text == "We met the choir."
    assert fitted.measures.hashtags_dropped == 3


def test_a_row_of_signs_before_a_word_makes_no_hashtag_of_it() -> None:
    assert fit("#a ##b ＃＃c", [], replace(INSTAGRAM, max_hashtags=1)).text == "#a b c"


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

    for module in ("_rules", "fitting"):
        where = f"repurpose.platforms.{module}.MEASURES"
        monkeypatch.setattr(where, {"x_weighted": dearer_when_joined})
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


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", "Post. https://example.com/a #a\nAd"),
        ("mastodon", "Post.\n\nhttps://example.com/a\n\n#a\n\nAd"),
    ],
)
def test_a_link_stands_between_text_and_hashtags(name: str, expected: str) -> None:
    fitted = fit_named("Post.", name, ["a"], link=" https://example.com/a ", disclosure="Ad")
    assert fitted.text == expected


def test_a_link_is_reserved_before_the_text_is_cut() -> None:
    link = "https://example.com/" + "a" * 60
    fitted = fit_named(SENTENCE_45 * 8, "bluesky", link=link)
    assert fitted.text == (SENTENCE_45 * 4).strip() + f" {link}"
    assert fitted.measures.length <= 300


def test_a_link_that_stands_in_the_text_is_not_repeated_unless_it_was_cut_off() -> None:
    link = "https://example.com/"
    assert fit_named(f"See {link} now.", "x", link=link).text == f"See {link} now."
    late = fit_named(SENTENCE_45 * 7 + link, "x", link=link)
    assert late.text == (SENTENCE_45 * 5).strip() + f" {link}"


def test_a_link_that_takes_more_than_half_is_refused() -> None:
    with pytest.raises(UsageError, match="the link is too long for Bluesky"):
        fit_named("Post.", "bluesky", link="https://example.com/" + "a" * 150)


# --- titles -----------------------------------------------------------------------------------


def test_a_title_is_cut_to_its_own_limit_on_one_line_and_takes_no_hashtags() -> None:
    fitted = fit_named("Text.", "reddit=5000", ["a"], title=" A\ntitle. " + "word " * 80)
    assert fitted.title is not None
    assert fitted.title.startswith("A title. word")
    assert fitted.title.endswith("word…")
    assert fitted.title_measures is not None
    assert fitted.title_measures.length == len(fitted.title) <= 300
    assert fitted.title_measures.cut_mode == "word"
    assert fitted.text == "Text."


def test_a_title_counts_in_its_own_unit() -> None:
    fitted = fit_named("Text.", "youtube", title="🎉" * 60)
    assert fitted.title == "🎉" * 49 + "…"  # two UTF-16 units each, whatever bytes they are
    assert fitted.title_measures is not None
    assert fitted.title_measures.unit == "utf16"


def test_where_there_are_no_titles_one_is_left_out_and_that_is_said() -> None:
    fitted = fit_named("Text.", "x", title="A title")
    assert fitted.title is None
    assert fitted.notes == ("has no title; the one given was left out",)
    assert fit_named("Text.", "reddit", title=" ").title is None


# --- what platforms refuse --------------------------------------------------------------------


def test_refused_characters_get_look_alikes_before_anything_is_counted() -> None:
    fitted = fit_named("Use <b> & co.", "youtube", title="a < b")
    assert fitted.text == "Use ‹b› & co."
    assert fitted.measures.length == len("Use ‹b› & co.".encode())
    assert fitted.title == "a ‹ b"
    assert fitted.notes == ("refuses < >: 2 replaced", "title: refuses <: 1 replaced")


def test_mentions_beyond_the_maximum_lose_their_sign() -> None:
    fitted = fit(" ".join(f"@user{n}" for n in range(22)), [], INSTAGRAM)
    assert fitted.text.endswith("@user19 user20 user21")
    assert fitted.notes == ("takes 20 mentions: 2 lost their @",)


def test_links_beyond_the_maximum_stay_and_are_told() -> None:
    text = " ".join(f"https://example.com/{n}" for n in range(6))
    fitted = fit_named(text, "threads")
    assert fitted.text == text
    assert fitted.over == ("takes 5 links, not 6",)
    assert not fitted.fits
    assert fit_named(text[:-22], "threads").fits


def test_where_a_limit_is_what_readers_see_a_text_is_counted_and_left_as_it_is() -> None:
    subject = "A subject line that goes on for longer than anybody will ever see of it"
    fitted = fit_named(subject, "newsletter_subject")
    assert fitted.text == subject
    assert not fitted.measures.shortened
    assert fitted.over == ("71 long, of which about 50 show",)
    cut = fit_named(subject, "newsletter_subject", always=True)
    assert cut.text == "A subject line that goes on for longer than…"
    assert cut.fits


# --- the door ---------------------------------------------------------------------------------


def test_a_text_is_fitted_by_the_name_of_a_platform() -> None:
    assert fit_named("Why? Because! And more text here.", "x=20").text == "Why? Because!"
    assert fit_named("One.", PLATFORMS["mastodon"]).measures.unit == "mastodon"
    assert fit_named("Text.", "x", "growth").text == "Text. #growth"


def test_an_empty_text_is_its_hashtags() -> None:
    assert fit_named(" ", "linkedin", ["a"]).text == "#a"
    assert fit_named("", "x").text == ""


def counted(monkeypatch: pytest.MonkeyPatch, text: str, platform: str) -> int:
    """How many characters are looked at to fit a text, by whatever reads it as a whole."""
    looked_at = 0

    def tallied(function):
        def tally(text, *rest, **options):
            nonlocal looked_at
            looked_at += len(text)
            return function(text, *rest, **options)

        return tally

    with monkeypatch.context() as patch:
        measures = {unit: tallied(measure) for unit, measure in MEASURES.items()}
        patch.setattr("repurpose.platforms._rules.MEASURES", measures)
        patch.setattr("repurpose.platforms.fitting.MEASURES", measures)
        for name in ("grapheme_starts", "unbreakable_spans", "sentence_ends"):
            where = f"repurpose.text._cutter.{name}"
            patch.setattr(where, tallied(getattr(repurpose.text._cutter, name)))
        fit_named(text, platform)
    return looked_at


@pytest.mark.parametrize("platform", ["x", "bluesky", "mastodon"])
@pytest.mark.parametrize(
    "unit",
    ["x", "界", "https://example.com/a ", "\u0301", "#a", "@b ", "👨\u200d", "a.b.", "One. "],
)
def test_each_character_is_looked_at_a_few_times_however_long_the_text(
    unit: str, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 100_000
    assert counted(monkeypatch, "a" + unit * (size // len(unit)), platform) <= 10 * size


def test_of_a_very_long_text_only_the_beginning_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert counted(monkeypatch, SENTENCE_45 * 25_000, "x") <= 200_000


@pytest.mark.parametrize(
    ("unit", "platform", "kept"),
    [
        ("x" * 100_000, "x", 279),
        ("https://example.com/a " * 10_000, "x", 11 * 22),
        ("e" + "\u0301" * 10_000 + " tail", "bluesky", 2),
    ],
)
def test_hostile_texts_are_fitted(unit: str, platform: str, kept: int) -> None:
    fitted = fit_named(unit, platform)
    assert fitted.measures.shortened
    assert len(fitted.text) <= kept + 1
