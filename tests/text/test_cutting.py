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
from repurpose.text.cutting import ELLIPSIS, Cut, beginning, break_place, closed, cut
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


PIECES = [
    "alpha", "beta", "Größe", "e\u0301", " ", " ", " ", "\n", "\u00a0", ". ", "! ", "? ", "… ",
    "...", ", ", ": ", " — ", "-", "“", "”", "(", ")", "https://example.com/a?b=c", "example.com",
    "#tag", "@name", "12.5", "1,000", "日本語", "。", "、", "「", "」", "ไทย", "\U0001f389", FAMILY,
    "\U0001f1f5\U0001f1f9", "Dr. ", "\r\n", "\u0600", "क्ष",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
LIMITS = st.integers(2, 60)
COUNTED = list(MEASURES)


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


@pytest.mark.parametrize(
    ("text", "limit", "language", "expected"),
    [
        # What looks like an end of a sentence and is none.
        (
            "The ferry of Dr. Obi left the pier at dawn today.",
            30,
            "en",
            "The ferry of Dr. Obi left the…",
        ),
        (
            "It is fast, e.g. for sailors who never want to sleep.",
            34,
            "en",
            "It is fast, e.g. for sailors who…",
        ),
        (
            "Es fährt ca. 12.5 Knoten schnell und nie mehr davon.",
            28,
            "de",
            "Es fährt ca. 12.5 Knoten…",
        ),
        (
            "Sailors of J. R. Roe met here on a very cold night.",
            27,
            "en",
            "Sailors of J. R. Roe met…",
        ),
        (
            "They wait ... and wait for hours until the boat comes",
            33,
            "en",
            "They wait ... and wait for hours…",
        ),
        # What ends a sentence although something stands behind the stop.
        ("“We are off!” Then the ferry left the harbour.", 24, "en", "“We are off!”"),
        ("(It left on time.) Then it came back again.", 24, "en", "(It left on time.)"),
        (
            "They sailed all night!🎉🎉 Then they slept long.",
            30,
            "en",
            "They sailed all night!🎉🎉",
        ),
        ("They sailed all night. 🎉🎉 Then they slept long.", 30, "en", "They sailed all night."),
        ("They sailed all night. #ferry #sea and more words", 34, "en", "They sailed all night."),
        ("Wait for it… Then comes the ferry to the island.", 20, "en", "Wait for it…"),
        # Lists.
        ("1. Buy rope.\n2. Buy sails and a very long ladder.", 24, "en", "1. Buy rope."),
        ("• Buy rope now.\n• Buy sails and a long ladder too", 26, "en", "• Buy rope now."),
        # No space after the stop.
        ("船は夜に出る。朝に着くまで誰も眠らない。", 12, "ja", "船は夜に出る。"),
        ("船开了！大家都在甲板上看海，没有人睡觉。", 7, "zh", "船开了！"),
        ("नाव रात में चलती है।सुबह तक कोई नहीं सोता है यहाँ", 30, "hi", "नाव रात में चलती है।"),
        ("هل وصلت العبارة؟نعم وصلت قبل ساعة من الآن", 24, "ar", "هل وصلت العبارة؟"),
        # No stops at all.
        ("เรือออกตอนกลางคืน ไม่มีใครนอนหลับบนเรือ", 22, "th", "เรือออกตอนกลางคืน…"),
        (
            "the ferry leaves at ten and nobody sleeps on board",
            24,
            "en",
            "the ferry leaves at ten…",
        ),
    ],
)
def test_sentence_ends_are_where_a_reader_would_stop(
    text: str, limit: int, language: str, expected: str
) -> None:
    assert cut(text, limit, language=language).text == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        # A clause end that costs at most a tenth of the room is better than the last word.
        (
            "The ferry leaves the harbour at ten, with cooks",
            40,
            "The ferry leaves the harbour at ten…",
        ),
        (
            "The ferry leaves at ten, with cooks and sailors on board",
            40,
            "The ferry leaves at ten, with cooks and…",
        ),
    ],
)
def test_a_clause_end_is_better_than_a_word_where_it_is_near(
    text: str, limit: int, expected: str
) -> None:
    assert cut(text, limit).text == expected


