"""An editor counts, corrects, approves, has texts written anew, and takes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import expect

from repurpose.api.adapters import open_store
from repurpose.config import Settings
from repurpose.core.record import Row
from repurpose.platforms import platform_chosen
from repurpose.text.counting import MEASURES
from web_browser import Pages, section
from web_server import ARTICLE, Served, serving

NAMES = {
    "x_premium": "x=premium",
    "tiktok_video_caption": "tiktok",
    "tiktok_photo_description": "tiktok_photo",
    "youtube_description": "youtube",
    "pinterest_description": "pinterest",
}

COUNT_IN_PAGE = """async (cases) => {
    const {counter} = await import("/static/counter.js");
    const count = async ([platform, text], place) => {
        const field = document.createElement("textarea");
        field.id = `case-${place}`;
        field.value = text;
        const {root} = counter(field, platform);
        while (root.dataset.length === undefined) await new Promise((go) => setTimeout(go, 2));
        return [Number(root.dataset.length), root.querySelector(".over").textContent];
    };
    return Promise.all(cases.map(count));
}"""


@pytest.fixture
def rows(settings: Settings, made: str) -> Callable[[], dict[str, Row]]:
    """The current rows of the finished run by section."""

    def read() -> dict[str, Row]:
        store = open_store(settings.database)
        found = {
            row.format if row.variant == "default" else f"{row.format}.{row.variant}": row
            for row in store.rows(made)
        }
        store.close()
        return found

    return read


def edit(part: Any, text: str) -> Any:
    """Open a section's editor and type."""
    part.get_by_role("button", name="Edit", exact=True).click()
    box = part.get_by_role("textbox").first
    box.fill(text)
    return box


def test_the_counter_of_the_page_is_that_of_the_server(pages: Pages) -> None:
    texts = [
        "👩‍👩‍👧‍👦 family",
        "日本語の文",
        "see https://example.org/a?b=c now",
        "e\u0301te\u0301",
    ]
    cases = [(name, text) for name in ("x", "bluesky", "mastodon", "threads") for text in texts]
    cases.append(("x", "a" * 300))
    counted = pages.open("/runs").evaluate(COUNT_IN_PAGE, cases)
    assert [length for length, _ in counted] == [
        MEASURES[platform_chosen(name).unit](text) for name, text in cases
    ]
    assert counted[-1][1] == "20 weighted characters over"
    assert {over for _, over in counted[:-1]} == {""}


@pytest.mark.shared
def test_the_counter_of_the_page_passes_the_shared_cases(pages: Pages, shared: Path) -> None:
    file = shared / "conformance" / "platform-limits.yaml"
    known = yaml.safe_load(file.read_text("utf-8"))["cases"]
    # A title has a limit, but no counter of its own: it is typed above its post.
    posts = [case for case in known if not case["platform"].endswith("_title")]
    cases = [
        (NAMES.get(case["platform"], case["platform"]), case["text"] * case.get("repeat", 1))
        for case in posts
    ]
    assert len(cases) > 110
    wanted = [case["expected_length"] for case in posts]
    validate = yaml.safe_load(
        (shared / "conformance" / "twitter-text" / "validate.yml").read_text("utf-8")
    )
    for case in validate["tests"]["WeightedTweetsWithDiscountedEmojiCounterTest"]:
        cases.append(("x", case["text"]))
        wanted.append(case["expected"]["weightedLength"])
    counted = pages.open("/runs").evaluate(COUNT_IN_PAGE, cases)
    assert [
        (case, length)
        for case, (length, _), right in zip(cases, counted, wanted, strict=True)
        if length != right
    ] == []


