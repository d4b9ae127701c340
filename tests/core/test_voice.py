"""A voice as a value, and what of it stands in a system prompt."""

from __future__ import annotations

from repurpose.core.steering import Steering
from repurpose.core.voice import Voice


def test_only_banned_words_and_names_stand_in_the_prompt_lines() -> None:
    voice = Voice(
        "acme",
        banned=("game\nchanger",),
        names=("GitHub",),
        disclaimer="No advice.",
        samples=("We open at nine.",),
    )
    lines = Steering(voice=voice).lines()
    assert lines == ('Never use these words: "game changer"\nSpell these names so: "GitHub"')


def test_without_a_voice_the_lines_are_as_they_were() -> None:
    assert Steering(audience="CFOs", tone="dry").lines() == (
        "Write for these readers: CFOs\nTone: dry"
    )
    assert Steering().lines() == ""
    assert Steering(voice=Voice("acme")).lines() == ""


def test_rules_hold_only_what_decides_what_becomes_of_an_answer() -> None:
    assert Voice("acme", audience="CFOs", tone="dry", samples=("x",)).rules == {}
    assert Voice("acme", banned=("a",), disclaimer="b", names=("C",)).rules == {
        "banned": ["a"],
        "disclaimer": "b",
        "names": ["C"],
    }


def test_a_disclaimer_that_ends_a_text_already_is_taken_off_once() -> None:
    voice = Voice("acme", disclaimer=" No advice.\n")
    assert voice.without_notice("We open.\n\nNo advice.\n") == "We open."
    assert voice.without_notice("We open.") == "We open."
    assert voice.without_notice("No advice.") == "No advice."
    assert Voice("acme").without_notice("We open.") == "We open."
