"""How much a sentence says about its article, and a choice of sentences that do not repeat.

A sentence is worth what it shares with all others (the mean cosine of TF-IDF vectors, computed
in linear time as the product with their sum), with the title, and what its place and a number
in it promise. It loses where it cannot stand alone. A choice weighs that against likeness to
what is chosen already (maximal marginal relevance, Carbonell and Goldstein 1998), looked up in
an inverted index.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import regex

from repurpose.engines._extract_article import Article, Sentence
from repurpose.engines._extract_fitness import manner, may_be_published, stands_alone
from repurpose.engines._extract_terms import Terms

__all__ = ["Ranking", "inviting", "ranked", "usable"]

_REDUNDANCY = 0.5
"""How much of a full likeness to a chosen sentence is taken off a score."""
_TOO_ALIKE = 0.55
"""Two sentences this alike say the same; the second is never chosen."""

_SECTIONED = 4
"""With fewer sections than this, paragraphs are what an article is divided into."""

_NUMBER = regex.compile(r"\p{Nd}")
_AMOUNT = regex.compile(r"\p{Nd}\s?[%％]|[$€£¥₹]\s?\p{Nd}|\p{Nd}\s?[€$£円元]")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The worth of each sentence of an article, by its index."""

    article: Article
    terms: Terms
    """What its words are compared by."""
    scores: tuple[float, ...]
    groups: tuple[int, ...]
    """What each sentence belongs to: its section, or its paragraph where sections are few."""
    complete: tuple[bool, ...]
    """Whether the sentence is prose that may be published: whole, no fragment, no question."""
    alone: tuple[bool, ...]
    """Whether it is complete and can be understood without the one before."""
    _vectors: tuple[dict[str, float], ...]
    _postings: dict[str, list[tuple[int, float]]]

    def best(
        self,
        pool: Iterable[Sentence],
        count: int,
        *,
        per_group: int | None = None,
        again: float = 1.0,
        bonus: Callable[[Sentence], float] = lambda _: 1.0,
        beside: Iterable[Sentence] = (),
        fits: Callable[[Sequence[Sentence], Sentence], bool] = lambda _chosen, _next: True,
    ) -> list[Sentence]:
        """Up to `count` sentences of `pool`, the most telling first, no two of them alike.

        `bonus` multiplies a score, and `again` that of what stands in a group that has its
        sentence already. `beside` are sentences that the choice must not repeat, and `fits` may
        refuse a sentence in view of those chosen so far.
        """
        left = {each.index: self.scores[each.index] * bonus(each) for each in pool}
        likeness: defaultdict[int, float] = defaultdict(float)
        for each in beside:
            left.pop(each.index, None)
            self._compare(each, likeness)
        groups: Counter[int] = Counter()
        chosen: list[Sentence] = []

        def acceptable(index: int) -> bool:
            full = per_group is not None and groups[self.groups[index]] >= per_group
            alike = likeness[index] > _TOO_ALIKE
            return not full and not alike and fits(chosen, self.article.sentences[index])

        while left and len(chosen) < count:
            index = self._next(left, likeness, acceptable)
            if index is None:
                break
            chosen.append(self.article.sentences[index])
            self._compare(chosen[-1], likeness)
            group = self.groups[index]
            groups[group] += 1
            if groups[group] == 1 and again != 1.0:
                for at in left:
                    left[at] *= again if self.groups[at] == group else 1.0
        return chosen

    def _next(
        self,
        left: dict[int, float],
        likeness: dict[int, float],
        acceptable: Callable[[int], bool],
    ) -> int | None:
        """The best acceptable sentence, taken out of `left` with the better ones before it.

        What is refused once stays refused: groups only fill, and posts only grow.
        """
        for index in sorted(left, key=lambda at: (_REDUNDANCY * likeness[at] - left[at], at)):
            del left[index]
            if acceptable(index):
                return index
        return None

    def _compare(self, sentence: Sentence, likeness: dict[int, float]) -> None:
        """Raise each sentence's likeness to the most alike of those compared so far."""
        products: defaultdict[int, float] = defaultdict(float)
        for term, weight in self._vectors[sentence.index].items():
            for index, other in self._postings[term]:
                products[index] += weight * other
        for index, product in products.items():
            likeness[index] = max(likeness[index], product)


