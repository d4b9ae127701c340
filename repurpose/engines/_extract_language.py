"""What is known of the languages that texts are written in, read from `extract_languages.toml`.

The file says what each entry means. A language that is not in it loses tests and templates,
never the result.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import regex

__all__ = ["Definition", "Language", "language_named"]

_FILE = "extract_languages.toml"


class Definition(NamedTuple):
    """How a sentence says what a thing is."""

    pattern: regex.Pattern[str]
    """Its group `x` is the name of the thing."""
    question: str
    lower: bool
    """Whether the name begins with an article, which gets a small letter in the question."""


@dataclass(frozen=True, slots=True)
class Language:
    """The entries of one language; empty or None where nothing is known."""

    stemmer: str | None
    spaceless: bool
    unpunctuated: bool
    openers: frozenset[str]
    pointers: frozenset[str]
    far_pointers: frozenset[str]
    """Pointers that point out of a sentence even from its inside."""
    connectives: frozenset[str]
    elsewhere: frozenset[str]
    stop_words: frozenset[str]
    """Function words in small letters: what a text is never about."""
    determiners: frozenset[str]
    about: str | None
    read_more: str | None
    question_mark: str
    asks: regex.Pattern[str] | None
    definitions: tuple[Definition, ...]


@cache
def language_named(code: str) -> Language:
    """What is known of the language with this primary subtag; an empty table for others."""
    tables = _tables()
    entry: Mapping[str, Any] = tables["languages"].get(tables["aliases"].get(code, code), {})
    openers = frozenset(filter(None, map(_squeezed, entry.get("openers", "").split("|"))))
    pointers = frozenset(entry.get("pointers", "").split())
    single = () if entry.get("spaceless") else (one for one in openers if " " not in one)
    asks = entry.get("asks")
    return Language(
        stemmer=entry.get("stemmer"),
        spaceless=entry.get("spaceless", False),
        unpunctuated=entry.get("unpunctuated", False),
        openers=openers,
        pointers=pointers,
        far_pointers=pointers.difference(tables["possessives"].split()),
        connectives=frozenset(entry.get("connectives", "").split()),
        elsewhere=frozenset(entry.get("elsewhere", "").split()),
        stop_words=pointers.union(single, entry.get("function_words", "").split()),
        determiners=frozenset(entry.get("determiners", "").split()),
        about=entry.get("about"),
        read_more=entry.get("read_more"),
        question_mark=entry.get("question_mark", "?"),
        asks=_compiled(asks) if asks else None,
        definitions=tuple(
            Definition(_compiled(one["pattern"]), one["question"], one.get("lower", False))
            for one in entry.get("definitions", ())
        ),
    )


@cache
def _tables() -> Mapping[str, Any]:
    text = (files("repurpose.engines") / _FILE).read_text(encoding="utf-8")
    return tomllib.loads(text)


def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.VERBOSE)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
