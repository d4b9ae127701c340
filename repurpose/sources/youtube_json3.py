"""Captions of YouTube in its own JSON, `json3`: events with times and pieces of text.

An event of type `aAppend` only breaks the line. Lines do not roll in this format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repurpose.core.source import Source
from repurpose.sources._captions import require_few_marks, said_in
from repurpose.sources._cues import Cue, Line
from repurpose.sources._json import damage, list_in, number
from repurpose.sources._turns import transcript
from repurpose.sources.base import Raw, decode, hidden_warning, require_words
from repurpose.text.cleaning import Cleaned, clean

__all__ = ["load"]


def load(raw: Raw) -> Source:
    """A source of what is said. It has no language: the file declares none.

    Nor is one looked for: a recogniser writes whatever it hears in words of the language that it
    was set to, and captions may be machine translations.

    Raises:
        SourceError: `corrupt` where there are no events; `no-text`, `empty`, `binary`,
            `too-large` or `unreadable`.
    """
    decoded, warnings = decode(raw)
    found = list_in(raw, require_words(decoded, raw), "events", _is_event)
    texts = [clean("".join(_pieces(one))) for one in found.entries]
    require_few_marks("".join(one.text for one in texts), raw)
    hidden = sum(one.removed for one in texts)
    cues = [
        Cue(*_times(event), tuple(Line(" ".join(one.split())) for one in cleaned.text.split("\n")))
        for event, cleaned in zip(found.entries, texts, strict=True)
        if cleaned.text.strip()
    ]
    return transcript(
        raw,
        "youtube-json3",
        said_in(cues),
        detect=False,
        hidden=hidden,
        warnings=(*warnings, *damage(found), *hidden_warning("", Cleaned("", hidden))),
    )


def _is_event(entry: Mapping[str, object]) -> bool:
    return isinstance(entry.get("segs"), list)


def _segments(event: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    segments = event.get("segs")
    return [one for one in segments if isinstance(one, dict)] if isinstance(segments, list) else []


def _pieces(event: Mapping[str, object]) -> Iterator[str]:
    for segment in _segments(event):
        text = segment.get("utf8")
        if isinstance(text, str):
            yield text


def _times(event: Mapping[str, object]) -> tuple[float | None, float | None]:
    """When an event begins, and when its last word does: it is shown for longer than it is said."""
    start = number(event.get("tStartMs"))
    if start is None:
        return None, None
    offsets = [number(one.get("tOffsetMs")) or 0.0 for one in _segments(event)]
    lasts = max(offsets, default=0.0) or number(event.get("dDurationMs")) or 0.0
    return start / 1000, (start + lasts) / 1000
