"""SubRip subtitles (SRT), as videos and podcasts have them."""

from __future__ import annotations

from repurpose.core.source import Source
from repurpose.sources._captions import caption_source
from repurpose.sources._cues import read_srt
from repurpose.sources.base import Raw

__all__ = ["load"]


def load(raw: Raw) -> Source:
    """A source of what is said, by whom where the captions tell (`Ann:`, `[Ann]`, `>>`).

    Raises:
        SourceError: `corrupt` where there is no cue; `no-text`, `empty`, `binary`, `too-large`
            or `unreadable`.
    """
    return caption_source(raw, "srt", read_srt)
