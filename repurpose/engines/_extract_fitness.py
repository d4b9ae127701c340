"""Whether a sentence can be lifted out of its text, and how well it stands there alone."""

from __future__ import annotations

import re

import regex

from repurpose.engines._extract_article import Sentence
from repurpose.engines._extract_language import language_named
from repurpose.engines._extract_words import glances_back, leans

__all__ = ["is_question", "manner", "may_be_published", "stands_alone"]

_END = regex.compile(r"[.!?…。！？．｡।॥؟۔։][\"'”’»“)\]』」）›*\s]*+$")
_QUESTION = regex.compile(r"(?:[?？؟\u037e]|[か까吗嗎呢][。.])[\"'”’»“)\]』」）›\s]*+$")
# Addresses, and what is left of markup, code or a footer: no sentence of an article.
_ADDRESS = re.compile(r"://|www\.|\w@\w|(?<!\w)@\w|\]\[|\]\(|\[\^|©|[<>{}|\\]|---|###|===|\*\*|__")
_BRACKETS = (
    ("(", ")"),
    ("（", "）"),
    ("「", "」"),
    ("『", "』"),
    ("“", "”"),
    ("«", "»"),
    ("„", "“"),
)
_SPEECH = regex.compile(r"^[\"“„«「『‘]")
_SPEECH_END = regex.compile(r"[\"”“»」』’][.!]?$")


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark of any script."""
    return _QUESTION.search(text) is not None


def may_be_published(sentence: Sentence, language: str) -> bool:
    """Whether it is a whole sentence of prose: no fragment, question, lead-in or address."""
    text = sentence.text
    if sentence.size < 4 or text.isupper():
        return False
    if not language_named(language).unpunctuated and not _END.search(text):
        return False
    if _QUESTION.search(text) or _ADDRESS.search(text):
        return False
    return _balanced(text)


def _balanced(text: str) -> bool:
    """Whether every quotation and bracket that opens also closes."""
    if text.count('"') % 2:
        return False
    if "„" in text or "”" in text:
        # German and its neighbours close with the sign that English opens with.
        openers = text.count("„") + text.count("“") + text.count("”")
        return openers % 2 == 0 and text.count("(") == text.count(")")
    return all(text.count(a) == text.count(b) for a, b in _BRACKETS if a != "„")


def stands_alone(sentence: Sentence, language: str) -> bool:
    """Whether it can be understood without the sentence before."""
    return not leans(sentence.text, sentence.words, language) and not _quoted(sentence)


def manner(sentence: Sentence, language: str, *, alone: bool, complete: bool) -> float:
    """A factor from 0 to 1 for how well a sentence reads without its text."""
    factor = 1.0 if alone else 0.3 if complete else 0.1
    if sentence.kind != "paragraph":
        factor *= 0.6
    if _SPEECH.match(sentence.text):
        factor *= 0.75
    opens = sentence.text.lstrip("\"'“„«「『‘¿¡(")[:1]
    if opens.islower() or not opens.isalnum():
        factor *= 0.5
    if glances_back(sentence.text, sentence.words, language):
        factor *= 0.6
    words = sentence.size
    if words < 8:
        factor *= 0.55
    elif words < 11:
        factor *= 0.85
    elif words > 35:
        factor *= max(0.4, 35 / words)
    return factor


def _quoted(sentence: Sentence) -> bool:
    """Whether it is in brackets, or somebody's speech from end to end and nobody says whose."""
    text = sentence.text
    if text[:1] in "(（[":
        return True
    return bool(_SPEECH.match(text)) and bool(_SPEECH_END.search(text))
