"""`repurpose run` with many sources."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mock_server import MockServer
from repurpose.cli._telling import Tally
from web_site import Page, Site, site

__all__ = ["site"]

Command = Callable[..., Any]
ARTICLE = (
    b'<!doctype html><html lang="en"><head><title>Larch</title></head><body><article><h1>Larch</h1>'
    b"<p>The carpenters replaced two beams of the bridge with larch from the town's own forest.</p>"
    b"<p>The work cost a tenth less than planned, and the bridge opens again on Monday.</p>"
    b"</article></body></html>"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two articles and a file that is no text, in a folder."""
    place = tmp_path / "posts"
    place.mkdir()
    for name in ("a", "c"):
        text = f"# Post {name}\n\nPost {name} has a first sentence. It has a second sentence too.\n"
        (place / f"{name}.md").write_text(text, encoding="utf-8")
    (place / "b.md").write_bytes(bytes(range(256)) * 8)
    return place


def lines(text: str) -> list[dict[str, Any]]:
    """JSON lines, each decoded."""
    return [json.loads(line) for line in text.splitlines()]  # noqa: TID251 - our own output


def test_each_source_is_told_and_a_refused_one_is_one_line(
    repurpose: Command, folder: Path
) -> None:
    done = repurpose("run", "posts", "--formats", "summary")
    assert done.returncode == 1
    assert done.stdout.count("# Summary") == 2
    said = done.stderr.splitlines()
    assert f"[1] {Path('posts', 'a.md')}" in said
    assert f"[3] {Path('posts', 'c.md')}" in said
    assert [line for line in said if "b.md" in line] == [line for line in said if "Error:" in line]
    assert "3 sources: 2 done, 1 refused" in said
    assert done.stderr.count("--model") == 1


