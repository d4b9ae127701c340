"""RSS and Atom: what each item holds, and what it only points to."""

from __future__ import annotations

import contextlib
import socket
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.core.listing import Entry, Listing, TranscriptLink
from repurpose.errors import SourceError
from repurpose.sources import feed
from repurpose.sources.base import Raw
from repurpose.sources.feed import listing, load

ORIGIN = "https://example.org/feeds/all.xml"
SPACES = (
    'xmlns:content="http://purl.org/rss/1.0/modules/content/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
    ' xmlns:podcast="https://podcastindex.org/namespace/1.0"'
)
LONG = "<p>The library of the town was open late, and many people came to read.</p>" * 30


def rss(*items: str, channel: str = "<title>The Courier</title>") -> bytes:
    inside = "".join(f"<item>{one}</item>" for one in items)
    return f'<rss version="2.0" {SPACES}><channel>{channel}{inside}</channel></rss>'.encode()


def atom(*entries: str, head: str = "<title>The Courier</title>") -> bytes:
    inside = "".join(f"<entry>{one}</entry>" for one in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{head}{inside}</feed>'.encode()


def listed(content: bytes) -> Listing:
    return listing(Raw(ORIGIN, content))


def only(content: bytes) -> Entry:
    (entry,) = listed(content).entries
    return entry


def escaped(markup: str) -> str:
    return markup.replace("&", "&amp;").replace("<", "&lt;")


def refused(content: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        listed(content)
    assert "\n" not in caught.value.message
    return caught.value


def test_the_channel_fills_the_fields() -> None:
    found = listed(
        rss(
            channel="<title>The Courier</title><link>https://example.org/</link>"
            "<language>en-gb</language><managingEditor>ada@example.org (Ada Ek)</managingEditor>"
        )
    )
    assert (found.title, found.language) == ("The Courier", "en-GB")
    assert found.author == "Ada Ek (ada@example.org)"
    assert (found.url, found.kind, found.entries) == ("https://example.org/", "feed", ())


def test_an_rss_item_becomes_an_entry_with_its_text() -> None:
    entry = only(
        rss(
            "<title>Late &amp; open</title><link>https://example.org/late</link>"
            "<guid isPermaLink='false'>tag:1</guid><dc:creator>Ada Ek</dc:creator>"
            "<pubDate>Thu, 12 Mar 2026 23:30:00 -0800</pubDate>"
            f"<description>A teaser.</description><content:encoded>{escaped(LONG)}"
            "&lt;h2&gt;Why&lt;/h2&gt;</content:encoded>",
            channel="<language>en</language>",
        )
    )
    assert (entry.id, entry.url) == ("tag:1", "https://example.org/late")
    assert (entry.title, entry.date, entry.complete) == ("Late & open", "2026-03-12", True)
    assert entry.source is not None
    assert entry.source.text.endswith("## Why")
    assert "teaser" not in entry.source.text
    assert (entry.source.kind, entry.source.author) == ("feed", "Ada Ek")
    assert (entry.source.title, entry.source.date) == ("Late & open", "2026-03-12")
    assert (entry.source.url, entry.source.language) == ("https://example.org/late", "en")


def test_an_atom_entry_becomes_an_entry_with_its_text() -> None:
    entry = only(
        atom(
            "<title type='html'>Late &amp;lt;b&amp;gt;hours&lt;/b&gt;</title><id>urn:1</id>"
            "<link rel='self' href='/x'/><link rel='alternate' href='/late'/>"
            "<author><name>Ada Ek</name></author><updated>2026-03-13T08:00:00Z</updated>"
            "<published>2026-03-12T08:00:00+01:00</published>"
            "<content type='xhtml' xml:lang='de'><div xmlns='http://www.w3.org/1999/xhtml'>"
            "<p>Die Bücherei war am Abend offen.</p><ul><li>Ja</li></ul></div></content>"
        )
    )
    assert (entry.id, entry.url) == ("urn:1", "https://example.org/late")
    assert (entry.date, entry.complete) == ("2026-03-12", True)
    assert entry.source is not None
    assert entry.source.text == "Die Bücherei war am Abend offen.\n\n- Ja"
    assert (entry.source.author, entry.source.language) == ("Ada Ek", "de")


def test_plain_text_in_atom_is_no_markup() -> None:
    entry = only(atom("<id>1</id><content type='text'># 9 &lt;b> of\n10</content>"))
    assert entry.source is not None
    assert entry.source.text == "\\# 9 <b> of\n10"


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("<description>Short.</description>", False),
        (f"<description>{escaped(LONG)}</description>", True),
        (f"<description>{escaped(LONG)} Read more</description>", False),
        ("<content:encoded>Short, but whole.</content:encoded>", True),
        ("<content:encoded>The library was […]</content:encoded>", False),
        ("<content:encoded>The library was … Weiterlesen →</content:encoded>", False),
        ("<itunes:summary>Short.</itunes:summary><description>Short.</description>", False),
        ("", False),
    ],
)
def test_a_teaser_is_not_complete(text: str, *, complete: bool) -> None:
    entry = only(rss(f"<title>Late</title>{text}"))
    assert entry.complete is complete
    assert (entry.source is None) is (text == "")