def test_an_edit_is_counted_while_it_is_typed_and_stored_when_it_fits(
    pages: Pages, made: str, rows: Callable[[], dict[str, Row]]
) -> None:
    pages.tolerated = ("/api/rows/",)
    page = pages.open(f"/runs/{made}")
    post = section(page, "X")
    edit(post, "Kestrels hover. " * 20)
    expect(post.locator(".over")).to_have_text("40 weighted characters over")
    post.get_by_role("button", name="Save").click()
    expect(post.locator(".form-error")).to_contain_text("280")
    assert rows()["social.x"].revision == 1
    edit_box = post.get_by_role("textbox").first
    edit_box.fill("Kestrels hover at noon. #kestrels")
    expect(post.locator(".over")).to_have_text("")
    expect(post.locator(".count")).to_have_text("33 of 280 weighted characters")
    page.get_by_label("Your name").fill("Anna")
    post.get_by_role("button", name="Save").click()
    expect(post.locator(".marks")).to_contain_text("Anna")
    row = rows()["social.x"]
    assert (row.text, row.action, row.author) == (
        "Kestrels hover at noon. #kestrels",
        "edited",
        "Anna",
    )
    page.reload()
    expect(section(page, "X")).to_contain_text("Kestrels hover at noon.")
    expect(section(page, "X").locator(".marks")).to_contain_text("Anna")


def test_an_answer_of_the_faq_is_edited_in_a_field_of_its_own(
    pages: Pages, made: str, rows: Callable[[], dict[str, Row]]
) -> None:
    page = pages.open(f"/runs/{made}")
    faq = section(page, "FAQ")
    faq.get_by_role("button", name="Edit", exact=True).click()
    faq.get_by_label("Answer").first.fill("It lends tools.")
    faq.get_by_role("button", name="Save").click()
    expect(faq.locator(".state")).to_have_text("Done")
    expect(faq.locator(".marks")).to_contain_text("edited", ignore_case=True)
    pairs = (rows()["faq"].content or {})["pairs"]
    assert pairs[0]["answer"] == "It lends tools."  # type: ignore[index,call-overload]


def test_the_slower_of_two_editors_sees_what_changed_and_keeps_what_was_typed(
    pages: Pages, made: str, server: Served, rows: Callable[[], dict[str, Row]]
) -> None:
    pages.tolerated = ("/api/rows/",)
    page = pages.open(f"/runs/{made}")
    box = edit(section(page, "X"), "Mine: kestrels at noon.")
    row = rows()["social.x"].id
    server.asking.post(f"/api/rows/{row}/edit", {"text": "Theirs: voles.", "by": "Ben"})
    section(page, "X").get_by_role("button", name="Save").click()
    expect(section(page, "X").locator(".clash")).to_contain_text("Ben changed this meanwhile.")
    expect(box).to_have_value("Mine: kestrels at noon.")
    assert rows()["social.x"].text == "Theirs: voles."
    section(page, "X").get_by_role("button", name="Save").click()
    expect(section(page, "X")).to_contain_text("Mine: kestrels at noon.")
    assert rows()["social.x"].text == "Mine: kestrels at noon."


def test_one_section_is_written_anew_and_the_others_stay(
    pages: Pages, made: str, model: Any, rows: Callable[[], dict[str, Row]]
) -> None:
    before, calls = rows(), len(model.calls)
    model.answers["faq"] = [{"pairs": [{"question": "Where?", "answer": "Over the road."}]}]
    page = pages.open(f"/runs/{made}")
    faq = section(page, "FAQ")
    faq.get_by_role("button", name="Regenerate").click()
    page.get_by_label("What should be different?").fill("shorter, no jargon")
    page.get_by_role("dialog").get_by_role("button", name="Regenerate").click()
    expect(faq).to_contain_text("Over the road.")
    expect(faq).not_to_contain_text("tool library")
    after = rows()
    assert len(model.calls) == calls + 1
    assert "shorter, no jargon" in model.calls[-1].system
    assert {name: row for name, row in after.items() if name != "faq"} == {
        name: row for name, row in before.items() if name != "faq"
    }
    assert after["faq"].instruction == "shorter, no jargon"


