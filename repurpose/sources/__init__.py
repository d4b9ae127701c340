"""Where long texts come from: one loader for each kind, found by name and loaded on use.

Nothing here reads standard input or the network; callers that do hand over the bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from repurpose.core.listing import Listing
from repurpose.core.source import Source
from repurpose.core.table import member
from repurpose.errors import SourceError, UsageError
from repurpose.sources._kinds import kind_of
from repurpose.sources._raw import MAX_BYTES, Lister, Loader, Raw, shown

__all__ = ["LISTINGS", "SOURCES", "kind_of", "listing_in", "load_bytes", "load_path", "read_path"]

SOURCES: dict[str, str] = {
    "markdown": "repurpose.sources.markdown:load",
    "text": "repurpose.sources.text:load",
    "html": "repurpose.sources.html:load",
    "pdf": "repurpose.sources.pdf:load",
    "docx": "repurpose.sources.docx:load",
    "pptx": "repurpose.sources.pptx:load",
    "odt": "repurpose.sources.odt:load",
    "rtf": "repurpose.sources.rtf:load",
    "epub": "repurpose.sources.epub:load",
    "eml": "repurpose.sources.eml:load",
    "srt": "repurpose.sources.srt:load",
    "vtt": "repurpose.sources.vtt:load",
    "podcast-json": "repurpose.sources.podcast_json:load",
    "youtube-json3": "repurpose.sources.youtube_json3:load",
    "feed": "repurpose.sources.feed:load",
    "json-feed": "repurpose.sources.json_feed:load",
}
"""Kinds of sources; each value names a module and its loader, imported when it is used."""

LISTINGS: dict[str, str] = {
    "feed": "repurpose.sources.feed:listing",
    "json-feed": "repurpose.sources.json_feed:listing",
    "sitemap": "repurpose.sources.sitemap:listing",
}
"""Kinds that name several sources; each value names a module and its reader."""


def load_bytes(
    content: bytes, origin: str, kind: str | None = None, charset: str | None = None
) -> Source:
    """The source that `content` holds; `kind` is found by `kind_of` unless it is given.

    `charset` is the character set that a server named for it.

    Raises:
        SourceError: the content cannot be read; the message is one line.
        UsageError: `kind` is not a key of `SOURCES`.
    """
    if kind is not None and kind not in SOURCES:
        raise UsageError(f"unknown kind of source {kind!r}; known are {', '.join(SOURCES)}")
    kind = kind or kind_of(origin, content)
    if kind not in SOURCES:
        raise SourceError(
            "unsupported",
            f"{shown(origin)}: a {kind} names pages and holds no text of its own",
            hint="repurpose run reads the pages it names; so does load_all",
        )
    return cast(Loader, member(SOURCES[kind]))(Raw(origin, content, charset))


def listing_in(content: bytes, origin: str, kind: str) -> Listing:
    """The entries of a feed or a sitemap; `kind` is a key of `LISTINGS`.

    Raises:
        SourceError: the content cannot be read; the message is one line.
    """
    return cast(Lister, member(LISTINGS[kind]))(Raw(origin, content))


def load_path(path: str | Path, kind: str | None = None) -> Source:
    """The source in the file at `path`; `kind` is found by `kind_of` unless it is given.

    Raises:
        SourceError: `not-found`, `unreadable`, or any reason of `load_bytes`.
        UsageError: `kind` is not a key of `SOURCES`.
    """
    return load_bytes(read_path(path), str(path), kind)


def read_path(path: str | Path) -> bytes:
    """The content of the file at `path`, and at most one byte more than may be read.

    Raises:
        SourceError: `not-found` or `unreadable`.
    """
    place, where = Path(path), shown(str(path))
    try:
        with place.open("rb") as file:
            return file.read(MAX_BYTES + 1)  # one more byte shows that it is too large
    except FileNotFoundError:
        message = f"{where}: no such file; check the path"
        raise SourceError("not-found", message) from None
    except IsADirectoryError:
        message = f"{where}: is a folder; name one file in it"
        raise SourceError("unreadable", message) from None
    except PermissionError:
        folder = place.is_dir()  # Windows says so for folders
        advice = "is a folder; name one file in it" if folder else "not allowed to read this file"
        raise SourceError("unreadable", f"{where}: {advice}") from None
    except (OSError, ValueError) as fault:  # ValueError: a path with a zero byte
        reason = (getattr(fault, "strerror", None) or "not a usable path").lower()
        raise SourceError("unreadable", f"{where}: cannot be read: {reason}") from None
