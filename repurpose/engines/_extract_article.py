"""A source as sections, paragraphs and sentences, each sentence with its span in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from repurpose.core.source import Source
from repurpose.engines._extract_markdown import markdown_parts
from repurpose.engines._extract_parts import Part, PartKind, joins_without_space
from repurpose.engines._extract_plain import plain_parts
from repurpose.engines._extract_words import words_of
from repurpose.text.language import primary
from repurpose.text.sentences import Segmenter, sentence_spans

__all__ = ["Article", "Heading", "Paragraph", "Section", "Sentence", "article_of", "joined"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the source, without markup and with single spaces."""

    text: str
    start: int
    """`Source.text[start:end]` is the sentence as it stands there, markup included."""
    end: int
    index: int
    """Its place among all sentences of the article."""
    place: int
    """Its place in its paragraph, from 0."""
    section: int
    kind: PartKind
    words: tuple[str, ...] = field(repr=False)
    size: float
    """Its length in words; two characters of a script without spaces count as one word."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, quotation or list item: what stands together on the page."""

    kind: PartKind
    sentences: tuple[Sentence, ...]
    list_number: int = 0


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading without markup, and where it stands."""

    text: str
    start: int
    end: int
    level: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it, down to the next heading of any level."""

    index: int
    heading: Heading | None
    """None for what stands before the first heading."""
    paragraphs: tuple[Paragraph, ...]

    @property
    def sentences(self) -> Iterator[Sentence]:
        """Every sentence of the section in order."""
        for paragraph in self.paragraphs:
            yield from paragraph.sentences


@dataclass(frozen=True, slots=True)
class Article:
    """A source, read."""

    title: str | None
    title_heading: Heading | None
    """The title as a heading of the text, where it is one."""
    language: str
    """The primary subtag; empty where the language is unknown."""
    url: str | None
    sections: tuple[Section, ...]
    sentences: tuple[Sentence, ...]


_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\uff00-\uffef]"
)
_SPACES = re.compile(r"[ \t\n]+")
# What a text says to a machine that reads it; nobody wants to publish it as a sentence.
_TO_A_MACHINE = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|prior|above|earlier)\b.{0,30}"
    r"\b(?:instructions?|prompts?|rules)\b|<\|[^|]{1,30}\|>|\[/?INST\]",
    re.IGNORECASE | re.DOTALL,
)


def article_of(source: Source, segmenter: Segmenter | None = None) -> Article:
    """The source as sections and sentences.

    Code, tables, images and their captions, and passages that address a
    language model are left out.
    """
    parts = plain_parts(source) if source.plain else markdown_parts(source.text)
    parts = [part for part in parts if not _left_out(part)]
    title_part = _title_part(source.title, parts)
    title = _collapsed(source.title or (title_part.text if title_part else "")) or None
    language = primary(source.language or "")
    sections: list[Section] = []
    sentences: list[Sentence] = []
    for heading, group in _grouped(parts, title_part):
        paragraphs = []
        for part in group:
            found = _sentences(part, source, segmenter, len(sentences), len(sections))
            if found:
                sentences.extend(found)
                paragraphs.append(Paragraph(part.kind, found, part.list_number))
        if heading is not None or paragraphs:
            sections.append(Section(len(sections), heading, tuple(paragraphs)))
    return Article(
        title=title,
        title_heading=_heading(title_part) if title_part else None,
        language=language,
        url=source.url,
        sections=tuple(sections),
        sentences=tuple(sentences),
    )


def joined(sentences: Sequence[Sentence]) -> str:
    """Sentences as running text; Chinese and Japanese ones follow each other without a space."""
    text = ""
    for sentence in sentences:
        gap = "" if not text or joins_without_space(text[-1], "。") else " "
        text = f"{text}{gap}{sentence.text}"
    return text


def _left_out(part: Part) -> bool:
    return (
        not part.text.strip()
        or part.caption
        or part.forged
        or _TO_A_MACHINE.search(part.text) is not None
    )


def _title_part(title: str | None, parts: Sequence[Part]) -> Part | None:
    """The heading that is the article's title, not one of its sections'."""
    headings = [part for part in parts if part.kind == "heading"]
    if not headings:
        return None
    first = headings[0]
    if title is not None:
        return next((part for part in headings if _same(part.text, title)), None)
    alone = sum(1 for part in headings if part.level == 1) == 1
    return first if first is parts[0] or (first.level == 1 and alone) else None


def _same(one: str, other: str) -> bool:
    return [word.casefold() for word in words_of(one)] == [
        word.casefold() for word in words_of(other)
    ]


def _grouped(
    parts: Sequence[Part], title_part: Part | None
) -> Iterator[tuple[Heading | None, list[Part]]]:
    heading: Heading | None = None
    group: list[Part] = []
    for part in parts:
        if part is title_part:
            continue
        if part.kind != "heading":
            group.append(part)
            continue
        yield heading, group
        heading, group = _heading(part), []
    yield heading, group


def _heading(part: Part) -> Heading:
    return Heading(_collapsed(part.text), part.start, part.end, part.level)


def _sentences(
    part: Part, source: Source, segmenter: Segmenter | None, index: int, section: int
) -> tuple[Sentence, ...]:
    spans = sentence_spans(part.text, source.language, segmenter=segmenter)
    found: list[Sentence] = []
    for begin, end in spans:
        text = _collapsed(part.text[begin:end])
        words = tuple(words_of(text))
        if not words:
            continue
        start, stop = _raw_span(part, begin, end, source.text)
        found.append(
            Sentence(
                text=text,
                start=start,
                end=stop,
                index=index + len(found),
                place=len(found),
                section=section,
                kind=part.kind,
                words=words,
                size=_size(text, words),
            )
        )
    return tuple(found)


def _size(text: str, words: Sequence[str]) -> float:
    dense = len(_DENSE.findall(text))
    return len(words) if dense * 2 < len(text) else len(text) / 2


def _raw_span(part: Part, begin: int, end: int, text: str) -> tuple[int, int]:
    """Where a piece of a part stands in the source, with the markup that hugs it.

    Opening and closing marks belong to it where nothing but white space divides them from the
    neighbour; between sentences without a space nobody can say whose they are.
    """
    while begin < end and part.text[begin].isspace():
        begin += 1
    while end > begin and part.text[end - 1].isspace():
        end -= 1
    start, stop = part.source_start(begin), part.source_end(end - 1)
    if begin == 0:
        start = min(start, part.start)
    elif part.text[begin - 1].isspace():
        start = part.source_end(begin - 1)
    if end == len(part.text):
        stop = max(stop, part.end)
    elif part.text[end].isspace():
        stop = part.source_start(end)
    while start < stop and text[start].isspace():
        start += 1
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    return start, stop


def _collapsed(text: str) -> str:
    """Single spaces; no-break spaces stay, since French and numbers need them."""
    return _SPACES.sub(" ", text).strip()
