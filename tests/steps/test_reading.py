"""Whether a call fits, and what a run from a brief will take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repurpose.core.call import Call
from repurpose.core.source import Source
from repurpose.steps.briefs import BRIEF
from repurpose.steps.reading import Window, foreseen
from repurpose.text.tokens import IN_HAND, estimated_tokens


def call(words: int, *, format: str = "summary", output_tokens: int | None = None) -> Call:
    """A call whose source is so many words of 22 hundredths times five tokens."""
    text = "bird " * words
    return Call(
        format=format,
        system="rule " * 100,
        user=f"<fence>\n{text}\n</fence>",
        schema={},
        wire={"type": "object"},
        source=Source(text, "-", "text"),
        output_tokens=output_tokens,
    )


def test_a_prompt_is_all_that_is_sent() -> None:
    asked = call(1000)
    sent = estimated_tokens(asked.system) + estimated_tokens(asked.user)
    assert sent <= Window(8_000).prompt(asked) <= sent + 30
    by_server = Window(8_000, schema_in_prompt=False)
    assert by_server.prompt(asked) > Window(8_000).prompt(asked)


@pytest.mark.parametrize("words", [100, 1_000, 3_000])
def test_what_is_spare_leaves_the_estimates_error_and_a_reply(words: int) -> None:
    window = Window(8_000)
    spare = window.spare(call(words))
    whole = spare + window.overhead(call(words))
    assert IN_HAND * whole + 1_000 <= 8_000
    assert IN_HAND * whole + 1_030 >= 8_000


def test_a_call_fits_as_long_as_its_source_does() -> None:
    window = Window(8_000)
    most = window.spare(call(10)) * 100 // 110
    assert window.fits(call(most - 20))
    assert not window.fits(call(most + 20))


def test_a_model_that_counts_more_has_less_room() -> None:
    window = Window(8_000)
    assert window.spare(call(10), 1.5) < 0.7 * window.spare(call(10))
    assert not window.fits(call(5_000), 1.5)


def test_the_users_budget_for_the_reply_is_kept_free() -> None:
    window = Window(8_000)
    assert window.spare(call(10, output_tokens=4_000)) < window.spare(call(10)) - 2_000


def test_no_more_is_kept_free_than_the_model_can_answer() -> None:
    assert Window(128_000, 4_096).spare(call(10)) > Window(128_000).spare(call(10))


def test_a_part_is_never_so_long_that_its_points_would_tell_too_little() -> None:
    assert Window(1_000_000).spare(call(10, format=BRIEF)) == 100_000
    assert Window(1_000_000).spare(call(10)) > 800_000


def test_all_calls_and_tokens_are_foreseen() -> None:
    window = Window(16_000)
    parts = [call(9_000, format=BRIEF)] * 3
    formats = [call(27_000)] * 2
    whole = foreseen(window, parts, 0, formats)
    assert whole.calls == 5
    assert whole.tokens > 3 * 9_000 * 1.1
    resumed = foreseen(window, parts, 2, formats)
    assert resumed.calls == 3
    assert resumed.tokens < whole.tokens - 2 * 9_000
    assert foreseen(window, parts, 3, formats).calls == 2


def test_notes_that_do_not_fit_are_foreseen_to_be_merged() -> None:
    window = Window(4_096)
    part = call(1_000, format=BRIEF)
    few = foreseen(window, [part] * 2, 0, [call(2_000)])
    many = foreseen(window, [part] * 40, 0, [call(40_000)])
    assert few.calls == 3
    assert many.calls > 41


def test_nothing_is_foreseen_for_nothing() -> None:
    assert foreseen(Window(4_096), [], 0, [call(10)]).calls == 0
    assert foreseen(Window(100), [call(10)], 0, [replace(call(10), format="faq")]).calls == 2
