"""The sentences of a text that a person edited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repurpose.text.sentences import Segmenter, sentence_spans
from repurpose.text.trimming import one_line

__all__ = ["sentences_of"]

_UNSPACED = "\u2e80"
"""Where the scripts begin that put no space between sentences."""


def sentences_of(
    text: str, before: Sequence[str], language: str | None, segmenter: Segmenter | None
) -> Iterator[str]:
    """The sentences of an edited text; those that were there before stay one each."""

    def parted(stretch: str) -> Iterator[str]:
        for start, end in sentence_spans(stretch, language, segmenter=segmenter):
            yield one_line(stretch[start:end])

    place = 0
    for sentence in before:
        start = text.find(sentence, place)
        if start < 0 or not sentence or _is_within_a_word(text, start, start + len(sentence)):
            continue
        yield from parted(text[place:start])
        yield sentence
        place = start + len(sentence)
    yield from parted(text[place:])


def _is_within_a_word(text: str, start: int, end: int) -> bool:
    edges = (text[max(0, start - 1) : start + 1], text[end - 1 : end + 1])
    return any(len(edge) == 2 and edge.isalnum() and max(edge) < _UNSPACED for edge in edges)
