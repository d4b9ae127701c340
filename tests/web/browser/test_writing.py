"""An editor starts a run and watches it being written, through lost connections and restarts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from repurpose.api.adapters import open_store
from repurpose.config import Settings
from web_browser import Cable, Pages, section
from web_server import ARTICLE, Served, serving


def pasted(page: Any, formats: tuple[str, ...]) -> None:
    """Paste the article and choose formats."""
    page.get_by_label("Text (Markdown or plain)").fill(ARTICLE)
    for name in ("summary", "faq", "social", "newsletter"):
        page.locator(f"input[name=formats][value={name}]").set_checked(name in formats)


def test_sections_fill_by_name_while_the_model_writes(
    pages: Any, server: Served, model: Any, golden: Callable[[str], Any], settings: Settings
) -> None:
    summary, faq = model.hold("summary"), model.hold("faq")
    page = pages.open()
    pasted(page, ("summary", "faq"))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Start this run").click()
    page.wait_for_url("**/runs/*")
    faq('{"pairs": [{"question": "What is a')
    expect(section(page, "FAQ")).to_contain_text("What is a")
    summary('{"sentences": ["The public library')
    expect(section(page, "Summary")).to_contain_text("The public library")
    expect(section(page, "FAQ")).not_to_contain_text("The public library")
    expect(section(page, "Summary")).to_contain_text("Writing")
    faq(json.dumps(golden("faq"))[len('{"pairs": [{"question": "What is a') :], None)
    expect(section(page, "FAQ").locator(".state")).to_have_text("Done")
    expect(section(page, "Summary").locator(".state")).not_to_have_text("Done")
    summary(json.dumps(golden("summary"))[len('{"sentences": ["The public library') :], None)
    expect(page.locator("#run-status")).to_have_text("Done")
    run = page.url.rpartition("/")[2]
    store = open_store(settings.database)
    texts = {row.format: row.text for row in store.rows(run)}
    store.close()
    assert section(page, "Summary").locator("[data-text]").inner_text() == texts["summary"]
    for pair in golden("faq")["pairs"]:
        expect(section(page, "FAQ")).to_contain_text(pair["question"])
    assert len(model.calls) == 2


def test_a_lost_connection_is_told_and_nothing_is_lost_or_doubled(
    browser: Any, settings: Settings, model: Any
) -> None:
    write = model.hold("summary")
    cable = Cable()
    with serving(settings, behind=cable.port, engine=model.engine()) as server:
        cable.target = int(server.url.rpartition(":")[2])
        pages = Pages(browser, f"http://127.0.0.1:{cable.port}")
        pages.tolerated = ("/api/",)
        run = server.asking.post("/api/runs", {"text": ARTICLE, "formats": ["summary"]}, 202)["run"]
        page = pages.open(f"/runs/{run}")
        write('{"sentences": ["One two')
        expect(section(page, "Summary")).to_contain_text("One two")
        cable.cut()
        expect(page.locator("#connection")).to_contain_text("Connection lost")
        write(" three")
        cable.mend()
        expect(page.locator("#connection")).to_be_hidden(timeout=20_000)
        expect(section(page, "Summary")).to_contain_text("One two three")
        write(' four."]}', None)
        expect(page.locator("#run-status")).to_have_text("Done")
        assert section(page, "Summary").locator("[data-text]").inner_text() == "One two three four."
        assert b"last-event-id: " in cable.asked.lower()
        pages.close()
    cable.close()
    assert pages.complaints == []


def test_a_page_heals_when_the_server_was_started_again(
    browser: Any, settings: Settings, model: Any, golden: Callable[[str], Any]
) -> None:
    write = model.hold("summary")
    with serving(settings, engine=model.engine()) as first:
        run = first.asking.post("/api/runs", {"text": ARTICLE, "formats": ["summary"]}, 202)["run"]
        pages = Pages(browser, first.url)
        pages.tolerated = ("/api/",)
        page = pages.open(f"/runs/{run}")
        write('{"sentences": ["One two')
        expect(section(page, "Summary")).to_contain_text("One two")
        write(' three."]}', None)
        first.asking.ended(run)
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    with serving(settings, port=int(first.url.rpartition(":")[2]), engine=model.engine()):
        expect(page.locator("#connection")).to_be_hidden(timeout=20_000)
        expect(page.locator("#run-status")).to_have_text("Done")
        assert section(page, "Summary").locator("[data-text]").inner_text() == "One two three."
        pages.close()
    assert pages.complaints == []


def test_a_format_that_fails_says_why_and_its_sibling_is_done(pages: Any, model: Any) -> None:
    model.answers["faq"] = [{"pairs": []}, {"pairs": []}]
    page = pages.open()
    pasted(page, ("summary", "faq"))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Start this run").click()
    expect(page.locator("#run-status")).to_have_text("Partly done")
    expect(section(page, "FAQ")).to_contain_text("no complete pair")
    expect(section(page, "Summary").locator(".state")).to_have_text("Done")


def test_the_plan_is_shown_before_a_model_is_asked(pages: Any, model: Any) -> None:
    page = pages.open()
    pasted(page, ("summary", "social"))
    page.get_by_role("button", name="Plan only").click()
    plan = page.locator("#plan-view")
    expect(plan).to_contain_text("2")
    expect(plan).to_contain_text("staged-1")
    assert model.calls == []
    page.get_by_role("button", name="Start this run").click()
    expect(page.locator("#run-status")).to_have_text("Done")
    assert len(model.calls) == 2


def test_what_is_wrong_is_told_beside_the_field_that_has_the_focus(pages: Any) -> None:
    pages.tolerated = ("/api/",)
    page = pages.open()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_label("Text (Markdown or plain)")).to_be_focused()
    page.locator("input[name=way][value=url]").check()
    address = page.locator("#url")
    address.fill("http://127.0.0.1:1/secret")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(address).to_be_focused()
    expect(page.locator(".way[data-way=url]")).to_contain_text("private")


def test_a_file_can_be_chosen_or_dropped(pages: Any) -> None:
    page = pages.open()
    page.locator("input[name=way][value=file]").check()
    page.locator("#file").set_input_files(
        files=[{"name": "kestrels.md", "mimeType": "text/markdown", "buffer": ARTICLE.encode()}]
    )
    page.get_by_role("button", name="Plan only").click()
    expect(page.locator("#plan-view")).to_contain_text("Kestrels of the ring road")
    dropped = pages.open()
    transfer = dropped.evaluate_handle(
        "text => { const t = new DataTransfer();"
        " t.items.add(new File([text], 'k.md', {type: 'text/markdown'})); return t; }",
        ARTICLE,
    )
    for event in ("dragenter", "dragover", "drop"):
        dropped.dispatch_event("body", event, {"dataTransfer": transfer})
    dropped.get_by_role("button", name="Plan only").click()
    expect(dropped.locator("#plan-view")).to_contain_text("Kestrels of the ring road")


def test_the_pages_reducer_passes_the_same_vectors(pages: Any, root: Any) -> None:
    vectors = json.loads(  # noqa: TID251 - our own file
        (root / "fixtures" / "sections" / "reducer.json").read_text(encoding="utf-8")
    )
    page = pages.open("/runs")
    states = page.evaluate(
        """async (vectors) => {
            const {NONE, inOrder, reduced} = await import("/static/reducer.js");
            return vectors.map(({lines, stream}) =>
                inOrder(lines.reduce((known, line) => reduced(known, line, stream), NONE)));
        }""",
        vectors,
    )
    wanted = [vector["states"] for vector in vectors]
    assert [[_said(one) for one in each] for each in states] == wanted
    assert len(wanted) >= 30


def _said(state: dict[str, Any]) -> dict[str, Any]:
    """A state without what it does not know, as the vectors have it."""
    return {
        key: value
        for key, value in state.items()
        if value is not None and (key, value) != ("citations", [])
    }
