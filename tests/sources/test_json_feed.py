"""JSON Feed: items with their texts, in both versions of the format."""

from __future__ import annotations

import json

import pytest

from repurpose.core.listing import Entry, Listing
from repurpose.errors import SourceError
from repurpose.sources.base import Raw
from repurpose.sources.json_feed import listing, load

ORIGIN = "https://example.org/feed.json"
VERSION = "https://jsonfeed.org/version/1.1"


def written(*items: object, **about: object) -> bytes:
    feed = {"version": VERSION, "title": "The Courier", "items": list(items), **about}
    return json.dumps(feed).encode()


def listed(content: bytes) -> Listing:
    return listing(Raw(ORIGIN, content))


def only(**item: object) -> Entry:
    (entry,) = listed(written(item)).entries
    return entry


def test_the_feed_fills_the_fields() -> None:
    found = listed(
        written(
            home_page_url="https://example.org/",
            language="en_gb",
            authors=[{"name": "Ada Ek"}, {"name": "Bo Ask"}, {"url": "https://example.org"}],
        )
    )
    assert (found.title, found.author) == ("The Courier", "Ada Ek, Bo Ask")
    assert (found.language, found.url, found.kind) == ("en-GB", "https://example.org/", "json-feed")


def test_an_item_becomes_an_entry_with_its_text() -> None:
    entry = only(
        id="1",
        url="/late",
        title="Late hours",
        content_html="<h2>Why</h2><p>Because.</p>",
        content_text="not this",
        date_published="2026-03-12T08:00:00+01:00",
        authors=[{"name": "Ada Ek"}],
        language="en",
    )
    assert (entry.id, entry.url) == ("1", "https://example.org/late")
    assert (entry.date, entry.complete) == ("2026-03-12", True)
    source = entry.source
    assert source is not None
    assert (source.text, source.kind) == ("## Why\n\nBecause.", "json-feed")
    assert (source.title, source.author, source.language) == ("Late hours", "Ada Ek", "en")


def test_plain_text_is_no_markup() -> None:
    entry = only(id="1", content_text="# 9 <b>\r\nWords")
    assert entry.source is not None
    assert entry.source.text == "\\# 9 <b>\nWords"


def test_a_summary_is_not_complete() -> None:
    entry = only(id="1", summary="A short word on it.")
    assert entry.source is not None
    assert not entry.complete


def test_the_author_of_version_1_and_numbers_as_ids_are_read() -> None:
    entry = only(id=7, content_text="Words.", author={"name": "Ada Ek"})
    assert entry.id == "7"
    assert entry.source is not None
    assert entry.source.author == "Ada Ek"


def test_values_of_the_wrong_kind_are_passed_over() -> None:
    entry = only(
        id=None, url=["x"], title={"a": 1}, content_html=5, authors="Ada", date_published=2026
    )
    assert (entry.url, entry.title, entry.source, entry.date) == (None, None, None, None)
    assert entry.id


def test_the_whole_feed_is_one_text() -> None:
    content = written(
        {"id": "1", "title": "One", "content_html": "<h3>Why</h3>Words."},
        {"id": "2", "content_text": "More words."},
    )
    source = load(Raw(ORIGIN, content))
    assert source.text == "## One\n\n##### Why\n\nWords.\n\nMore words."
    assert (source.title, source.kind) == ("The Courier", "json-feed")


def test_a_feed_that_is_cut_short_gives_its_whole_items() -> None:
    content = written({"id": "1", "content_text": "One."}, {"id": "2", "content_text": "Two."})
    found = listed(content[:-20])
    assert [one.id for one in found.entries] == ["1"]
    assert len(found.warnings) == 1


def test_hidden_parts_do_not_get_in() -> None:
    entry = only(id="1", content_html="<p hidden>SECRET</p><p>Words.</p>")
    assert entry.source is not None
    assert (entry.source.text, entry.source.hidden) == ("Words.", 1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"{}", "corrupt"),
        (b"[1, 2]", "corrupt"),
        (b'{"items": "none"}', "corrupt"),
        (b'{"items": ' + b"[" * 100_000, "corrupt"),
        (bytes(range(256)) * 40, "binary"),
    ],
)
def test_what_is_no_json_feed_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        listed(content)
    assert caught.value.reason == reason
    assert "transcript" not in caught.value.message
