"""Feeds: RSS in all its versions, and Atom.

What is read is text that was handed over; no address in it is opened. The feed goes through our
own XML parser first, so that the feed parser sees well-formed XML of bounded depth without a
document type, and never needs its lenient second parser.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lxml import etree

from repurpose.core.listing import Listing, TranscriptLink
from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._dates import mail_date
from repurpose.sources._feed_items import (
    MOST_ITEMS,
    TOO_MANY,
    Item,
    entry_of,
    feed_source,
    plain_words,
)
from repurpose.sources._feed_xml import absolute, feed_root, local_name, namespace_of
from repurpose.sources.base import Raw, declared_code, iso_date, one_line, shown

try:  # the reader of an extra; the message names it where it is missing
    import feedparser
except ImportError:
    feedparser = None

__all__ = ["listing", "load"]

_ROOTS = ("rss", "feed", "RDF", "channel")
_ATOM = ("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#")
_CONTENT = "http://purl.org/rss/1.0/modules/content/"
_XHTML = "http://www.w3.org/1999/xhtml"
_PODCAST = re.compile("podcastindex|podcast-namespace", re.IGNORECASE)
_TEXTS = ("text/html", "application/xhtml+xml", "text/plain")
_NAMED_ADDRESS = re.compile(r"(\S{1,200}@\S{1,200}) \(([^()]{1,200})\)\Z")
_LONGEST_DATE = 100  # characters
_LONG = 500  # characters, from which on texts are prepared
_LINE_END = "\u2028"  # stands for line ends on the way through the parser
_MOST_ATTRIBUTES = 30  # of one element
_ATTRIBUTES = ("href", "rel", "type", "url", "src", "mode", "isPermaLink", "name", "content")
_WRITTEN = frozenset({"pubDate", "published", "updated", "date", "issued", "modified", "created"})


@dataclass(frozen=True, slots=True)
class _Marked:
    """What the feed parser does not tell of an item."""

    transcripts: tuple[tuple[str, str | None, str | None], ...]
    content: bool


def load(raw: Raw) -> Source:
    """The whole feed as one source: each item under a heading of its own.

    Raises:
        SourceError: any reason of `listing`, or `no-text`.
    """
    return feed_source(listing(raw), raw)


def listing(raw: Raw) -> Listing:
    """The items of an RSS or Atom feed, each with the text that the feed itself holds.

    Raises:
        SourceError: `empty`, `binary`, `corrupt` or `too-large`; `unsupported` without the extra.
    """
    if feedparser is None:
        raise SourceError(
            "unsupported",
            f'{shown(raw.origin)} cannot be read without the "feeds" extra;'
            " install it: pip install 'repurpose-text[feeds]'",
        )
    root, warnings = feed_root(raw, *_ROOTS)
    items = list(_items(root))
    if len(items) > MOST_ITEMS:
        warnings = (*warnings, TOO_MANY)
    for one in items[MOST_ITEMS:]:
        one.getparent().remove(one)
    marked = [_marked(one) for one in items[:MOST_ITEMS]]
    feed, entries = _parsed(root, raw)
    if len(marked) != len(entries):  # items in elements that are none of a feed
        marked = [_Marked((), content=False)] * len(entries)
    about: Mapping[str, Any] = feed
    site = absolute(about.get("link"), raw.origin)
    language = declared_code(about.get("language") or root.get(_xml("lang")))
    found = (
        _item(entry, mark, site or raw.origin, language)
        for entry, mark in zip(entries, marked, strict=True)
    )
    return Listing(
        origin=raw.origin,
        kind="feed",
        entries=tuple(entry_of(one, raw.origin, "feed") for one in found),
        title=plain_words(about.get("title")),
        author=_name(about.get("author")),
        language=language,
        url=site,
        warnings=warnings,
    )


def _xml(name: str) -> str:
    return f"{{http://www.w3.org/XML/1998/namespace}}{name}"


def _items(root: etree._Element) -> Iterator[etree._Element]:
    for element in root.iter("{*}item", "{*}entry"):
        # Modules have items of their own: lists of media, of chapters, of a podcast's other shows.
        parent = element.getparent()
        if parent is not None and local_name(parent) in _ROOTS:
            yield element


def _marked(item: etree._Element) -> _Marked:
    links = (
        (url, one.get("type"), one.get("language"))
        for one in item.iterchildren()
        if local_name(one) == "transcript" and (url := one.get("url"))
    )
    return _Marked(tuple(links), any(_is_content(one) for one in item.iterchildren()))


def _is_content(element: etree._Element) -> bool:
    """Whether `element` is where whole texts stand; Atom's may point elsewhere instead."""
    space, name = namespace_of(element), local_name(element)
    if space in _ATOM:
        return name == "content" and element.get("src") is None
    return (space, name) in ((_CONTENT, "encoded"), (_XHTML, "body"), (_XHTML, "div"))


