"""An answer to any declared shape, as far as the source itself has one, and no further.

Each string is a passage of the source word for word, or a fact that its origin declares: title,
author, date, address. Which passage a field gets goes by its name, else by how its description
begins. A number, a choice or a field that means nothing here is never guessed: an optional one is
left out, and for a required one the whole answer is refused with its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.source import Source
from repurpose.engines._extract_article import Heading, Section, Sentence, joined
from repurpose.engines._extract_faq import Pair, pairs_of
from repurpose.engines._extract_fitness import is_question
from repurpose.engines._extract_hashtags import hashtags_of
from repurpose.engines._extract_ranking import Ranking, inviting, usable
from repurpose.errors import UnusableOutput

__all__ = ["Filled", "filled"]

Role: TypeAlias = Literal[
    "title", "sentence", "passage", "quote", "question", "tag", "heading", "fact"
]
Node: TypeAlias = Mapping[str, Any]

_FACTS = {
    "author": "author",
    "byline": "author",
    "date": "date",
    "published": "date",
    "url": "url",
    "link": "url",
    "language": "language",
}
"""What a source may declare of itself, by the words that ask for it."""
_SURE_WORDS: Mapping[str, Role] = {
    "title": "title",
    "headline": "title",
    "titel": "title",
    "summary": "passage",
    "zusammenfassung": "passage",
    "description": "sentence",
    "beschreibung": "sentence",
    "sentence": "sentence",
    "quote": "quote",
    "quotation": "quote",
    "zitat": "quote",
    "question": "question",
    "frage": "question",
    "tag": "tag",
    "keyword": "tag",
    "hashtag": "tag",
    "schlagwort": "tag",
}
"""Words that say what a field is, wherever they stand."""
_NAME_WORDS: Mapping[str, Role] = {
    **_SURE_WORDS,
    **dict.fromkeys(("subject", "ueberschrift"), "title"),
    **dict.fromkeys(("abstract", "body", "text", "content", "paragraph", "overview"), "passage"),
    **dict.fromkeys(("excerpt", "intro", "introduction", "lead", "synopsis", "answer"), "passage"),
    **dict.fromkeys(("teaser", "preheader", "blurb", "snippet", "hook", "caption"), "sentence"),
    **dict.fromkeys(("post", "point", "fact", "highlight", "takeaway", "insight"), "sentence"),
    **dict.fromkeys(("finding", "message", "statement", "bullet"), "sentence"),
    **dict.fromkeys(("topic", "term", "stichwort"), "tag"),
    **dict.fromkeys(("heading", "section", "chapter", "outline"), "heading"),
    **dict.fromkeys(_FACTS, "fact"),
}
"""Words that say it in a name only: in a description they stand for much else."""
_DESCRIBED = 6
"""How many words of a description are looked at: those that say what the field is."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LETTERS = re.compile(r"[^\W\d_]+")

_ITEMS = 5
"""Sentences of a list."""
_TAGS = 8
_ENTRIES = 8
"""Objects of a list, each from a section of its own."""
_RUN = 3
"""Sentences in a row of a passage."""


@dataclass(frozen=True, slots=True)
class Filled:
    """An answer, and what it took from the source in the order of the answer."""

    answer: JsonObject
    taken: tuple[Heading | Sentence, ...]


def filled(ranking: Ranking, schema: JsonObject, source: Source, name: str) -> Filled:
    """The answer of a declared shape that the source has; `name` is the format's.

    Raises:
        UnusableOutput: the shape is no shape, a required field cannot be filled, or none can; the
            message names the field.
    """
    if not schema.get("properties"):
        raise UnusableOutput(
            f'without a model, "{name}" cannot be written, since it declares no fields',
            hint="choose a model for this format",
        )
    filler = _Filler(ranking, source)
    try:
        answer = filler.fields(schema, _Scope(ranking.article.sentences, None), "")
    except _NotThereError as missing:
        raise UnusableOutput(
            f'without a model, "{missing}" cannot be filled',
            hint="choose a model for this format, or make the field optional",
        ) from None
    if not answer:
        raise UnusableOutput(
            f'without a model, no field of "{name}" can be filled',
            hint="choose a model for this format",
        )
    return Filled(answer, tuple(dict.fromkeys(filler.taken)))


