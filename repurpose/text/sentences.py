"""Where sentences begin and end, as offsets into the text.

Two segmenters propose ends, sentencex by default and NLTK's Punkt on request; one layer of rules
of our own decides, so that both agree on layout, links, quotations and abbreviations. Nothing is
downloaded, and the text is never altered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

import sentencex

from repurpose.errors import UsageError
from repurpose.text._boundaries import refined_ends
from repurpose.text.counting import Span, token_spans

__all__ = [
    "Segmenter",
    "Span",
    "primary_language",
    "segmenter_named",
    "sentence_ends",
    "sentence_spans",
]

_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PIECE = 4000  # sentencex is quadratic in open quotes: 50,000 characters took 3 seconds


class Segmenter(Protocol):
    """Proposes sentences: takes a line and a primary language code, gives offsets.

    In the line, each link, mention and hashtag is replaced by a word of the same length. White
    space at either end of a span is allowed. Only where spans end counts, and only where a mark
    stands that may end a sentence.
    """

    def __call__(self, text: str, language: str, /) -> Iterable[Span]:
        """The offsets of the sentences of `text`."""
        ...


def sentence_spans(
    text: str, language: str | None = None, *, segmenter: Segmenter | None = None
) -> list[Span]:
    """The sentences of `text`: `text[start:end]` is one, without surrounding white space.

    Together the spans hold every character that is not white space, in order and without
    overlap, whatever the segmenter proposes. A line break always ends a sentence, so join the
    lines of a hard-wrapped paragraph first. Links, mentions and hashtags are never split, and
    closing quotes, brackets and emphasis marks belong to the sentence before them.

    `language` is a code such as `de` or `pt-BR`; without one the rules of English hold, next to
    the sentence marks of all languages.

    >>> text = "Dr. Obi came. She paid 12.5 percent!"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Obi came.', 'She paid 12.5 percent!']
    """
    return _spans(text, language, segmenter, None)


def sentence_ends(
    text: str,
    first: int,
    last: int,
    language: str | None = None,
    *,
    segmenter: Segmenter | None = None,
) -> list[int]:
    """Where sentences end from `first` to `last`, as `sentence_spans` has it, at less cost.

    >>> sentence_ends("One. Two. Three. Four.", 5, 12)
    [9]
    """
    spans = _spans(text, language, segmenter, (first, last))
    return [end for _, end in spans if first <= end <= last]


def _spans(
    text: str, language: str | None, segmenter: Segmenter | None, within: Span | None
) -> list[Span]:
    """The sentences, of which only those that end `within` a stretch need be right."""
    code = primary_language(language)
    propose = segmenter or _sentencex
    masked = _masked(text)
    spans: list[Span] = []
    for found in _LINE.finditer(text):
        start, end = found.span()
        if within and (end < within[0] or start > within[1]):
            continue
        line, line_masked = found.group(), masked[start:end]
        proposed = _proposed_ends(propose, line_masked, code)
        near = (within[0] - start, within[1] - start) if within else None
        ends = [*refined_ends(line, line_masked, proposed, code, near), end - start]
        spans.extend((start + first, start + last) for first, last in _trimmed(line, ends))
    return spans


def primary_language(language: str | None) -> str:
    """The first part of a language code in lower case; `en` where none is known.

    >>> primary_language("pt-BR")
    'pt'
    """
    return re.split(r"[-_]", language or "", maxsplit=1)[0].strip().lower() or "en"


def segmenter_named(name: str) -> Segmenter:
    """The segmenter that a configuration names.

    `sentencex` is the default of this module. `nltk` is NLTK's Punkt: with the `punkt_tab` tables
    where the user has them, else untrained with our abbreviations. `nltk:PATH` is a Punkt model of
    the user's own: a folder in `punkt_tab` format, or a file written by
    `repurpose.text.punkt.save_punkt`. Nothing is downloaded and nothing is unpickled.

    Raises UsageError for any other name, and for a path without a model.
    """
    kind, colon, path = name.partition(":")
    if kind == "sentencex" and not colon:
        return _sentencex
    if kind == "nltk" and (path or not colon):
        # NLTK takes 0.2 seconds and 32 MB to import, so only who chooses it pays.
        from repurpose.text.punkt import punkt_segmenter  # noqa: PLC0415

        return punkt_segmenter(path or None)
    raise UsageError(
        f"unknown segmenter {name!r}: choose sentencex, nltk or nltk:PATH",
        hint="PATH is a Punkt model of your own, a folder or a JSON file.",
    )


def _sentencex(text: str, language: str) -> list[Span]:
    """What sentencex proposes; it knows about 300 languages and falls back to English rules."""
    return [
        (sentence["start_index"], sentence["end_index"])
        for sentence in sentencex.get_sentence_boundaries(language, text)
    ]


def _proposed_ends(propose: Segmenter, line: str, language: str) -> list[int]:
    """The ends a segmenter finds in a line, taken piece by piece so that none is ever long.

    The last sentence of a piece is cut off by it, so the next piece begins where it began.
    """
    ends: list[int] = []
    start = 0
    while start < len(line):
        stop = min(start + _PIECE, len(line))
        found = sorted(start + end for _, end in propose(line[start:stop], language))
        inner = [end for end in found if start < end < stop]
        ends.extend(inner)
        is_last = stop == len(line)
        start = stop if is_last or not inner else inner[-1]
    return ends


def _masked(text: str) -> str:
    """The text with each token replaced by a word of the same length.

    Lone surrogates are replaced too: sentencex takes valid Unicode only.
    """
    parts: list[str] = []
    position = 0
    for start, end in token_spans(text):
        parts += [text[position:start], "X", "x" * (end - start - 1)]
        position = end
    parts.append(text[position:])
    return _SURROGATE.sub("\ufffd", "".join(parts))


def _trimmed(line: str, ends: Iterable[int]) -> list[Span]:
    """The sentences between the ends; one without a letter or digit joins the one before it."""
    spans: list[Span] = []
    start = 0
    for end in ends:
        sentence = line[start:end]
        left = start + len(sentence) - len(sentence.lstrip())
        right = start + len(sentence.rstrip())
        start = end
        if left >= right:
            continue
        if spans and not any(map(str.isalnum, sentence)):
            spans[-1] = (spans[-1][0], right)
        else:
            spans.append((left, right))
    return spans
