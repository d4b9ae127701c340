"""The pages as they leave the server, before any script of theirs runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from repurpose import __version__
from repurpose.config import Settings
from repurpose.engines.scripted import scripted_engine

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7919*7907}}"
KIT = {"sections": [{"name": "short", "input": "summary", "label": EVIL[:60]}]}


class Elements(HTMLParser):
    """The elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def assert_harmless(page: str) -> None:
    """Nothing inline, nothing from elsewhere, and no element that a text brought."""
    elements = Elements(page).found
    for _, attributes in elements:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "action"):
            address = attributes.get(name) or "/"
            assert address.startswith(("/", "#")), address
            assert not address.startswith("//")
    scripts = [attributes for tag, attributes in elements if tag == "script"]
    assert all(attributes.get("src", "").startswith("/static/") for attributes in scripts)
    assert not [tag for tag, _ in elements if tag in ("style", "iframe", "object", "embed")]
    assert "<script>alert" not in page
    assert "onerror=alert(2)>" not in page or "&lt;img" in page


@pytest.fixture
def evil(opened: Callable[..., Any], settings: Settings, golden: Callable[[str], Any]) -> Any:
    """A server with a run whose source and texts try to be more than text."""
    answer = {"sentences": [EVIL]} if "sentences" in golden("summary") else golden("summary")
    engine = scripted_engine([answer], model=EVIL, repeat_last=True)
    asking = opened(replace(settings, composites={"kit": KIT}), engine=engine)
    asking.run = asking.finished({"text": EVIL * 3, "title": EVIL, "formats": ["summary"]})
    return asking


@pytest.mark.parametrize("path", ["/", "/runs", "/runs?q=%3Cscript%3E&status=done", "/nothing"])
def test_pages_hold_what_a_text_says_as_text(evil: Any, path: str) -> None:
    assert_harmless(evil.client.get(path).text)


@pytest.mark.parametrize("path", ["/runs/{run}", "/runs/{run}/composites/kit", "/runs/%3Cb%3E"])
def test_pages_of_a_run_hold_what_a_text_says_as_text(evil: Any, path: str) -> None:
    page = evil.client.get(path.format(run=evil.run)).text
    assert_harmless(page)
    assert str(7919 * 7907) not in page


@pytest.mark.parametrize("path", ["/", "/runs", "/runs/last"])
def test_every_page_has_the_secret_and_the_version(evil: Any, path: str) -> None:
    page = evil.client.get(path).text
    meta = [each for tag, each in Elements(page).found if tag == "meta"]
    assert {"name": "csrf", "content": evil.csrf} in meta
    assert __version__ in page
    assert page.startswith("<!doctype html>")


def test_every_file_that_a_page_names_is_there(evil: Any) -> None:
    for path in ("/", "/runs", f"/runs/{evil.run}", f"/runs/{evil.run}/composites/kit"):
        for _, attributes in Elements(evil.client.get(path).text).found:
            for name in ("src", "href"):
                address = attributes.get(name) or ""
                if address.startswith("/static/"):
                    assert evil.client.get(address).status_code == 200, address


def test_scripts_are_scripts_and_asked_for_anew_after_an_update(standing: Any) -> None:
    answer = standing.client.get("/static/api.js")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["etag"]
    same = standing.client.get("/static/api.js", headers={"If-None-Match": answer.headers["etag"]})
    assert same.status_code == 304


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%5capp.py", "/static//etc/x"]
)
def test_only_static_files_are_served(standing: Any, path: str) -> None:
    assert standing.client.get(path).status_code == 404


def test_the_list_works_without_scripts(asking: Any) -> None:
    runs = [
        asking.finished({"text": f"{n}.", "title": "Owls", "formats": ["faq"]}) for n in range(3)
    ]
    first = asking.client.get("/runs?limit=2&q=owl").text
    assert f'href="/runs/{runs[2]}"' in first
    assert f'href="/runs/{runs[0]}"' not in first
    (more,) = re.findall(r'rel="next" href="([^"]+)"', first)
    second = asking.client.get(more.replace("&amp;", "&")).text
    assert f'href="/runs/{runs[0]}"' in second


@pytest.mark.parametrize(
    ("path", "status"),
    [("/nothing", 404), ("/runs/ffff", 404), ("/runs/ffff/composites/kit", 404)],
)
def test_what_is_not_there_is_a_page_that_says_so(standing: Any, path: str, status: int) -> None:
    answer = standing.client.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "Traceback" not in answer.text


def test_a_bad_search_is_a_page_that_says_so(standing: Any) -> None:
    answer = standing.client.get("/runs?limit=x")
    assert answer.status_code == 422
    assert "limit is a whole number" in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused(standing: Any, method: str) -> None:
    answer = standing.client.request(
        method, "/api/choices", headers={"X-CSRF-Token": standing.csrf}
    )
    assert answer.status_code == 405
    assert answer.json()["error"]["message"] == "that cannot be done here"


def test_a_head_of_an_event_stream_ends(asking: Any) -> None:
    run = asking.finished({"formats": ["faq"]})
    answer = asking.client.head(f"/api/runs/{run}/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_what_nobody_foresaw_is_one_line_with_an_id_and_no_text_in_the_log(
    asking: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("secret words of a source")

    monkeypatch.setattr(type(asking.client.app.site.choices), "to_map", broken)
    error = asking.refused("GET", "/api/choices", 500)
    assert "something went wrong here (error " in error["message"]
    page = asking.client.get("/")
    assert page.status_code == 500
    assert "secret" not in page.text + caplog.text
    assert "ValueError at broken" in caplog.text


def test_the_log_holds_nothing_of_texts(asking: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    run = asking.finished({"text": "Kestrels hover secretly.", "title": "Zyzzyva"})
    asking.client.get(f"/runs/{run}")
    row = asking.get(f"/api/runs/{run}")["sections"][0]["row"]
    asking.post(f"/api/rows/{row['id']}/edit", {"text": "Quokkas smile."})
    for word in ("Kestrels", "Zyzzyva", "Quokkas", row["text"][:30], asking.csrf):
        assert word not in caplog.text