def test_a_pointer_to_content_elsewhere_is_no_content() -> None:
    entry = only(atom("<id>1</id><summary>Short.</summary><content src='/a.html'/>"))
    assert not entry.complete


def test_a_feed_keeps_every_transcript() -> None:
    entry = only(
        rss(
            "<title>One</title><podcast:transcript url='/1.vtt' type='text/vtt' language='en'/>"
            "<podcast:transcript url='https://example.com/1.json' type='application/json'/>"
            "<podcast:transcript url='ftp://example.com/1.txt'/>",
            channel="<link>https://example.com/show</link>",
        )
    )
    assert entry.transcripts == (
        TranscriptLink("https://example.com/1.vtt", "text/vtt", "en"),
        TranscriptLink("https://example.com/1.json", "application/json", None),
    )


def test_a_live_item_does_not_change_the_feed() -> None:
    live = (
        "<podcast:liveItem><title>Live</title><link>https://example.com/live</link>"
        "<item><title>No</title></item></podcast:liveItem>"
    )
    found = listed(rss("<title>One</title>", channel=f"<link>https://example.com/</link>{live}"))
    assert found.url == "https://example.com/"
    assert [one.title for one in found.entries] == ["One"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("<guid>a b</guid><link>https://example.org/1</link>", "a b"),
        ("<link>https://example.org/1</link>", "https://example.org/1"),
    ],
)
def test_the_id_is_the_guid_else_the_address(item: str, expected: str) -> None:
    assert only(rss(item)).id == expected


def test_without_both_the_id_follows_from_title_and_text_alone() -> None:
    first, later, other = (
        only(rss(f"<title>{title}</title><pubDate>Fri, 0{day} Oct 2020 04:30:38 GMT</pubDate>")).id
        for title, day in (("One", 1), ("One", 2), ("Two", 1))
    )
    assert first == later != other


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "http://[", "  "])
def test_other_addresses_than_those_of_pages_are_none(address: str) -> None:
    assert only(rss(f"<title>One</title><link>{address}</link>")).url is None


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2026-03-12", "2026-03-12"),
        ("Thu, 12 Mar 2026 08:00:00 GMT", "2026-03-12"),
        ("12 Mar 26 08:00 EST", "2026-03-12"),
        ("soon", None),
        ("1" * 10_000, None),
    ],
)
def test_dates_are_read_in_the_forms_of_feeds(written: str, date: str | None) -> None:
    assert only(rss(f"<title>One</title><pubDate>{written}</pubDate>")).date == date


def test_a_bare_address_is_no_author() -> None:
    entry = only(rss("<author>ada@example.org</author><description>Words.</description>"))
    assert entry.source is not None
    assert entry.source.author is None


def test_hidden_parts_of_an_item_do_not_get_in_and_are_counted() -> None:
    body = "<p>Open late.</p><p style='display:none'>SECRET</p><script>SECRET</script>"
    entry = only(rss(f"<description>{escaped(body)}</description>"))
    assert entry.source is not None
    assert (entry.source.text, entry.source.hidden) == ("Open late.", 1)


def test_the_footer_that_blogs_add_is_left_out() -> None:
    body = "<p>Open late.</p><p>The post <a>Late</a> appeared first on <a>The Courier</a>.</p>"
    entry = only(rss(f"<content:encoded>{escaped(body)}</content:encoded>"))
    assert entry.source is not None
    assert entry.source.text == "Open late."
    assert entry.complete


def test_line_ends_of_code_stay_in_long_texts() -> None:
    body = LONG + "<pre>one\n  two\n\nthree</pre>"
    for content in (escaped(body), f"<![CDATA[{body}]]>"):
        entry = only(rss(f"<description>{content}</description>"))
        assert entry.source is not None
        assert "```\none\n  two\n\nthree\n```" in entry.source.text


def test_the_whole_feed_is_one_text_with_a_heading_for_each_item() -> None:
    content = rss(
        "<title># One</title><description>&lt;h1&gt;Why&lt;/h1&gt;&lt;p&gt;Words.</description>",
        "<title>Two</title>",
    )
    source = load(Raw(ORIGIN, content))
    assert source.text == "## \\# One\n\n### Why\n\nWords.\n\n## Two"
    assert source.blocks[2].headings == ("# One", "Why")
    assert (source.title, source.kind, source.date) == ("The Courier", "feed", None)


