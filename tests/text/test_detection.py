"""Languages found offline, and doubt where there is reason for it."""

from __future__ import annotations

import pytest

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
