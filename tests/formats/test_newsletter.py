"""The newsletter: all four parts or none, and exactly one call to action."""

from __future__ import annotations

from typing import Any

import pytest

from repurpose.errors import UnusableOutput
from repurpose.formats.base import FinishContext, Finished
from repurpose.formats.newsletter import NewsletterContent, build

WHOLE: dict[str, Any] = {
    "subject": "Drills for everybody",
    "preheader": "What the loan records say.",
    "paragraphs": ["The library lends tools.", "Most of them come back."],
    "callToAction": "Borrow one.",
}


def finish(**changed: Any) -> Finished:
    return build().finish({**WHOLE, **changed}, FinishContext(language="en"))


def test_the_text_has_labelled_head_then_paragraphs_then_the_call_to_action() -> None:
    assert finish().pieces[0].text == (
        "Subject: Drills for everybody\n"
        "Preheader: What the loan records say.\n"
        "\n"
        "The library lends tools.\n"
        "\n"
        "Most of them come back.\n"
        "\n"
        "Borrow one."
    )


def test_content_and_fields_hold_the_four_parts() -> None:
    finished = finish(subject="  Drills for everybody ")
    assert finished.fields == WHOLE
    assert finished.content == NewsletterContent(
        "Drills for everybody",
        "What the loan records say.",
        ("The library lends tools.", "Most of them come back."),
        "Borrow one.",
    )


def test_blank_paragraphs_are_dropped() -> None:
    finished = finish(paragraphs=["", "One.", " \n "])
    assert finished.fields["paragraphs"] == ["One."]
    assert finished.notes == ("2 blank paragraphs dropped",)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"subject": ""}, "the answer lacks subject"),
        ({"preheader": "  "}, "the answer lacks preheader"),
        ({"paragraphs": ["  "]}, "the answer lacks paragraphs"),
        ({"paragraphs": []}, "the answer lacks paragraphs"),
        ({"callToAction": "\n"}, "the answer lacks callToAction"),
        ({"subject": "", "preheader": ""}, "the answer lacks subject, preheader"),
        (
            {"subject": "", "preheader": "", "paragraphs": ["  "], "callToAction": ""},
            "the answer lacks subject, preheader, paragraphs, callToAction",
        ),
    ],
)
def test_each_missing_part_is_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UnusableOutput) as caught:
        finish(**changed)
    assert caught.value.message == message


def test_a_subject_stays_on_its_line() -> None:
    """A line break in a subject would begin another field of an e-mail."""
    assert finish(subject="Hello\r\nBcc: everyone").fields["subject"] == "Hello Bcc: everyone"


def test_prompt_only_limits_are_not_enforced() -> None:
    finished = finish(subject="s" * 61, preheader="p" * 101, paragraphs=["x."] * 6)
    assert finished.notes == ()
