"""A reply in pieces gives the same sections however it is cut, and never anything but text."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.steps.splitting import Splitter

SOCIAL = {
    "linkedin": {"text": "We measured bees.\nTwice.", "hashtags": ["bees", "#data"]},
    "x": {"text": "Bees, measured.", "hashtags": []},
    "x_2": {"text": "Count your bees.", "hashtags": ["bees"]},
}


def texts(
    reply: str, format: str = "faq", *, cuts: list[int] | None = None, **options: Any
) -> dict[str, str]:
    """What each variant's text came to; a text that did not only grow fails here."""
    splitter = Splitter(format, **options)
    places = sorted({0, len(reply), *(cut % (len(reply) + 1) for cut in cuts or [])})
    found: dict[str, str] = {}
    for start, end in itertools.pairwise(places):
        grown = splitter.feed(reply[start:end])
        assert len({variant for variant, _ in grown}) == len(grown)
        for variant, delta in grown:
            assert delta
            found[variant] = found.get(variant, "") + delta
    return found


def whole(reply: str, **options: Any) -> str:
    return texts(reply, **options).get("default", "")


def every_character(reply: str) -> list[int]:
    return list(range(len(reply)))


# --- what is shown ----------------------------------------------------------------------------


def test_strings_follow_each_other_on_lines_of_their_own() -> None:
    reply = json.dumps({"pairs": [{"question": "Why?", "answer": "So."}, {"question": "How?"}]})
    assert whole(reply) == "Why?\nSo.\n\nHow?"


def test_items_of_a_list_are_paragraphs() -> None:
    reply = json.dumps({"subject": "Bees", "preheader": "Short.", "paragraphs": ["One.", "Two."]})
    assert whole(reply) == "Bees\nShort.\n\nOne.\n\nTwo."


def test_numbers_names_and_keys_are_not_shown() -> None:
    assert whole('{"score": 12.5e3, "good": true, "bad": null, "text": "Bees."}') == "Bees."


def test_space_around_a_string_and_blank_strings_are_left_out() -> None:
    assert (
        whole('{"a": "  One. \\n", "b": " ", "c": "", "d": "Two  words."}') == "One.\nTwo  words."
    )


def test_each_variant_has_the_strings_below_its_key() -> None:
    found = texts(json.dumps(SOCIAL), "social", variants=["linkedin", "x", "x.2"])
    assert found == {
        "linkedin": "We measured bees.\nTwice.\n\n#bees #data",
        "x": "Bees, measured.",
        "x.2": "Count your bees.\n\n#bees",
    }


def test_a_variant_that_nobody_wants_is_not_told() -> None:
    assert texts(json.dumps(SOCIAL), "social", variants=["x"]) == {"x": "Bees, measured."}


def test_a_platform_with_an_underscore_in_its_name_is_found() -> None:
    reply = json.dumps({"tiktok_photo": {"title": "Bees", "text": "Look.", "hashtags": []}})
    assert texts(reply, "social", variants=["tiktok_photo"]) == {"tiktok_photo": "Bees\nLook."}


@pytest.mark.parametrize("wrapper", ["social", "answer"])
def test_variants_are_found_one_key_further_in(wrapper: str) -> None:
    reply = json.dumps({wrapper: SOCIAL})
    assert texts(reply, "social", variants=["x"]) == {"x": "Bees, measured."}


def test_under_one_schema_for_all_only_the_own_field_counts() -> None:
    reply = json.dumps({"summary": {"sentences": ["Not this."]}, "faq": {"pairs": ["This."]}})
    assert whole(reply, beside=["summary", "faq"]) == "This."


def test_a_field_that_is_named_like_another_format_is_a_field() -> None:
    assert whole('{"summary": "Short.", "body": "Long."}', beside=["summary"]) == "Short.\nLong."


@pytest.mark.parametrize(
    "before",
    [
        "",
        "\ufeff \n",
        "Here is what you asked for:\n\n",
        "```json\n",
        '<think>Let me see. {Not} this, {"nor": "this"}.</think>\n',
        "<THINKING >hm</thinking>\n```\n",
        "Use {x} and { y } with care: {",
        "<b>Sure</b>! ",
    ],
)
def test_what_stands_before_the_json_is_passed_over(before: str) -> None:
    reply = before + '{"a": "Bees."}'
    assert whole(reply) == "Bees."
    assert whole(reply, cuts=every_character(reply)) == "Bees."


def test_what_follows_the_json_is_not_told() -> None:
    assert whole('{"a": "Bees."}\n```\nI hope {"b": "this"} helps.') == "Bees."


def test_a_reply_without_structure_is_the_text() -> None:
    reply = "\n<think>{hm}</think>\n\nBees like roofs.\n\nSome do not. \n"
    assert whole(reply, structured=False) == "Bees like roofs.\n\nSome do not."