def test_an_approved_text_stays_and_the_new_one_is_put_beside_it(
    pages: Pages, made: str, model: Any, rows: Callable[[], dict[str, Row]]
) -> None:
    page = pages.open(f"/runs/{made}")
    summary = section(page, "Summary")
    summary.get_by_role("button", name="Approve").click()
    expect(summary.locator(".marks")).to_contain_text("approved", ignore_case=True)
    model.answers["summary"] = [{"sentences": ["Kestrels hover at noon over the ring road."]}]
    summary.get_by_role("button", name="Regenerate").click()
    page.get_by_role("dialog").get_by_role("button", name="Regenerate").click()
    summary.get_by_role("button", name="Compare").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Kestrels hover at noon over")
    assert rows()["summary"].action == "approved"
    dialog.get_by_role("button", name="Take theirs").click()
    expect(dialog).to_be_hidden()
    expect(summary.locator(".section-body")).to_have_text(
        "Kestrels hover at noon over the ring road."
    )
    assert rows()["summary"].action == "restored"
    summary.get_by_role("button", name="History").click()
    revisions = page.get_by_role("dialog").locator("#revisions > li")
    expect(revisions).to_have_count(4)


def test_texts_are_copied_and_downloaded_as_they_are_stored(
    pages: Pages, made: str, server: Served, rows: Callable[[], dict[str, Row]]
) -> None:
    page = pages.open(f"/runs/{made}", permissions=["clipboard-read", "clipboard-write"])
    section(page, "X").get_by_role("button", name="Copy", exact=True).click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.length > 0)")
    assert page.evaluate("navigator.clipboard.readText()") == rows()["social.x"].text
    with page.expect_download() as waiting:
        page.get_by_role("link", name="All as Markdown").click()
    exported = server.client.get(f"/api/runs/{made}/export?to=markdown").content
    assert Path(waiting.value.path()).read_bytes() == exported
    with page.expect_download() as waiting:
        section(page, "X").get_by_role("button", name="Download").click()
    assert Path(waiting.value.path()).read_text("utf-8") == f"{rows()['social.x'].text}\n"


def test_a_composite_is_read_and_downloaded(pages: Pages, made: str, server: Served) -> None:
    page = pages.open(f"/runs/{made}/composites/kit")
    expect(page.get_by_role("heading", name="In short")).to_be_visible()
    expect(page.get_by_role("heading", name="The post")).to_be_visible()
    for renderer in ("markdown", "html", "json"):
        with page.expect_download() as waiting:
            page.locator(f"a[href$='to={renderer}']").click()
        path = f"/api/runs/{made}/composites/kit/export?to={renderer}"
        assert Path(waiting.value.path()).read_bytes() == server.client.get(path).content
    payload = server.client.get(f"/api/runs/{made}/composites/kit/export?to=json").content
    told = json.loads(payload)  # noqa: TID251 - our own
    assert [each["sectionName"] for each in told["sections"]] == ["short", "post"]


def test_a_typed_draft_outlives_a_reload(pages: Pages, made: str) -> None:
    page = pages.open(f"/runs/{made}")
    edit(section(page, "X"), "Half a thought")
    page.reload()
    expect(section(page, "X").get_by_role("textbox").first).to_have_value("Half a thought")


def test_a_source_sentence_is_shown_where_spans_are_stored(
    browser: Any, settings: Settings
) -> None:
    with serving(settings) as extracting:
        run = extracting.asking.finished({"text": ARTICLE, "formats": ["summary"]})
        pages = Pages(browser, extracting.url)
        page = pages.open(f"/runs/{run}")
        section(page, "Summary").get_by_role("button", name="Where from?").click()
        section(page, "Summary").locator(".panel button").first.click()
        marked = page.locator("#source-text mark")
        expect(marked.first).to_be_visible()
        assert marked.first.inner_text() in ARTICLE
        pages.close()
    assert pages.complaints == []
