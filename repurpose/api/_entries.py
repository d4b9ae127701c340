"""The entries of feeds and sitemaps, each as a source of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from repurpose.api._contents import Content, Pages
from repurpose.api._loaded import Loaded, attempted, shown_origin
from repurpose.core.listing import Entry, Listing, TranscriptLink
from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.fetching.showing import shown_address, without_credentials
from repurpose.text.language import kindred, primary

__all__ = ["entries_of"]

_CHILDREN = 100  # sitemaps behind one index; of 50,000 addresses each
_TRANSCRIPTS = 3  # links that are tried for one episode
# The first is the best: with times and speakers as data before what is made to be looked at.
_RANKS = {
    "text/vtt": 0,
    "vtt": 0,
    "application/srt": 1,
    "application/x-subrip": 1,
    "text/srt": 1,
    "srt": 1,
    "application/json": 2,
    "json": 2,
    "text/html": 3,
    "html": 3,
    "text/plain": 4,
    "txt": 4,
}
_UNRANKED = 5


def entries_of(
    content: Content, pages: Pages, *, follow: bool, limit: int | None
) -> Iterator[Loaded]:
    """The entries of a feed or sitemap as they are read; of a feed the newest first.

    With `follow`, an entry is its transcript, else its whole text in the list, else its page.
    Without, it is its text in the list, with a warning where that is only a teaser.

    Raises:
        SourceError: the list itself cannot be read, or names nothing.
    """
    listing = content.listing()
    reader = _Reader(listing, pages, follow=follow)
    left = limit
    anything = False
    for one in _ordered(listing, pages):
        anything = True
        if isinstance(one, Loaded):
            yield replace(one, within=content.origin)
            continue
        yield reader.loaded(one)
        left = None if left is None else left - 1
        if left == 0:  # before another sitemap is asked for
            return
    if not anything:
        message = f"{shown_origin(content.origin)}: a {listing.kind} without entries"
        raise SourceError("empty", f"{message}; there is nothing to work on")


def _ordered(listing: Listing, pages: Pages) -> Iterator[Entry | Loaded]:
    """Entries, and sitemaps that cannot be read, one after the other."""
    if listing.kind != "sitemap":
        # Sorting is stable: entries without a date keep their order, behind the others.
        yield from sorted(listing.entries, key=lambda entry: entry.date or "", reverse=True)
        return
    yield from listing.entries
    waiting = deque(listing.children)
    seen: set[str] = set()
    while waiting:
        url = waiting.popleft()
        if url in seen:
            continue
        if len(seen) == _CHILDREN:
            message = f"{shown_origin(listing.origin)}: names more than {_CHILDREN} sitemaps"
            yield Loaded(url, error=SourceError("too-large", f"{message}; the rest is left out"))
            return
        seen.add(url)
        try:
            child = _child(url, pages)
        except SourceError as error:
            yield Loaded(without_credentials(url), error=error)
        else:
            yield from child.entries
            waiting.extend(child.children)


def _child(url: str, pages: Pages) -> Listing:
    content = pages.listed(url)
    if not content.is_listing:
        message = f"{shown_address(url)}: a sitemap names it as one, but it is a {content.kind}"
        raise SourceError("unsupported", f"{message}; name it itself to load it")
    return content.listing()


class _Reader:
    """Turns the entries of one list into sources."""

    def __init__(self, listing: Listing, pages: Pages, *, follow: bool) -> None:
        self._origin = listing.origin
        self._language = listing.language
        self._pages = pages
        self._follow = follow
        self._seen: set[str] = set()
        self._untold = listing.warnings

    def loaded(self, entry: Entry) -> Loaded:
        """What the entry comes to; a page that was named before is not asked for again."""
        origin = without_credentials(entry.url) if entry.url else self._origin
        told = Loaded(origin, entry_id=entry.id, within=self._origin)
        if entry.url is not None and entry.source is None:
            if entry.url in self._seen:
                return replace(told, duplicate_of=origin)
            self._seen.add(entry.url)
        loaded = attempted(told, lambda: self._source(entry))
        if loaded.source is None:
            return loaded
        warnings, self._untold = self._untold, ()
        source = replace(loaded.source, warnings=(*warnings, *loaded.source.warnings))
        return replace(loaded, source=source)

    def _source(self, entry: Entry) -> Source:
        spoken, doubts = self._transcript(entry) if self._follow else (None, ())
        if spoken is not None:
            return spoken
        held = entry.source
        if held is not None and not held.url and held.origin != self._origin:
            held = replace(held, origin=self._origin)
        if held is not None and entry.complete:
            return replace(held, warnings=(*doubts, *held.warnings))
        if self._follow and entry.url:
            return _completed(self._pages.listed(entry.url).source(), entry, doubts)
        if held is None:
            what = "its page can be fetched: --follow" if entry.url else "it names no page"
            raise SourceError("no-text", f"{self._where(entry)}: an item without text; {what}")
        teaser = "only the teaser of this item was loaded"
        more = "; --follow fetches its page" if entry.url else ""
        return replace(held, warnings=(*doubts, f"{teaser}{more}", *held.warnings))

    def _transcript(self, entry: Entry) -> tuple[Source | None, tuple[str, ...]]:
        """The best transcript that can be read, and what was wrong with better ones."""
        doubts: tuple[str, ...] = ()
        for link in self._preferred(entry):
            try:
                content = self._pages.listed(link.url)
                source = replace(content.source(), url=entry.url or content.url)
            except SourceError as error:
                doubts = (*doubts, f"its transcript was not loaded: {error.message}")
            else:
                return _completed(source, entry, doubts), ()
        return None, doubts

    def _preferred(self, entry: Entry) -> list[TranscriptLink]:
        spoken = (entry.source and entry.source.language) or self._language

        def worth(link: TranscriptLink) -> tuple[bool, int]:
            foreign = bool(link.language and spoken) and not kindred(
                primary(link.language or ""), primary(spoken or "")
            )
            return foreign, _rank(link)

        return sorted(entry.transcripts, key=worth)[:_TRANSCRIPTS]

    def _where(self, entry: Entry) -> str:
        return shown_address(entry.url) if entry.url else shown_origin(self._origin)


def _completed(source: Source, entry: Entry, doubts: tuple[str, ...]) -> Source:
    """`source` with what only the list says of it."""
    held = entry.source
    return replace(
        source,
        title=source.title or entry.title,
        author=source.author or (held.author if held else None),
        date=source.date or entry.date,
        warnings=(*doubts, *source.warnings),
    )


def _rank(link: TranscriptLink) -> int:
    declared = (link.type or "").partition(";")[0].strip().lower()
    if declared in _RANKS:
        return _RANKS[declared]
    try:
        path = urlsplit(link.url).path
    except ValueError:
        return _UNRANKED
    return _RANKS.get(path.rpartition(".")[2].lower(), _UNRANKED)
