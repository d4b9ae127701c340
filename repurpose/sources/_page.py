"""What a page says about itself: title, author, date, language, address.

JSON-LD first, then meta tags, then what trafilatura finds without its extensive search, which
takes dates from links. A canonical address counts only where the page declares one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import trafilatura
from lxml.html import HtmlElement

from repurpose.sources.base import declared_code, iso_date, one_line, web_address

__all__ = ["Page", "page_of"]

_ARTICLES = (
    "article", "blogposting", "newsarticle", "reportagenewsarticle", "opinionnewsarticle",
    "reviewnewsarticle", "analysisnewsarticle", "scholarlyarticle", "techarticle",
    "socialmediaposting", "liveblogposting", "report", "podcastepisode", "webpage"
)  # fmt: skip
_BETWEEN_TITLE_AND_SITE = " |·•–—-:»/"
_DEEPEST = 12  # levels of JSON-LD; publishers use four
_DATES = (
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.date",
    "dcterms.created",
    "citation_publication_date",
    "pubdate",
    "publish-date",
)
_AUTHORS = (
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "citation_author",
    "parsely-author",
    "sailthru.author",
)


@dataclass(frozen=True, slots=True)
class Page:
    """Declared values; None for what the page does not say."""

    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    url: str | None = None


def page_of(tree: HtmlElement) -> Page:
    """What the page in `tree` declares. `tree` still has its scripts, but no hidden parts."""
    meta = _meta(tree)
    stated = list(_linked(tree))
    article = _article(stated)
    found = trafilatura.extract_metadata(tree, extensive=False)
    return Page(
        title=_title(tree, meta, article, one_line(found.title)),
        author=_author(meta, article, stated) or one_line(found.author),
        date=_date(tree, meta, article) or iso_date(found.date),
        language=_language(tree, meta),
        url=_url(tree),
    )


def _meta(tree: HtmlElement) -> dict[str, str]:
    """The meta tags by name in lower case; the first of each name counts."""
    found: dict[str, str] = {}
    for element in tree.iter("meta"):
        content = one_line(element.get("content"))
        for key in ("property", "name", "itemprop", "http-equiv"):
            name = (element.get(key) or "").strip().lower()
            if name and content:
                found.setdefault(name, content)
    return found


def _linked(tree: HtmlElement) -> Iterator[dict[str, Any]]:
    """Every JSON-LD object of the page, outer ones first."""
    for script in tree.iter("script"):
        if (script.get("type") or "").partition(";")[0].strip().lower() != "application/ld+json":
            continue
        text = (script.text or "").strip().removeprefix("//").strip()
        text = text.removeprefix("<![CDATA[").lstrip()
        try:
            # Sites put raw line breaks into strings and comments after the object.
            value, _ = json.JSONDecoder(strict=False).raw_decode(text)
        except (ValueError, RecursionError):
            continue
        yield from _objects(value, 0)


def _objects(value: object, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _objects(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            yield from _objects(one, depth + 1)


def _article(stated: list[dict[str, Any]]) -> dict[str, Any]:
    """The object that describes the text: an article before the page around it."""
    ranked = [(rank, one) for one in stated if (rank := _rank(one)) is not None]
    return min(ranked, key=lambda pair: pair[0], default=(0, {}))[1]


def _rank(one: dict[str, Any]) -> int | None:
    kinds = one.get("@type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    ranks = [_ARTICLES.index(str(kind).lower()) for kind in names if str(kind).lower() in _ARTICLES]
    return min(ranks, default=None)


def _author(
    meta: dict[str, str], article: dict[str, Any], stated: list[dict[str, Any]]
) -> str | None:
    named = article.get("author")
    names = [_name(one, stated) for one in (named if isinstance(named, list) else [named])]
    known = list(dict.fromkeys(name for name in names if name))
    if known:
        return ", ".join(known)
    values = (_person(meta.get(key)) for key in _AUTHORS)
    return next((value for value in values if value), None)


def _name(value: object, stated: list[dict[str, Any]]) -> str | None:
    if isinstance(value, dict):
        if "name" not in value and "@id" in value:
            same = (one for one in stated if one.get("@id") == value["@id"] and "name" in one)
            value = next(same, {})
        value = value.get("name")
    return _person(value)


def _person(value: object) -> str | None:
    """A name, or None: profile addresses stand where names should."""
    name = one_line(value)
    return None if name is None or "://" in name or name.startswith("@") else name


def _date(tree: HtmlElement, meta: dict[str, str], article: dict[str, Any]) -> str | None:
    stated = [article.get("datePublished"), article.get("dateCreated")]
    marked = [
        element.get("datetime") or element.get("content")
        for element in tree.iter("time", "span", "meta", "abbr")
        if (element.get("itemprop") or "").lower() == "datepublished"
    ]
    values = [*stated, *(meta.get(key) for key in _DATES), *marked]
    return next((date for value in values if (date := iso_date(value))), None)


def _language(tree: HtmlElement, meta: dict[str, str]) -> str | None:
    root = tree.getroottree().getroot()
    xml = "{http://www.w3.org/XML/1998/namespace}lang"
    values = (
        root.get("lang"),
        root.get(xml) or root.get("xml:lang"),
        meta.get("og:locale"),
        meta.get("content-language"),
    )
    return next((code for value in values if (code := declared_code(value))), None)


def _url(tree: HtmlElement) -> str | None:
    for element in tree.iter("link"):
        if "canonical" in (element.get("rel") or "").lower().split():
            address = web_address(element.get("href"))
            if address is not None:
                return address
    return None


def _title(
    tree: HtmlElement, meta: dict[str, str], article: dict[str, Any], found: str | None
) -> str | None:
    element = tree.find(".//title")
    values = (
        article.get("headline"),
        meta.get("og:title"),
        element.text_content() if element is not None else None,
        found,
    )
    title = next((words for value in values if (words := one_line(value))), None)
    if title is None:
        return None
    headings = [words for one in tree.iter("h1") if (words := one_line(one.text_content()))]
    return _without_site(title, meta.get("og:site_name"), headings)


def _without_site(title: str, site: str | None, headings: list[str]) -> str:
    """`title` without the site's name at its end, where the page shows that it is one."""
    if site and title.endswith(site) and title != site:
        head = title[: -len(site)]
        if head[-1] in _BETWEEN_TITLE_AND_SITE:
            return head.rstrip(_BETWEEN_TITLE_AND_SITE)
    for heading in sorted(headings, key=len, reverse=True):
        rest = title.removeprefix(heading)
        if rest != title and rest[:1] == " " and rest.strip()[:1] in _BETWEEN_TITLE_AND_SITE:
            return heading
    return title
