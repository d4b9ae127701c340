"""Sitemaps: the pages they name, with title and date where they say so."""

from __future__ import annotations

import pytest

from repurpose.core.listing import Listing
from repurpose.errors import SourceError
from repurpose.sources import sitemap
from repurpose.sources.base import Raw
from repurpose.sources.sitemap import listing

SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'


def listed(content: str) -> Listing:
    return listing(Raw("https://example.org/sitemap.xml", content.encode()))


def pages(*inside: str) -> str:
    urls = "".join(f"<url>{one}</url>" for one in inside)
    return f"<?xml version='1.0' encoding='UTF-8'?><urlset {SPACE} {NEWS}>{urls}</urlset>"


def test_pages_are_listed_in_order_with_the_day_of_their_last_change() -> None:
    found = listed(
        pages(
            "<loc> https://example.org/b </loc><lastmod>2026-03-12T08:00:00+01:00</lastmod>",
            "<loc>https://example.org/a?x=1&amp;y=2</loc><lastmod>2026</lastmod>",
        )
    )
    assert [(one.id, one.url, one.date) for one in found.entries] == [
        ("https://example.org/b", "https://example.org/b", "2026-03-12"),
        ("https://example.org/a?x=1&y=2", "https://example.org/a?x=1&y=2", None),
    ]
    assert all(one.source is None and not one.complete for one in found.entries)
    assert (found.kind, found.children) == ("sitemap", ())


def test_news_have_a_title_and_a_day_of_publication() -> None:
    (entry,) = listed(
        pages(
            "<loc>https://example.org/a</loc><lastmod>2026-03-14</lastmod><news:news>"
            "<news:publication><news:name>No</news:name></news:publication>"
            "<news:publication_date>2026-03-12</news:publication_date>"
            "<news:title>Late hours</news:title></news:news>"
        )
    ).entries
    assert (entry.title, entry.date) == ("Late hours", "2026-03-12")


def test_an_index_names_further_sitemaps() -> None:
    found = listed(
        f"<sitemapindex {SPACE}><sitemap><loc>https://example.org/1.xml</loc></sitemap>"
        "<sitemap><loc>https://example.org/2.xml.gz</loc></sitemap></sitemapindex>"
    )
    assert found.children == ("https://example.org/1.xml", "https://example.org/2.xml.gz")
    assert found.entries == ()


def test_other_addresses_than_those_of_pages_and_repeated_ones_are_left_out() -> None:
    found = listed(
        pages(
            "<loc>file:///etc/passwd</loc>",
            "<loc>javascript:x</loc>",
            "<loc>/a</loc>",
            "<loc>https://example.org/a</loc>",
            "<loc/>",
            "",
        )
    )
    assert [one.url for one in found.entries] == ["https://example.org/a"]


def test_a_sitemap_without_a_namespace_or_with_bare_ampersands_is_read() -> None:
    found = listed("<urlset><url><loc>https://example.org/?a=1&b=2</loc></url><url><loc>htt")
    assert next(one.url for one in found.entries) == "https://example.org/?a=1&b=2"
    assert found.warnings == ("the XML is damaged; some of it may be missing",)


def test_more_addresses_than_the_protocol_allows_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sitemap, "_MOST", 2)
    found = listed(pages(*(f"<loc>https://example.org/{one}</loc>" for one in range(3))))
    assert len(found.entries) == 2
    assert len(found.warnings) == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        ("https://example.org/a", "corrupt"),
        ("<html><body/></html>", "corrupt"),
        ("<urlset>" + "<url>" * 400, "corrupt"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>', "corrupt"),
    ],
)
def test_what_is_no_sitemap_is_refused(content: str, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        listed(content)
    assert caught.value.reason == reason
