"""Subtitle files: SubRip (SRT) and WebVTT (W3C, https://www.w3.org/TR/webvtt1/), as cues.

Nearly every player reads more than the formats allow, so files in use break every rule. What can
be told is read: files without blank lines, without numbers, with times of the other format. A
cue ends at an empty line, not at a line of spaces, with which captions of YouTube begin.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from repurpose.sources._inline_html import decode_entities
from repurpose.sources._turns import seconds_of, speaker_named
from repurpose.text.cleaning import clean

__all__ = ["Cue", "CueFile", "Line", "read_srt", "read_vtt", "unrolled"]

_STAMP = r"(?:\d{1,5}:)?\d{1,5}:\d{1,2}(?:[.,]\d{1,9})?"
_TIMING = re.compile(rf"\s{{0,9}}({_STAMP})\s{{0,9}}-->\s{{0,9}}({_STAMP})")
_ARROW = re.compile(r"[\d:.,;\s-]{0,40}-->")  # a cue whose times cannot be read
_COMMENT = re.compile(r"NOTE(?:\s|$)")  # WebVTT 4.1; may hold a cue that was taken out
_FIELD = re.compile(r"([A-Za-z][\w-]{0,30})[:=][ \t]{0,9}(\S.{0,300})")
# WebVTT 4.2.2: a voice span names who speaks, and need not be closed where it fills its cue.
_VOICE = re.compile(r"<v(?:\.[^\s<>]{0,99})?\s{1,9}([^>]{1,200})>|(</v\s{0,9}>)", re.IGNORECASE)
_READING = re.compile(r"<rt\b[^<>]{0,99}>[^<]{0,300}(?:</rt\s{0,9}>)?", re.IGNORECASE)
_BREAK = re.compile(r"<br\s{0,9}/?>", re.IGNORECASE)
_STAMP_TAG = r"<\d[\d:.,]{0,20}>"
_VTT_TAG = re.compile(
    rf"</?[A-Za-z][^<>]{{0,300}}>|{_STAMP_TAG}"
)  # WebVTT 6.4: others show nothing
_SRT_TAG = re.compile(
    r"</?(?:i|b|u|s|c|v|em|strong|font|span|ruby|rt|rp|lang|p|br)(?:[\s./][^<>]{0,300})?>"
    rf"|{_STAMP_TAG}|\{{\\[^{{}}]{{0,99}}\}}|\{{/?[ibu]\}}",
    re.IGNORECASE,
)
_ROLLED = 0.3  # of the cues that could; ordinary captions hardly ever repeat a line in two


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a cue, without markup."""

    text: str
    voice: str | None = None
    """Who speaks it, where a voice span says so."""
    ends: bool = False
    """Whether the voice span is closed behind it, so that what follows is nobody's."""


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown at a time. Lines may be blank."""

    start: float | None
    end: float | None
    lines: tuple[Line, ...]


@dataclass(slots=True)
class CueFile:
    """The cues of a file, in its order."""

    cues: list[Cue] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    """What the header of a WebVTT file declares, names in lower case."""
    untimed: int = 0
    """Cues whose times cannot be read."""
    hidden: int = 0
    """Hidden characters that entities stood for."""


@dataclass(slots=True)
class _Open:
    start: float | None
    end: float | None
    lines: list[str] = field(default_factory=list)


def read_srt(text: str) -> CueFile:
    """The cues of a SubRip file. `text` is clean; its line ends are newlines."""
    found = CueFile()
    for opened in _srt_cues(text.split("\n")):
        _add(found, opened, _SRT_TAG)
    return found


def read_vtt(text: str) -> CueFile:
    """The cues of a WebVTT file, also without its first line. `text` is clean, as above."""
    lines = text.split("\n")
    found = CueFile()
    first = _header(lines, found.fields)
    for opened in _vtt_cues(lines[first:]):
        _add(found, opened, _VTT_TAG)
    return found


def unrolled(cues: Sequence[Cue]) -> list[Cue]:
    """`cues`, each line once where captions roll: YouTube shows every line three times.

    A line counts as shown before if it equals one of the two lines kept last, as a whole, so that
    words which are said twice stay. Captions that do not roll keep all their lines.
    """
    if not _roll(cues):
        return list(cues)
    last: list[str] = []
    kept: list[Cue] = []
    for cue in cues:
        fresh: list[Line] = []
        for line in cue.lines:
            if line.text and line.text not in last[-2:]:
                fresh.append(line)
                last.append(line.text)
        kept.append(replace(cue, lines=tuple(fresh)))
    return kept


def _roll(cues: Sequence[Cue]) -> bool:
    """Whether cues begin with the line that the one before ended with, and hold another."""
    count = 0
    for before, cue in itertools.pairwise(cues):
        ended = next((line.text for line in reversed(before.lines) if line.text), None)
        begun = next((line.text for line in cue.lines if line.text), None)
        count += len(cue.lines) > 1 and ended is not None and ended == begun
    return count > 0 and count >= _ROLLED * (len(cues) - 1)


def _header(lines: Sequence[str], fields: dict[str, str]) -> int:
    """How many lines the header has; fills `fields`."""
    if not lines[0].startswith("WEBVTT"):
        return 0
    for at, line in enumerate(lines[1:], 1):
        if line == "" or "-->" in line:
            return at
        pair = _FIELD.match(line)
        if pair is not None:
            fields.setdefault(pair[1].lower(), pair[2].strip())
    return len(lines)


def _timing(line: str) -> _Open | None:
    """The cue that begins at this line, or None where none does."""
    if "-->" not in line:
        return None
    found = _TIMING.match(line)
    if found is not None:
        return _Open(seconds_of(found[1]), seconds_of(found[2]))
    return _Open(None, None) if _ARROW.match(line) else None


def _srt_cues(lines: Sequence[str]) -> Iterator[_Open]:
    """A text after an empty line belongs to the cue before it, unless it numbers the next one."""
    cue = _Open(None, None)
    for line in lines:
        opened = _timing(line)
        if opened is None:
            cue.lines.append(line)
            continue
        _drop_number(cue.lines)
        yield _trimmed(cue)
        cue = opened
    _trimmed(cue)
    if cue.lines[-2:-1] == [""]:
        _drop_number(cue.lines)  # the file breaks off behind it
    yield _trimmed(cue)


def _drop_number(lines: list[str]) -> None:
    """Take the number of the next cue off the end of `lines`."""
    if lines and lines[-1].strip().isdigit():
        lines.pop()


def _trimmed(cue: _Open) -> _Open:
    while cue.lines and cue.lines[-1] == "":
        cue.lines.pop()
    return cue


def _vtt_cues(lines: Sequence[str]) -> Iterator[_Open]:
    """A block without times is a comment, a style, or the name of the next cue."""
    cue: _Open | None = None
    comment = begun = False
    for line in lines:
        opened = None if comment else _timing(line)
        if opened is not None:
            if cue is not None:
                _drop_number(cue.lines)
                yield cue
            cue = opened
        elif line == "":
            if cue is not None:
                yield cue
            cue, comment, begun = None, False, False
        elif cue is not None:
            cue.lines.append(line)
        else:
            comment = comment or (not begun and _COMMENT.match(line) is not None)
            begun = True
    if cue is not None:
        yield cue


def _add(found: CueFile, opened: _Open, tags: re.Pattern[str]) -> None:
    lines: list[Line] = []
    for voice, ends, part in _voices("\n".join(opened.lines)):
        texts = [" ".join(one.split()) for one in _plain(part, tags, found).split("\n")]
        lines += (Line(one, voice) for one in texts)
        if ends and lines:
            lines[-1] = replace(lines[-1], ends=True)
    if not any(line.text for line in lines):
        return
    cue = Cue(opened.start, opened.end, tuple(lines))
    if found.cues and found.cues[-1] == cue and cue.start is not None:
        return  # written twice: nothing is said twice at one time
    found.untimed += cue.start is None
    found.cues.append(cue)


def _voices(payload: str) -> Iterator[tuple[str | None, bool, str]]:
    """The parts of a cue: who speaks it, whether a voice span is closed behind it, its text."""
    voice: str | None = None
    at = 0
    if "<" in payload:
        for mark in _VOICE.finditer(payload):
            if payload[at : mark.start()].strip():
                yield voice, mark[2] is not None, payload[at : mark.start()]
            voice = speaker_named(decode_entities(mark[1])) if mark[1] else None
            at = mark.end()
    if not at or payload[at:].strip():
        yield voice, False, payload[at:]


def _plain(part: str, tags: re.Pattern[str], found: CueFile) -> str:
    """Text without markup. Entities come last: what they stand for is text, not markup."""
    if "<" in part or "{" in part:
        part = tags.sub("", _BREAK.sub(" ", _READING.sub("", part)))
    if "&" in part:
        cleaned = clean(decode_entities(part))
        found.hidden += cleaned.removed
        part = cleaned.text
    return part
