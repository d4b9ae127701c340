"""Podcasting 2.0 transcripts in JSON: segments with times, text and, mostly, speakers.

The format is that of https://github.com/Podcastindex-org/podcast-namespace, transcripts. Segments
may be sentences or single words. What Whisper writes (`start`, `text`) is read alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repurpose.core.source import Source
from repurpose.sources._captions import require_few_marks, said_in, without_sounds
from repurpose.sources._cues import Cue, Line
from repurpose.sources._json import damage, list_in, number
from repurpose.sources._turns import Said, speaker_named, transcript
from repurpose.sources.base import (
    Raw,
    declared_code,
    decode,
    hidden_warning,
    one_line,
    require_words,
)
from repurpose.text.cleaning import Cleaned, clean

__all__ = ["load"]


def load(raw: Raw) -> Source:
    """A source of what is said; a segment without a speaker is nobody's.

    Where no segment names a speaker, names are looked for in what is said, as in subtitles.

    Raises:
        SourceError: `corrupt` where there are no segments; `no-text`, `empty`, `binary`,
            `too-large` or `unreadable`.
    """
    decoded, warnings = decode(raw)
    found = list_in(raw, require_words(decoded, raw), "segments", _is_segment)
    bodies = [clean(_body(one)) for one in found.entries]
    hidden = sum(one.removed for one in bodies)
    texts = [" ".join(one.text.split()) for one in bodies]
    require_few_marks(" ".join(texts), raw)
    if any(speaker_named(one.get("speaker")) for one in found.entries):
        said = _attributed(found.entries, texts)
    else:
        said = said_in(
            [
                Cue(*_times(one), (Line(text),))
                for one, text in zip(found.entries, texts, strict=True)
            ]
        )
    return transcript(
        raw,
        "podcast-json",
        said,
        title=one_line(found.around.get("title")),
        declared=declared_code(found.around.get("language")),
        hidden=hidden,
        warnings=(*warnings, *damage(found), *hidden_warning("", Cleaned("", hidden))),
    )


def _is_segment(entry: Mapping[str, object]) -> bool:
    return isinstance(entry.get("body", entry.get("text")), str)


def _body(segment: Mapping[str, object]) -> str:
    return str(segment.get("body", segment.get("text")))


def _times(segment: Mapping[str, object]) -> tuple[float | None, float | None]:
    start = number(segment.get("startTime", segment.get("start")))
    return start, number(segment.get("endTime", segment.get("end")))


def _attributed(segments: Sequence[Mapping[str, object]], texts: Sequence[str]) -> Iterator[Said]:
    for segment, text in zip(segments, texts, strict=True):
        yield Said(without_sounds(text), *_times(segment), speaker_named(segment.get("speaker")))
