"""Caps of lists, and texts without what surrounds them."""

from __future__ import annotations

import pytest

from repurpose.checks import MAX_PAIRS, MAX_SENTENCES, capped, non_blank, one_line, trimmed


def test_list_caps_are_8_and_10() -> None:
    assert (MAX_SENTENCES, MAX_PAIRS) == (8, 10)


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
