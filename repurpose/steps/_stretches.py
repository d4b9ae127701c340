"""The sections of a stretch of a source, and which of them something comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

import regex

from repurpose.core.source import Block, Source

__all__ = ["Stretch", "Stretches"]

_BETWEEN = "›"  # one heading and the next one below it
_WHERE = regex.compile(r"\s*\((?:p\. \d+|[\d:]+)\)\s*$")
_LETTERS = regex.compile(r"[^\p{L}\p{M}\p{N}]+")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a source that stands under one heading path."""

    start: int
    """In code points of `Source.text`."""
    end: int
    headings: tuple[str, ...] = ()
    page: int | None = None
    """The page or slide it begins on."""
    time: float | None = None
    """When it begins to be said, in seconds."""

    @property
    def label(self) -> str:
        """What a reader is told of where it is; empty where there is nothing to tell.

        >>> Stretch(0, 9, ("Birds", "Kestrels"), page=3).label
        'Birds › Kestrels (p. 3)'
        >>> Stretch(0, 9, time=3725.4).label
        '1:02:05'
        """
        path = f" {_BETWEEN} ".join(self.headings)
        where = self._where()
        return f"{path} ({where})" if path and where else path or where

    def _where(self) -> str:
        if self.page is not None:
            return f"p. {self.page}"
        if self.time is None:
            return ""
        minutes, seconds = divmod(int(self.time), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


class Stretches:
    """The sections of `source.text[start:end]`."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self._sections = list(_sections(source, start, end))
        self._whole = _whole(self._sections, start, end)
        self._named: dict[str, Stretch] = {}
        for section in reversed(self._sections):  # of two with one name, the first one is meant
            for depth, words in enumerate(section.headings, start=1):
                above = replace(section, headings=section.headings[:depth])
                self._named[_key(words)] = above
            if not section.headings:
                self._named[_key(section.label)] = section

    def place(self, at: int | None, heading: str) -> Stretch:
        """The section that holds the place `at`, else the one that is named, else the whole."""
        if at is not None:
            for section in self._sections:
                if section.start <= at < section.end:
                    return section
        last = heading.rpartition(_BETWEEN)[2]
        for words in (heading, last, _WHERE.sub("", last)):
            if (key := _key(words)) in self._named and key:
                return self._named[key]
        return self._whole


def _sections(source: Source, start: int, end: int) -> Iterator[Stretch]:
    """Blocks that stand next to each other under the same headings."""
    inside = (
        block
        for block in source.blocks
        if block.kind != "heading" and block.start < end and block.end > start
    )
    for path, group in groupby(inside, key=lambda block: block.headings):
        blocks = list(group)
        first: Block = blocks[0]
        yield Stretch(
            max(first.start, start), min(blocks[-1].end, end), path, first.page, first.time
        )


def _whole(sections: list[Stretch], start: int, end: int) -> Stretch:
    """All sections as one, under the headings that they share."""
    if not sections:
        return Stretch(start, end)
    first, last = min(each.headings for each in sections), max(each.headings for each in sections)
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    shared = tuple(words for words, _ in pairs)
    return replace(sections[0], start=start, end=end, headings=shared)


def _key(words: str) -> str:
    """A heading without what is copied in another way now and then."""
    return _LETTERS.sub("", words).casefold()
