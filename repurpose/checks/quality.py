"""What is wrong with a valid answer: what a schema cannot rule out and an editor would not print.

Each check was seen to be needed with real, mostly small, models. Some defects make a text
unusable: it is asked for again where the policy allows, and fails otherwise. The others are
notes for an editor. Which is which:

| defect | unusable | note |
|---|---|---|
| one sentence again and again | three times, or half of a text | twice; lines: likewise |
| near copies of a sentence | four or more in a text | three |
| the same words over and over without a sentence end | always | |
| posts for several platforms | all the same, from a rich source | two almost the same |
| our own task repeated in place of an answer | always | |
| wording of a sample that shows the style | | always |
| a control token of a chat template, a tag of our prompt | always | |
| a placeholder: `[link]`, `[Company]`, `{{name}}`, filler text | always | |
| an end in a colon, a comma, a dash, an open bracket | in a text | in a subject or question |
| a text that ends with a letter in mid-sentence, or is long | | always |
| another language than asked for | a third of a text or more | less |
| nothing but punctuation and emoji, or but a link | always | |
| Markdown that points nowhere: `[text][ref]`, `[1]`, `![` | | always |
| hashtags that are links, numbers or broken | | always; they are dropped |

A missing full stop alone is no proof: some models leave it out everywhere.

Wording that the source has itself is no echo, token, placeholder or repetition. What an engine
quotes from the source word for word is the author's, so only its repetition is noted; and an
answer that is mostly quotations gets notes only, since the same engine would quote the same again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from repurpose.checks._quality_endings import unfinished
from repurpose.checks._quality_hashtags import sound_hashtags
from repurpose.checks._quality_language import wrong_language
from repurpose.checks._quality_leftovers import (
    chat_tokens,
    dangling_references,
    echoes,
    link_only,
    placeholders,
)
from repurpose.checks._quality_reading import Defect, Passage, Role, passages_at, words_of
from repurpose.checks._quality_repetition import alike_parts, loops, repeated_sentences
from repurpose.core.finding import Finding
from repurpose.core.json_types import JsonObject
from repurpose.text.language import primary
from repurpose.text.trimming import trimmed

__all__ = ["EVERY_STRING", "Assignment", "Prose", "Review", "review", "sound_hashtags"]

_OWN_WORDS = 0.2
"""The share of a quotation that may be the engine's own words, such as a title before it."""
_TOLD_EACH = 3
"""How many places with the same defect are told one by one."""


@dataclass(frozen=True, slots=True)
class Prose:
    """Which fields of an answer are read by people, as patterns of dot paths: `pairs.*.answer`.

    `*` stands for any key or index, `**` for any number of them.
    """

    texts: tuple[str, ...] = ()
    """Texts of whole sentences."""
    lines: tuple[str, ...] = ()
    """Short lines that need not be sentences: a subject, a question."""
    strings: tuple[str, ...] = ()
    """Strings of which nothing is known. They are not held to be prose and only get notes."""
    apart: bool = False
    """Whether each key of the answer is published by itself, so that no two may be alike."""
    most: int | None = None
    """How many entries of a list are published; what is left out anyway is not looked at."""


EVERY_STRING = Prose(strings=("**",))
"""For a format that does not say what its fields are."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What an answer is held against."""

    instructions: str
    """Our part of the prompt."""
    source: str
    """The text that was to be worked on."""
    language: str | None = None
    """The language to write in; None leaves the language unchecked."""
    quotes: tuple[str, ...] = ()
    """The passages that the engine says it took from the source word for word."""
    samples: tuple[str, ...] = ()
    """Texts that were shown for their style only."""


@dataclass(frozen=True, slots=True)
class Review:
    """What was found. The findings' kind is `quality`, and none quotes the answer."""

    unusable: tuple[Finding, ...] = ()
    """What an answer cannot be published with."""
    notes: tuple[Finding, ...] = ()
    """What an editor should know."""


