"""Bytes in the character sets that people still use, and bytes that are no text."""

from __future__ import annotations

import random

import pytest

from repurpose.errors import SourceError
from repurpose.sources.base import MAX_BYTES, Raw, decode

SAMPLES = {
    "cp1252-de": ("cp1252", "Die Gemeinde prüft, ob sich die Wärmepumpe für die Bücherei lohnt."),
    "cp1252-es": ("cp1252", "El año pasado la pequeña biblioteca prestó más libros a los niños."),
    "cp1252-pt": ("cp1252", "A câmara não esperava tantas pessoas na reunião sobre a estação."),
    "cp1252-it": (
        "cp1252",
        "La città ha aperto una biblioteca perché i giovani chiedevano più spazio.",
    ),
    "cp1252-da": ("cp1252", "Sidste år lånte kommunen mere end tusind stykker værktøj ud."),
    "cp1252-fi": (
        "cp1252",
        "Viime vuonna kirjasto lainasi yli tuhat työkalua, sillä päätös tehtiin.",
    ),
    "cp1250-pl": ("cp1250", "W zeszłym roku biblioteka wypożyczyła ponad tysiąc narzędzi."),
    "cp1250-cs": ("cp1250", "V minulém roce knihovna půjčila obyvatelům více než tisíc nástrojů."),
    "iso-8859-2": ("iso8859_2", "Mieszkańcy pytają, czy biblioteka mogłaby być czynna w święta."),
    "cp1251-ru": ("cp1251", "В прошлом году библиотека выдала жителям больше тысячи инструментов."),
    "cp1251-uk": ("cp1251", "Минулого року бібліотека видала мешканцям понад тисячу інструментів."),
    "koi8": ("koi8_r", "Многие спрашивают, может ли библиотека работать по воскресеньям."),
    "cp1253": ("cp1253", "Πέρυσι η βιβλιοθήκη δάνεισε στους κατοίκους πάνω από χίλια εργαλεία."),
    "cp1254": ("cp1254", "Geçen yıl kütüphane, mahalle sakinlerine binden fazla alet ödünç verdi."),
    "cp1255": ("cp1255", "בשנה שעברה השאילה הספרייה לתושבים יותר מאלף כלי עבודה."),
    "cp1256": ("cp1256", "في العام الماضي أعارت المكتبة السكان أكثر من ألف أداة."),
    "cp1257": ("cp1257", "Praėjusiais metais biblioteka gyventojams paskolino tūkstantį įrankių."),
    "cp874": ("cp874", "ปีที่แล้วห้องสมุดให้ชาวบ้านยืมเครื่องมือมากกว่าหนึ่งพันชิ้น"),
    "shift-jis": ("shift_jis", "去年、図書館は住民に千個以上の道具を貸し出しました。"),
    "euc-jp": ("euc_jp", "日曜日も開いてほしいという声が多く、職員は春までに決めます。"),
    "iso-2022-jp": ("iso2022_jp", "家で修理をする時間があるのは休みの日だけだからです。"),
    "gb18030": ("gb18030", "去年图书馆向居民出借了一千多件工具。很多人问周日能不能也开门。"),
    "big5": ("big5", "去年圖書館向居民出借了一千多件工具。很多人問週日能不能也開門。"),
    "euc-kr": ("euc_kr", "지난해 도서관은 주민들에게 천 개가 넘는 도구를 빌려주었다."),
    "mac-roman": (
        "mac_roman",
        "Die Gemeinde prüft, ob sich die Wärmepumpe für die Bücherei lohnt.",
    ),
    "cp850": ("cp850", "Die Gemeinde prüft, ob sich die Wärmepumpe für die Bücherei lohnt."),
    "utf-8": ("utf-8", "Größe, 大きさ, размер"),
    "utf-8-bom": ("utf-8-sig", "Größe, 大きさ, размер"),
    "utf-16-bom": ("utf-16", "Größe, 大きさ, размер"),
    "utf-32-bom": ("utf-32", "Größe, 大きさ, размер"),
    "utf-16-le": ("utf-16-le", "The library opened late on Sunday, and nobody minded. Größe."),
    "utf-16-be": ("utf-16-be", "The library opened late on Sunday, and nobody minded. Größe."),
}


def text_of(content: bytes, declared: str | None = None) -> str:
    return decode(Raw("a.txt", content), declared)[0]


@pytest.mark.parametrize("name", SAMPLES)
def test_one_sentence_tells_its_character_set(name: str) -> None:
    charset, sentence = SAMPLES[name]
    assert text_of(sentence.encode(charset)) == sentence


def test_a_few_letters_are_read_as_windows_1252() -> None:
    assert text_of("café".encode("cp1252")) == "café"


def test_a_declared_character_set_counts_before_a_guess() -> None:
    assert text_of("żółw".encode("iso8859_2"), "ISO-8859-2") == "żółw"


@pytest.mark.parametrize("declared", ["utf-9", "hex", "rot13", "\x00", "utf-8", "utf-16", "utf-7"])
def test_a_useless_declaration_is_passed_over(declared: str) -> None:
    assert text_of("Die Wärme für die Bücherei.".encode("cp1252"), declared) == (
        "Die Wärme für die Bücherei."
    )


def test_latin_1_is_read_as_windows_1252() -> None:
    """As browsers do: https://encoding.spec.whatwg.org/#names-and-labels"""
    assert text_of("ein „Wort“".encode("cp1252"), "iso-8859-1") == "ein „Wort“"


def test_utf_8_with_a_broken_byte_is_still_utf_8_and_says_so() -> None:
    text, warnings = decode(Raw("a.txt", ("Größe und Wärme. " * 20).encode() + b"\xff"))
    assert text == "Größe und Wärme. " * 20 + "\ufffd"
    assert len(warnings) == 1
    assert "1 damaged" in warnings[0]


def test_single_controls_in_text_do_not_make_it_binary() -> None:
    assert text_of(b"A bell \x07 and a zero \x00 in some otherwise plain sentence.")


def test_coloured_terminal_output_is_text() -> None:
    assert text_of(b"\x1b[31mred\x1b[0m \x1b[32mgreen\x1b[0m")


@pytest.mark.parametrize(
    "content",
    [
        random.Random(7).randbytes(1024),
        random.Random(8).randbytes(90_000),
        b"\x00\x01\x02\x03" * 100,
        b"text " * 20 + b"\x01\x02\x03\x04" * 5,
        "Die Wärme der Bücherei".encode("cp1252") + b"\x00",
    ],
    ids=["random", "long", "controls", "mixed", "zero byte"],
)
def test_binary_content_is_refused_in_one_line(content: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        decode(Raw("folder/a.md", content))
    assert caught.value.reason == "binary"
    assert caught.value.exit_code == 3
    assert "folder/a.md" in caught.value.message
    assert "\n" not in caught.value.message


def test_content_over_the_limit_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        decode(Raw("a.txt", b"a" * (MAX_BYTES + 1)))
    assert caught.value.reason == "too-large"
    assert "20 MB" in caught.value.message
