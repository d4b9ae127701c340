"""Sitemaps and their indexes (sitemaps.org), with what the news extension adds."""

from __future__ import annotations

from lxml import etree

from repurpose.core.listing import Entry, Listing
from repurpose.sources._feed_xml import absolute, feed_root, local_name, words_of
from repurpose.sources.base import Raw, iso_date, one_line

__all__ = ["listing"]

_MOST = 50_000  # addresses in one file, by the protocol


def listing(raw: Raw) -> Listing:
    """The pages that a sitemap names, or the sitemaps that an index names as `children`.

    Relative addresses, which the protocol does not allow, are seen from the address of the
    sitemap. Of two entries for one address the first counts.

    Raises:
        SourceError: `empty`, `corrupt`, `binary` or `too-large`.
    """
    root, warnings = feed_root(raw, "urlset", "sitemapindex")
    entries: dict[str, Entry] = {}
    children: dict[str, None] = {}
    more = False
    for element in root.iterchildren():
        address = absolute(words_of(_child(element, "loc")), raw.origin)
        if address is None:
            continue
        if len(entries) + len(children) >= _MOST:
            more = True
            break
        if local_name(element) == "url":
            entries.setdefault(address, _entry(element, address))
        elif local_name(element) == "sitemap":
            children.setdefault(address)
    told = (f"only the first {_MOST} addresses were read",) if more else ()
    return Listing(
        origin=raw.origin,
        kind="sitemap",
        entries=tuple(entries.values()),
        children=tuple(children),
        warnings=(*warnings, *told),
    )


def _child(element: etree._Element | None, name: str) -> etree._Element | None:
    if element is None:
        return None
    return next((one for one in element.iterchildren() if local_name(one) == name), None)


def _entry(element: etree._Element, address: str) -> Entry:
    news = _child(element, "news")
    published = iso_date(words_of(_child(news, "publication_date")))
    return Entry(
        id=address,
        url=address,
        title=one_line(words_of(_child(news, "title"))),
        date=published or iso_date(words_of(_child(element, "lastmod"))),
    )
