"""Sources and answers that try to be more than text, looked at on every page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from web_browser import Pages, section
from web_server import Served

EVIL = (
    '<script>window.ran = 1</script><img src=x onerror="window.ran = 2">'
    '<a href="javascript:window.ran = 3">click</a> javascript:window.ran=4 '
    "<svg onload=window.ran=5> [link](javascript:window.ran=6) \"' {{7*7}} ${8*8}"
)
ANSWERS: dict[str, Any] = {
    "summary": {"sentences": [f"It says {EVIL}."]},
    "faq": {"pairs": [{"question": f"What {EVIL}?", "answer": f"This {EVIL}."}]},
    "social": {
        name: {"text": f"Look {EVIL}", "hashtags": ["<script>", "javascript:alert(1)"]}
        for name in ("linkedin", "x", "instagram")
    },
    "newsletter": {
        "subject": f"News {EVIL}",
        "preheader": f"More {EVIL}",
        "paragraphs": [f"Body {EVIL}"],
        "callToAction": f'Read {EVIL} at https://example.org/?a=<b>&c="d"',
    },
}


@pytest.fixture
def evil(server: Served, model: Any) -> str:
    """A run whose title, source and every answer hold it."""
    model.answers = {name: [answer, answer] for name, answer in ANSWERS.items()}
    body = {"text": f"# {EVIL}\n\n{EVIL} and some words more. " * 3, "title": EVIL}
    return server.asking.finished(body)


def assert_harmless(page: Any) -> None:
    """Nothing ran, and no text became an element."""
    assert page.evaluate("window.ran") is None
    found = page.evaluate(
        """() => [...document.querySelectorAll("*")].flatMap((each) => [
            ...(each.matches("svg[onload], img[src='x'], iframe, embed") ? [each.outerHTML] : []),
            ...[...each.attributes].filter(({name, value}) =>
                name.startsWith("on") || /^\\s*(javascript|data|vbscript):/i.test(value))
                .map(({name, value}) => `${name}=${value}`),
        ])"""
    )
    assert found == []
    assert page.locator("script:not([src^='/static/'])").count() == 0


def test_every_page_shows_it_as_text(pages: Pages, evil: str) -> None:
    page = pages.open(f"/runs/{evil}")
    expect(page.locator("#run-status")).to_have_text("Done")
    for label in ("Summary", "FAQ", "LinkedIn", "X", "Instagram", "Newsletter"):
        expect(section(page, label)).to_contain_text("<img src=x onerror=")
    expect(page.locator("h1")).to_contain_text("<script>window.ran = 1</script>")
    for label in ("Summary", "FAQ"):
        section(page, label).get_by_role("button", name="History").click()
        page.keyboard.press("Escape")
        section(page, label).get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("button", name="source", exact=False).first.click()
    assert_harmless(page)
    for path in ("/runs", f"/runs/{evil}/composites/kit"):
        other = pages.open(path)
        expect(other.locator("main")).to_contain_text("<img src=x onerror=")
        assert_harmless(other)


def test_it_stays_text_while_it_is_written(pages: Pages, server: Served, model: Any) -> None:
    write = model.hold("summary")
    run = server.asking.post("/api/runs", {"text": EVIL * 3, "formats": ["summary"]}, 202)["run"]
    page = pages.open(f"/runs/{run}")
    write('{"sentences": ["<script>window.ran=1</script><img src=x onerror=window.ran=2> and')
    expect(section(page, "Summary")).to_contain_text("<img src=x onerror=")
    assert_harmless(page)
    write(' so on."]}', None)
    expect(page.locator("#run-status")).to_have_text("Done")
    assert_harmless(page)


def test_a_downloaded_document_is_harmless_too(
    pages: Pages, server: Served, evil: str, tmp_path: Path
) -> None:
    html = server.client.get(f"/api/runs/{evil}/composites/kit/export?to=html").text
    page = pages.open("/runs")
    page.route(
        "**/downloaded.html", lambda route: route.fulfill(body=html, content_type="text/html")
    )
    page.goto("/downloaded.html")
    expect(page.locator("body")).to_contain_text("<img src=x onerror=")
    assert page.evaluate("window.ran") is None
    assert page.locator("script, img, iframe, svg").count() == 0


def test_only_addresses_of_the_web_become_links(pages: Pages, evil: str) -> None:
    page = pages.open(f"/runs/{evil}")
    expect(page.locator("#run-status")).to_have_text("Done")
    links = page.locator("article.section a").evaluate_all(
        "all => all.map((each) => [each.protocol, each.rel, each.href])"
    )
    assert links
    for protocol, rel, href in links:
        assert protocol in ("http:", "https:"), href
        if not href.startswith(pages.url):
            assert "noopener" in rel
            assert "noreferrer" in rel
