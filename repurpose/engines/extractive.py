"""The embedded engine: answers formats with the source's own sentences.

No model, no download, no key, no network: the same source gives the same bytes. Every sentence
of an answer stands in the source word for word; `Reply.quotes` says where. Our own words are
only those of `_extract_phrases`: the question over a heading, "What is X?" and "Read the full
article". A hashtag may join two neighbouring words of a heading. A format of the user's own gets
none of our words at all: see `_extract_declared`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from repurpose.core.call import Call, Quote, Reply
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.source import Source
from repurpose.engines._extract_article import Heading, Sentence, article_of
from repurpose.engines._extract_declared import filled
from repurpose.engines._extract_faq import pairs_of
from repurpose.engines._extract_newsletter import issue_of
from repurpose.engines._extract_ranking import Ranking, ranked, usable
from repurpose.engines._extract_social import Order, posts_of
from repurpose.errors import UnusableOutput
from repurpose.platforms import keyed
from repurpose.ports import Engine
from repurpose.text.sentences import Segmenter

__all__ = ["NAME", "extractive_engine"]

NAME = "extractive"
"""The engine's name in rows and idempotency keys."""

_VERSION = 1
"""Raised when the same source would be answered differently; part of the idempotency key."""
_FEWEST, _MOST = 5, 8
"""Sentences of a summary, where the source has enough."""
_PER_SECTION = 2
_SAME_SECTION = 0.7
"""What a second sentence of a section is worth, so that a summary reaches the end of a text."""
_SOURCE_SENTENCES_EACH = 4
"""A summary has about one sentence for this many of the source."""


@dataclass(frozen=True, slots=True)
class _Extract:
    """An answer, and what it took from the source in the order of the answer."""

    answer: JsonObject
    taken: tuple[Heading | Sentence, ...]


def extractive_engine(*, segmenter: Segmenter | None = None) -> Engine:
    """An engine that quotes instead of writing.

    Its answers are valid for the built-in formats `summary`, `faq`, `social` and `newsletter`,
    and for a declared format wherever the source holds what each required field asks for. It
    works on the processor, in-line, and remembers the last sources, so that the formats of one
    run read a source once. Prompts are not looked at: it cannot change language, audience or
    tone.

    `answer` raises `UnusableOutput` where the source holds nothing to answer with; for a field
    that would have to be invented, the message names it.
    """

    @lru_cache(maxsize=4)
    def read(source: Source) -> Ranking:
        return ranked(article_of(source, segmenter))

    async def answer(call: Call) -> Reply:
        ranking = read(call.source)
        if not ranking.article.sentences:
            raise UnusableOutput("the source holds no sentence that could be quoted")
        extract = _EXTRACTORS.get(call.format)
        found = (
            filled(ranking, call.schema, call.source, call.format)
            if extract is None
            else extract(ranking, call.schema)
        )
        return Reply(
            text=json.dumps(found.answer, ensure_ascii=False),
            quotes=_quotes(found.taken),
        )

    parameters: dict[str, JsonValue] = {"version": _VERSION}
    if segmenter is not None:
        parameters["segmenter"] = getattr(segmenter, "__qualname__", type(segmenter).__qualname__)
    return Engine(name=NAME, answer=answer, parameters=parameters, extractive=True)


def _quotes(taken: Iterable[Heading | Sentence]) -> tuple[Quote, ...]:
    """Each passage once, in the order in which the answer first uses it."""
    return tuple(dict.fromkeys(Quote(each.text, each.start, each.end) for each in taken))


def _summary(ranking: Ranking, _schema: JsonObject) -> _Extract:
    """Five to eight sentences in text order, at most two of a section while others have some."""
    pool = usable(ranking, ranking.article.sentences, _FEWEST)
    wanted = min(_MOST, max(_FEWEST, len(pool) // _SOURCE_SENTENCES_EACH))
    chosen = ranking.best(pool, wanted, per_group=_PER_SECTION, again=_SAME_SECTION)
    if len(chosen) < _FEWEST:
        chosen += ranking.best(pool, _FEWEST - len(chosen), beside=chosen)
    chosen.sort(key=lambda each: each.index)
    return _Extract({"sentences": [each.text for each in chosen]}, tuple(chosen))


def _faq(ranking: Ranking, _schema: JsonObject) -> _Extract:
    pairs = pairs_of(ranking)
    if not pairs:
        raise UnusableOutput(
            "the source holds no question that it answers, no heading, definition or title"
        )
    taken: list[Heading | Sentence] = []
    for pair in pairs:
        taken += [*([pair.asked] if pair.asked else []), *pair.answer, *pair.items]
    answer = [{"question": pair.question, "answer": pair.text} for pair in pairs]
    return _Extract({"pairs": answer}, tuple(taken))


def _social(ranking: Ranking, schema: JsonObject) -> _Extract:
    orders = {key: _order(key, post) for key, post in _object(schema.get("properties")).items()}
    posts = posts_of(ranking, orders)
    answer: dict[str, JsonValue] = {}
    for key, post in posts.items():
        title: JsonObject = {"title": post.title} if orders[key].titled else {}
        answer[key] = {**title, "text": post.text, "hashtags": list(post.hashtags)}
    return _Extract(
        answer, tuple(sentence for post in posts.values() for sentence in post.sentences)
    )


def _order(key: str, post: JsonValue) -> Order:
    """What an answer's key and schema ask for; `x_2` is a second post for X."""
    platform, _number = keyed(key)
    parts = _object(_object(post).get("properties"))
    threaded = _object(parts.get("text")).get("$comment") == "thread"
    return Order(platform, titled="title" in parts, threaded=threaded)


def _newsletter(ranking: Ranking, _schema: JsonObject) -> _Extract:
    issue = issue_of(ranking)
    return _Extract(
        {
            "subject": issue.subject,
            "preheader": issue.preheader,
            "paragraphs": list(issue.paragraphs),
            "callToAction": issue.call_to_action,
        },
        issue.quoted,
    )


_EXTRACTORS: Mapping[str, Callable[[Ranking, JsonObject], _Extract]] = MappingProxyType(
    {"summary": _summary, "faq": _faq, "social": _social, "newsletter": _newsletter}
)


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