RLI, PDI, RLE, PDF = "\u2067", "\u2069", "\u202b", "\u202c"


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        # A run is left out as a whole where half of the room is kept without it.
        (f"We meet at the pier of {RLI}נמל יפו העתיק{PDI} at noon", 30, "We meet at the pier of…"),
        (f"We meet at the pier of {RLE}נמל יפו העתיק{PDF} at noon", 30, "We meet at the pier of…"),
        (
            f"We went. {RLI}Now we sleep.{PDI} And more of it.",
            26,
            f"We went. {RLI}Now we sleep.{PDI}",
        ),
        # Else it is cut, and closed, inner controls first.
        (f"{RLI}one two three four five six{PDI} tail", 20, f"{RLI}one two three…{PDI}"),
        (
            f"{RLI}one {RLE}two three four five six{PDF}{PDI}",
            20,
            f"{RLI}one {RLE}two three…{PDF}{PDI}",
        ),
        # Also where the author left it open.
        (f"{RLE}one two three four five six seven", 20, f"{RLE}one two three…{PDF}"),
        # A paragraph ends what was open in it.
        (f"{RLE}one\n\ntwo three four five six seven", 20, f"{RLE}one\n\ntwo three…"),
    ],
)
def test_no_run_of_another_direction_stays_open(text: str, limit: int, expected: str) -> None:
    result = cut(text, limit)
    assert result.text == expected
    assert result.length == len(expected) <= limit


def test_a_text_that_is_not_cut_keeps_its_controls_as_they_are() -> None:
    assert cut(f"{RLE}one", 20).text == f"{RLE}one"
    assert closed(f"{RLE}one") == f"{RLE}one{PDF}"


@settings(max_examples=80, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(["one ", "two. ", "\n", RLI, PDI, RLE, PDF, "שלום ", "a" * 9]), max_size=30
    ).map("".join),
    limit=LIMITS,
)
def test_a_cut_text_never_has_an_open_run(text: str, limit: int) -> None:
    result = cut(text, limit)
    assert result.length <= limit
    assert not result.shortened or closed(result.text) == result.text


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("alpha beta, gamma delta", 18, "alpha beta,"),
        ("alpha, beta gamma delta", 18, "alpha, beta gamma"),
        ("今日は、新しい機能を公開した", 8, "今日は、"),
        ("a" * 30, 10, "a" * 10),
        (FAMILY * 3, 10, FAMILY),
        (FAMILY, 5, FAMILY[:5]),
        (f"alpha {RLI}beta gamma{PDI} delta epsilon", 20, f"alpha {RLI}beta gamma{PDI}"),
    ],
)
def test_a_text_is_parted_where_nothing_is_lost(text: str, limit: int, expected: str) -> None:
    assert text[: break_place(text, limit, code_points)] == expected


@pytest.mark.parametrize("unit", ["graphemes", "x_weighted"])
@settings(max_examples=3, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(
            ["alpha ", "界", "https://example.com/a ", "One. ", "e\u0301", "#tag ", "\n"]
        ),
        min_size=1,
        max_size=30,
    ).map("".join),
    limit=st.sampled_from([2, 60, 280]),
)
def test_the_beginning_of_a_long_text_is_all_that_a_cut_needs(
    unit: str, text: str, limit: int
) -> None:
    measure = MEASURES[unit]
    long = text * (24_000 // len(text))
    assert long.startswith(beginning(long, limit, measure))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("repurpose.text.cutting.beginning", lambda text, *_: text)
        whole = cut(long, limit, measure)
    assert cut(long, limit, measure) == whole


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


@pytest.mark.parametrize("unit", COUNTED)
@settings(max_examples=40, deadline=None)
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
