"""Sentences that stand in a row: what an answer and a newsletter's paragraph are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from repurpose.engines._extract_article import Paragraph, Sentence

__all__ = ["opening", "total_size"]

_THIN = 25
"""A passage with fewer words than this goes on into the next paragraph."""


def total_size(sentences: Sequence[Sentence]) -> float:
    """The size of sentences together, in words."""
    return sum(each.size for each in sentences)


def opening(
    paragraphs: Sequence[Paragraph],
    *,
    sentences: int,
    words: float,
    begins: Callable[[Sentence], bool],
    goes_on: Callable[[Sentence], bool],
) -> list[Sentence]:
    """The first passage of `paragraphs` that can stand for them: a run of sentences in a row.

    It begins where `begins` allows it, in the first paragraph that offers anything, and goes on
    while `goes_on` does, up to `sentences` sentences and about `words` words. A thin passage
    goes on into the next paragraph, but never past a list or a quotation.
    """
    run: list[Sentence] = []
    for paragraph in paragraphs:
        if paragraph.kind != "paragraph":
            if run:
                break
            continue
        for sentence in _from_first(paragraph.sentences, begins):
            if len(run) == sentences or (run and total_size((*run, sentence)) > words):
                return run
            if not goes_on(sentence):
                break
            run.append(sentence)
        if total_size(run) >= _THIN:
            break
    return run


def _from_first(
    sentences: Sequence[Sentence], begins: Callable[[Sentence], bool]
) -> Iterator[Sentence]:
    """The sentences of a paragraph from the first that may begin a passage; none if it has none."""
    for place, sentence in enumerate(sentences):
        if begins(sentence):
            yield from sentences[place:]
            return
