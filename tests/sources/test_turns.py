"""From what people say to paragraphs and blocks, whatever file it comes from."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from repurpose.sources import load_bytes
from repurpose.sources._turns import Said, spoken

words = st.lists(st.sampled_from(["bees", "fly.", "Why?", "蜂", "。", "Dr.", "…"]), min_size=1)
said = st.builds(
    Said,
    text=words.map(" ".join),
    start=st.none() | st.floats(0, 9000),
    end=st.none() | st.floats(0, 9000),
    speaker=st.none() | st.sampled_from(["Ann", "Bo"]),
    fresh=st.booleans(),
)


@given(st.lists(said, max_size=25))
def test_blocks_hold_every_word_in_order_and_do_not_overlap(parts: list[Said]) -> None:
    result = spoken(parts)
    assert "\n\n".join(result.text[one.start : one.end] for one in result.blocks) == result.text
    assert all(a.end < b.start for a, b in itertools.pairwise(result.blocks))
    without_names = result.text
    for name in ("Ann: ", "Bo: "):
        without_names = without_names.replace(name, "")
    assert "".join(without_names.split()) == "".join("".join(one.text.split()) for one in parts)


@given(st.lists(said, max_size=25))
def test_a_turn_begins_with_its_name_and_a_paragraph_does_not(parts: list[Said]) -> None:
    result = spoken(parts)
    for one in result.blocks:
        named = result.text[one.start :].startswith(("Ann: ", "Bo: "))
        assert named == (one.kind == "turn")


def test_a_transcript_in_html_gives_the_same_turns_with_their_times() -> None:
    page = (
        b"<cite>Ann:</cite> <time>0:00</time> <p>Welcome to the roof.</p>"
        b"<cite>Bo :</cite> <time>1:02:05</time> <p>It is warm up here.</p>"
    )
    source = load_bytes(page, "talk.html")
    assert source.text == "Ann: Welcome to the roof.\n\nBo: It is warm up here."
    assert [(one.kind, one.time) for one in source.blocks] == [("turn", 0.0), ("turn", 3725.0)]


def test_a_paragraph_never_ends_behind_an_abbreviation() -> None:
    source = spoken([Said("We called Dr. Obi and Mr. Lee again. " * 120)])
    for one in source.blocks:
        assert source.text[one.start : one.end].endswith("again.")
