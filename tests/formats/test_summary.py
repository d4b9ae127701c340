"""The summary: at most eight readable sentences, joined as the language joins them."""

from __future__ import annotations

import pytest

from repurpose.errors import UnusableOutput
from repurpose.formats.base import FinishContext, Finished
from repurpose.formats.summary import SummaryContent, build


def finish(sentences: list[str], language: str | None = "en") -> Finished:
    return build().finish({"sentences": sentences}, FinishContext(language=language))


def test_sentences_are_trimmed_and_joined_by_one_space() -> None:
    finished = finish(["  First.  ", "Second.\n"])
    assert finished.pieces[0].text == "First. Second."
    assert finished.content == SummaryContent(("First.", "Second."))
    assert finished.fields == {"sentences": ["First.", "Second."]}
    assert finished.notes == ()


def test_of_11_sentences_8_are_kept() -> None:
    finished = finish([f"Sentence {n}." for n in range(1, 12)])
    assert finished.fields["sentences"] == [f"Sentence {n}." for n in range(1, 9)]
    assert finished.notes == ("11 sentences, the first 8 kept",)


def test_a_thin_summary_is_kept() -> None:
    assert finish(["Only one."]).pieces[0].text == "Only one."


def test_blank_sentences_are_dropped() -> None:
    finished = finish(["", "One.", "  \n", "Two."])
    assert finished.pieces[0].text == "One. Two."
    assert finished.notes == ("2 blank sentences dropped",)


@pytest.mark.parametrize("sentences", [[], ["", "  ", "\u200b"]])
def test_nothing_to_read_is_unusable(sentences: list[str]) -> None:
    with pytest.raises(UnusableOutput, match=r"^the answer has no sentence$"):
        finish(sentences)


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "一。二。"), ("zh-Hans", "一。二。"), ("ko", "一。 二。"), (None, "一。 二。")],
)
def test_japanese_and_chinese_put_no_space_between_sentences(
    language: str | None, text: str
) -> None:
    assert finish(["一。", "二。"], language).pieces[0].text == text


def test_its_one_piece_has_a_length_and_no_limit() -> None:
    (piece,) = finish(["Größe 🎉."]).pieces
    assert piece.variant == "default"
    assert (piece.measures.length, piece.measures.unit) == (8, "code_points")
    assert piece.measures.max_length is None
    assert not piece.measures.shortened
    assert piece.content == {"sentences": ["Größe 🎉."]}
