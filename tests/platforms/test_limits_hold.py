"""Each platform, one below, at, and one above its limit, in its own unit; and laws for any text."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from repurpose.platforms import PLATFORMS, Platform, fit_post
from repurpose.platforms.hashtags import hashtags_apart, hashtags_marked
from repurpose.text.counting import MEASURES, grapheme_starts, link_spans, mention_spans
from repurpose.text.cutting import ELLIPSIS
from repurpose.text.trimming import trimmed

HEAVY = {"utf16": ("🎉", 2), "x_weighted": ("界", 2), "utf8_bytes": ("🎉", 4)}
LIGHT = ("🎉", 1)

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
    assert fitted.fits


@every_platform
def test_a_text_one_above_the_limit_is_shortened_where_it_would_be_refused(
    platform: Platform,
) -> None:
    text = words(platform.limit + 1)
    fitted = fit_post(text, [], platform, language="en", segmenter=None)
    if platform.enforced:
        assert fitted.measures.length <= platform.limit
        assert fitted.measures.cut_mode == "word"
        assert fitted.fits
    else:
        assert fitted.text == text
        assert not fitted.fits
    cut = fit_post(text, [], platform, language="en", segmenter=None, always=True)
    assert cut.measures.shortened
    assert cut.measures.length <= platform.limit
    assert cut.fits


@every_platform
@pytest.mark.parametrize(("more", "shortened"), [(-1, False), (0, False), (1, True)])
def test_what_weighs_more_counts_more(platform: Platform, more: int, shortened: bool) -> None:
    character, weight = HEAVY.get(platform.unit, LIGHT)
    text = character * (platform.limit // weight + more)
    fitted = fit_post(text, [], platform, language="ja", segmenter=None, always=True)
    assert fitted.measures.shortened is shortened
    assert fitted.measures.length <= platform.limit


def test_a_link_counts_23_on_x_whatever_its_length() -> None:
    link = "https://example.com/" + "p" * 80
    fitted = fit_post(f"Read {link} today.", [], PLATFORMS["x"], language="en", segmenter=None)
    assert link in fitted.text
    assert fitted.measures.length == len("Read  today.") + 23


def test_bluesky_counts_bytes_as_well_as_graphemes() -> None:
    family = "👨‍👩‍👧‍👦"  # 1 grapheme, 25 bytes
    fitted = fit_post(family * 130, [], PLATFORMS["bluesky"], language=None, segmenter=None)
    assert fitted.body == family * 119 + ELLIPSIS
    assert len(fitted.text.encode()) == 2978
    assert fitted.measures.length == 120
    assert fitted.measures.shortened
    assert fitted.notes == ("counts bytes too: 2,978 of 3,000",)
    assert fit_post(family * 120, [], PLATFORMS["bluesky"], language=None, segmenter=None).text == (
        family * 120
    )


FRAGMENTS = st.sampled_from(
    [
        "One short sentence. ", "word ", "Größe ", "界面。", "🎉", "👨‍👩‍👧‍👦", "e\u0301", "\n\n",
        "\r\n", "…", "https://example.com/a/long/path ", "example.com", ".", "#tag ", "＃札 ",
        "@user ", "\u200d", "नमस्ते ", "a" * 90, "1️⃣ ", "\ufeff", "! ", "co", "# ", "$12.50 ",
        "<b>", "##x ", "\u2067", "\u2069", "\u202b", "\u202c", "ไทยไม่มี", "؟ ", ", ", " — ",
        "@me@social.example ", "#", "@",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS | st.text(max_size=8), min_size=1, max_size=60).map("".join)
TAGS = st.lists(st.text(max_size=12) | FRAGMENTS | st.just("x" * 300), max_size=36)
DIRECTIONS = regex.compile(r"[\u202c\u2069]++$")
UNMARKED = str.maketrans("", "", "#＃@＠\ufeff\ufffe\uffff")


@given(
    text=TEXTS,
    repeat=st.sampled_from([1, 3, 20]),
    tags=TAGS,
    platform=st.sampled_from(list(PLATFORMS.values())),
    disclosure=st.sampled_from([None, "Ad", "Written with AI, by editors."]),
)
@example("One short sentence. \u2067", 20, [], PLATFORMS["x"], None)
@example("##b #a", 1, [], PLATFORMS["threads"], None)
@settings(max_examples=60, deadline=None)
def test_no_post_ever_exceeds_its_limits(
    text: str, repeat: int, tags: list[str], platform: Platform, disclosure: str | None
) -> None:
    notice = None if platform.limit < 60 else disclosure
    fitted = fit_post(
        text * repeat,
        tags,
        platform,
        language="en",
        segmenter=None,
        disclosure=notice,
        always=True,
    )
    assert fitted.measures.length == MEASURES[platform.unit](fitted.text) <= platform.limit
    if platform.also:
        assert MEASURES[platform.also.unit](fitted.text) <= platform.also.limit
    assert fitted.text.startswith(fitted.body)
    assert len(fitted.hashtags) <= (30 if platform.max_hashtags is None else platform.max_hashtags)
    if platform.max_hashtags is not None:
        assert hashtags_marked(fitted.text, platform.max_hashtags)[2] == 0
    if platform.max_mentions is not None:
        assert len(mention_spans(fitted.text)) <= platform.max_mentions
    if platform.max_links is not None:
        assert bool(fitted.over) == (len(link_spans(fitted.text)) > platform.max_links)
    assert not set(platform.forbidden) & set(fitted.text)
    assert notice is None or fitted.text.endswith(notice)


@given(
    text=TEXTS,
    repeat=st.sampled_from([1, 20]),
    platform=st.sampled_from(list(PLATFORMS.values())),
)
@settings(max_examples=60, deadline=None)
def test_a_fitted_body_is_a_beginning_of_the_text_in_whole_graphemes(
    text: str, repeat: int, platform: Platform
) -> None:
    """But for the signs of hashtags and mentions that are too many, and what nobody can post."""
    given_text = text.replace("<", "").replace(">", "") * repeat
    fitted = fit_post(given_text, [], platform, language="en", segmenter=None, always=True)
    plain = given_text.replace("\r\n", "\n").replace("\r", "\n")
    body = hashtags_apart(trimmed(plain))[0].translate(UNMARKED)
    kept = fitted.body.translate(UNMARKED)
    if fitted.measures.shortened:
        kept = DIRECTIONS.sub("", kept).removesuffix(ELLIPSIS)
    assert trimmed(body).startswith(trimmed(kept)) or body.startswith(kept)
    if fitted.measures.shortened and body.startswith(kept):
        assert len(kept) in {*grapheme_starts(body), len(body)}


@given(text=TEXTS, repeat=st.sampled_from([1, 20]), tags=TAGS)
@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=list(PLATFORMS))
@settings(max_examples=6, deadline=None)
def test_fitting_twice_changes_nothing(
    text: str, repeat: int, tags: list[str], platform: Platform
) -> None:
    once = fit_post(text * repeat, tags, platform, language="en", segmenter=None, always=True)
    twice = fit_post(once.text, [], platform, language="en", segmenter=None, always=True)
    assert twice.text == once.text
    assert not twice.measures.shortened
