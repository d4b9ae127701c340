"""The passages of an answer, and their sentences and words, read once for all checks.

Words are for comparing, not for counting: case and punctuation are gone, and a script without
spaces between words gives one word for each character. Sentences are split more simply than in
`repurpose.text.sentences`, at a tenth of its cost: a split too many after an abbreviation gives
two short pieces, and short pieces are not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from repurpose.core.json_types import JsonValue
from repurpose.text.trimming import trimmed

__all__ = ["Defect", "Passage", "Role", "Sentence", "passages_at", "sentences_of", "words_of"]

Role = Literal["text", "line", "string"]
"""A text of whole sentences; a line that need not be one, such as a subject; any string."""

_MARKS = "\u0300-\u036f\u064b-\u065f\u0900-\u0963\u0966-\u0dff"  # accents and vowel signs
_WORD = re.compile(rf"[\w{_MARKS}]++")
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_UNSPACED = re.compile(f"[{_NO_SPACES}]")
_WORD_OR_SIGN = re.compile(rf"[{_NO_SPACES}]|(?:(?![{_NO_SPACES}])[\w{_MARKS}])++")
_CLOSING = "\"'”’»)\\]」』）"
_AT_ONCE = "。！？｡।\n"
_BETWEEN = re.compile(
    rf"[.!?…؟{_AT_ONCE}][{_CLOSING}]{{0,3}}+(?:\s++|(?<=[{_AT_ONCE}])|(?<=[{_AT_ONCE}].))"
)
_ODD = re.compile(r"[<>|\[\]{}%＜＞｜〈‹▁ĠĊ]")
_SPACES = str.maketrans({chr(code): " " for code in range(128) if not _WORD.match(chr(code))})
_TOKEN = re.compile(r"\S++")


@dataclass(frozen=True, slots=True)
class Defect:
    """One thing that is wrong with an answer."""

    path: str
    message: str
    unusable: bool
    """Whether the text cannot be published with it; else it is a note for an editor."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands, and its words."""

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """One string of an answer."""

    path: str
    part: str
    """The text that it is a part of: what is published together has the same name here."""
    role: Role
    text: str
    body: str
    """The text without the hashtags that end it."""
    sentences: tuple[Sentence, ...]
    """Of the body."""
    words: tuple[str, ...]
    """Of the body."""
    odd: bool
    """Whether there is a bracket or another sign that prose can do without."""


def passages_at(
    answer: JsonValue, pattern: str, role: Role, *, apart: bool, most: int | None
) -> Iterator[Passage]:
    """The strings of `answer` whose dot path fits `pattern`, without blank ones.

    `*` stands for any key or index, `**` for any number of them; of a list, the first `most`
    entries count. With `apart`, what stands under different keys is published apart.
    """
    for path, text in _strings(answer, pattern.split("."), most):
        if said := trimmed(text):
            yield _read(path, path.partition(".")[0] if apart else "", role, said)


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of `text` that have words."""
    read = _words_of_ascii if text.isascii() else _pattern_for(text).findall
    return tuple(
        Sentence(piece, tuple(words))
        for piece in _BETWEEN.split(text)
        if (words := read(piece.lower()))
    )


def words_of(text: str) -> tuple[str, ...]:
    """The words of `text`, for comparing.

    >>> words_of("It's the “Café”, 2nd floor")
    ('it', 's', 'the', 'café', '2nd', 'floor')
    """
    return tuple(_pattern_for(text).findall(text.lower()))


def _pattern_for(text: str) -> re.Pattern[str]:
    return _WORD_OR_SIGN if _UNSPACED.search(text) else _WORD


def _words_of_ascii(text: str) -> list[str]:
    return text.translate(_SPACES).split()


def _read(path: str, part: str, role: Role, text: str) -> Passage:
    body = _without_ending_hashtags(text)
    sentences = sentences_of(body)
    words = tuple(chain.from_iterable([sentence.words for sentence in sentences]))
    return Passage(
        path, part, role, text, body, sentences, words, odd=_ODD.search(text) is not None
    )


def _strings(answer: JsonValue, segments: Sequence[str], most: int | None) -> list[tuple[str, str]]:
    """Each string that `segments` lead to, with its path, in the order of the answer."""
    places: list[tuple[str, JsonValue]] = [("", answer)]
    for segment in segments:
        if segment == "**":
            places = list(_leaves(places, most))
        else:
            places = [
                (f"{path}.{key}" if path else key, inner)
                for path, value in places
                for key, inner in _children(value, most)
                if segment in ("*", key)
            ]
    return [(path, value) for path, value in places if isinstance(value, str)]


def _leaves(
    places: Sequence[tuple[str, JsonValue]], most: int | None
) -> Iterator[tuple[str, JsonValue]]:
    """What has no parts, at any depth; an answer is decoded to a bounded depth."""
    for path, value in places:
        inside = _children(value, most)
        if not inside:
            yield path, value
        yield from _leaves(
            [(f"{path}.{key}" if path else key, inner) for key, inner in inside], most
        )


def _children(value: JsonValue, most: int | None) -> Iterable[tuple[str, JsonValue]]:
    if isinstance(value, str):
        return ()
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, Sequence):
        return [(str(index), inner) for index, inner in enumerate(value[:most])]
    return ()


def _without_ending_hashtags(text: str) -> str:
    """`text` up to the hashtags that end it; all of it where it is hashtags only."""
    if "#" not in text and "＃" not in text:
        return text
    end = 0
    for token in _TOKEN.finditer(text):
        if token.group()[0] not in "#＃":
            end = token.end()
    return text[:end] or text