def _parsed(root: etree._Element, raw: Raw) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    for element in list(root.iter("{*}*")):
        # The parser takes the link of a `podcast:liveItem` for that of the podcast.
        if _PODCAST.search(namespace_of(element)) and element is not root:
            element.getparent().remove(element)
        else:
            _bound(element)
    # A stream, since the parser takes strings for addresses and paths, and opens them.
    content = io.BytesIO(etree.tostring(root, encoding="utf-8", xml_declaration=True))
    try:
        found = feedparser.parse(
            content,
            response_headers={"content-type": "application/xml; charset=utf-8"},
            resolve_relative_uris=False,
            sanitize_html=False,  # hidden parts are told by the styles that it would drop
        )
    except Exception:  # noqa: BLE001 - whatever the parser does on hostile input is our refusal
        raise SourceError(
            "corrupt",
            f"{shown(raw.origin)}: a feed that cannot be read; load the pages that it names",
        ) from None
    return found["feed"], found["entries"]


def _bound(element: etree._Element) -> None:
    """Take out of `element` what costs the parser more time than the size of it suggests."""
    if len(element.attrib) > _MOST_ATTRIBUTES:
        kept = {name: element.get(name) for name in _ATTRIBUTES if name in element.attrib}
        element.attrib.clear()
        element.attrib.update(kept)
    text = element.text or ""
    # No date is that long, and the parser tries a dozen patterns on each.
    if local_name(element) in _WRITTEN and len(text) > _LONGEST_DATE:
        element.text = None
    elif len(text) > _LONG and "]]>" not in text:
        # It takes text in pieces that end with each line and each escaped character.
        element.text = etree.CDATA(text.replace("\n", _LINE_END))


def _item(entry: Mapping[str, Any], mark: _Marked, base: str, feed_language: str | None) -> Item:
    markup, typed, language = _text(entry)
    links = (
        TranscriptLink(url, one_line(kind), declared_code(code))
        for address, kind, code in mark.transcripts
        if (url := absolute(address, base))
    )
    return Item(
        id=one_line(entry.get("id")),
        url=absolute(entry.get("link"), base),
        title=plain_words(entry.get("title")),
        author=_name(entry.get("author")),
        date=_date(entry),
        language=declared_code(language) or feed_language,
        markup=markup,
        typed=typed,
        content=mark.content,
        transcripts=tuple(dict.fromkeys(links)),
    )


def _text(entry: Mapping[str, Any]) -> tuple[str | None, str | None, str | None]:
    """The longest text of an item: as HTML, as plain text, and its declared language."""
    summary = entry.get("summary_detail")
    details = [*entry.get("content", ()), *([summary] if summary else ())]
    texts = [one for one in details if one.get("type") in _TEXTS and one.get("value")]
    if not texts:
        return None, None, None
    best = max(texts, key=lambda one: len(one["value"]))
    value = str(best["value"]).replace(_LINE_END, "\n")
    if best["type"] == "text/plain":
        return None, value, best.get("language")
    return value, None, best.get("language")


def _name(value: object) -> str | None:
    """A name, with its address behind it where RSS has it in front; None for a bare address.

    >>> _name("ada@example.org (Ada Ek)"), _name("ada@example.org")
    ('Ada Ek (ada@example.org)', None)
    """
    name = plain_words(value)
    if name is None or ("@" in name and " " not in name):
        return None
    return _NAMED_ADDRESS.sub(r"\2 (\1)", name)


def _date(entry: Mapping[str, Any]) -> str | None:
    """The date of publication, else of the last change, as it was where it was written."""
    # Asked for an `updated` that is not there, the parser hands out `published` with a warning.
    for key in (key for key in ("published", "created", "updated") if key in entry):
        written, understood = entry.get(key), entry.get(f"{key}_parsed")
        date = iso_date(written) or mail_date(written)
        if date is None and understood is not None:
            date = iso_date("{:04}-{:02}-{:02}".format(*understood[:3]))
        if date is not None:
            return date
    return None
