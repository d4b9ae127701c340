"""An editor chooses between texts, finds the way back, and is told what does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from repurpose.api.adapters import open_store
from repurpose.cli import cli
from repurpose.config import Settings
from repurpose.core.record import Row
from web_browser import Model, Pages, section
from web_server import ARTICLE, Served

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
THEIRS = "Theirs: voles in the verge."


@pytest.fixture
def post(settings: Settings) -> Callable[[str], Row]:
    """The current row of a run's post for X."""

    def read(run: str) -> Row:
        store = open_store(settings.database)
        found = next(row for row in store.rows(run) if row.variant == "x")
        store.close()
        return found

    return read


@pytest.fixture
def compared(
    pages: Pages, server: Served, model: Model, made: str, post: Callable[[str], Row]
) -> Any:
    """The page of a run whose post was edited and then written anew, with both shown."""
    row = post(made).id
    server.asking.post(f"/api/rows/{row}/edit", {"text": "Mine: kestrels at noon.", "by": "Ann"})
    answer = {"linkedin": "L", "x": THEIRS, "instagram": "I"}
    model.answers["social"] = [{name: {"text": t, "hashtags": []} for name, t in answer.items()}]
    page = pages.open(f"/runs/{made}")
    expect(section(page, "X").locator(".marks")).to_contain_text("Edited by Ann")
    section(page, "X").get_by_role("button", name="Regenerate").click()
    page.get_by_role("dialog").get_by_role("button", name="Regenerate").click()
    section(page, "X").get_by_role("button", name="Compare").click()
    expect(page.locator("#proposal-three section")).to_have_count(3)
    return page


def test_three_texts_are_compared_word_by_word(compared: Any, made: str) -> None:
    base, mine, theirs = compared.locator("#proposal-three section").all()
    expect(base).to_contain_text("Halvik's library asks members to vote")
    expect(mine.locator("ins").first).to_be_visible()
    expect(mine.locator("del").first).to_be_visible()
    expect(theirs.locator("ins").first).to_be_visible()
    assert "kestrels" in " ".join(mine.locator("ins").all_inner_texts())
    assert "voles" in " ".join(theirs.locator("ins").all_inner_texts())


def test_mine_is_kept(compared: Any, made: str, post: Callable[[str], Row]) -> None:
    compared.get_by_role("button", name="Keep mine").click()
    expect(compared.get_by_role("dialog")).to_be_hidden()
    expect(section(compared, "X").locator(".proposal-note")).to_be_hidden()
    expect(section(compared, "X").locator(".section-body")).to_contain_text("Mine: kestrels")
    assert (post(made).text, post(made).locked) == ("Mine: kestrels at noon.", True)


def test_theirs_is_edited_before_it_is_taken(
    compared: Any, made: str, post: Callable[[str], Row]
) -> None:
    compared.get_by_role("button", name="Edit theirs first").click()
    box = section(compared, "X").get_by_role("textbox").first
    expect(box).to_have_value(THEIRS)
    expect(box).to_be_focused()
    box.fill(f"{THEIRS} Seen today.")
    section(compared, "X").get_by_role("button", name="Save").click()
    expect(section(compared, "X").locator(".section-body")).to_contain_text("Seen today.")
    assert post(made).text == f"{THEIRS} Seen today."


def test_an_older_revision_is_compared_and_restored(
    compared: Any, made: str, post: Callable[[str], Row]
) -> None:
    compared.keyboard.press("Escape")
    section(compared, "X").get_by_role("button", name="History").click()
    revisions = compared.locator("#revisions > li")
    expect(revisions).to_have_count(3)
    compared.get_by_role("button", name="Compare revision 1 with the current one").click()
    expect(compared.locator("#history-diff-name")).to_have_text(
        "From revision 1 to the current one"
    )
    expect(compared.locator("#history-diff-text ins").first).to_be_visible()
    compared.get_by_role("button", name="Restore revision 1").click()
    expect(compared.get_by_role("dialog")).to_be_hidden()
    expect(section(compared, "X").locator(".section-body")).to_contain_text("Halvik's library")
    assert (post(made).action, (post(made).text or "")[:16]) == ("restored", "Halvik's library")


def test_a_decision_is_taken_back(pages: Pages, made: str, post: Callable[[str], Row]) -> None:
    page = pages.open(f"/runs/{made}")
    section(page, "X").get_by_role("button", name="Approve").click()
    section(page, "X").get_by_role("button", name="Release").click()
    expect(section(page, "X").get_by_role("button", name="Approve")).to_be_visible()
    assert post(made).locked is False