def test_all_done_is_exit_0(repurpose: Command, folder: Path) -> None:
    done = repurpose("run", "posts/a.md", "posts/c.md", "--formats", "summary", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


def test_no_source_that_can_be_read_is_exit_3(repurpose: Command, folder: Path) -> None:
    done = repurpose("run", "posts/b.md", "nowhere.md")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("Error:") == 2


def test_each_json_line_has_its_origin(repurpose: Command, folder: Path) -> None:
    done = repurpose("run", "posts/*.md", "--formats", "summary,faq", "--json", "--quiet")
    told = [(Path(one["origin"]).name, one["format"]) for one in lines(done.stdout)]
    assert sorted(told) == [
        ("a.md", "faq"),
        ("a.md", "summary"),
        ("b.md", "source"),
        ("c.md", "faq"),
        ("c.md", "summary"),
    ]
    assert [name for name, _ in told] == ["a.md", "a.md", "b.md", "c.md", "c.md"]


def test_one_file_of_a_pattern_is_told_like_many(repurpose: Command, folder: Path) -> None:
    done = repurpose("run", "posts/a*", "--formats", "summary", "--json", "--quiet")
    assert [Path(one["origin"]).name for one in lines(done.stdout)] == ["a.md"]


def test_each_source_is_a_stored_run(repurpose: Command, folder: Path) -> None:
    repurpose("run", "posts/a.md", "posts/c.md", "--formats", "summary")
    assert len(lines(repurpose("list", "--json").stdout)) == 2


def test_the_same_text_twice_is_run_once(repurpose: Command, folder: Path) -> None:
    done = repurpose("run", "posts/a.md", "posts/a.md", "--formats", "summary")
    assert done.returncode == 0
    assert done.stdout.count("# Summary") == 1
    assert "2 sources: 1 done, 1 duplicate" in done.stderr


def test_standard_input_may_be_a_list(repurpose: Command, folder: Path) -> None:
    done = repurpose("run", "@-", "--formats", "summary", stdin="posts/a.md\nposts/c.md\n")
    assert (done.returncode, done.stdout.count("# Summary")) == (0, 2)


def test_a_setting_that_is_wrong_is_exit_2_before_anything_is_run(
    repurpose: Command, folder: Path
) -> None:
    for flags in (["--limit", "0"], ["--kind", "word"], ["--formats", "faqs"]):
        done = repurpose("run", "posts", *flags)
        assert (done.returncode, done.stdout) == (2, "")


def test_a_page_is_fetched_and_its_query_is_not_shown(repurpose: Command, site: Site) -> None:
    site.pages["/a?key=secret"] = Page(ARTICLE)
    address = f"{site.url}/a?key=secret"
    done = repurpose("run", address, "--allow-private", "--formats", "summary")
    assert done.returncode == 0, done.stderr
    assert "larch" in done.stdout
    assert "secret" not in done.stderr


def test_a_private_address_is_refused_and_the_flag_named(repurpose: Command, site: Site) -> None:
    done = repurpose("run", f"{site.url}/")
    assert done.returncode == 3
    assert "--allow-private" in done.stderr
    assert site.asked == []


def test_a_feed_on_the_web_is_its_newest_items(repurpose: Command, site: Site) -> None:
    days = ("2026-11-01", "2026-11-03", "2026-11-02")
    items = [
        {"id": day, "url": f"{site.url}/{day}", "date_published": f"{day}T00:00:00Z"}
        for day in days
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": items}
    site.pages["/feed"] = Page(json.dumps(feed).encode(), "application/feed+json")
    site.pages |= {f"/{day}": Page(ARTICLE.replace(b"Larch", day.encode())) for day in days}
    flags = ["--allow-private", "--limit", "2", "--formats", "summary", "--json"]
    done = repurpose("run", f"{site.url}/feed", *flags)
    assert [one["entry_id"] for one in lines(done.stdout)] == ["2026-11-03", "2026-11-02"]
    assert done.returncode == 0, done.stderr


def test_a_feed_in_a_file_asks_for_nothing_unless_told_to(
    repurpose: Command, site: Site, tmp_path: Path
) -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"id": "1", "url": f"{site.url}/a", "summary": "Beams of larch were used."}],
    }
    (tmp_path / "feed.json").write_text(json.dumps(feed), encoding="utf-8")
    site.pages["/a"] = Page(ARTICLE)
    flags = ["--allow-private", "--formats", "summary"]
    assert "--follow" in repurpose("run", "feed.json", *flags).stderr
    assert site.asked == []
    assert "tenth less" in repurpose("run", "feed.json", "--follow", *flags).stdout


def test_a_wrong_proxy_is_exit_2_without_its_password(repurpose: Command) -> None:
    done = repurpose("run", "http://site.example/", "--proxy", "ftp://me:secret@proxy.example")
    assert done.returncode == 2
    assert "secret" not in done.stderr


COUNTS = {
    0: Tally([0, 0]),
    1: Tally([0], refused=1),
    3: Tally(refused=2),
    4: Tally([4, 4], refused=1),
}


@pytest.mark.parametrize("code", COUNTS)
def test_the_exit_code_is_that_of_all_together(code: int) -> None:
    assert COUNTS[code].exit_code == code
    assert Tally([4, 0]).exit_code == 1
    assert Tally([0], duplicates=1).exit_code == 0


@pytest.fixture
def working(mock_server: MockServer, root: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of two sources whose first call is in flight."""
    mock_server.plan("hold", "ok")
    arguments = ["--formats", "summary", "--model", "m", "--base-url", mock_server.url]
    process = subprocess.Popen(
        [sys.executable, "-m", "repurpose", "run", "a.md", "c.md", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert mock_server.asked.wait(30)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal to a process")
def test_ctrl_c_finishes_what_is_in_flight_and_begins_no_further_source(
    working: subprocess.Popen[str], mock_server: MockServer
) -> None:
    assert working.stderr is not None
    working.send_signal(signal.SIGINT)
    while "stopping" not in working.stderr.readline():
        pass
    mock_server.released.set()
    stdout, stderr = working.communicate(timeout=30)
    assert working.returncode == 130, stderr
    assert stdout.count("# Summary") == 1
    assert len(mock_server.requests) == 1
    assert "[2]" not in stderr