def test_a_text_shows_before_its_string_ends() -> None:
    splitter = Splitter("faq")
    assert splitter.feed('{"pairs": [{"question": "Wh') == [("default", "Wh")]
    assert splitter.feed("y") == [("default", "y")]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"a\"b\\c\/d", 'a"b\\c/d'),
        (r"a\nb\tc\u0041\u00e9", "a\nb\tcAé"),
        (r"\ud83e\udd8a!", "🦊!"),
        (r"\ud83e!", "\ufffd!"),
        (r"\udd8a!", "\ufffd!"),
        (r"\ud83e\ud83e\udd8a", "\ufffd🦊"),
        (r"a\ud83e", "a\ufffd"),
        (r"a\u0000b", "a\ufffdb"),
        (r"a\u00zb", "a\ufffdzb"),
        (r"a\u00", "a\ufffd"),
        (r"a\qb", "aqb"),
        ("\ud83e\udd8a!", "🦊!"),
        ("\ud83e!", "\ufffd!"),
        ("a\0b", "a\ufffdb"),
    ],
)
def test_escapes_are_read_however_they_are_cut(written: str, text: str) -> None:
    reply = f'{{"a": "{written}"}}'
    assert whole(reply) == text
    assert whole(reply, cuts=every_character(reply)) == text


def test_halves_of_a_pair_in_plain_text_meet_again() -> None:
    splitter = Splitter("note", structured=False)
    parts = [splitter.feed(piece) for piece in ("Fox \ud83e", "\udd8a", "\udd8a \0")]
    assert parts == [[("default", "Fox")], [("default", " 🦊")], [("default", "\ufffd \ufffd")]]


# --- laws -------------------------------------------------------------------------------------

strings = st.text(
    st.sampled_from('abc {}[]":,\\\n\té🦊#') | st.characters(codec="utf-8"), max_size=8
)
values = st.recursive(
    strings | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=10,
)
posts = st.fixed_dictionaries({"text": strings, "hashtags": st.lists(strings, max_size=2)})
answers = st.dictionaries(strings, values, max_size=3) | st.dictionaries(
    st.sampled_from(["x", "x_2", "linkedin", "social", "faq"]), posts, max_size=4
)
openings = st.sampled_from(["", "Sure: ", "```json\n", "<think>{a}</think>", "<thi", "{ {"])
cuts = st.lists(st.integers(0, 400), max_size=12)


@given(openings, answers, st.booleans(), cuts)
def test_any_split_of_a_reply_gives_the_same_texts(
    opening: str, answer: dict[str, Any], escaped: bool, cuts: list[int]
) -> None:
    reply = opening + json.dumps(answer, ensure_ascii=escaped)
    wanted: dict[str, Any] = {"variants": ["default", "x", "x.2"], "beside": ["faq"]}
    at_once = texts(reply, "social", **wanted)
    assert texts(reply, "social", cuts=cuts, **wanted) == at_once
    assert texts(reply, "social", cuts=every_character(reply), **wanted) == at_once


hostile = st.text(
    st.sampled_from('{}[]":,\\u0d8abtnx </think>\n\ud83e\udd8a\0') | st.characters(), max_size=60
)


@given(hostile, st.booleans(), cuts)
def test_any_text_at_all_splits_alike_and_raises_nothing(
    reply: str, structured: bool, cuts: list[int]
) -> None:
    wanted: dict[str, Any] = {"variants": ["default", "x"], "structured": structured}
    at_once = texts(reply, "social", **wanted)
    assert texts(reply, "social", cuts=cuts, **wanted) == at_once
    assert texts(reply, "social", cuts=every_character(reply), **wanted) == at_once
    for text in at_once.values():
        text.encode()  # nothing that no database stores


@given(st.dictionaries(strings, values, max_size=4))
def test_every_string_of_a_valid_answer_is_shown(answer: dict[str, Any]) -> None:
    shown = whole(json.dumps({"answer": answer}))
    for text in strings_in(answer):
        assert text.strip().replace("\0", "\ufffd") in shown


def strings_in(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for inner in value.values() for text in strings_in(inner)]
        case list():
            return [text for inner in value for text in strings_in(inner)]
        case _:
            return []


@pytest.mark.parametrize(
    "reply",
    [
        '{"a": ' * 100_000,
        '{"a": ' + "[" * 100_000,
        "{" * 300_000,
        "{ " * 150_000,
        "<think>" + "</thin" * 50_000,
        '{"a": "' + "\\ud83e" * 50_000,
        '{"a": "' + " " * 300_000 + 'x"}',
        '{"' + "k" * 300_000 + '": "x"}',
        '{"a": [' + '"", ' * 80_000,
        " " * 300_000,
        '{"a": "b"}' * 30_000,
    ],
    ids=lambda reply: reply[:12],
)
def test_a_hostile_reply_is_read_in_small_pieces_without_a_fault(reply: str) -> None:
    splitter = Splitter("faq")
    for place in range(0, len(reply), 37):
        splitter.feed(reply[place : place + 37])