def test_an_edit_is_given_up_after_a_question(
    pages: Pages, made: str, post: Callable[[str], Row]
) -> None:
    page = pages.open(f"/runs/{made}")
    edit = section(page, "X").get_by_role("button", name="Edit", exact=True)
    edit.click()
    box = section(page, "X").get_by_role("textbox").first
    box.fill("Half a thought")
    page.keyboard.press("Escape")
    page.get_by_role("dialog").get_by_role("button", name="Keep editing").click()
    expect(box).to_have_value("Half a thought")
    page.keyboard.press("Escape")
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(box).to_be_hidden()
    expect(edit).to_be_focused()
    assert post(made).revision == 1


# --- what does not fit --------------------------------------------------------------------------


@pytest.fixture
def chosen(pages: Pages, server: Served, model: Model) -> Any:
    """The page of a run that chose other limits than the server's."""
    names = ("x", "mastodon", "bluesky")
    model.answers["social"] = [{name: {"text": "Kestrels.", "hashtags": []} for name in names}]
    run = server.asking.finished(
        {
            "text": ARTICLE,
            "formats": ["social"],
            "platforms": ["x=premium", "mastodon=1000", "bluesky"],
        }
    )
    return pages.open(f"/runs/{run}")


def test_a_text_is_counted_against_the_limit_that_its_run_chose(chosen: Any) -> None:
    for label, text, count in (
        ("X", "a" * 300, "300 of 25,000 weighted characters"),
        ("Mastodon", "a" * 600, "600 of 1,000 characters"),
    ):
        part = section(chosen, label)
        part.get_by_role("button", name="Edit", exact=True).click()
        part.get_by_role("textbox").first.fill(text)
        expect(part.locator(".count")).to_have_text(count)
        expect(part.locator(".over")).to_have_text("")
        part.get_by_role("button", name="Save").click()
        expect(part.locator(".section-body")).to_contain_text(text)


def test_what_breaks_a_second_limit_is_told_before_it_is_refused(chosen: Any, pages: Pages) -> None:
    pages.tolerated = ("/api/rows/",)
    part = section(chosen, "Bluesky")
    part.get_by_role("button", name="Edit", exact=True).click()
    part.get_by_role("textbox").first.fill(FAMILY * 200)  # 25 bytes each, of at most 3,000
    expect(part.locator(".count")).to_have_text("200 of 300 graphemes")
    expect(part.locator(".over")).to_have_text("2,000 bytes over")
    part.get_by_role("button", name="Save").click()
    expect(part.locator(".form-error")).to_contain_text("2,000 too many")


def test_a_file_that_is_too_large_or_empty_is_told_beside_its_field(pages: Pages) -> None:
    page = pages.open()
    page.locator("input[name=way][value=file]").check()
    for size, words in ((20_000_001, "larger than 20 MB"), (0, "is empty")):
        page.evaluate(
            """(size) => {
                const held = new DataTransfer();
                held.items.add(new File([new Uint8Array(size)], "kestrels.txt"));
                document.getElementById("file").files = held.files;
            }""",
            size,
        )
        page.get_by_role("button", name="Plan only").click()
        expect(page.locator("#file-error")).to_contain_text(words)
        expect(page.locator("#file")).to_be_focused()


# --- taking a composite -------------------------------------------------------------------------


def test_a_downloaded_composite_is_what_the_command_line_writes(
    pages: Pages, made: str, settings: Settings, tmp_path: Path
) -> None:
    config = tmp_path / "kit.toml"
    config.write_text(
        "[composites.kit]\nsections = [\n"
        '  {name = "short", input = "summary", label = "In short"},\n'
        '  {name = "post", input = "social.x", label = "The post"},\n]\n',
        encoding="utf-8",
    )
    page = pages.open(f"/runs/{made}/composites/kit")
    for renderer in ("markdown", "html", "json"):
        with page.expect_download() as waiting:
            page.locator(f"a[href$='to={renderer}']").click()
        written = tmp_path / renderer
        asked = ["compose", "kit", "--run", made, "--to", "file", "--renderer", renderer]
        where = ["--output", written, "--config", config, "--db", settings.database]
        done = CliRunner().invoke(cli, [*asked, *map(str, where)])
        assert done.exit_code == 0, done.output
        # The options of the command are part of its payload; the page gives what was declared.
        wanted = written.read_bytes()
        wanted = wanted.replace(b'"destination": "file"', b'"destination": "store"')
        wanted = wanted.replace(b'"widgetType": "json"', b'"widgetType": "markdown"')
        assert Path(waiting.value.path()).read_bytes() == wanted
        assert re.fullmatch(r"[\w.-]+\.(md|html|json)", waiting.value.suggested_filename)


def test_what_a_composite_leaves_out_is_told_once(pages: Pages, server: Served) -> None:
    run = server.asking.finished({"text": ARTICLE, "formats": ["summary"]})
    page = pages.open(f"/runs/{run}/composites/kit")
    expect(page.get_by_role("heading", name="Left out")).to_have_count(1)
    expect(page.locator(".notice.warn")).to_contain_text("post")
