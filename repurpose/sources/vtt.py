"""WebVTT captions (W3C, https://www.w3.org/TR/webvtt1/), those of YouTube included."""

from __future__ import annotations

from repurpose.core.source import Source
from repurpose.sources._captions import caption_source
from repurpose.sources._cues import read_vtt
from repurpose.sources.base import Raw

__all__ = ["load"]


def load(raw: Raw) -> Source:
    """A source of what is said, by whom where voice spans or the captions tell.

    The words behind `WEBVTT` are a comment and no title (WebVTT 4.1). Captions that roll, as
    automatic ones of YouTube do, give each line once.

    Raises:
        SourceError: `corrupt` where there is no cue; `no-text`, `empty`, `binary`, `too-large`
            or `unreadable`.
    """
    return caption_source(raw, "vtt", read_vtt)
