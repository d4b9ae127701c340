"""The FAQ: at most ten complete pairs, labelled in the language of the text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.errors import UnusableOutput
from repurpose.formats.base import FinishContext, Finished
from repurpose.formats.faq import FaqContent, Pair, build, faq_json_ld


def finish(pairs: list[Any], language: str | None = "en") -> Finished:
    return build().finish({"pairs": pairs}, FinishContext(language=language))


def pair(question: str, answer: str) -> dict[str, str]:
    return {"question": question, "answer": answer}


def test_pairs_are_trimmed_and_rendered_with_labels() -> None:
    finished = finish([pair(" Why? ", " Because.\n"), pair("How?", "Slowly.")])
    assert finished.pieces[0].text == "Q: Why?\nA: Because.\n\nQ: How?\nA: Slowly."
    assert finished.content == FaqContent((Pair("Why?", "Because."), Pair("How?", "Slowly.")))
    assert finished.fields == {"pairs": [pair("Why?", "Because."), pair("How?", "Slowly.")]}
    assert finished.notes == ()


def test_incomplete_pairs_are_dropped_before_ten_of_twelve_are_kept() -> None:
    complete = [pair(f"Q{n}", f"A{n}") for n in range(1, 13)]
    finished = finish(
        [pair("Q0", "  "), "no object", *complete, pair("", "A13"), {"answer": "A14"}]
    )
    assert isinstance(finished.content, FaqContent)
    assert [kept.question for kept in finished.content.pairs] == [f"Q{n}" for n in range(1, 11)]
    assert finished.notes == ("4 incomplete pairs dropped", "12 pairs, the first 10 kept")


def test_one_dropped_pair_is_told_in_the_singular() -> None:
    assert finish([pair("Q", "A"), pair("Q", "")]).notes == ("1 incomplete pair dropped",)


def test_four_pairs_are_enough() -> None:
    finished = finish([pair(f"Q{n}", "A") for n in range(4)])
    assert isinstance(finished.content, FaqContent)
    assert len(finished.content.pairs) == 4
    assert finished.notes == ()


@pytest.mark.parametrize("pairs", [[], [pair("Why?", " ")], [pair("\u200b", "Because.")], ["x"]])
def test_no_complete_pair_is_unusable(pairs: list[Any]) -> None:
    with pytest.raises(UnusableOutput, match=r"^the answer has no complete pair$"):
        finish(pairs)


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("de", "F:", "A:"),
        ("de-AT", "F:", "A:"),
        ("en", "Q:", "A:"),
        ("fr", "Q :", "R :"),
        ("es", "P:", "R:"),
        ("ja", "Q:", "A:"),
        ("gsw", "Q:", "A:"),
        (None, "Q:", "A:"),
    ],
)
def test_labels_follow_the_language(language: str | None, question: str, answer: str) -> None:
    finished = finish([pair("x?", "y")], language)
    assert finished.pieces[0].text == f"{question} x?\n{answer} y"


def test_a_question_stays_on_its_line_and_an_answer_keeps_its_paragraphs() -> None:
    finished = finish([pair("Why\nnow?", "First.\n\nSecond.")])
    assert finished.pieces[0].text == "Q: Why now?\nA: First.\n\nSecond."


# --- JSON-LD ----------------------------------------------------------------------------------


def test_json_ld_is_a_faq_page_in_the_language_of_the_text() -> None:
    page = json.loads(faq_json_ld([Pair("Warum?", "Darum.")], "de"))  # noqa: TID251 - our own text
    assert page == {
        "@context": "https://schema.org",
        "@type": "FAQPage",
        "inLanguage": "de",
        "mainEntity": [
            {
                "@type": "Question",
                "name": "Warum?",
                "acceptedAnswer": {"@type": "Answer", "text": "Darum."},
            }
        ],
    }


def test_json_ld_without_a_known_language_claims_none() -> None:
    assert "inLanguage" not in faq_json_ld([Pair("Why?", "So.")], None)


def test_json_ld_cannot_end_its_script_element() -> None:
    question = "What is </script><!-- & \u2028?"
    written = faq_json_ld([Pair(question, "A tag.")], "en")
    assert not set("<>&\u2028\u2029") & set(written)
    page = json.loads(written)  # noqa: TID251 - our own text
    assert page["mainEntity"][0]["name"] == question


@given(st.text(), st.text())
def test_json_ld_decodes_back_unchanged(question: str, answer: str) -> None:
    written = faq_json_ld([Pair(question, answer)], "en")
    assert not set("<>&\u2028\u2029") & set(written)
    (entry,) = json.loads(written)["mainEntity"]  # noqa: TID251 - our own text
    assert (entry["name"], entry["acceptedAnswer"]["text"]) == (question, answer)
