"""One source from a file, a pipe or a page; many from folders, patterns and lists."""

from __future__ import annotations

import gzip
import io
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repurpose.api import loading
from repurpose.api.loading import Loaded, LoadOptions, load, load_all
from repurpose.errors import SourceError, UsageError
from repurpose.fetching.web import Web
from web_site import Page, Site

ARTICLE = b"""<!doctype html><html lang="en"><head><title>Larch beams</title></head><body><article>
<h1>Larch beams</h1><p>The carpenters replaced two beams of the bridge with larch from the town's
own forest, because water had entered the old ones over many winters.</p>
<p>The work cost a tenth less than planned, and the bridge opens again on Monday.</p>
</article></body></html>"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def write(folder: Path, *names: str) -> None:
    """Files that hold their own names."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"This is {name}.", encoding="utf-8")


def origins(loaded: Iterator[Loaded]) -> list[str]:
    """Where the sources came from, as paths with slashes; fails where one was refused."""
    found = list(loaded)
    assert all(one.error is None for one in found), found
    return [Path(one.origin).as_posix() for one in found]


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


# --- one source -------------------------------------------------------------------------------


def test_bytes_a_path_and_standard_input_are_sources(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "a.md")
    stdin(monkeypatch, b"# Piped\n\nText.")
    assert load(b"Some text.").origin == "bytes"
    assert load("a.md").text == load(Path("a.md")).text == "This is a.md."
    assert (load("-").title, load(b"<p>x", kind="text").text) == ("Piped", "<p>x")


def test_an_unknown_kind_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="markdown"):
        load(b"x", kind="word")
    with pytest.raises(UsageError, match="sitemap"):
        LoadOptions(kind="word")
    with pytest.raises(UsageError, match="--limit"):
        LoadOptions(limit=0)


def test_a_page_has_its_last_address_where_it_declares_none(web: Web, site: Site) -> None:
    site.pages["/old"] = Page(b"", status=301, headers={"Location": "/new?id=7"})
    site.pages["/new?id=7"] = Page(ARTICLE)
    source = load("http://me:secret@site.example/old#part", web=web)
    assert source.origin == "http://site.example/old"
    assert source.url == "http://site.example/new?id=7"
    assert (source.kind, source.title) == ("html", "Larch beams")


def test_a_declared_address_counts_more(web: Web, site: Site) -> None:
    canonical = b'<head><link rel="canonical" href="https://site.example/beams">'
    site.pages["/"] = Page(ARTICLE.replace(b"<head>", canonical))
    assert load("http://site.example/", web=web).url == "https://site.example/beams"


def test_the_servers_character_set_counts_more_than_the_pages(web: Web, site: Site) -> None:
    text = "Příliš žluťoučký kůň úpěl ďábelské ódy. " * 5
    body = f'<meta charset="iso-8859-1"><article><p>{text}</p></article>'.encode("iso-8859-2")
    site.pages["/"] = Page(body, "text/html; charset=iso-8859-2")
    assert "žluťoučký" in load("http://site.example/", web=web).text


