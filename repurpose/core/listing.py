"""A listing: what a feed or a sitemap names, each entry with what the list itself says of it."""

from __future__ import annotations

from dataclasses import dataclass

from repurpose.core.source import Source

__all__ = ["Entry", "Listing", "TranscriptLink"]


@dataclass(frozen=True, slots=True)
class TranscriptLink:
    """Where a transcript of an episode stands (Podcasting 2.0, `podcast:transcript`)."""

    url: str
    type: str | None = None
    """Its media type as declared, such as `text/vtt`."""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a feed, or one page of a sitemap."""

    id: str
    """What stays the same when the item is edited: its guid, else its address."""
    url: str | None = None
    """The page of the entry; absolute."""
    source: Source | None = None
    """The text that the listing itself holds; None where it only points to a page."""
    complete: bool = False
    """Whether that text is the whole of it, and not a teaser for the page."""
    title: str | None = None
    date: str | None = None
    """ISO 8601 date of publication, or of the last change in a sitemap."""
    transcripts: tuple[TranscriptLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A feed or a sitemap, with its entries in the order of the file."""

    origin: str
    kind: str
    entries: tuple[Entry, ...]
    title: str | None = None
    author: str | None = None
    language: str | None = None
    url: str | None = None
    """The site it belongs to."""
    children: tuple[str, ...] = ()
    """Addresses of further listings: what a sitemap index names."""
    warnings: tuple[str, ...] = ()
