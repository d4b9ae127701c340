"""Questions that a text answers, with the answers in its own sentences.

In this order, since each kind is a little less the author's own than the one before: headings
that are questions, headings that ask without the mark, questions in the text that the same
paragraph answers, definitions, and at last a template over the remaining headings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from repurpose.engines._extract_article import (
    Article,
    Heading,
    Paragraph,
    Section,
    Sentence,
    joined,
)
from repurpose.engines._extract_fitness import is_question
from repurpose.engines._extract_passages import opening, total_size
from repurpose.engines._extract_phrases import about, defined, question_of
from repurpose.engines._extract_ranking import Ranking
from repurpose.engines._extract_words import glances_back, leans, words_of

__all__ = ["MAX_PAIRS", "Pair", "pairs_of"]

MAX_PAIRS = 10
"""The most pairs an FAQ keeps."""

_ANSWER_SENTENCES = 3
_ENOUGH_WORDS = 75
"""About the longest answer without a list."""
_LEAST_WORDS = 4
"""Less than this answers nothing."""
_QUESTION_WORDS = 25
"""A longer question is hard to read as a heading."""
_TAG = regex.compile(r"[,،、，]\s?\S{1,9}(?:\s\S{1,6})?\s?[?？؟]$")
"""What turns a statement into a question at its very end: `..., right?`, `..., oder?`"""
_LIST_WORDS = 180
"""A list longer than this answers nothing in short; its lead-in is not used then."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the sentences that answer it."""

    question: str
    asked: Heading | Sentence | None
    """What the question repeats word for word; None where it is made by a template."""
    answer: tuple[Sentence, ...]
    items: tuple[Sentence, ...] = ()
    """The list that the answer's last sentence announces, each item's first word by word."""

    @property
    def text(self) -> str:
        """The answer; the items of a list stand on lines of their own."""
        prose = joined(self.answer)
        lines: list[str] = [prose] if prose else []
        last = None
        for item in self.items:
            if item.place == 0 or last is None:
                lines.append(f"- {item.text}")
            else:
                lines[-1] = f"{lines[-1]} {item.text}"
            last = item
        return "\n".join(lines)


def pairs_of(ranking: Ranking) -> list[Pair]:
    """Up to ten pairs, no question and no answer twice; fewer rather than padded."""
    article = ranking.article
    kinds = (
        _question_headings(article),
        _asking_headings(article),
        _questions_in_text(article),
        _definitions(ranking),
        _templates(ranking),
    )
    pairs: list[Pair] = []
    questions: set[str] = set()
    answers: set[str] = set()
    for pair in (pair for kind in kinds for pair in kind):
        key = " ".join(words_of(pair.question)).casefold()
        said = {each.text for each in (*pair.answer, *pair.items)}
        if key in questions or said & answers:
            continue
        questions.add(key)
        answers |= said
        pairs.append(pair)
        if len(pairs) == MAX_PAIRS:
            break
    return pairs or _about_the_whole(article)


def _headed(article: Article) -> Iterator[tuple[Heading, Section]]:
    """Each heading with the section that its text begins in.

    A heading with nothing of its own takes the text of the first heading below it; the title
    takes what stands before the first heading.
    """
    if article.title_heading and article.sections and article.sections[0].heading is None:
        yield article.title_heading, article.sections[0]
    for section in article.sections:
        if section.heading is None:
            continue
        if section.paragraphs:
            yield section.heading, section
            continue
        below = article.sections[section.index + 1 : section.index + 2]
        for other in below:
            if other.heading and other.heading.level > section.heading.level:
                yield section.heading, other


def _question_headings(article: Article) -> Iterator[Pair]:
    for heading, section in _headed(article):
        if is_question(heading.text):
            yield from _answered(heading.text, heading, section.paragraphs)


def _asking_headings(article: Article) -> Iterator[Pair]:
    for heading, section in _headed(article):
        question = question_of(heading.text, article.language)
        if question and not is_question(heading.text):
            yield from _answered(question, heading, section.paragraphs)


