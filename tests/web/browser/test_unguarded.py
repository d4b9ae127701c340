"""Escaping alone holds: hostile texts in pages whose content security policy is switched off.

The policy would stop most of what could run. Here it cannot, so that whatever a source, a model or
an editor writes has to be text because we write it as text.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from web_browser import Model, Pages, section
from web_server import Served

ATTACK = (
    "<script>window.hit=1</script><img src=x onerror=window.hit=1><svg onload=window.hit=1>"
    "</textarea></title><a href=javascript:window.hit=1>go</a>"
)
TITLE = "</title><script>window.hit=1</script><b>Kestrels</b> \"'`{{7*7}}"
TEXT = f"# {TITLE}\n\n`{ATTACK}`\n\nKestrels hover at noon.\n"
"""Tags are left out of a source, but not where it writes about them."""
STRANGE = """() => [...document.querySelectorAll("*")].filter((each) => {
    const own = each.localName === "script" && each.src.startsWith(`${location.origin}/static/`);
    const strange = ["script", "img", "svg", "iframe", "object", "embed", "b"];
    const runs = ({name, value}) =>
        name.startsWith("on") || /^\\s*(javascript|vbscript|data):/i.test(value);
    return (strange.includes(each.localName) && !own) || [...each.attributes].some(runs);
}).map((each) => each.outerHTML)"""
"""What stands in a page that our own templates and scripts do not make."""


def assert_harmless(page: Any) -> None:
    assert page.evaluate("window.hit") is None
    assert page.evaluate(STRANGE) == []


def answers(said: str) -> dict[str, Any]:
    """An answer of each format with `said` in each of its fields."""
    names = ("linkedin", "x", "instagram")
    return {
        "summary": {"sentences": [f"One {said}", f"Two {said}"]},
        "faq": {"pairs": [{"question": f"What is {said}?", "answer": f"It is {said}"}]},
        "social": {name: {"text": f"Look {said}", "hashtags": ["<b>"]} for name in names},
        "newsletter": {
            "subject": f"News {said}",
            "preheader": f"Early {said}",
            "paragraphs": [f"First {said}"],
            "callToAction": f"Read {said}",
        },
    }


@pytest.fixture
def hostile(server: Served, model: Model) -> str:
    """A finished run whose source and answers all try to be markup."""
    model.answers = {name: [answer] for name, answer in answers(ATTACK).items()}
    return server.asking.finished({"text": TEXT, "title": TITLE})


def test_every_section_its_editor_and_the_title_are_text(pages: Pages, hostile: str) -> None:
    page = pages.open(f"/runs/{hostile}", bypass_csp=True)
    for label in ("Summary", "FAQ", "X", "LinkedIn", "Instagram", "Newsletter"):
        part = section(page, label)
        expect(part.locator(".state")).to_have_text("Done")
        expect(part.locator(".section-body")).to_contain_text("<script>window.hit=1</script>")
    expect(page.locator("#run-title")).to_have_text(TITLE)
    assert page.title() == f"{TITLE} · repurpose"
    assert_harmless(page)
    for label in ("FAQ", "X", "Newsletter"):
        section(page, label).get_by_role("button", name="Edit", exact=True).click()
        field = section(page, label).get_by_role("textbox").first
        expect(field).to_have_value(re.compile(re.escape(ATTACK)))
    assert_harmless(page)


def test_what_is_still_being_written_is_text(pages: Pages, server: Served, model: Model) -> None:
    write = model.hold("summary")
    run = server.asking.post("/api/runs", {"text": TEXT, "formats": ["summary"]}, 202)["run"]
    page = pages.open(f"/runs/{run}", bypass_csp=True)
    write('{"sentences": ["<img src=x onerror=window.hit=1>', "<script>window.hit=1</script>")
    expect(section(page, "Summary")).to_contain_text("<script>window.hit=1</script>")
    assert_harmless(page)
    write('."]}', None)
    expect(page.locator("#run-status")).to_have_text("Done")
    assert_harmless(page)


def test_names_wishes_and_texts_in_dialogs_are_text(
    pages: Pages, server: Served, model: Model, hostile: str
) -> None:
    sections = server.asking.get(f"/api/runs/{hostile}")["sections"]
    row = next(each for each in sections if each["name"] == "social.x")["row"]["id"]
    by = "<img src=x onerror=window.hit=1>"
    server.asking.post(f"/api/rows/{row}/edit", {"text": f"Mine {ATTACK}", "by": by})
    model.answers = {"social": [answers(f"theirs {ATTACK}")["social"]]}
    path = f"/api/runs/{hostile}/sections/social.x/regenerate"
    server.asking.post(path, {"instruction": f"shorter {ATTACK}", "by": by}, 202)
    page = pages.open(f"/runs/{hostile}", bypass_csp=True)
    post = section(page, "X")
    post.get_by_role("button", name="Compare").click()
    expect(page.locator("#proposal-three")).to_contain_text("<svg onload=window.hit=1>")
    expect(page.locator("#proposal-what")).to_contain_text(f"shorter {ATTACK}")
    assert_harmless(page)
    page.keyboard.press("Escape")
    post.get_by_role("button", name="History").click()
    expect(page.locator("#revisions")).to_contain_text(f"by {by}")
    page.get_by_role("button", name=re.compile("Compare revision 1")).click()
    expect(page.locator("#history-diff-text")).to_contain_text("<img")
    assert_harmless(page)
    page.keyboard.press("Escape")
    section(page, "Summary").locator("[data-do=where]").click()
    expect(page.locator("#source-text")).to_contain_text("<script>window.hit=1</script>")
    assert_harmless(page)


def test_what_a_failed_answer_says_is_text(pages: Pages, server: Served, model: Model) -> None:
    wrong = {"pairs": [], "<img src=x onerror=window.hit=1>": ATTACK}
    model.answers["faq"] = [wrong, wrong]
    run = server.asking.finished({"text": TEXT, "formats": ["faq"]})
    page = pages.open(f"/runs/{run}", bypass_csp=True)
    expect(section(page, "FAQ").locator(".state")).to_have_text("Failed")
    assert_harmless(page)


def test_pages_that_the_server_writes_are_text(pages: Pages, hostile: str) -> None:
    pages.tolerated = ("/%3C",)  # that one is not there
    asked = "%3Cscript%3Ewindow.hit=1%3C%2Fscript%3E%22%3E%3Cimg%20src=x%20onerror=window.hit=1%3E"
    page = pages.open("/runs", bypass_csp=True)
    expect(page.get_by_role("link", name=TITLE)).to_be_visible()
    assert_harmless(page)
    page.goto(f"/runs/{hostile}/composites/kit")
    expect(page.locator("article.composite")).to_contain_text("<script>window.hit=1</script>")
    assert_harmless(page)
    for path in (f"/runs?q={asked}", f"/{asked}"):
        page.goto(path)
        assert_harmless(page)


def test_a_plan_is_text(pages: Pages) -> None:
    page = pages.open(bypass_csp=True)
    page.get_by_label("Text (Markdown or plain)").fill(TEXT)
    page.get_by_role("textbox", name="Title").fill(TITLE)
    page.get_by_role("button", name="Plan only").click()
    expect(page.locator("#plan-facts")).to_contain_text(TITLE)
    assert_harmless(page)
