"""A newsletter issue: the title, a teaser, and how each part of the text begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repurpose.engines._extract_article import Heading, Paragraph, Sentence, joined
from repurpose.engines._extract_passages import opening, total_size
from repurpose.engines._extract_phrases import read_more
from repurpose.engines._extract_ranking import Ranking, inviting, usable

__all__ = ["Issue", "issue_of"]

_SUBJECT = 60
"""Characters of a subject line that mail programs show; a guide for choosing, never a cut."""
_PREHEADER = 100
"""Characters of a preheader that mail programs show; likewise."""
_PARAGRAPHS = 5
_LEAST_WORDS = 12
"""A passage with fewer words is a paragraph only where there are no others."""
_FEW_SECTIONS = 3
"""With fewer sections than this, each paragraph counts as one."""
_SENTENCES = 5
_WORDS = 75
"""About the longest paragraph; a shorter one is never filled up."""


@dataclass(frozen=True, slots=True)
class Issue:
    """The parts of an issue; what stands in the source word for word is in `quoted`."""

    subject: str
    preheader: str
    paragraphs: tuple[str, ...]
    call_to_action: str
    quoted: tuple[Heading | Sentence, ...]


def issue_of(ranking: Ranking) -> Issue:
    """An issue made of the article's title, sentences and address."""
    article = ranking.article
    subject, subject_from = _subject(ranking)
    passages = _passages(ranking)
    taken = {each.index for passage in passages for each in passage}
    preheader = _preheader(ranking, taken, subject)
    if article.url and article.url.startswith(("http://", "https://")):
        action = read_more(article.url, article.language)
    else:
        action = article.title or _last_word(ranking)
    quoted = [*([subject_from] if subject_from else []), preheader]
    quoted.extend(each for passage in passages for each in passage)
    return Issue(
        subject=subject,
        preheader=preheader.text,
        paragraphs=tuple(joined(passage) for passage in passages),
        call_to_action=action,
        quoted=tuple(quoted),
    )


def _subject(ranking: Ranking) -> tuple[str, Heading | Sentence | None]:
    """The title if it is short enough; else a short sentence; else the title as it is."""
    article = ranking.article
    if article.title and len(article.title) <= _SUBJECT:
        return article.title, article.title_heading
    short = [
        each
        for each in article.sentences
        if ranking.alone[each.index] and len(each.text) <= _SUBJECT
    ]
    found = ranking.best(short, 1, bonus=inviting)
    if found:
        return found[0].text, found[0]
    if article.title:
        return article.title, article.title_heading
    headings = [each.heading for each in article.sections if each.heading]
    if headings:
        return headings[0].text, headings[0]
    shortest = min(article.sentences, key=lambda each: (len(each.text), each.index))
    return shortest.text, shortest


def _last_word(ranking: Ranking) -> str:
    """What a text without address and title ends with."""
    return usable(ranking, ranking.article.sentences)[-1].text


def _passages(ranking: Ranking) -> list[list[Sentence]]:
    """The lead and the openings of the sections with the most to say, in text order."""
    sections = [each.paragraphs for each in ranking.article.sections if each.paragraphs]
    if len(sections) < _FEW_SECTIONS:
        sections = [(paragraph,) for paragraphs in sections for paragraph in paragraphs]
    openings = [_opening(ranking, paragraphs) for paragraphs in sections]
    found = [passage for passage in openings if passage]
    full = [passage for passage in found if total_size(passage) >= _LEAST_WORDS]
    found = full if len(full) > 1 else found
    if not found:
        return [usable(ranking, ranking.article.sentences)[:_SENTENCES]]
    lead, others = found[0], found[1:]
    others.sort(key=lambda passage: (-_worth(ranking, passage), passage[0].index))
    return [lead, *sorted(others[: _PARAGRAPHS - 1], key=lambda passage: passage[0].index)]


def _worth(ranking: Ranking, passage: list[Sentence]) -> float:
    return sum(ranking.scores[each.index] for each in passage) / len(passage)


def _opening(ranking: Ranking, paragraphs: Sequence[Paragraph]) -> list[Sentence]:
    """Some sentences in a row from the first paragraph that can open a text of its own."""
    return opening(
        paragraphs,
        sentences=_SENTENCES,
        words=_WORDS,
        begins=lambda each: ranking.alone[each.index] and each.place == 0,
        goes_on=lambda each: ranking.complete[each.index],
    )


def _preheader(ranking: Ranking, taken: set[int], subject: str) -> Sentence:
    """A short sentence that invites, rather from the lead, rather one not repeated below."""

    def bonus(sentence: Sentence) -> float:
        return inviting(sentence) * (0.8 if sentence.index in taken else 1.0)

    pool = usable(ranking, ranking.article.sentences)
    short = [each for each in pool if len(each.text) <= _PREHEADER and each.text != subject]
    found = ranking.best(short, 1, bonus=bonus)
    if found:
        return found[0]
    return min(pool, key=lambda each: (len(each.text), each.index))
