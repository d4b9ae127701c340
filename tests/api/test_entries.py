"""Feeds and sitemaps, each entry a source of its own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from repurpose.api import _entries
from repurpose.api.loading import Loaded, LoadOptions, load, load_all
from repurpose.errors import SourceError
from repurpose.fetching.web import Web
from web_site import Names, Page, Site

FOLLOW = LoadOptions(follow=True)
LONG = "The ferry crosses the sound six times a day, and twice at night in summer. "


def article(title: str) -> Page:
    return Page(
        f'<html lang="en"><head><title>{title}</title></head><body><article><h1>{title}</h1>'
        f"<p>{title}: {LONG * 3}</p></article></body></html>".encode()
    )


def item(name: str, **fields: object) -> dict[str, object]:
    return {"id": name, "url": f"http://site.example/{name}", "title": name.title(), **fields}


def feed(*items: dict[str, object]) -> bytes:
    whole = {"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": list(items)}
    return json.dumps(whole).encode()


def sitemap(*paths: str) -> bytes:
    places = "".join(f"<url><loc>http://site.example{path}</loc></url>" for path in paths)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?><urlset xmlns="{space}">{places}</urlset>'.encode()


def index(*paths: str) -> bytes:
    places = "".join(f"<sitemap><loc>http://site.example{path}</loc></sitemap>" for path in paths)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?><sitemapindex xmlns="{space}">{places}</sitemapindex>'.encode()


def podcast(*transcripts: tuple[str, str]) -> bytes:
    links = "".join(
        f'<podcast:transcript url="http://site.example{path}" type="{type_}"/>'
        for path, type_ in transcripts
    )
    space = "https://podcastindex.org/namespace/1.0"
    return (
        f'<?xml version="1.0"?><rss version="2.0" xmlns:podcast="{space}"><channel>'
        f"<title>Talks</title><item><title>Ferries</title><guid>ep1</guid>"
        f"<link>http://site.example/ep1</link><description>A teaser.</description>{links}"
        f"<pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>"
    ).encode()


def only(loaded: list[Loaded]) -> Any:
    """The one source; fails where it was refused."""
    (one,) = loaded
    assert one.source is not None, one
    return one.source


def reasons(loaded: list[Loaded]) -> list[str | None]:
    return [one.error.reason if one.error else None for one in loaded]


# --- feeds ------------------------------------------------------------------------------------


def test_a_feed_in_a_file_makes_no_request_and_gives_each_item(
    tmp_path: Path, web: Web, names: Names
) -> None:
    path = tmp_path / "feed.json"
    path.write_bytes(feed(item("whole", content_text=LONG), item("part", summary="A teaser.")))
    whole, part = load_all(path, web=web)
    assert (whole.entry_id, part.entry_id) == ("whole", "part")
    assert {whole.within, part.within} == {str(path)}
    assert whole.source is not None
    assert part.source is not None
    assert whole.origin == whole.source.url == "http://site.example/whole"
    assert whole.source.warnings == ()
    assert [line for line in part.source.warnings if "teaser" in line and "--follow" in line]
    assert names.resolved == []


def test_load_gives_a_feed_as_one_source(tmp_path: Path) -> None:
    path = tmp_path / "feed.json"
    path.write_bytes(feed(item("one", content_text=LONG), item("two", content_text="More.")))
    assert load(path).text.count("## ") == 2


def test_a_feed_in_a_file_is_followed_when_asked(tmp_path: Path, web: Web, site: Site) -> None:
    path = tmp_path / "feed.json"
    path.write_bytes(feed(item("whole", content_text=LONG), item("part", summary="A teaser.")))
    site.pages["/part"] = article("The page")
    whole, part = load_all(path, options=FOLLOW, web=web)
    assert whole.source is not None
    assert part.source is not None
    assert part.source.title == "The page"
    assert part.source.kind == "html"
    assert site.paths == ["/robots.txt", "/part"]


def test_a_feed_from_the_web_is_followed(web: Web, site: Site) -> None:
    site.pages["/feed"] = Page(feed(item("part", date_published="2026-11-02T00:00:00Z")))
    site.pages["/part"] = article("The page")
    source = only(list(load_all("http://site.example/feed", web=web)))
    assert source.origin == source.url == "http://site.example/part"
    assert source.date == "2026-11-02"


def test_an_item_whose_page_is_gone_is_refused_and_the_next_is_read(web: Web, site: Site) -> None:
    site.pages["/feed"] = Page(feed(item("gone", summary="A teaser."), item("there")))
    site.pages["/there"] = article("There")
    gone, there = load_all("http://site.example/feed", web=web)
    assert gone.error is not None
    assert (gone.error.reason, gone.origin) == ("fetch-failed", "http://site.example/gone")
    assert there.source is not None


def test_robots_txt_is_heard_for_what_a_feed_names(web: Web, site: Site) -> None:
    site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /closed", "text/plain")
    site.pages["/feed"] = Page(feed(item("closed"), item("open")))
    site.pages["/open"] = site.pages["/closed"] = article("Page")
    assert reasons(list(load_all("http://site.example/feed", web=web))) == ["robots", None]
    assert site.paths == ["/feed", "/robots.txt", "/open"]


def test_a_feed_leads_to_no_address_inside(web: Web, site: Site, names: Names) -> None:
    names.known["inside.example"] = ["169.254.169.254"]
    site.pages["/feed"] = Page(
        feed(item("a", url="http://inside.example/"), item("b", url="http://127.0.0.1/"))
    )
    assert reasons(list(load_all("http://site.example/feed", web=web))) == ["blocked-address"] * 2


def test_an_item_without_text_says_how_to_get_one(tmp_path: Path) -> None:
    path = tmp_path / "feed.json"
    path.write_bytes(feed(item("empty"), {"id": "nothing", "title": "Nothing"}))
    empty, nothing = load_all(path)
    assert empty.error is not None
    assert nothing.error is not None
    assert "--follow" in empty.error.message
    assert "names no page" in nothing.error.message


def test_a_limit_takes_the_newest_items(tmp_path: Path) -> None:
    days = {"old": "2026-01-01", "new": "2026-11-01", "newer": "2026-11-02"}
    items = [item("undated", content_text=f"{LONG} undated")]
    items += [
        item(name, content_text=f"{LONG} {name}", date_published=f"{day}T00:00:00Z")
        for name, day in days.items()
    ]
    path = tmp_path / "feed.json"
    path.write_bytes(feed(*items))
    limited = load_all(path, options=LoadOptions(limit=2))
    assert [one.entry_id for one in limited] == ["newer", "new"]
    assert [one.entry_id for one in load_all(path)] == ["newer", "new", "old", "undated"]


def test_a_feed_without_items_says_so(tmp_path: Path) -> None:
    path = tmp_path / "feed.json"
    path.write_bytes(feed())
    assert reasons(list(load_all(path))) == ["empty"]


def test_a_page_that_is_named_twice_is_asked_for_once(web: Web, site: Site) -> None:
    site.pages["/index.xml"] = Page(index("/1.xml", "/2.xml"), "text/xml")
    site.pages |= {f"/{number}.xml": Page(sitemap("/a"), "text/xml") for number in (1, 2)}
    site.pages["/a"] = article("A")
    _, again = load_all("http://site.example/index.xml", web=web)
    assert again.duplicate_of == "http://site.example/a"
    assert site.paths.count("/a") == 1


# --- transcripts ------------------------------------------------------------------------------

VTT = b"WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ada>The ferry leaves at six in the morning.\n"
ALL = (("/t.html", "text/html"), ("/t.json", "application/json"), ("/t.vtt", "text/vtt"))


def test_an_episode_is_its_best_transcript(web: Web, site: Site) -> None:
    pytest.importorskip("feedparser")
    site.pages["/pod"] = Page(podcast(*ALL), "application/rss+xml")
    site.pages["/t.vtt"] = Page(VTT, "text/vtt")
    source = only(list(load_all("http://site.example/pod", web=web)))
    assert "leaves at six" in source.text
    assert (source.kind, source.title, source.date) == ("vtt", "Ferries", "2026-11-02")
    assert (source.origin, source.url) == ("http://site.example/t.vtt", "http://site.example/ep1")
    assert site.paths == ["/pod", "/robots.txt", "/t.vtt"]


def test_where_the_best_transcript_is_gone_the_next_is_read(web: Web, site: Site) -> None:
    pytest.importorskip("feedparser")
    site.pages["/pod"] = Page(podcast(*ALL), "application/rss+xml")
    talk = {"segments": [{"speaker": "Ada", "startTime": 0, "endTime": 3, "body": LONG}]}
    site.pages["/t.json"] = Page(json.dumps(talk).encode(), "application/json")
    source = only(list(load_all("http://site.example/pod", web=web)))
    assert source.kind == "podcast-json"
    assert [line for line in source.warnings if "t.vtt" in line]


def test_without_any_transcript_an_episode_is_its_page(web: Web, site: Site) -> None:
    pytest.importorskip("feedparser")
    site.pages["/pod"] = Page(podcast(*ALL), "application/rss+xml")
    site.pages["/ep1"] = article("Notes on ferries")
    source = only(list(load_all("http://site.example/pod", web=web)))
    assert source.title == "Notes on ferries"
    assert len(source.warnings) == 3


# --- sitemaps ---------------------------------------------------------------------------------


def test_a_sitemap_is_its_pages_in_its_order(web: Web, site: Site) -> None:
    site.pages["/sitemap.xml"] = Page(sitemap("/b", "/a"), "application/xml")
    site.pages |= {"/a": article("A"), "/b": article("B")}
    loaded = list(load_all("http://site.example/sitemap.xml", web=web))
    assert [one.origin for one in loaded] == ["http://site.example/b", "http://site.example/a"]
    assert reasons(loaded) == [None, None]


def test_an_index_is_all_its_sitemaps_packed_or_not(web: Web, site: Site) -> None:
    site.pages["/index.xml"] = Page(index("/1.xml.gz", "/gone.xml", "/2.xml", "/page"), "text/xml")
    site.pages["/1.xml.gz"] = Page(gzip.compress(sitemap("/a")), "application/gzip")
    site.pages["/2.xml"] = Page(sitemap("/b"), "application/xml")
    site.pages |= {"/a": article("A"), "/b": article("B"), "/page": article("C")}
    loaded = list(load_all("http://site.example/index.xml", web=web))
    assert reasons(loaded) == [None, "fetch-failed", None, "unsupported"]
    assert {one.within for one in loaded} == {"http://site.example/index.xml"}


def test_a_limit_asks_for_no_sitemap_that_it_does_not_need(web: Web, site: Site) -> None:
    site.pages["/index.xml"] = Page(index("/1.xml", "/2.xml"), "text/xml")
    site.pages["/1.xml"] = Page(sitemap("/a", "/b"), "text/xml")
    site.pages |= {"/a": article("A"), "/b": article("B")}
    limit = LoadOptions(limit=2)
    assert len(list(load_all("http://site.example/index.xml", options=limit, web=web))) == 2
    assert "/2.xml" not in site.paths


def test_an_index_that_names_itself_ends(web: Web, site: Site) -> None:
    site.pages["/index.xml"] = Page(index("/index.xml", "/1.xml"), "text/xml")
    site.pages["/1.xml"] = Page(sitemap("/a"), "text/xml")
    site.pages["/a"] = article("A")
    assert reasons(list(load_all("http://site.example/index.xml", web=web))) == [None]


def test_the_sitemaps_of_an_index_are_bounded(
    web: Web, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_entries, "_CHILDREN", 3)
    paths = [f"/{number}.xml" for number in range(4)]
    site.pages["/index.xml"] = Page(index(*paths), "text/xml")
    site.pages |= {path: Page(sitemap("/a"), "text/xml") for path in paths}
    site.pages["/a"] = article("A")
    loaded = list(load_all("http://site.example/index.xml", web=web))
    assert reasons(loaded)[-1] == "too-large"
    assert "/3.xml" not in site.paths


def test_a_sitemap_in_a_file_is_followed_where_it_is_named_and_not_in_a_folder(
    tmp_path: Path, web: Web, site: Site
) -> None:
    (tmp_path / "docs").mkdir()
    path = tmp_path / "docs" / "sitemap.xml"
    path.write_bytes(sitemap("/a"))
    (tmp_path / "docs" / "b.md").write_text("Some text.", encoding="utf-8")
    site.pages["/a"] = article("A")
    assert [Path(one.origin).name for one in load_all(tmp_path / "docs", web=web)] == ["b.md"]
    assert site.asked == []
    assert only(list(load_all(path, web=web))).title == "A"
    assert len(list(load_all(tmp_path / "docs", options=FOLLOW, web=web))) == 2


def test_a_sitemap_is_no_source(tmp_path: Path) -> None:
    path = tmp_path / "sitemap.xml"
    path.write_bytes(sitemap("/a"))
    with pytest.raises(SourceError, match="names pages"):
        load(path)
