"""Sources from wherever they are: files, folders, patterns, lists, pages, feeds, sitemaps."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from repurpose.api._contents import Content, Pages, local_content
from repurpose.api._entries import entries_of
from repurpose.api._loaded import Loaded, LoadOptions, Origin, attempted, shown_origin
from repurpose.api._places import DOUBTFUL, Place, has_wildcards, in_folder, in_list, matching
from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.fetching.showing import without_credentials
from repurpose.sources import read_path
from repurpose.sources._raw import shown

if TYPE_CHECKING:
    from repurpose.fetching.web import Web

__all__ = ["LoadOptions", "Loaded", "Origin", "load", "load_all", "load_found", "shown_origin"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://")
_UNTYPED = frozenset({"markdown", "text"})
"""What a content is taken for that shows nothing."""


def load(origin: Origin, *, kind: str | None = None, web: Web | None = None) -> Source:
    """The source at a path or an address, on standard input (`-`), or in `bytes`.

    `kind` is a key of `repurpose.sources.SOURCES`; None finds it out by content and name. A feed
    is one source with all its items; `load_all` gives each as its own. Without a `web`, pages are
    asked for from public addresses only.

    Raises:
        SourceError: it cannot be read; `reason` says why, and the message what to do.
        UsageError: `kind` is not known.
    """
    if isinstance(origin, str) and _ADDRESS.match(origin):
        pages = Pages(web)
        try:
            return pages.named(pages.content(origin, kind))
        finally:
            pages.close()
    return local_content(origin, kind).source()


def load_all(
    *origins: Origin, options: LoadOptions | None = None, web: Web | None = None
) -> Generator[Loaded]:
    """Every source at these origins, one after the other, none loaded before it is asked for.

    An origin is what `load` takes, and also a folder, a pattern (`posts/**/*.md`), a list of
    origins (`@list.txt`), a feed or a sitemap. Paths in a list are seen from the working
    directory. What cannot be read is told as a `Loaded` with an error, and the others go on;
    what has title and text of one before is told as its duplicate.

    A feed from the web is followed: an item is its transcript where it has one, else its text
    where that is whole, else its page. A feed in a file makes no request unless
    `options.follow`. A sitemap that is named is always followed; one that lies in a folder or
    matches an open pattern is passed over unless `options.follow`.

    >>> [(one.origin, one.source.text) for one in load_all(b"One.", b"Two.") if one.source]
    [('bytes', 'One.'), ('bytes', 'Two.')]
    """
    options = options or LoadOptions()
    pages = Pages(web, allow_private=options.allow_private, proxy=options.proxy)
    known: dict[str, str] = {}
    try:
        for origin in origins:
            for loaded in _Loading(options, pages).named(origin):
                yield _once(loaded, known)
    finally:
        pages.close()


def load_found(
    origin: str,
    options: LoadOptions,
    *,
    within: str | None = None,
    by_chance: bool = False,
    pages: Pages | None = None,
) -> Generator[Loaded]:
    """The sources at one origin that is no folder, pattern or list; a duplicate is not told.

    `within` is the folder, pattern or list it was found in; `by_chance` says that nobody asked for
    just this file, so that one which is no source gives nothing. `pages` are what earlier ones
    were fetched through, and stay the caller's to close.
    """
    used = pages or Pages(None, allow_private=options.allow_private, proxy=options.proxy)
    loading = _Loading(options, used, within)
    try:
        if by_chance:
            yield from loading.file(Place(Path(origin)))
        else:
            yield from loading.named(origin)
    finally:
        if pages is None:
            used.close()


def _once(loaded: Loaded, known: dict[str, str]) -> Loaded:
    """`loaded`, or that it is a duplicate of what is in `known`."""
    if loaded.source is None:
        return loaded
    digest = loaded.source.digest
    if digest in known:
        return replace(loaded, source=None, duplicate_of=known[digest])
    known[digest] = loaded.origin
    return loaded


@dataclass(frozen=True, slots=True)
class _Loading:
    """What one call of `load_all` goes by."""

    options: LoadOptions
    pages: Pages
    within: str | None = None
    """The list that the origins stand in."""

    def named(self, origin: Origin) -> Iterator[Loaded]:
        """All that one origin leads to; a source that cannot be read is told, not raised."""
        name = "bytes" if isinstance(origin, bytes) else without_credentials(str(origin))
        try:
            yield from self._found(origin)
        except SourceError as error:
            yield Loaded(name, error=error, within=self.within)

    def _found(self, origin: Origin) -> Iterator[Loaded]:
        if isinstance(origin, str):
            if _ADDRESS.match(origin):
                yield from self._opened(self.pages.content(origin, self.options.kind))
                return
            if origin.startswith("@"):
                yield from self._list(origin)
                return
            if has_wildcards(origin):
                yield from self._places(matching(origin), origin)
                return
        # pathlib raises for a name that is too long; reading it says so in our words.
        if not isinstance(origin, bytes) and os.path.isdir(origin):  # noqa: PTH112 - see above
            yield from self._places(in_folder(Path(origin)), str(origin))
        else:
            yield from self._opened(local_content(origin, self.options.kind))

    def _list(self, origin: str) -> Iterator[Loaded]:
        name = origin.removeprefix("@")
        content = sys.stdin.buffer.read() if name == "-" else read_path(name)
        empty = True
        for line in in_list(content):
            empty = False
            if line.startswith("@"):
                message = f"{shown(line)}: a list in a list; name it itself"
                error = SourceError("unsupported", message)
                yield Loaded(line, error=error, within=origin)
            else:
                yield from replace(self, within=origin).named(line)
        if empty:
            raise SourceError("empty", f"{shown(name)}: a list without origins; write one a line")

    def _places(self, places: Iterator[Place], origin: str) -> Iterator[Loaded]:
        """The files of a folder or a pattern."""
        inside, empty = replace(self, within=origin), True
        for place in places:
            for loaded in inside.file(place):
                empty = False
                yield loaded
        if not empty:
            return
        if has_wildcards(origin):
            message = f"{shown(origin)}: no file that can be read matches; check the pattern"
            raise SourceError("not-found", message)
        message = f"{shown(origin)}: a folder without files that can be read; name a file"
        raise SourceError("empty", message)

    def file(self, place: Place) -> Iterator[Loaded]:
        """What a file in a folder or a pattern holds; nothing where it is no source by chance."""
        name = str(place.path)
        if place.fault is not None:
            yield Loaded(name, error=place.fault, within=self.within)
            return
        doubtful = place.by_chance and name.lower().endswith(DOUBTFUL)
        try:
            content = local_content(place.path, self.options.kind)
        except SourceError as error:
            if not doubtful:
                yield Loaded(name, error=error, within=self.within)
            return
        if doubtful and content.kind in _UNTYPED and self.options.kind is None:
            return
        if place.by_chance and content.kind == "sitemap" and not self.options.follow:
            return
        try:
            yield from self._opened(content)
        except SourceError as error:
            yield Loaded(name, error=error, within=self.within)

    def _opened(self, content: Content) -> Iterator[Loaded]:
        """The one source in `content`, or those that it names."""
        if content.is_listing:
            follow = self.options.follow or bool(content.url) or content.kind == "sitemap"
            yield from entries_of(content, self.pages, follow=follow, limit=self.options.limit)
            return
        told = Loaded(content.origin, within=self.within)
        if content.url is None:
            yield attempted(told, content.source)
        else:
            yield attempted(told, lambda: self.pages.named(content))
