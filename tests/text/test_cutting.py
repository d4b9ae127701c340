"""The cutter: the table of expected cuts, and the laws that every cut obeys."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.text.counting import (
    MEASURES,
    code_points,
    grapheme_starts,
    graphemes,
    unbreakable_spans,
    utf8_bytes,
    utf16_units,
    weighted_length,
)
from repurpose.text.cutting import ELLIPSIS, Cut, cut
from repurpose.text.sentences import segmenter_named

if TYPE_CHECKING:
    from pathlib import Path

    from repurpose.text.counting import Measure

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
BIG_NEWS = (
    "Big news! After two long years of work with hundreds of smaller shops, farms, schools and "
    "clinics, our team has opened the first market hall that is owned by the people who sell in "
    "it and paid for by those who buy in it, and it is ready this month for guests from every "
    "region everywhere we go."
)


@pytest.mark.parametrize(
    ("text", "limit", "expected", "mode"),
    [
        ("One. Two.", 9, "One. Two.", "none"),
        ("  One.  \n", 4, "One.", "none"),
        ("One. Two. Three.", 12, "One. Two.", "sentence"),
        ("One. Two. Three.", 9, "One. Two.", "sentence"),
        ("Why? Because! And more text here.", 20, "Why? Because!", "sentence"),
        ("Wait… then more words follow here.", 10, "Wait…", "sentence"),
        ("Wait... then more words follow here.", 12, "Wait...", "sentence"),
        ("alpha beta gamma delta", 13, "alpha beta…", "word"),
        ("alpha, beta gamma", 9, "alpha…", "word"),
        ("abcdefghij", 5, "abcd…", "word"),
        ("Größe ändert. Übermorgen mehr.", 14, "Größe ändert.", "sentence"),
        ("Revenue 12.5 percent up today", 20, "Revenue 12.5…", "word"),
        ("alpha\nbeta gamma", 9, "alpha…", "word"),
        ("alpha\u00a0beta gamma", 9, "alpha…", "word"),
        ("One two.\u00a0Three four five", 12, "One two.", "sentence"),
        ("One. Two. Three four five six seven", 18, "One. Two.", "sentence"),
        ("One. Two. Three four five six seven", 19, "One. Two. Three…", "word"),
    ],
)
def test_the_table_of_expected_cuts(text: str, limit: int, expected: str, mode: str) -> None:
    assert cut(text, limit) == Cut(expected, mode, len(expected))


def test_a_sentence_end_that_keeps_less_than_half_gives_way_to_the_last_word() -> None:
    assert len(BIG_NEWS) == 294
    result = cut(BIG_NEWS, 280, weighted_length)
    assert result.text.endswith("every region…")
    assert result.mode == "word"
    assert len(result.text) == 277
    assert result.length == 278  # the ellipsis weighs 2 on X
    assert cut(BIG_NEWS, 280).length == 277


def test_shortened_tells_whether_anything_is_missing() -> None:
    assert not cut(" One. ", 10).shortened
    assert cut("One two three", 8).shortened


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("alpha beta - gamma delta", 15, "alpha beta…"),
        ("alpha beta — gamma delta", 15, "alpha beta…"),
        ("alpha beta: gamma delta", 15, "alpha beta…"),
        ("alpha beta; gamma delta", 15, "alpha beta…"),
        ("alpha beta (gamma delta)", 13, "alpha beta…"),
        ("alpha beta ( gamma delta)", 13, "alpha beta…"),
        ("alpha etc. gamma delta", 12, "alpha etc…"),
        ("growth—which nobody expected", 9, "growth…"),
        ("Il a dit « Non » hier encore", 13, "Il a dit…"),
        ("Er sagte „Ja“ und ging heim", 15, "Er sagte „Ja“…"),
        ("- alpha beta", 9, "- alpha…"),
    ],
)
def test_nothing_dangles_before_an_ellipsis(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit).text == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("See https://example.com/some/long/path now", 20, "See…"),
        ("Thanks to @averylongname for it", 18, "Thanks to…"),
        ("Read on #averylongtag for more", 18, "Read on…"),
        ("#averylongtag for more", 8, "#averyl…"),
        ("https://example.com/path is it", 10, "https://e…"),
        ("We have 1\u202f000\u202f000 reasons", 12, "We have…"),
        ("使用新工具可以提高12.5%的效率", 12, "使用新工具可以提高…"),
        ("収入は今年1,000万円に達しました", 9, "収入は今年…"),
        ("今日は#新機能タグの話をします", 7, "今日は…"),
    ],
)
def test_tokens_stay_whole_unless_the_text_begins_with_one(
    text: str, limit: int, expected: str
) -> None:
    assert cut(text, limit).text == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("e\u0301e\u0301e\u0301e\u0301", 5, "e\u0301e\u0301…"),
        (FAMILY * 3, 15, FAMILY * 2 + "…"),
        ("\U0001f1f5\U0001f1f9" * 3, 4, "\U0001f1f5\U0001f1f9…"),
    ],
)
def test_graphemes_stay_whole(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit).text == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected", "mode"),
    [
        ("新版本来了。快试试吧！有问题吗？", 12, "新版本来了。快试试吧！", "sentence"),
        (
            "彼は言った。「もう行くよ。」そして長い旅に出た。",
            15,
            "彼は言った。「もう行くよ。」",
            "sentence",
        ),
        (
            "今日は新しい機能を出しました、ぜひ試してくださいね",
            20,
            "今日は新しい機能を出しました…",
            "word",
        ),
        (
            "今日は、新しい機能を公開したのでぜひ試してください",
            12,
            "今日は、新しい機能を公…",
            "word",
        ),
        ("これはラーメンです", 6, "これはラー…", "word"),
        ("นี่คือข้อความยาวที่ไม่มีช่องว่าง", 10, "นี่คือข้อ…", "word"),
        ("हमने काम किया। आज ही देखें और बताएँ।", 20, "हमने काम किया।", "sentence"),
        ("هل أنت جاهز؟ نعم أنا جاهز منذ أمس", 20, "هل أنت جاهز؟", "sentence"),
    ],
)
def test_other_scripts_are_cut_where_their_readers_would_stop(
    text: str, limit: int, expected: str, mode: str
) -> None:
    result = cut(text, limit)
    assert (result.text, result.mode) == (expected, mode)


def test_closing_quotes_and_brackets_belong_to_the_sentence() -> None:
    assert cut("He said “Go!” Then he left us.", 16).text == "He said “Go!”"
    assert cut("(It works.) And there is more.", 16).text == "(It works.)"
    assert cut('"We are done." Then she left.', 20).text == '"We are done."'


def test_x_weighs_ideographs_twice() -> None:
    text = "界" * 141
    assert weighted_length(text) == 282
    result = cut(text, 280, weighted_length)
    assert result.text == "界" * 139 + "…"
    assert result.length == 280


def test_x_counts_a_long_link_as_23() -> None:
    text = "https://example.com/" + "a" * 80
    assert cut(text, 280, weighted_length) == Cut(text, "none", 23)
    assert cut(f"{text} " * 20, 280, weighted_length).length <= 280
    assert cut(f"{text} " * 20, 280, weighted_length).text.count("https") == 11


def test_the_language_decides_on_abbreviations() -> None:
    text = "Es geht z. B. Um alles andere auch"
    assert cut(text, 16, language="de").text == "Es geht z. B…"


def test_the_greek_question_mark_ends_a_sentence_in_greek_only() -> None:
    text = "Το είδατε; Πείτε μας τη γνώμη σας"
    assert cut(text, 14, language="el") == Cut("Το είδατε;", "sentence", 10)
    assert cut(text, 14, language="ru").mode == "word"


def test_another_segmenter_may_decide() -> None:
    text = "One two. Three four. Five six seven"
    assert cut(text, 24, segmenter=lambda text, _language: [(0, 8), (8, len(text))]).text == (
        "One two. Three four…"
    )
    assert cut(text, 24, segmenter=segmenter_named("nltk")).text == "One two. Three four."


@pytest.mark.parametrize("limit", [1, 0, -5])
def test_a_limit_below_2_is_an_error(limit: int) -> None:
    with pytest.raises(ValueError, match="leaves no room"):
        cut("One", limit)


@pytest.mark.parametrize(
    ("text", "limit", "measure", "expected"),
    [
        ("abc", 2, code_points, "a…"),
        (FAMILY * 2, 5, utf16_units, "…"),
        ("abc", 2, weighted_length, "…"),
        ("abc", 2, utf8_bytes, "ab"),
        ("日本", 2, utf8_bytes, ""),
        ("——— ———", 3, code_points, "…"),
        ("   ", 2, code_points, ""),
        ("", 2, code_points, ""),
    ],
)
def test_the_smallest_limits_hold_too(
    text: str, limit: int, measure: Measure, expected: str
) -> None:
    assert cut(text, limit, measure).text == expected


PIECES = [
    "alpha", "beta", "Größe", "e\u0301", " ", " ", " ", "\n", "\u00a0", ". ", "! ", "? ", "… ",
    "...", ", ", ": ", " — ", "-", "“", "”", "(", ")", "https://example.com/a?b=c", "example.com",
    "#tag", "@name", "12.5", "1,000", "日本語", "。", "、", "「", "」", "ไทย", "\U0001f389", FAMILY,
    "\U0001f1f5\U0001f1f9", "Dr. ", "\r\n", "\u0600", "क्ष",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
LIMITS = st.integers(2, 60)
COUNTED = ["code_points", "utf16", "utf8_bytes", "graphemes", "x_weighted"]


@pytest.mark.parametrize("unit", COUNTED)
@settings(max_examples=60, deadline=None)
@given(text=TEXTS, limit=LIMITS)
def test_every_cut_obeys_the_laws(unit: str, text: str, limit: int) -> None:
    measure = MEASURES[unit]
    result = cut(text, limit, measure)
    # It fits, and says how long it is.
    assert result.length == measure(result.text) <= limit
    # Cutting again changes nothing.
    assert cut(result.text, limit, measure) == Cut(result.text, "none", result.length)
    # It is a beginning of the text, with nothing added but one ellipsis.
    stripped = text.strip()
    if result.mode == "none":
        assert result.text == stripped
        return
    if stripped.startswith(result.text):
        kept = result.text
    else:
        assert result.mode == "word"
        assert result.text.endswith(ELLIPSIS)
        kept = result.text.removesuffix(ELLIPSIS)
    assert stripped.startswith(kept)
    # Graphemes are whole, and so are tokens, but for one that the text begins with.
    assert len(kept) in {*grapheme_starts(stripped), len(stripped)}
    for start, end in unbreakable_spans(stripped):
        assert not start < len(kept) < end or not any(map(str.isalnum, stripped[:start]))
    if result.mode == "sentence":
        assert result.length * 2 >= limit


@settings(max_examples=40, deadline=None)
@given(text=TEXTS.filter(lambda text: len(text.strip()) > 2))
def test_a_text_that_fits_is_never_touched(text: str) -> None:
    stripped = text.strip()
    assert cut(text, len(stripped)) == Cut(stripped, "none", len(stripped))


def test_a_lone_surrogate_is_a_character_like_others() -> None:
    text = "One \ud800 two. Three\udfff.\ud83dcom four five"
    for measure in MEASURES.values():
        assert cut(text, 20, measure).length <= 20


HOSTILE = {
    "no space": "x" * 100_000,
    "ideographs": "界" * 100_000,
    "one tag": "#" + "a" * 100_000,
    "one number": "1" * 100_000,
    "links": "https://example.com/a " * 5_000,
    "stops": "… " * 50_000,
    "dangling": "a" + " \n,\u00a0-" * 20_000 + "b",
    "spaces": "a" + " " * 100_000 + "b",
    "prose": "The quick fox, said Dr. Lee, jumps over 12.5 lazy dogs today. " * 1_600,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_long_text_is_cut_in_well_under_a_second(text: str) -> None:
    began = process_time()
    result = cut(text, 280, weighted_length)
    assert process_time() - began < 1.5  # measured: 0.05 to 0.3; a quadratic rule takes minutes
    assert result.length <= 280


@pytest.mark.shared
def test_shared_texts_that_do_not_fit_their_platform_are_cut_to_fit(shared: Path) -> None:
    table = yaml.safe_load((shared / "conformance/platform-limits.yaml").read_text("utf-8"))
    checked = 0
    for case in table["cases"]:
        platform = table["platforms"][case["platform"]]
        if platform["unit"] not in MEASURES:
            continue
        text = case["text"] * case.get("repeat", 1)
        result = cut(text, platform["limit"], MEASURES[platform["unit"]])
        assert result.length <= platform["limit"]
        assert result.shortened == (MEASURES[platform["unit"]](text.strip()) > platform["limit"])
        checked += 1
    assert checked > 100


@pytest.mark.shared
@pytest.mark.parametrize("measure", [code_points, graphemes], ids=lambda measure: measure.__name__)
def test_shared_posts_never_lose_the_middle_of_a_sentence_silently(
    shared: Path, measure: Measure
) -> None:
    path = shared / "conformance/segmentation-social.yaml"
    for case in yaml.safe_load(path.read_text("utf-8"))["cases"]:
        text = case["text"].strip()
        for limit in range(2, measure(text), 5):
            result = cut(text, limit, measure, case["lang"])
            assert result.length <= limit
            assert result.mode == "sentence" or result.text.endswith(ELLIPSIS)