def test_a_page_is_what_its_server_says_and_not_what_its_address_ends_with(
    web: Web, site: Site
) -> None:
    site.pages["/README.md"] = Page(b"<!-- made by hand -->" * 90 + ARTICLE)
    site.pages["/notes.html"] = Page(b"# Notes\n\nSome words.", "text/markdown")
    site.pages["/page"] = Page(b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello there.", "text/html")
    kinds = [load(f"http://site.example/{n}", web=web).kind for n in ("README.md", "notes.html")]
    assert kinds == ["html", "markdown"]
    assert load("http://site.example/page", web=web).kind == "vtt"


def test_a_site_that_asks_programs_to_stay_out_is_a_warning_for_a_named_page(
    web: Web, site: Site
) -> None:
    site.pages["/"] = Page(ARTICLE)
    site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /", "text/plain")
    (warning,) = load("http://site.example/", web=web).warnings
    assert "robots.txt" in warning


def test_no_message_shows_the_query_of_an_address(web: Web, site: Site) -> None:
    site.pages["/?key=secret"] = Page(b"<html><body></body></html>")
    site.pages["/a?key=secret"] = Page(b"\x89PNG\r\n", "text/html")
    for path, reason in (("?key=secret", "no-text"), ("a?key=secret", "unsupported")):
        with pytest.raises(SourceError) as raised:
            load(f"http://site.example/{path}", web=web)
        assert raised.value.reason == reason
        assert "secret" not in raised.value.message
        assert "http://site.example/" in raised.value.message


def test_a_private_address_is_refused_without_being_asked(site: Site) -> None:
    with pytest.raises(SourceError) as raised:
        load(f"{site.url}/")
    assert raised.value.reason == "blocked-address"
    assert site.asked == []


def test_a_loader_that_fails_is_one_refusal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("deep inside a library")

    write(folder, "a.md")
    monkeypatch.setattr("repurpose.sources.markdown.load", broken)
    with pytest.raises(SourceError, match=r"a\.md: cannot be read \(RecursionError\)"):
        load("a.md")


@pytest.mark.parametrize("name", ["a" * 5_000, "a\0b", "[" * 300, "@" + "a" * 5_000, "http://", ""])
def test_what_names_nothing_is_one_refusal(folder: Path, name: str) -> None:
    (loaded,) = load_all(name)
    assert loaded.error is not None
    assert "\n" not in loaded.error.message


# --- folders ----------------------------------------------------------------------------------


def test_a_folder_is_read_by_name_with_all_its_folders(folder: Path) -> None:
    write(folder, "posts/b.md", "posts/a/z.txt", "posts/a/deep/x.md", "posts/c.html", "posts/B.md")
    assert origins(load_all("posts")) == [
        "posts/B.md",
        "posts/a/deep/x.md",
        "posts/a/z.txt",
        "posts/b.md",
        "posts/c.html",
    ]
    assert {one.within for one in load_all(folder / "posts")} == {str(folder / "posts")}


def test_hidden_files_and_endings_that_nobody_reads_are_left_out(folder: Path) -> None:
    write(folder, "a.md", ".b.md", ".git/c.md", "~$d.docx", "e.png", "f.py", "Makefile", "g.MD")
    assert origins(load_all(".")) == ["a.md", "g.MD"]


def test_json_and_xml_count_where_their_content_is_a_known_kind(folder: Path) -> None:
    write(folder, "a.md", "package.json", "config.xml", "image.xml")
    (folder / "image.xml").write_bytes(b"\x89PNG\r\n")
    (folder / "talk.json").write_text(
        '{"version": "1.0.0", "segments": [{"speaker": "Ada", "startTime": 0, "endTime": 2,'
        ' "body": "Good morning to you all."}]}',
        encoding="utf-8",
    )
    assert origins(load_all(".")) == ["a.md", "talk.json"]


def test_what_git_ignores_is_ignored_and_what_we_are_told_to(folder: Path) -> None:
    write(folder, *(f"{name}.md" for name in ("a", "draft-1", "build/x", "sub/draft-2", "sub/no")))
    write(folder, "sub/keep/draft-3.md")
    (folder / ".gitignore").write_text("draft-*\n/build/\n[broken\n!!\n", encoding="utf-8")
    (folder / "sub" / ".repurposeignore").write_text("# no\nno.md\n", encoding="utf-8")
    (folder / "sub" / "keep" / ".gitignore").write_text("!draft-3.md\n", encoding="utf-8")
    assert origins(load_all(".")) == ["a.md", "sub/keep/draft-3.md"]


def test_the_repository_around_a_folder_is_heard_unless_it_ignores_the_folder(
    folder: Path,
) -> None:
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("/build/\ndraft*\n", encoding="utf-8")
    write(folder, "docs/a.md", "docs/draft.md", "build/site/b.md", "build/draft.md")
    assert origins(load_all("docs")) == ["docs/a.md"]
    assert origins(load_all("build")) == ["build/draft.md", "build/site/b.md"]


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links and sockets as files")
def test_links_loops_and_sockets_in_a_folder_are_passed_over(folder: Path) -> None:
    write(folder, "in/a.md", "out/secret.md")
    (folder / "in" / "loop").symlink_to(folder / "in", target_is_directory=True)
    (folder / "in" / "link.md").symlink_to(folder / "out" / "secret.md")
    (folder / "named").symlink_to(folder / "in", target_is_directory=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("in/socket.md")
        assert origins(load_all("in")) == ["in/a.md"]
        assert origins(load_all("named")) == ["named/a.md"]


def test_a_folder_is_read_as_it_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "a.md", "b.md", "c.md")
    read: list[str] = []

    def counted(content: bytes, *rest: object) -> object:
        read.append(content.decode())
        return load_bytes(content, *rest)

    load_bytes: Callable[..., object] = loading.local_content.__globals__["load_bytes"]
    monkeypatch.setitem(loading.local_content.__globals__, "load_bytes", counted)
    first = next(load_all("."))
    assert first.origin == "a.md"
    assert read == ["This is a.md."]


def test_a_folder_with_nothing_to_read_says_so(folder: Path) -> None:
    write(folder, "a.png")
    (loaded,) = load_all(".")
    assert loaded.error is not None
    assert loaded.error.reason == "empty"


def test_one_bad_file_stops_no_other(folder: Path) -> None:
    write(folder, "a.md", "c.md")
    (folder / "b.md").write_bytes(bytes(range(256)) * 9)
    (folder / "empty.md").write_bytes(b"")
    told = [
        one.error.reason if one.error else one.origin for one in load_all(".", "nowhere.md", "c.md")
    ]
    assert told == ["a.md", "binary", "c.md", "empty", "not-found", "c.md"]


# --- patterns and lists -----------------------------------------------------------------------


def test_a_pattern_names_files(folder: Path) -> None:
    write(folder, "a.md", "b.txt", "posts/c.md", "posts/deep/d.md", "posts/.hidden/e.md", ".f.md")
    assert origins(load_all("*.md")) == ["a.md"]
    assert origins(load_all("**/*.md")) == ["a.md", "posts/c.md", "posts/deep/d.md"]
    assert origins(load_all("posts/**")) == ["posts/c.md", "posts/deep/d.md"]
    assert origins(load_all("posts/.hidden/*")) == ["posts/.hidden/e.md"]
    assert origins(load_all(str(folder / "[ab].*"))) == [
        (folder / "a.md").as_posix(),
        (folder / "b.txt").as_posix(),
    ]


def test_a_pattern_with_an_open_ending_takes_what_can_be_read(folder: Path) -> None:
    write(folder, "a.md", "b.png", "c.json", "d.log")
    assert origins(load_all("*")) == ["a.md"]
    assert [one.origin for one in load_all("*.log", "*.json")] == ["d.log", "c.json"]


def test_a_name_with_a_bracket_is_a_name_where_the_file_is_there(folder: Path) -> None:
    write(folder, "a[1].md", "a1.md")
    assert origins(load_all("a[1].md")) == ["a[1].md"]
    assert origins(load_all(Path("a[1].md"))) == ["a[1].md"]


@pytest.mark.parametrize("pattern", ["*.nothing", "a**/b", "nowhere/**/*.md"])
def test_a_pattern_that_nothing_matches_says_so(folder: Path, pattern: str) -> None:
    (loaded,) = load_all(pattern)
    assert loaded.error is not None
    assert loaded.error.reason == "not-found"


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_a_pattern_follows_no_loop(folder: Path) -> None:
    write(folder, "in/a.md")
    (folder / "in" / "loop").symlink_to(folder, target_is_directory=True)
    assert origins(load_all("**/*.md")) == ["in/a.md"]


def test_a_list_names_one_origin_a_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "a.md", "b c.md", "posts/d.md")
    text = "\ufeff# what to read\n\na.md\r\n  b c.md  \nposts\nnowhere.md\n@other.txt\n"
    (folder / "list.txt").write_text(text, encoding="utf-8")
    loaded = list(load_all("@list.txt"))
    assert [one.origin for one in loaded[:3]] == ["a.md", "b c.md", str(Path("posts", "d.md"))]
    assert [one.error.reason for one in loaded if one.error] == ["not-found", "unsupported"]
    assert {one.within for one in loaded} == {"@list.txt", "posts"}
    stdin(monkeypatch, b"a.md\n")
    assert origins(load_all("@-")) == ["a.md"]


