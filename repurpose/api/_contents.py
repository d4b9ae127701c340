"""Contents with what is known of them, from this machine or from the web."""

from __future__ import annotations

import logging
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from repurpose.core.listing import Listing
from repurpose.core.source import Source
from repurpose.errors import RepurposeError, SourceError
from repurpose.fetching.showing import shown_address, without_credentials
from repurpose.sources import LISTINGS, SOURCES, kind_of, listing_in, load_bytes, read_path
from repurpose.sources._raw import MAX_BYTES, shown

if TYPE_CHECKING:
    from repurpose.fetching.robots import Robots
    from repurpose.fetching.web import Fetched, Web

__all__ = ["Content", "Pages", "local_content"]

log = logging.getLogger(__name__)

_GZIP = b"\x1f\x8b"
# A page is HTML even where its address ends with .md; its server knows better than its name.
_ENDINGS = {
    "application/pdf": "pdf",
    "application/rtf": "rtf",
    "application/srt": "srt",
    "application/x-subrip": "srt",
    "application/xhtml+xml": "html",
    "message/rfc822": "eml",
    "text/html": "html",
    "text/markdown": "md",
    "text/rtf": "rtf",
    "text/srt": "srt",
    "text/vtt": "vtt",
    "text/x-markdown": "md",
}


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes of a known kind."""

    origin: str
    content: bytes
    kind: str
    charset: str | None = None
    url: str | None = None
    """The address it was fetched from in the end; None for what is on this machine."""

    @property
    def is_listing(self) -> bool:
        """Whether it names sources, and is not only one itself."""
        return self.kind in LISTINGS

    def source(self) -> Source:
        """The source it holds; for a page, with its address where it declares none.

        Raises:
            SourceError: it cannot be read.
        """
        kind = None if self.kind in LISTINGS.keys() - SOURCES.keys() else self.kind
        with _ours_only(self._shown):
            source = load_bytes(self.content, self._shown, kind, self.charset)
        return replace(source, origin=self.origin, url=source.url or self.url)

    def listing(self) -> Listing:
        """The entries it names.

        Raises:
            SourceError: it cannot be read.
        """
        # Links are seen from where it was found.
        name = shown_address(self.url) if self.url else self.origin
        with _ours_only(name):
            listing = listing_in(self.content, name, self.kind)
        return replace(listing, origin=self.origin)

    @property
    def _shown(self) -> str:
        """What a message may call it: the query of an address may be a secret."""
        return shown_address(self.origin) if self.url else self.origin


@contextmanager
def _ours_only(name: str) -> Iterator[None]:
    """One error of ours for whatever a library finds in a file that nobody foresaw."""
    try:
        yield
    except RepurposeError:
        raise
    except Exception as fault:
        log.debug("a loader failed", exc_info=True)
        message = f"{shown(name)}: cannot be read ({type(fault).__name__}); save it as text"
        raise SourceError("unreadable", message) from fault


def local_content(origin: str | Path | bytes, kind: str | None = None) -> Content:
    """The content of a file, of standard input (`-`), or these bytes.

    Raises:
        SourceError: it cannot be read.
    """
    if isinstance(origin, bytes):
        return _told("bytes", origin, kind)
    if str(origin) == "-":
        return _told("-", sys.stdin.buffer.read(), kind)
    return _told(str(origin), read_path(origin), kind)


class Pages:
    """Contents from the web; nothing of it is imported or opened before the first one.

    `web` stays the caller's to close.
    """

    def __init__(
        self, web: Web | None, *, allow_private: bool = False, proxy: str | None = None
    ) -> None:
        self._given = web
        self._own: Web | None = None
        self._robots: Robots | None = None
        self._allow_private = allow_private
        self._proxy = proxy

    def content(self, url: str, kind: str | None = None) -> Content:
        """What is at `url`.

        Raises:
            SourceError: it cannot be fetched.
        """
        fetched = self._web.get(url)
        origin = without_credentials(url)
        if kind is None and not fetched.content.startswith(_GZIP):
            kind = _kind_of(fetched)
        told = _told(origin, fetched.content, kind)
        return replace(told, charset=fetched.charset, url=fetched.url)

    def listed(self, url: str) -> Content:
        """What is at `url`, if the owner of its site lets programs read it.

        Raises:
            SourceError: `robots`, or whatever else keeps it from being fetched.
        """
        refusal = self._rules.refusal(url)
        if refusal is not None:
            raise refusal
        return self.content(url)

    def named(self, content: Content) -> Source:
        """The source in a page that the user named, with a warning where its site says no."""
        source = content.source()
        if not self._rules.forbids(without_credentials(content.origin)):
            return source
        warning = "robots.txt of its site asks programs not to read this page"
        return replace(source, warnings=(*source.warnings, warning))

    def close(self) -> None:
        """Close the connections that were opened here."""
        if self._own is not None:
            self._own.close()

    @property
    def _web(self) -> Web:
        if self._given is not None:
            return self._given
        if self._own is None:
            # A fifth of a second that reading a file need not wait for.
            from repurpose.fetching.web import Web  # noqa: PLC0415 - see above

            self._own = Web(allow_private=self._allow_private, proxy=self._proxy)
        return self._own

    @property
    def _rules(self) -> Robots:
        if self._robots is None:
            from repurpose.fetching.robots import Robots  # noqa: PLC0415 - likewise

            self._robots = Robots(self._web)
        return self._robots


def _told(origin: str, content: bytes, kind: str | None) -> Content:
    """`content` with its kind, found out unless told, and unpacked where it is a listing."""
    if content.startswith(_GZIP):
        unpacked = _unpacked(content)
        found = kind or _sniffed(unpacked)
        if found in LISTINGS:
            return Content(origin, unpacked, found)
    name = shown_address(origin) if "://" in origin else origin
    return Content(origin, content, kind or kind_of(name, content))


def _unpacked(content: bytes) -> bytes:
    """What is packed in `content`, as far as it can be read, and one byte more than may be."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(content, MAX_BYTES + 1)
    except zlib.error:
        return b""


def _sniffed(content: bytes) -> str | None:
    try:
        return kind_of("-", content)
    except SourceError:  # said of the packed file, whose name is known
        return None


def _kind_of(page: Fetched) -> str:
    """The kind of a page by what its server says, unless its bytes prove otherwise."""
    ending = _ENDINGS.get(page.media_type or "")
    if ending is not None:
        try:
            return kind_of(f"page.{ending}", page.content)
        except SourceError:  # said again below, with its address
            pass
    return kind_of(shown_address(page.url), page.content)
