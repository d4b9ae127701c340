"""Named places in prompts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.core.template import places_in, render
from repurpose.errors import UsageError


def test_what_is_put_into_a_place_is_never_looked_at_again() -> None:
    assert render("{a} {b}", {"a": "{b}", "b": "2"}, name="x") == "{b} 2"


def test_an_unknown_place_is_named_with_its_file() -> None:
    with pytest.raises(UsageError, match=r"prompt faq: unknown place \{titel\}"):
        render("About {titel}", {"title": "x"}, name="faq")


def test_braces_that_are_no_place_stay() -> None:
    text = 'Answer {"a": 1} or { } or {A} or {{'
    assert render(text, {}, name="x") == text


def test_a_line_with_nothing_but_an_empty_place_goes() -> None:
    assert render("one\n{tone}\ntwo", {"tone": ""}, name="x") == "one\ntwo"


def test_places_are_listed_once_and_in_order() -> None:
    assert places_in("{b} {a} {b}") == ("b", "a")


@given(st.text())
def test_template_syntax_in_a_value_is_text(value: str) -> None:
    assert render("<{a}>", {"a": value}, name="x") == f"<{value}>"


def test_a_place_may_be_a_dot_path() -> None:
    assert places_in("{faq.pairs.0.question} {a-b.cD} {.a} {a.} {0.a}") == (
        "faq.pairs.0.question",
        "a-b.cD",
    )
    assert render("<{a.0.b}>", {"a.0.b": "{c}"}, name="x") == "<{c}>"