def inviting(sentence: Sentence) -> float:
    """How much better than others a sentence opens a text of its own.

    An author's first sentence is made for that; the rest of the lead is the next best.
    """
    if sentence.section == 0 and sentence.index == 0:
        return 1.6
    return 1.2 if sentence.section == 0 and sentence.index == sentence.place else 1.0


def ranked(article: Article) -> Ranking:
    """The worth of every sentence of the article."""
    terms = Terms(article.language)
    vectors = _vectors(article, terms)
    postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    total: defaultdict[str, float] = defaultdict(float)
    for index, vector in enumerate(vectors):
        for term, weight in vector.items():
            postings[term].append((index, weight))
            total[term] += weight
    central = [sum(w * total[term] for term, w in vector.items()) for vector in vectors]
    most = max(central, default=0.0) or 1.0
    title = _title_weights(article, terms, postings)
    language = article.language
    complete = tuple(may_be_published(each, language) for each in article.sentences)
    alone = tuple(
        whole and stands_alone(each, language)
        for whole, each in zip(complete, article.sentences, strict=True)
    )
    scores = tuple(
        (
            0.45 * central[each.index] / most
            + 0.25 * sum(title.get(term, 0.0) for term in vectors[each.index])
            + _placed(each, article)
            + _numbered(each.text)
        )
        * manner(each, language, alone=alone[each.index], complete=complete[each.index])
        for each in article.sentences
    )
    return Ranking(
        article, terms, scores, _groups(article), complete, alone, tuple(vectors), dict(postings)
    )


def _groups(article: Article) -> tuple[int, ...]:
    """A number for each sentence, equal where two stand together."""
    if sum(1 for section in article.sections if section.paragraphs) >= _SECTIONED:
        return tuple(each.section for each in article.sentences)
    paragraphs = [paragraph for section in article.sections for paragraph in section.paragraphs]
    return tuple(number for number, each in enumerate(paragraphs) for _ in each.sentences)


def _vectors(article: Article, terms: Terms) -> list[dict[str, float]]:
    """One TF-IDF vector of length 1 for each sentence; empty where it has no terms."""
    counts = [Counter(terms.of(each.words)) for each in article.sentences]
    spread = Counter(term for count in counts for term in count)
    number = len(counts)
    vectors = []
    for count in counts:
        raw = {t: (1 + math.log(n)) * math.log(1 + number / spread[t]) for t, n in count.items()}
        norm = math.sqrt(sum(weight * weight for weight in raw.values())) or 1.0
        vectors.append({term: weight / norm for term, weight in raw.items()})
    return vectors


def _title_weights(
    article: Article, terms: Terms, postings: dict[str, list[tuple[int, float]]]
) -> dict[str, float]:
    """How much each word of the title counts; together at most 1.

    Words of the title that the text never uses again are its ornament, not its subject.
    """
    used = {term: 0 for term in terms.of_text(article.title or "") if term in postings}
    return dict.fromkeys(used, 1.0 / max(len(used), 2))


def _placed(sentence: Sentence, article: Article) -> float:
    """What the place of a sentence promises: the lead most, then each section's beginning."""
    section = article.sections[sentence.section]
    first = section.paragraphs[0].sentences
    opens_section = first[0].index <= sentence.index <= first[-1].index
    if opens_section and sentence.section == 0:
        return (0.30, 0.26, 0.24, 0.12)[min(sentence.place, 3)]
    if opens_section:
        return (0.18, 0.08, 0.04, 0.0)[min(sentence.place, 3)]
    few = len(article.sections) < _SECTIONED
    return (0.12 if few else 0.06) if sentence.place == 0 else 0.0


def _numbered(text: str) -> float:
    if _AMOUNT.search(text):
        return 0.15
    return 0.1 if _NUMBER.search(text) else 0.0


def usable(ranking: Ranking, pool: Collection[Sentence], at_least: int = 1) -> list[Sentence]:
    """The sentences of `pool` to choose from: those that stand alone, if there are enough.

    Else any that can be published, else any at all: a source of fragments only still has to be
    answered for.
    """
    for wanted in (ranking.alone, ranking.complete):
        found = [each for each in pool if wanted[each.index]]
        if len(found) >= at_least:
            return found
    return found or list(pool)
