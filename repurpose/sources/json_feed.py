"""JSON Feed, versions 1 and 1.1 (jsonfeed.org)."""

from __future__ import annotations

from collections.abc import Mapping

from repurpose.core.listing import Listing
from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._feed_items import MOST_ITEMS, TOO_MANY, Item, entry_of, feed_source
from repurpose.sources._feed_xml import absolute
from repurpose.sources._json import damage, list_in
from repurpose.sources.base import Raw, declared_code, decode, iso_date, one_line, shown

__all__ = ["listing", "load"]


_KEYS = frozenset({"id", "url", "title", "content_html", "content_text", "summary"})


def load(raw: Raw) -> Source:
    """The whole feed as one source: each item under a heading of its own.

    Raises:
        SourceError: any reason of `listing`, or `no-text`.
    """
    return feed_source(listing(raw), raw)


def listing(raw: Raw) -> Listing:
    """The items of a JSON Feed, each with the text that the feed itself holds.

    Of a feed that is cut short, the items that are whole.

    Raises:
        SourceError: `empty`, `binary`, `corrupt`, `too-large` or `unreadable`.
    """
    where = shown(raw.origin)
    text, warnings = decode(raw)
    if not text.strip():
        raise SourceError("empty", f"{where}: empty; there is nothing to work on")
    try:
        found = list_in(raw, text, "items", lambda one: not _KEYS.isdisjoint(one))
    except SourceError as fault:
        advice = "no items can be read in it; get the feed again, or load its pages"
        raise SourceError(fault.reason, f"{where}: {advice}") from None
    feed = found.around
    site = absolute(feed.get("home_page_url"), raw.origin)
    language = declared_code(feed.get("language"))
    author = _authors(feed)
    items = (_item(one, site or raw.origin, language) for one in found.entries[:MOST_ITEMS])
    more = (TOO_MANY,) if len(found.entries) > MOST_ITEMS else ()
    return Listing(
        origin=raw.origin,
        kind="json-feed",
        entries=tuple(entry_of(one, raw.origin, "json-feed") for one in items),
        title=one_line(feed.get("title")),
        author=author,
        language=language,
        url=site,
        warnings=(*warnings, *damage(found), *more),
    )


def _item(one: Mapping[str, object], base: str, language: str | None) -> Item:
    markup, typed = _string(one.get("content_html")), _string(one.get("content_text"))
    content = markup is not None or typed is not None
    if not content:
        typed = _string(one.get("summary"))
    return Item(
        id=_id(one.get("id")),
        url=absolute(one.get("url"), base),
        title=one_line(one.get("title")),
        author=_authors(one),
        date=iso_date(one.get("date_published")) or iso_date(one.get("date_modified")),
        language=declared_code(one.get("language")) or language,
        markup=markup,
        typed=typed,
        content=content,
    )


def _string(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _id(value: object) -> str | None:
    """The id as a string; version 1 lets readers take numbers for one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**18 else None
    return one_line(value)


def _authors(one: Mapping[str, object]) -> str | None:
    """The names in `authors`, or in the `author` of version 1."""
    listed = one.get("authors")
    people = listed if isinstance(listed, list) else [one.get("author")]
    names = [one_line(person.get("name")) for person in people if isinstance(person, dict)]
    return ", ".join(dict.fromkeys(name for name in names if name)) or None
