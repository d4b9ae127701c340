"""Plain text stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources.base import Raw
from repurpose.sources.text import load


def loaded(text: str) -> Source:
    return load(Raw("notes.txt", text.encode()))


def test_paragraphs_stand_between_blank_lines() -> None:
    source = loaded("One line\nand another.\r\n \t\r\nA second paragraph.\n\n\n\nA third.\n")
    assert [source.text[one.start : one.end] for one in source.blocks] == [
        "One line\nand another.",
        "A second paragraph.",
        "A third.",
    ]
    assert {one.kind for one in source.blocks} == {"paragraph"}


def test_nothing_is_invented() -> None:
    source = loaded("A short line\n\nThe library opened in the evening, and everybody came.")
    assert (source.title, source.author, source.date, source.url) == (None, None, None, None)
    assert source.language == "en"
    assert source.kind == "text"
    assert source.origin == "notes.txt"


def test_typed_entities_and_markup_stay_as_typed() -> None:
    text = "AT&amp;T wrote <b>&lt;b&gt;</b> and # no heading."
    assert loaded(text).text == text


def test_hidden_characters_are_removed_and_counted() -> None:
    source = loaded("A wo\u200brd with\u202e hidden\x00 parts.")
    assert source.text == "A word with hidden parts."
    assert source.hidden == 3


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff\u00a0\u200b\u3000\r\n", "---\n***", "\x00"])
def test_a_text_without_words_is_empty(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        loaded(text)
    assert caught.value.reason == "empty"
    assert "\n" not in caught.value.message


@given(st.text())
def test_every_word_stands_in_exactly_one_paragraph(text: str) -> None:
    try:
        source = load(Raw("-", text.encode("utf-8", "replace")))
    except SourceError:
        return
    place = 0
    for block in source.blocks:
        assert not source.text[place : block.start].strip()
        assert block.start < block.end
        place = block.end
    assert not source.text[place:].strip()