class _NotThereError(Exception):
    """The source has nothing for a field; the text is the field's dot path."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a field may be filled from: the whole article, or one section of it."""

    sentences: Sequence[Sentence]
    section: Section | None
    pair: Pair | None = None


class _Filler:
    """Fills one answer, and remembers what it took so that nothing is said twice."""

    def __init__(self, ranking: Ranking, source: Source) -> None:
        self._ranking = ranking
        self._source = source
        self._article = ranking.article
        self.taken: list[Heading | Sentence] = []

    def fields(self, node: Node, scope: _Scope, path: str) -> dict[str, JsonValue]:
        """The fields of an object that can be filled; raises where a required one cannot."""
        made: dict[str, JsonValue] = {}
        for name, part in node.get("properties", {}).items():
            where = f"{path}.{name}" if path else name
            required = name in node.get("required", ())
            try:
                made[name] = self._value(name, part, scope, where)
            except _NotThereError:
                if required and "null" in _types(part):
                    made[name] = None
                elif required:
                    raise
        return made

    def _value(self, name: str, node: Node, scope: _Scope, path: str) -> JsonValue:
        if "const" in node:
            value: JsonValue = node["const"]  # the schema's own word, and no choice
            return value
        types = _types(node)
        if "enum" in node or "pattern" in node:
            raise _NotThereError(path)
        if "string" in types:
            text = self._string(_role(name, node), name, scope)
            if text is not None and len(text) >= node.get("minLength", 0):
                return text
        if "array" in types:
            items = self._items(name, node.get("items", {}), scope, path)
            if items and len(items) >= node.get("minItems", 0):
                return items
        if "object" in types:
            inner = self.fields(node, scope, path)
            if inner:
                return inner
        raise _NotThereError(path)

    def _string(self, role: Role | None, name: str, scope: _Scope) -> str | None:
        match role:
            case "title":
                return self._title(scope)
            case "heading":
                return self._title(scope) if scope.section else next(iter(self._headings()), None)
            case "sentence":
                return self._sentences(scope, 1)
            case "passage":
                return self._passage(scope)
            case "quote":
                return self._sentences(scope, 1, quotes=True)
            case "question":
                return next(iter(self._questions(scope, 1)), None)
            case "tag":
                return next(iter(self._tags()), None)
            case "fact":
                return self._fact(name)
            case None:
                return None

    def _items(self, name: str, node: Node, scope: _Scope, path: str) -> Sequence[JsonValue]:
        """The items of a list; sentences where its name says nothing."""
        if "object" in _types(node):
            return self._entries(node, scope, path)
        if "string" not in _types(node) or any(key in node for key in ("enum", "const", "pattern")):
            return ()
        match _role(name, node):
            case "tag":
                return self._tags()[:_TAGS]
            case "heading" | "title":
                return self._headings()[:_ENTRIES]
            case "question":
                return self._questions(scope, _ITEMS)
            case "fact":
                return ()
            case "quote":
                return self._best(scope, _ITEMS, quotes=True)
            case _:
                return self._best(scope, _ITEMS)

    def _entries(self, node: Node, scope: _Scope, path: str) -> Sequence[JsonValue]:
        """One object for each question that the source answers, or for each of its sections."""
        asks = any(_role(key, part) == "question" for key, part in _properties(node).items())
        if asks:
            scopes = [_Scope(pair.answer, None, pair) for pair in self._pairs()]
        else:
            parts = [each for each in self._article.sections if each.heading and each.paragraphs]
            scopes = [_Scope(tuple(each.sentences), each) for each in parts] or [scope]
        made: list[JsonValue] = []
        missing: _NotThereError | None = None
        for each in scopes[:_ENTRIES]:
            try:
                entry = self.fields(node, each, f"{path}.{len(made)}")
            except _NotThereError as error:
                missing = error
                continue
            if entry:
                made.append(entry)
        if not made and missing is not None:
            raise missing
        return made

    def _title(self, scope: _Scope) -> str | None:
        heading = scope.section.heading if scope.section else self._article.title_heading
        if heading is not None:
            self.taken.append(heading)
            return heading.text
        if scope.section is None and scope.pair is None and self._article.title:
            return self._article.title
        return self._sentences(scope, 1)

    def _headings(self) -> list[str]:
        found = [each.heading for each in self._article.sections if each.heading]
        self.taken.extend(found)
        return list(dict.fromkeys(each.text for each in found))

    def _pairs(self) -> list[Pair]:
        """Questions that the source asks in these words, with the sentences that answer them."""
        return [
            pair
            for pair in pairs_of(self._ranking)
            if pair.asked is not None and pair.question == pair.asked.text and pair.answer
        ]

    def _questions(self, scope: _Scope, most: int) -> list[str]:
        asked = [scope.pair.asked] if scope.pair else [each.asked for each in self._pairs()]
        if not asked:
            asked = [each for each in scope.sentences if is_question(each.text)]
        found = [each for each in asked if each is not None][:most]
        self.taken.extend(found)
        return [each.text for each in found]

    def _tags(self) -> list[str]:
        """Words that the article is about, as it spells them; no two joined to one."""
        told = f"{self._source.title or ''}\n{self._source.text}"
        return [tag for tag in hashtags_of(self._article, self._ranking.terms) if tag in told]

    def _fact(self, name: str) -> str | None:
        field = next((_FACTS[word] for word in _words(name) if word in _FACTS), None)
        value = getattr(self._source, field) if field else None
        return value if isinstance(value, str) and value else None

    def _sentences(self, scope: _Scope, count: int, *, quotes: bool = False) -> str | None:
        return next(iter(self._best(scope, count, quotes=quotes)), None)

    def _best(self, scope: _Scope, count: int, *, quotes: bool = False) -> list[str]:
        """The most telling sentences in text order; new ones if there are any."""
        chosen = self._chosen(scope, count, quotes=quotes)
        self.taken.extend(chosen)
        return list(dict.fromkeys(each.text for each in chosen))

    def _chosen(self, scope: _Scope, count: int, *, quotes: bool = False) -> list[Sentence]:
        pool: Sequence[Sentence] = scope.sentences
        if quotes:
            pool = [each for each in pool if each.kind == "quote"] or pool
        if not pool:
            return []
        pool = usable(self._ranking, pool, 1)
        before = [each for each in self.taken if isinstance(each, Sentence)]
        best = self._ranking.best(pool, count, bonus=inviting, beside=before)
        best = best or self._ranking.best(pool, count, bonus=inviting)
        return sorted(best, key=lambda each: each.index)

    def _passage(self, scope: _Scope) -> str | None:
        """Some sentences in a row: the answer to a question, or what follows the best sentence."""
        if scope.pair is not None:
            run = list(scope.pair.answer)
        else:
            run = self._chosen(scope, 1)
            while run and len(run) < _RUN and (following := self._following(run[-1])):
                run.append(following)
        self.taken.extend(run)
        return joined(run) or None

    def _following(self, sentence: Sentence) -> Sentence | None:
        """The next sentence of the same paragraph, if it can be published."""
        sentences = self._article.sentences
        index = sentence.index + 1
        if index >= len(sentences) or sentences[index].place != sentence.place + 1:
            return None
        return sentences[index] if self._ranking.complete[index] else None


def _role(name: str, node: Node) -> Role | None:
    """What a field is, by its name read from its end, else by the beginning of its description."""
    for word in reversed(_words(name)):
        if word in _NAME_WORDS:
            return _NAME_WORDS[word]
    described = _words(f"{node.get('title', '')} {node.get('description', '')}")
    return next((_SURE_WORDS[word] for word in described[:_DESCRIBED] if word in _SURE_WORDS), None)


def _words(text: str) -> list[str]:
    """The words of a name or a description, in small letters and singular."""
    return [_singular(word.lower()) for word in _LETTERS.findall(_HUMP.sub(" ", text))]


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _types(node: Node) -> tuple[str, ...]:
    named = node.get("type", ())
    return (named,) if isinstance(named, str) else tuple(named)


def _properties(node: Node) -> Node:
    found: Node = node.get("properties", {})
    return found