def review(answer: JsonObject, prose: Prose, assignment: Assignment) -> Review:
    r"""What is wrong with the prose of a valid answer.

    Pure, and linear in the length of the answer and the source; an answer of 1 KB takes well
    below a millisecond.

    >>> asked = Assignment("Write a summary.", source="Bees like roofs.")
    >>> answer = {"sentences": ["Bees like:", "{{name}} likes roofs."]}
    >>> print(*review(answer, Prose(texts=("sentences.*",)), asked).unusable, sep="\n")
    sentences.0: ends in a colon: what it announces is missing
    sentences.1: holds a placeholder that nobody filled
    """
    passages = _passages(answer, prose)
    own = _own(passages, assignment.quotes)
    found = [*_in_passages(own, assignment), *_in_parts(passages, own, prose, assignment)]
    # An engine that quotes would say the same again, and what it quotes is the author's.
    strict = {place for each in own if each.role != "string" for place in (each.path, each.part)}
    strict.add("")  # the whole
    if assignment.quotes and 2 * _word_count(own) <= _word_count(passages):
        strict = set()
    unusable: list[Defect] = []
    notes: list[Defect] = []
    for each in dict.fromkeys(found):
        (unusable if each.unusable and each.path in strict else notes).append(each)
    return Review(_findings(unusable), _findings(notes))


def _passages(answer: JsonObject, prose: Prose) -> list[Passage]:
    """What people read of the answer, each string once."""
    roles: tuple[tuple[Role, tuple[str, ...]], ...] = (
        ("line", prose.lines),
        ("text", prose.texts),
        ("string", prose.strings),
    )
    found: dict[str, Passage] = {}
    for role, patterns in roles:
        for pattern in patterns:
            for each in passages_at(answer, pattern, role, apart=prose.apart, most=prose.most):
                found.setdefault(each.path, each)
    return list(found.values())


def _own(passages: Sequence[Passage], quotes: Sequence[str]) -> list[Passage]:
    """The passages that the engine wrote itself: those that are more than quotations."""
    longest_first = sorted(map(trimmed, quotes), key=len, reverse=True)
    return [each for each in passages if not _is_quoted(each, longest_first)]


def _is_quoted(passage: Passage, quotes: Sequence[str]) -> bool:
    rest = passage.body
    for quote in quotes:
        rest = rest.replace(quote, " ")
    return bool(quotes) and len(words_of(rest)) <= _OWN_WORDS * len(passage.words)


def _word_count(passages: Iterable[Passage]) -> int:
    return sum(len(each.words) for each in passages)


def _in_passages(passages: Sequence[Passage], asked: Assignment) -> Iterator[Defect]:
    """What is wrong with a passage, whatever else the answer holds."""
    code = primary(asked.language) if asked.language else None
    for each in passages:
        yield from chat_tokens(each, asked.source)
        yield from placeholders(each, asked.source)
        yield from echoes(each, asked.instructions, asked.source)
        if asked.samples:
            yield from _sampled(each, asked)
        yield from loops(each)
        if each.role == "string":
            continue
        if each.words:
            yield from link_only(each)
            yield from dangling_references(each)
            yield from unfinished(each, code)
        else:
            yield Defect(each.path, "holds nothing to read", unusable=True)


def _sampled(passage: Passage, asked: Assignment) -> Iterator[Defect]:
    """Wording of a sample of the style; a house's own closing line may be meant, so it is told."""
    for _ in echoes(passage, "\n".join(asked.samples), asked.source):
        yield Defect(passage.path, "repeats a sample of the style", unusable=False)


def _in_parts(
    passages: Sequence[Passage], own: Sequence[Passage], prose: Prose, asked: Assignment
) -> Iterator[Defect]:
    """What is wrong with the texts that are published as one."""
    for part in _by_part(passages):
        for role in ("text", "line"):
            yield from repeated_sentences(
                [each for each in part if each.role == role], asked.source
            )
    if prose.apart:
        yield from alike_parts(_by_part(own), asked.source)
    for part in _by_part(own):
        yield from wrong_language(part, None if asked.quotes else asked.language)


def _by_part(passages: Iterable[Passage]) -> list[list[Passage]]:
    parts: dict[str, list[Passage]] = defaultdict(list)
    for each in passages:
        parts[each.part].append(each)
    return list(parts.values())


def _findings(defects: Iterable[Defect]) -> tuple[Finding, ...]:
    """The defects as findings; what is wrong in many places alike is told once."""
    paths: dict[str, list[str]] = defaultdict(list)
    for each in defects:
        paths[each.message].append(each.path)
    return tuple(
        Finding("quality", path, message)
        for message, places in paths.items()
        for path, message in _told(places, message)
    )


def _told(places: Sequence[str], message: str) -> Iterator[tuple[str, str]]:
    if len(places) <= _TOLD_EACH:
        yield from ((path, message) for path in places)
    else:
        yield places[0], f"{message} (likewise in {len(places) - 1} more places)"