def test_a_list_that_is_not_there_or_empty_says_so(folder: Path) -> None:
    write(folder, "empty.txt")
    (folder / "empty.txt").write_text("# none\n", encoding="utf-8")
    missing, empty = load_all("@nowhere.txt", "@empty.txt")
    assert [one.error.reason for one in (missing, empty) if one.error] == ["not-found", "empty"]


# --- many sources -----------------------------------------------------------------------------


def test_the_same_content_twice_is_told_as_a_duplicate_of_the_first(folder: Path) -> None:
    for name in ("a.md", "b.md"):
        (folder / name).write_text("# One title\n\nThe same text.", encoding="utf-8")
    first, second, third = load_all("a.md", "b.md", b"# One title\n\nThe same text.\n")
    assert first.source is not None
    assert (second.source, second.error, second.duplicate_of) == (None, None, "a.md")
    assert third.duplicate_of == "a.md"


def test_a_fetched_page_and_a_file_stand_side_by_side(folder: Path, web: Web, site: Site) -> None:
    write(folder, "a.md")
    site.pages["/"] = Page(ARTICLE)
    loaded = list(load_all("http://site.example/?b=1", "a.md", "http://site.example/", web=web))
    assert [one.origin for one in loaded] == [
        "http://site.example/?b=1",
        "a.md",
        "http://site.example/",
    ]
    assert "status 404" in (loaded[0].error.message if loaded[0].error else "")
    assert loaded[2].source is not None


def test_reading_files_loads_nothing_of_the_web(root: Path) -> None:
    import subprocess

    code = (
        "import sys; from repurpose import load_all; print(len(list(load_all(b'Some text.'))));"
        " print('httpx2' in sys.modules, 'protego' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        timeout=30,
    )
    assert done.stdout.split() == ["1", "False", "False"]


def test_a_packed_text_is_no_listing(folder: Path) -> None:
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"Some text."))
    (folder / "b.xml.gz").write_bytes(b"\x1f\x8bbroken")
    for loaded in load_all("a.txt.gz", "b.xml.gz"):
        assert loaded.error is not None
        assert loaded.error.reason == "unsupported"


def test_loading_is_a_step_whose_envelope_has_the_source_or_the_reason() -> None:
    done, again, bad = load_all(b"One text.", b"One text.", b"")
    assert done.envelope.status == 200
    assert (done.envelope.data["text"], done.envelope.data["source"]) == ("One text.", "bytes")
    assert again.envelope.to_map() == {
        "status": 400,
        "message": "the same as bytes; left out",
        "data": {},
    }
    assert bad.error is not None
    assert (bad.envelope.status, bad.envelope.data) == (400, {})
    assert bad.envelope.message.startswith(bad.error.message)
