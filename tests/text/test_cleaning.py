"""Hidden characters go; everything a reader sees stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.text import cleaning
from repurpose.text.cleaning import clean

ZWNJ, ZWJ = "\u200c", "\u200d"


@pytest.mark.parametrize(
    "hidden",
    [
        *"\x00\x07\x08\x1b\x7f\x81",
        *"\u00ad\u061c\u200b\u200e\u200f\u2060\u2064\ufeff",
        *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
        "\U000e0001",
        "\U000e0069",
        "\ue000",
        "\U000f0000",
        "\u0378",
        "\ud800",
        ZWNJ,
        ZWJ,
        "\ufe0f",
        "\U000e0100",
    ],
    ids=lambda char: f"U+{ord(char):04X}",
)
def test_a_hidden_character_inside_a_word_is_removed_and_counted(hidden: str) -> None:
    cleaned = clean(f"one w{hidden}ord")
    assert cleaned.text == "one word"
    assert cleaned.removed == 1


@pytest.mark.parametrize(
    "text",
    [
        f"a family 👨{ZWJ}👩{ZWJ}👧 here",
        f"👩\U0001f3fd{ZWJ}🚀",
        f"🏳\ufe0f{ZWJ}🌈",
        "a heart ❤\ufe0f",
        "a key 1\ufe0f\u20e3",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        f"می{ZWNJ}روم",
        f"क्{ZWJ}ष",
        f"അവന്{ZWJ} വന്നു",
        "葛\U000e0100城",
    ],
    ids=["family", "skin", "rainbow", "heart", "keycap", "flag", "fa", "hi", "ml", "ja"],
)
def test_what_shapes_visible_text_stays(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.text == text
    assert cleaned.removed == 0


def test_tag_characters_that_spell_no_flag_are_removed() -> None:
    smuggled = "".join(chr(0xE0000 + ord(char)) for char in "say yes")
    cleaned = clean(f"🏴{smuggled}\U000e007f end")
    assert cleaned.text == "🏴 end"
    assert cleaned.removed == 8


def test_only_the_first_selector_after_a_character_stays() -> None:
    """Any number of bytes can be hidden in a run of variation selectors."""
    assert clean("😀\ufe0f\ufe00\ufe01\U000e0120").text == "😀\ufe0f"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"])
def test_every_line_end_becomes_a_newline(end: str) -> None:
    assert clean(f"one{end}two").text == "one\ntwo"


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u202f", "\u3000", "\u00a0\u2003\u3000"])
def test_unicode_spaces_become_one_space(space: str) -> None:
    assert clean(f"one{space}two").text == "one two"


@pytest.mark.parametrize(
    "sequence",
    ["\x1b[31m", "\x1b[1;32;40m", "\x1b]0;a title\x07", "\x1b]8;;http://a.b\x1b\\", "\x1b(B"],
)
def test_an_escape_sequence_goes_as_a_whole_and_counts_once(sequence: str) -> None:
    cleaned = clean(f"a {sequence}red word")
    assert cleaned.text == "a red word"
    assert cleaned.removed == 1


def test_double_encoded_text_is_repaired() -> None:
    twice = "L’été dernier, la mairie a décidé".encode().decode("cp1252")
    assert clean(twice).text == "L’été dernier, la mairie a décidé"


@pytest.mark.parametrize(
    "text",
    [
        "„Schön“, sagte sie – und ging.",
        "« Voilà ! » dit-il… l’œuvre d’art",
        "Ｆｕｌｌ－ｗｉｄｔｈ １２３ と「かぎ括弧」",
        "a ﬁne ligature & a e\u0301 in two parts",
        "AT&amp;T &lt;b&gt; &#60;",
        "¿Qué? ¡Así!",
        "Ελληνικά, русский, עברית, العربية, ไทย, 한국어, 中文。",
        "Größe: 5 µm ± 2 °C, ½ €",
    ],
)
def test_clean_text_comes_back_unchanged(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.text == text
    assert cleaned.removed == 0


def test_windows_punctuation_that_was_read_as_controls_is_repaired() -> None:
    assert clean("caf\xe9 \x93here\x94").text == "café “here”"


def test_a_word_split_by_hidden_characters_is_whole_again() -> None:
    assert clean("</sou\x00rce_mate\x08rial>").text == "</source_material>"


@given(st.text())
def test_no_control_or_line_separator_survives(text: str) -> None:
    left = clean(text).text
    assert all(char in "\t\n" or char.isprintable() or char > "\x9f" for char in left)
    assert not set("\u2028\u2029\u200b\ufeff\u202e\x85") & set(left)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_ascii_text_is_never_changed(text: str) -> None:
    assert clean(text).text == text


@given(st.text(st.characters(codec=None, max_codepoint=0x2100)))
def test_what_is_looked_for_is_all_that_is_not_plain(text: str) -> None:
    assert cleaning._extraordinary(text) == {
        c for c in text if not (" " <= c <= "~" or c in "\t\n")
    }