def _questions_in_text(article: Article) -> Iterator[Pair]:
    """Questions that stand alone, ask one thing, and are answered by what follows them."""
    for section in article.sections:
        for paragraph in section.paragraphs:
            for asked, following in zip(paragraph.sentences, paragraph.sentences[1:], strict=False):
                if (
                    is_question(asked.text)
                    and not is_question(following.text)
                    and _whole_question(asked, article.language)
                ):
                    rest = paragraph.sentences[following.place :]
                    yield from _answered(asked.text, asked, (Paragraph(paragraph.kind, rest, 0),))


def _whole_question(sentence: Sentence, language: str) -> bool:
    text = sentence.text
    opens_whole = not text[:1].islower() and text[:1] not in "\"“„«「'("
    return (
        _LEAST_WORDS <= sentence.size <= _QUESTION_WORDS
        and opens_whole
        and not _TAG.search(text)
        and ":" not in text
        and "：" not in text
        and not leans(text, sentence.words, language)
        and not glances_back(text, sentence.words, language)
    )


def _definitions(ranking: Ranking) -> Iterator[Pair]:
    """Sentences that say what a thing is, where the text has more to say about the thing."""
    article = ranking.article
    for sentence in article.sentences:
        if not ranking.alone[sentence.index]:
            continue
        found = defined(sentence.text, article.language)
        if found and _matters(found[0], article):
            yield Pair(found[1], None, (sentence,))


def _matters(phrase: str, article: Article) -> bool:
    """Whether the last word of a phrase, its noun, comes back elsewhere in the text.

    A name of several words, which may be a person's, must stand in the title or a heading.
    """
    words = words_of(phrase)
    if len(words) > 1 and all(word[:1].isupper() for word in words):
        headlines = [article.title or "", *(h.text for h, _ in _headed(article))]
        return any(phrase in line for line in headlines)
    noun = words[-1].casefold()
    return sum(1 for each in article.sentences if noun in each.text.casefold()) >= 2


def _templates(ranking: Ranking) -> Iterator[Pair]:
    """Any heading whose section has a passage that can be published, under a question of ours."""
    article = ranking.article
    for heading, section in _headed(article):
        if heading is article.title_heading or is_question(heading.text):
            continue
        text = heading.text.rstrip(" :：.。।")
        if len(words_of(text)) and not question_of(text, article.language):
            asked = heading if about(text, article.language) == text else None
            for pair in _answered(about(text, article.language), asked, section.paragraphs):
                if any(ranking.complete[each.index] for each in pair.answer):
                    yield pair


def _about_the_whole(article: Article) -> list[Pair]:
    """One pair over the title, for a text without headings, questions and definitions."""
    paragraphs = [each for section in article.sections for each in section.paragraphs]
    if not article.title:
        return []
    return list(_answered(about(article.title, article.language), None, paragraphs))[:1]


def _answered(
    question: str, asked: Heading | Sentence | None, paragraphs: Sequence[Paragraph]
) -> Iterator[Pair]:
    """The pair of a question and the first passage that can answer it, if there is one.

    A question, and what is said before it, is no answer to another question. A sentence that
    announces a list takes the list along or is left out itself.
    """
    answer = opening(
        paragraphs,
        sentences=_ANSWER_SENTENCES,
        words=_ENOUGH_WORDS,
        begins=lambda each: not is_question(each.text),
        goes_on=lambda each: not is_question(each.text),
    )
    items: tuple[Sentence, ...] = ()
    for place, sentence in enumerate(answer):
        if sentence.text.endswith((":", "：")):
            items = _list_after(paragraphs, sentence)
            answer = answer[: place + 1] if items else answer[:place]
            break
    if total_size((*answer, *items)) >= _LEAST_WORDS:
        yield Pair(question, asked, tuple(answer), items)


def _list_after(paragraphs: Sequence[Paragraph], announcing: Sentence) -> tuple[Sentence, ...]:
    """The sentences of the list that begins right after a sentence; empty where none does."""
    place = next(at for at, paragraph in enumerate(paragraphs) if announcing in paragraph.sentences)
    following = paragraphs[place + 1 : place + 2]
    last = paragraphs[place].sentences[-1] is announcing
    if not last or not following or following[0].kind != "list":
        return ()
    items: list[Sentence] = []
    for paragraph in paragraphs[place + 1 :]:
        if paragraph.kind != "list" or paragraph.list_number != following[0].list_number:
            break
        items.extend(paragraph.sentences)
    return tuple(items) if total_size(items) <= _LIST_WORDS else ()
