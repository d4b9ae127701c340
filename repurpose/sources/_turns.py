"""What people say, as text: one paragraph for each turn of a speaker, with the time it begins.

A turn reads `Name: text` and goes on until another speaks. Speech of nobody named has no natural
parts, so it is split into paragraphs where sentences end, or else where one caption ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from repurpose.core.source import Block, Source
from repurpose.errors import SourceError
from repurpose.sources.base import Raw, language_of, one_line, shown

__all__ = ["Said", "Spoken", "seconds_of", "speaker_named", "spoken", "transcript"]

_LONGEST_NAME = 100  # characters
_SENTENCES = 6
_ENOUGH = 800  # characters of a paragraph
_MOST = 1_200  # characters, where a sentence was seen to end but none ends now
_LEAST = 200  # characters; slow speakers pause after every sentence
_PAUSE = 2.0  # seconds; within a thought, speakers pause for less than one
# Abbreviations are short: a paragraph that ends a little later is better than "Dr." at its end.
_SENTENCE_END = re.compile(
    r"(?:\w{5}\.|[!?…]|[。！？؟।॥۔])[\"'”’»)\]」』]{0,3}(?:\s+|(?<=[。！？」』]))"
)
_SPACELESS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_MARK_ALONE = re.compile(r"[,.;:!?…%)\]”’、。，]{1,3}")
_STAMP = re.compile(r"(?:(\d{1,5}):)?(\d{1,5}):(\d{1,2})(?:[.,](\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Said:
    """Some words, who says them, and when; a caption, a line of one, or a single word."""

    text: str
    """On one line."""
    start: float | None = None
    end: float | None = None
    speaker: str | None = None
    fresh: bool = False
    """Whether somebody begins to speak here, even if nobody is named."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Paragraphs between blank lines, and their blocks."""

    text: str
    blocks: tuple[Block, ...]


def transcript(
    raw: Raw,
    kind: str,
    said: Iterable[Said],
    *,
    title: str | None = None,
    declared: str | None = None,
    detect: bool = True,
    hidden: int = 0,
    warnings: tuple[str, ...] = (),
) -> Source:
    """A source of what was said; its language is `declared`, else found out if `detect`.

    Raises:
        SourceError: `no-text` where nobody says a word.
    """
    result = spoken(said)
    if not any(char.isalnum() for char in result.text):
        raise SourceError(
            "no-text", f"{shown(raw.origin)}: nobody says a word in this transcript; check the file"
        )
    language, doubts = language_of(declared, result.text) if declared or detect else (None, ())
    return Source(
        text=result.text,
        origin=raw.origin,
        kind=kind,
        blocks=result.blocks,
        title=title,
        language=language,
        hidden=hidden,
        warnings=(*warnings, *doubts),
    )


def spoken(said: Iterable[Said]) -> Spoken:
    r"""The text and its blocks: a `turn` where a speaker is named, else a `paragraph`.

    >>> spoken([Said("Hi.", 0.0, speaker="Ann"), Said("Hello.", 2.0, speaker="Bo")]).text
    'Ann: Hi.\n\nBo: Hello.'
    """
    parts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for run in _runs(said):
        name = run[0].speaker
        for text, time in _whole(run) if name else _paragraphs(run):
            part = f"{name}: {text}" if name else text
            blocks.append(Block("turn" if name else "paragraph", at, at + len(part), time=time))
            parts.append(part)
            at += len(part) + 2
    return Spoken("\n\n".join(parts), tuple(blocks))


def speaker_named(value: object) -> str | None:
    """A name as it may stand before a colon, or None where nothing of it is left.

    >>> speaker_named(" Alban :"), speaker_named("Host: Ann"), speaker_named("")
    ('Alban', 'Host Ann', None)
    """
    name = (one_line(value) or "").strip(" :").replace(": ", " ")[:_LONGEST_NAME].strip()
    return name if any(char.isalnum() for char in name) else None


def seconds_of(stamp: str) -> float | None:
    """Seconds from the beginning, of `1:02:03.5`, `00:53,250` or `0:53`; None for others.

    >>> seconds_of("1:02:03.5"), seconds_of("0:53"), seconds_of("noon")
    (3723.5, 53.0, None)
    """
    found = _STAMP.fullmatch(stamp.strip())
    if found is None:
        return None
    hours, minutes, seconds, fraction = found.groups("0")
    return float(f"{3600 * int(hours) + 60 * int(minutes) + int(seconds)}.{fraction}")


def _runs(said: Iterable[Said]) -> Iterator[list[Said]]:
    """What one speaker says in one go."""
    run: list[Said] = []
    for one in said:
        if not one.text:
            continue
        # A name that is written again before every caption is no other speaker.
        other = run and (one.speaker != run[0].speaker or (one.fresh and one.speaker is None))
        if other:
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def _joined(run: list[Said]) -> tuple[str, list[int]]:
    """The words of a run in one line, and where each part begins."""
    pieces: list[str] = []
    starts: list[int] = []
    at = 0
    for one in run:
        gap = _gap(pieces[-1], one.text) if pieces else ""
        starts.append(at + len(gap))
        pieces += (gap, one.text)
        at += len(gap) + len(one.text)
    return "".join(pieces), starts


def _gap(before: str, after: str) -> str:
    """What stands between two parts: no space in Chinese and Japanese, or before a lone mark."""
    if _SPACELESS.match(before[-1]) and _SPACELESS.match(after):
        return ""
    return "" if _MARK_ALONE.fullmatch(after) else " "


def _whole(run: list[Said]) -> Iterator[tuple[str, float | None]]:
    yield _joined(run)[0], run[0].start


def _paragraphs(run: list[Said]) -> Iterator[tuple[str, float | None]]:
    """A run in parts that a reader takes in, each with its time."""
    text, starts = _joined(run)
    begin = count = 0
    for border in _borders(text, run, starts):
        count += border.sentence
        if border.at < len(text) and not _parts(border, border.at - begin, count):
            continue
        part = text[begin : border.at].strip()
        if part:
            yield part, run[bisect_right(starts, begin) - 1].start
        begin, count = border.at, 0


@dataclass(frozen=True, slots=True)
class _Border:
    """A place where a paragraph may end."""

    at: int
    sentence: bool
    """Whether a sentence ends there."""
    pause: bool = False


def _borders(text: str, run: list[Said], starts: list[int]) -> Iterator[_Border]:
    """Sentence ends and the borders between parts, in order, and the end of the text."""
    pauses = {
        at: before.end is not None and one.start is not None and one.start - before.end >= _PAUSE
        for before, one, at in zip(run, run[1:], starts[1:], strict=False)
    }
    sentences = {found.end() for found in _SENTENCE_END.finditer(text)}
    for at in sorted({*pauses, *sentences}):
        yield _Border(at, at in sentences, pauses.get(at, False))
    yield _Border(len(text), sentence=True)


def _parts(border: _Border, length: int, sentences: int) -> bool:
    """Whether a paragraph of so many characters and ended sentences ends at `border`."""
    if border.sentence or not sentences:
        if border.pause and length >= _LEAST:
            return True
        return length >= _ENOUGH or sentences >= _SENTENCES
    return length >= _MOST