def test_a_feed_without_texts_is_refused_as_a_source() -> None:
    with pytest.raises(SourceError) as caught:
        load(Raw(ORIGIN, rss("<link>https://example.org/1</link>")))
    assert caught.value.reason == "no-text"


def test_older_kinds_of_rss_are_read() -> None:
    content = (
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
        b' xmlns="http://purl.org/rss/1.0/"><channel><title>The Courier</title></channel>'
        b"<item rdf:about='https://example.org/1'><title>One</title>"
        b"<link>https://example.org/1</link><description>Words.</description></item></rdf:RDF>"
    )
    assert only(content).title == "One"
    doctype = b'<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "rss-0.91.dtd">'
    assert only(doctype + rss("<title>One</title>")).title == "One"


def test_a_damaged_feed_is_read_as_far_as_it_goes() -> None:
    content = rss("<title>Caf&eacute; & bar</title>", "<title>Two</title>")
    found = listed(content.replace(b"</channel></rss>", b"<item><title>Thr"))
    assert [one.title for one in found.entries] == ["Café & bar", "Two", "Thr"]
    assert found.warnings == ("the XML is damaged; some of it may be missing",)


def test_prefixes_that_nobody_declared_mean_what_they_mean_elsewhere() -> None:
    content = (
        b"<rss><channel><item><title>One</title><content:encoded>Words.</content:encoded>"
        b"<dc:creator>Ada Ek</dc:creator><x:y z:a='1'>no</x:y></item></channel></rss>"
    )
    entry = only(content)
    assert entry.source is not None
    assert (entry.source.text, entry.source.author, entry.complete) == ("Words.", "Ada Ek", True)


def test_a_wrong_declaration_of_the_character_set_is_seen_through() -> None:
    head = b"<?xml version='1.0' encoding='utf-8'?>"
    content = head + rss("<title>Späte Stunden</title>").decode().encode("cp1252")
    assert only(content).title == "Späte Stunden"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (bytes(range(256)) * 40, "binary"),
        (b"words", "corrupt"),
        (b"<html><body>words</body></html>", "corrupt"),
        (b"<rss><channel>" + b"<a>" * 400, "corrupt"),
        (b"<rss>" + b" " * 20_000_000, "too-large"),
        (b'<!DOCTYPE rss [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><rss><b>&b;</b></rss>', "corrupt"),
        (b'<!DOCTYPE rss [<!ENTITY a "aa">]><rss><b>&a; & </b>', "corrupt"),
        (b'<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss>&a;</rss>', "corrupt"),
    ],
)
def test_what_is_no_safe_feed_is_refused(content: bytes, reason: str) -> None:
    assert refused(content).reason == reason


def test_no_address_in_a_feed_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr(socket.socket, "connect", fail)
    monkeypatch.setattr("urllib.request.urlopen", fail)
    content = b'<!DOCTYPE rss SYSTEM "http://127.0.0.1:9/a.dtd">' + rss("<title>One</title>")
    assert only(content).title == "One"


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "feedparser", None)
    fault = refused(rss("<title>One</title>"))
    assert fault.reason == "unsupported"
    assert "pip install 'repurpose-text[feeds]'" in fault.message


def test_only_the_first_items_of_an_endless_feed_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "MOST_ITEMS", 2)
    found = listed(rss("<title>1</title>", "<title>2</title>", "<title>3</title>"))
    assert [one.title for one in found.entries] == ["1", "2"]
    assert len(found.warnings) == 1


@pytest.mark.parametrize(
    "content",
    [
        rss(f"<title>{chr(10) * 300_000}</title>"),
        rss(f"<description>{'&lt;' * 50_000}</description>"),
        rss("<title " + " ".join(f"a{one}='1'" for one in range(20_000)) + ">One</title>"),
        rss("<author>" + "(@" * 50_000 + "</author>"),
        rss("<item><title>1</title>" * 90),
        rss("<description>" + "]]&gt;\n" * 20_000 + "</description>"),
    ],
    ids=range(6),
)
def test_hostile_feeds_are_read_or_refused_in_time(content: bytes) -> None:
    start = time.perf_counter()
    with contextlib.suppress(SourceError):
        listed(content)
    assert time.perf_counter() - start < 2


@settings(max_examples=40)
@given(st.data())
def test_no_damage_is_an_error_of_ours(data: st.DataObject) -> None:
    content = bytearray(rss("<title>Late</title><pubDate>Thu, 12 Mar 2026</pubDate>", "<guid/>"))
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=6)):
        content[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(SourceError):
        listed(bytes(content[: data.draw(st.integers(0, len(content)))]))
