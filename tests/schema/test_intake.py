"""What the decoder refuses, and which sloppy replies are taken in without a second call."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.core.finding import Finding
from repurpose.schema.intake import MAX_DEPTH, IntakeError, decode, said, take_in

GOOD = {"question": "What is new?", "answer": "A tested battery."}
TEXT = json.dumps(GOOD)


def is_good(value: object) -> bool:
    """Whether a value has the two texts that a good answer has."""
    return isinstance(value, dict) and sorted(value) == ["answer", "question"]


def taken(text: str, **options: Any) -> tuple[object, tuple[str, ...]]:
    found = take_in(text, validates=is_good, **options)
    return found.value, found.notes


# The decoder.


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "null",
        "true",
        ' "a" ',
        "-0.5e3",
        '{"a": {"b": [1, "x", null]}}',
        '"\\ud83d\\ude00"',
    ],
)
def test_plain_json_decodes_as_the_standard_decoder_does(text: str) -> None:
    assert decode(text) == json.loads(text)  # noqa: TID251 - the reference


def test_a_byte_order_mark_is_passed_over() -> None:
    assert decode("\ufeff{}") == {}


REFUSED = {
    "NaN": '{"a": NaN}',
    "infinity": '{"a": -Infinity}',
    "a float that overflows": '{"a": 1e999}',
    "a whole number of 5,000 digits": '{"a": ' + "9" * 5_000 + "}",
    "a float of 5,000 digits": '{"a": 0.' + "9" * 5_000 + "}",
    "a key twice": '{"a": 1, "a": 1}',
    "a key twice, deep inside": '{"x": [{"a": 1, "\\u0061": 2}]}',
    "half a surrogate pair": '{"a": "\\ud800"}',
    "half a surrogate pair in a key": '{"\\udc00": 1}',
    "a raw half of a surrogate pair": '{"a": "\ud800"}',
    "NUL": '{"a": "x\\u0000"}',
    "NUL in a key": '{"\\u0000": 1}',
    "65 levels": "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
    "100,000 levels": "[" * 100_000,
    "100,000 levels of objects": '{"a":' * 100_000,
    "something after it": "{} {}",
    "a line break in a string": '{"a": "x\ny"}',
    "single quotes": "{'a': 1}",
    "a comma too many": '{"a": 1,}',
    "nothing": "",
    "a cut object": '{"a": "x',
    "a bad escape": '{"a": "\\x41"}',
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_json_does_not_allow_or_nobody_can_store_is_refused(text: str) -> None:
    with pytest.raises(IntakeError):
        decode(text)


def test_64_levels_are_let_through() -> None:
    assert decode("[" * MAX_DEPTH + "]" * MAX_DEPTH)


def test_brackets_in_strings_are_no_levels() -> None:
    assert decode(json.dumps({"a": "[{" * 500})) == {"a": "[{" * 500}


def test_the_finding_says_where_and_what_and_quotes_nothing() -> None:
    with pytest.raises(IntakeError) as caught:
        decode('{"secret":\n "confidential" oops}')
    assert caught.value.finding == Finding(
        "parse",
        "",
        "the reply is not valid JSON at line 2, column 17: a comma or a closing bracket is missing",
    )
    assert caught.value.__cause__ is None  # the cause would carry the text into a log


# What is taken in at the first attempt.

TAKEN = {
    "plain": (TEXT, ()),
    "blank around it": (f"\n\u00a0{TEXT}\r\n", ()),
    "byte order mark": (f"\ufeff{TEXT}", ()),
    "fence with a language": (f"```json\n{TEXT}\n```", ("code fence removed",)),
    "fence without one": (f"```\n{TEXT}\n```\n", ("code fence removed",)),
    "fence on one line": (f"```json {TEXT}```", ("code fence removed",)),
    "fence of tildes": (f"~~~\r\n{TEXT}\r\n~~~", ("code fence removed",)),
    "fence that is not closed": (f"```json\n{TEXT}", ("code fence removed",)),
    "think block": (
        f"<think>Let me see. {{draft}}</think>\n\n{TEXT}",
        ("reasoning block removed",),
    ),
    "thinking block": (f"<thinking>\nhm\n</thinking>{TEXT}", ("reasoning block removed",)),
    "reasoning block": (f"<Reasoning>hm</Reasoning >{TEXT}", ("reasoning block removed",)),
    "two blocks": (f"<think>a</think> <think>b</think> {TEXT}", ("reasoning block removed",)),
    "block with a draft": (f"<think>{TEXT}</think>{TEXT}", ("reasoning block removed",)),
    "closing tag only": (f"Let me see.\n</think>\n{TEXT}", ("reasoning block removed",)),
    "closing tag only, with a draft": (
        f"Maybe {TEXT}?\n</think>\n{TEXT}",
        ("reasoning block removed",),
    ),
    "closing tag only, with a broken draft": (
        f'Maybe {{"question": "Wh </think>{TEXT}',
        ("reasoning block removed",),
    ),
    "closing tag, then prose": (
        f"Maybe {TEXT}?\n</think>\nHere it is: {TEXT}",
        ("JSON taken from the text around it",),
    ),
    "block and fence": (
        f"<think>hm</think>\n```json\n{TEXT}\n```",
        ("reasoning block removed", "code fence removed"),
    ),
    "prose around": (
        f"Here it is:\n{TEXT}\nHope it helps!",
        ("JSON taken from the text around it",),
    ),
    "prose after": (f"{TEXT}\n\nHope it helps!", ("JSON taken from the text around it",)),
    "prose and fence": (
        f"Sure!\n```json\n{TEXT}\n```\nDone.",
        ("JSON taken from the text around it",),
    ),
    "prose with brackets": (
        f"As {{wanted}} [1], see [the notes](a.html) and {{ or ( :-{{\n{TEXT} [2]",
        ("JSON taken from the text around it",),
    ),
    "block, then prose": (
        f"<think>hm</think>The answer: {TEXT}",
        ("reasoning block removed", "JSON taken from the text around it"),
    ),
    "only inside the block": (
        f"<think>So it is {TEXT}</think>",
        ("JSON taken from the reasoning block",),
    ),
    "block that is not closed": (
        f"<think>So it is {TEXT}",
        ("JSON taken from the reasoning block",),
    ),
    "wrapped in one key": (f'{{"answer": {TEXT}}}', ("one-key wrapper removed",)),
    "wrapped and fenced": (
        f'```\n{{"faq": {TEXT}}}\n```',
        ("code fence removed", "one-key wrapper removed"),
    ),
    "wrapped and in prose": (
        f'Here: {{"faq": {TEXT}}}',
        ("JSON taken from the text around it", "one-key wrapper removed"),
    ),
}


@pytest.mark.parametrize(("text", "notes"), TAKEN.values(), ids=TAKEN.keys())
def test_a_plain_answer_in_sloppy_clothes_is_taken_in_and_noted(
    text: str, notes: tuple[str, ...]
) -> None:
    assert taken(text) == (GOOD, notes)


REJECTED = {
    "nothing": ("", "is empty"),
    "blanks": (" \n\t\ufeff", "is empty"),
    "prose": ("I am sorry, I cannot do that.", "holds no JSON object"),
    "a text": ('"x"', "not a JSON object"),
    "a number": ("42", "not a JSON object"),
    "null": ("null", "not a JSON object"),
    "a list": (f"[{TEXT}]", "not a JSON object"),
    "a list in prose": (f"Here: [{TEXT}]", "JSON array"),
    "a fenced list": (f"```json\n[{TEXT}]\n```", "not a JSON object"),
    "two objects": (f"{TEXT}\n{TEXT}", "more than one"),
    "two fences": (f"```\n{TEXT}\n```\n```\n{TEXT}\n```", "more than one"),
    "two objects in the block": (f"<think>{TEXT} or {TEXT}</think>", "more than one"),
    "one good object among others": (f'Not {{"a": 1}} but {TEXT}', "more than one"),
    "an object of another shape in prose": ('Here: {"a": 1}', "declared shape"),
    "a Python dict": (str(GOOD), "not valid JSON"),
    "a Python dict in prose": (f"Here: {GOOD}", "no JSON object"),
    "a good object in a string of an array": (json.dumps([TEXT]), "not a JSON object"),
    "a cut list of good objects": (f'{{"pairs": [{TEXT}, {{"question": "Wh', "not valid JSON"),
    "a cut list of good objects in prose": (f'So: [{TEXT}, {{"question": "Wh', "no JSON object"),
    "a key twice": ('{"question": "a", "question": "b", "answer": "c"}', "same key twice"),
    "a key twice in prose": ('So: {"question": "a", "question": "b"} ok', "same key twice"),
    "a key twice in a fence": ('```\n{"a": 1, "a": 2}\n```', "same key twice"),
    "braces around prose": ("{It is done}", "not valid JSON"),
    "an empty fence": ("```json\n```", "not valid JSON"),
    "100,000 brackets": ("[" * 100_000, "nested"),
}


@pytest.mark.parametrize(("text", "words"), REJECTED.values(), ids=REJECTED.keys())
def test_what_is_not_plainly_the_answer_is_left_to_a_repair(text: str, words: str) -> None:
    with pytest.raises(IntakeError, match=words):
        taken(text)


def test_a_whole_text_is_taken_as_it_is_for_the_validator_to_judge() -> None:
    assert taken('{"question": 1}') == ({"question": 1}, ())


def test_a_code_block_inside_a_field_is_not_taken_for_the_answer() -> None:
    answer = {**GOOD, "answer": f"Write\n```json\n{TEXT}\n```\nand send it."}
    for dressed in (json.dumps(answer), f"```json\n{json.dumps(answer)}\n```"):
        assert taken(dressed)[0] == answer
    assert taken(f"Here:\n```json\n{json.dumps(answer)}\n```\nDone.")[0] == answer


def test_an_article_on_think_tags_survives() -> None:
    answer = {
        "question": "What does <think>hm</think> mean?",
        "answer": '</think> ends it; <think>{"question": 1}',
    }
    for dressed in (
        json.dumps(answer),
        f"```json\n{json.dumps(answer)}\n```",
        f"<think>The tag </thinking it says.</think>{json.dumps(answer)}",
        f"Here it is: {json.dumps(answer)} Bye.",
    ):
        assert taken(dressed)[0] == answer


def test_a_wrapper_stays_where_the_outside_validates_or_the_inside_does_not() -> None:
    wrapped = {"answer": GOOD}
    outside = take_in(json.dumps(wrapped), validates=lambda value: value == wrapped)
    assert (outside.value, outside.notes) == (wrapped, ())
    assert taken('{"answer": {"a": 1}}') == ({"answer": {"a": 1}}, ())


def test_a_wrapper_of_two_keys_is_no_wrapper() -> None:
    answer = {"status": "ok", "answer": GOOD}
    assert taken(json.dumps(answer)) == (answer, ())


def test_the_reasoning_field_is_read_only_where_the_text_is_blank() -> None:
    assert taken(" ", reasoning=f"It is {TEXT}") == (
        GOOD,
        ("JSON taken from the reasoning field", "JSON taken from the text around it"),
    )
    with pytest.raises(IntakeError, match="no JSON object"):
        taken("Sorry.", reasoning=TEXT)


@pytest.mark.parametrize("reasoning", [None, "", "hm", '{"a": 1}', f"{TEXT}{TEXT}"])
def test_a_reasoning_field_without_a_valid_answer_leaves_the_reply_empty(
    reasoning: str | None,
) -> None:
    with pytest.raises(IntakeError, match="is empty"):
        taken("", reasoning=reasoning)


def test_no_message_quotes_the_reply() -> None:
    for text, _ in REJECTED.values():
        with pytest.raises(IntakeError) as caught:
            taken(text)
        told = str(caught.value)
        assert not any(word in told for word in ("question", "battery", "sorry", "done"))


# Hostile text.

GARBAGE = {
    "brackets": "[" * 1_000_000,
    "strings": '{"' + '\\"' * 500_000,
    "backslashes": '{"' + "\\" * 999_999,
    "closing tags": "</think>" * 125_000,
    "opening tags": "<think>" * 140_000,
    "small groups": "{x} [y] " * 60_000,
    "small objects": "{} " * 100_000,
    "open groups": "{ it's " * 60 + '" \\" ' * 100_000,
    "fences": "```json\n" * 125_000,
    "tags inside a string": 'So: {"a": "' + "</think>" * 125_000,
}


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE.keys())
def test_a_megabyte_of_garbage_is_refused_in_linear_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(IntakeError):
        taken(text)
    assert time.process_time() - started < 4  # measured: under 1; quadratic time takes minutes


PIECES = st.sampled_from(
    [
        *'{}[]":,\\ \n',
        *("<think>", "</think>", "```", "```json\n", "1e999", "NaN", "null", TEXT, "\\ud800"),
        *("\ud800", "\x00", '"a"', "{}", '{"a": 1}', "\ufeff", "-", "0", "x"),
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=14).map("".join)))
def test_no_text_raises_anything_but_an_intake_error(text: str) -> None:
    for attempt in (lambda: decode(text), lambda: taken(text), lambda: taken("", reasoning=text)):
        try:
            attempt()
        except IntakeError as error:
            assert error.finding.kind == "parse"  # noqa: PT017 - either outcome is right


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mutated_json_is_decoded_to_something_storable_or_refused(data: st.DataObject) -> None:
    text = json.dumps({"pairs": [GOOD, {"n": [1.5, None, True, "\\ü\n😀"]}]})
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(PIECES) + text[at + data.draw(st.integers(0, 3)) :]
    try:
        value = decode(text)
    except IntakeError:
        return
    stored = json.dumps(value, ensure_ascii=False, allow_nan=False)
    assert "\x00" not in stored
    assert stored.encode()
    assert decode(stored) == value


@settings(max_examples=30, deadline=None)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**30), 10**30)
        | st.floats(allow_nan=False).filter(lambda number: abs(number) != float("inf"))
        | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), inner
            )
        ),
        max_leaves=8,
    )
)
def test_every_storable_value_survives_the_round_trip(value: Any) -> None:
    assert decode(json.dumps(value)) == value
    assert decode(json.dumps(value, ensure_ascii=False)) == value


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (" Bees. \n", "Bees."),
        ("<think>Hm.</think>Bees.", "Bees."),
        ("<think>a</think>\n<reasoning>b</reasoning> Bees.", "Bees."),
        ("Hm, so.</think>\n\nBees.", "Bees."),
        ("<think>never closed", ""),
        ("\ufeffBees <b>think</b>.", "Bees <b>think</b>."),
        ("a\x00b\ud800", "a\ufffdb\ufffd"),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_what_a_reply_says_is_its_text_without_reasoning_before_it(reply: str, text: str) -> None:
    assert said(reply) == text


@given(st.text())
def test_what_a_reply_says_can_be_stored(reply: str) -> None:
    assert "\x00" not in said(reply)
    assert said(reply).encode() is not None
