"""What differs between texts, word by word."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.text.differing import three_way, word_changes

WORDS = st.lists(st.sampled_from(["we", "open", " ", "in", "May.", "\n\n", "開", "👩‍👩‍👧", "é"]))
TEXTS = WORDS.map("".join) | st.text()


@given(TEXTS, TEXTS)
def test_the_pieces_are_both_texts_letter_for_letter(before: str, after: str) -> None:
    changes = word_changes(before, after)
    assert "".join(text for kind, text in changes if kind != "insert") == before
    assert "".join(text for kind, text in changes if kind != "delete") == after
    assert all(text for _, text in changes)
    assert all(one[0] != other[0] for one, other in pairwise(changes))


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert word_changes(text, text) == ((("equal", text),) if text else ())


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (
            "We open in May.",
            "We open in June.",
            (("equal", "We open in "), ("delete", "May"), ("insert", "June"), ("equal", ".")),
        ),
        (
            "a quick brown fox",
            "a slow red fox",
            (
                ("equal", "a "),
                ("delete", "quick brown "),
                ("insert", "slow red "),
                ("equal", "fox"),
            ),
        ),
        ("", "new", (("insert", "new"),)),
        ("今日は晴れ", "今日は雨", (("equal", "今日は"), ("delete", "晴れ"), ("insert", "雨"))),
        (
            "It's on.",
            "It isn't on.",
            (("delete", "It's "), ("insert", "It isn't "), ("equal", "on.")),
        ),
    ],
)
def test_whole_words_change_and_a_deletion_stands_first(
    before: str, after: str, changes: tuple[tuple[str, str], ...]
) -> None:
    assert word_changes(before, after) == changes


def test_no_grapheme_is_parted() -> None:
    changes = word_changes("x 👩‍👩‍👧", "x 👩‍👩‍👦")
    assert changes == (("equal", "x "), ("delete", "👩‍👩‍👧"), ("insert", "👩‍👩‍👦"))


def test_both_sides_are_compared_with_what_they_come_from() -> None:
    found = three_way("one two", "one three", "zero one two")
    assert [kind for kind, _ in found.mine] == ["equal", "delete", "insert"]
    assert found.theirs == (("insert", "zero "), ("equal", "one two"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ab " * 50_000, "ba " * 50_000),
        ("a b c " * 2_000, "c b a " * 2_000),
        ("x" * 300_000, "y" * 300_000),
        (" \n" * 50_000, "\n " * 50_000),
    ],
)
def test_hostile_texts_take_no_longer_than_others(before: str, after: str) -> None:
    began = time.perf_counter()
    word_changes(before, after)
    assert time.perf_counter() - began < 3
