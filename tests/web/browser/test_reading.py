"""Every page by keyboard, by accessibility rules, in both themes, narrow and wide."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from web_browser import Pages, section
from web_server import ARTICLE, Served

WIDTHS = (400, 1400)
THEMES = ("light", "dark")


def assert_accessible(page: Any) -> None:
    """No rule that axe calls serious or critical is broken."""
    found = Axe().run(page).response["violations"]
    grave = [
        (each["id"], [node["html"][:120] for node in each["nodes"]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert grave == []


def assert_no_sideways_scroll(page: Any) -> None:
    wide = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0


def look(pages: Pages, path: str, theme: str, width: int) -> Any:
    """A page as somebody sees it; the rules are put into it, which its policy would not allow."""
    return pages.open(
        path, color_scheme=theme, bypass_csp=True, viewport={"width": width, "height": 900}
    )


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_each_page_keeps_the_rules(pages: Pages, made: str, theme: str, width: int) -> None:
    pages.tolerated = ("/nothing",)
    for path in ("/", "/runs", f"/runs/{made}", f"/runs/{made}/composites/kit", "/nothing"):
        page = look(pages, path, theme, width)
        if path == f"/runs/{made}":
            expect(section(page, "Newsletter").locator(".state")).to_have_text("Done")
        assert_accessible(page)
        assert_no_sideways_scroll(page)
        page.context.close()


@pytest.mark.parametrize("theme", THEMES)
def test_a_run_keeps_the_rules_while_it_is_written_edited_and_compared(
    pages: Pages, server: Served, made: str, model: Any, theme: str
) -> None:
    write = model.hold("summary")
    body = {"text": f"{ARTICLE} More.", "formats": ["summary"]}
    run = server.asking.post("/api/runs", body, 202)["run"]
    writing = look(pages, f"/runs/{run}", theme, 400)
    write('{"sentences": ["One two')
    expect(section(writing, "Summary")).to_contain_text("One two")
    assert_accessible(writing)
    write('."]}', None)
    server.asking.ended(run)
    model.release("summary")

    page = look(pages, f"/runs/{made}", theme, 1400)
    section(page, "X").get_by_role("button", name="Edit", exact=True).click()
    section(page, "X").get_by_role("textbox").first.fill("x" * 300)
    expect(section(page, "X").locator(".over")).to_contain_text("over")
    section(page, "FAQ").get_by_role("button", name="Edit", exact=True).click()
    assert_accessible(page)
    section(page, "Summary").get_by_role("button", name="Approve").click()
    expect(section(page, "Summary").locator(".marks")).to_contain_text("pproved")
    section(page, "Summary").get_by_role("button", name="Regenerate").click()
    assert_accessible(page)
    page.get_by_role("dialog").get_by_role("button", name="Regenerate").click()
    section(page, "Summary").get_by_role("button", name="Compare").click()
    expect(page.locator("#proposal-three section")).to_have_count(3)
    assert_accessible(page)
    page.keyboard.press("Escape")
    section(page, "Summary").get_by_role("button", name="History").click()
    expect(page.locator("#revisions > li")).to_have_count(3)
    assert_accessible(page)


def test_a_run_is_started_edited_and_saved_by_keyboard_alone(pages: Pages) -> None:
    page = pages.open("/", reduced_motion="reduce")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    tab_to(page, page.get_by_label("Text (Markdown or plain)"))
    page.keyboard.insert_text(ARTICLE)
    tab_to(page, page.get_by_role("button", name="Plan only"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Start this run"))
    page.keyboard.press("Enter")
    expect(page.locator("#run-status")).to_have_text("Done")
    edit = section(page, "X").get_by_role("button", name="Edit", exact=True)
    tab_to(page, edit)
    page.keyboard.press("Enter")
    box = section(page, "X").get_by_role("textbox").first
    expect(box).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("Kestrels at noon.")
    page.keyboard.press("Control+Enter")
    expect(section(page, "X").locator(".section-body")).to_contain_text("Kestrels at noon.")
    expect(edit).to_be_focused()
    regenerate = section(page, "X").get_by_role("button", name="Regenerate")
    tab_to(page, regenerate)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(regenerate).to_be_focused()


def tab_to(page: Any, wanted: Any) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if wanted.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"Tab does not lead to {wanted}")


def test_the_theme_that_was_chosen_stays(pages: Pages) -> None:
    page = pages.open("/", color_scheme="light")
    color = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(color)
    for _ in range(3):
        page.get_by_role("button", name="Theme").click()
        if page.evaluate(color) != light:
            break
    dark = page.evaluate(color)
    assert dark != light
    page.goto("/runs")
    assert page.evaluate(color) == dark


def test_runs_are_found_by_search_and_filter_without_scripts(pages: Pages, made: str) -> None:
    page = pages.open("/runs", java_script_enabled=False)
    page.get_by_label("Search").fill("kestrels")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name="Kestrels of the ring road")).to_have_count(1)
    page.get_by_label("Search").fill("no such words")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name="Kestrels of the ring road")).to_have_count(0)
    page.get_by_label("Search").fill("")
    page.get_by_label("Status").select_option("failed")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name="Kestrels of the ring road")).to_have_count(0)
