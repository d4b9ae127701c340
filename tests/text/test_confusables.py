"""What characters look like, at any mixture of scripts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from repurpose.text._confusables import _ALPHABET, skeleton_of


@given(st.text("ab?<é\u0435\uff1c\U0001d400 ", max_size=80), st.integers(0, 200))
def test_a_few_foreign_characters_look_like_many(text: str, plain: int) -> None:
    padded = text + "word " * plain
    assert skeleton_of(padded) == padded.translate(_ALPHABET)
