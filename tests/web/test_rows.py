"""Editing, deciding, comparing, and having a section made again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from repurpose.engines.scripted import scripted_engine
from repurpose.errors import NeverStarted

SIGNED = {"by": "Anna"}


@pytest.fixture
def made(asking: Any) -> Callable[..., dict[str, Any]]:
    """The sections of a fresh run, by name."""

    def make(*formats: str) -> dict[str, Any]:
        run = asking.finished({"formats": list(formats)})
        return {each["name"]: each for each in asking.get(f"/api/runs/{run}")["sections"]}

    return make


def run_of(section: dict[str, Any]) -> str:
    return str(section["row"]["run_id"])


def test_an_edit_is_a_locked_revision_with_its_author(
    asking: Any, made: Callable[..., dict[str, Any]]
) -> None:
    post = made("social")["social.x"]
    row = asking.post(f"/api/rows/{post['row']['id']}/edit", {"text": "Mine.", "by": "Anna"})["row"]
    assert (row["text"], row["author"], row["locked"], row["revision"]) == (
        "Mine.",
        "Anna",
        True,
        2,
    )
    assert row["measures"]["length"] == 5
    shown = asking.get(f"/api/runs/{run_of(post)}")["sections"]
    assert next(each for each in shown if each["name"] == "social.x")["row"] == row
    others = [each["row"]["revision"] for each in shown if each["name"] != "social.x"]
    assert set(others) == {1}


def test_who_did_not_sign_is_whom_the_server_was_told(
    opened: Callable[..., Any], golden_engine: Any
) -> None:
    asking = opened(engine=golden_engine, author="login")
    run = asking.finished({"formats": ["summary"]})
    row = asking.get(f"/api/runs/{run}")["sections"][0]["row"]["id"]
    assert asking.post(f"/api/rows/{row}/approve")["row"]["author"] == "login"


def test_fields_are_edited_as_fields(asking: Any, made: Callable[..., dict[str, Any]]) -> None:
    faq = made("faq")["faq"]
    content = {"pairs": [{"question": "Who hunts?", "answer": "Kestrels hunt voles."}]}
    row = asking.post(f"/api/rows/{faq['row']['id']}/edit", {"content": content})["row"]
    assert row["content"] == content


def test_what_is_too_long_is_refused_and_not_cut(
    asking: Any, made: Callable[..., dict[str, Any]]
) -> None:
    post = made("social")["social.x"]
    long = {"text": "a" * 290}
    error = asking.refused("POST", f"/api/rows/{post['row']['id']}/edit", 422, long)
    assert "10" in f"{error['message']} {error['hint']}"
    told = asking.post("/api/count", {"platform": "x", **long})
    assert told == {"length": 290, "limit": 280, "unit": "x_weighted", "over": 10}


@pytest.mark.parametrize(
    "body", [{}, {"text": "a", "content": {}}, {"text": ""}, {"text": "a", "by": "n" * 81}]
)
def test_an_edit_that_cannot_be_meant_is_refused(
    asking: Any, made: Callable[..., dict[str, Any]], body: dict[str, Any]
) -> None:
    row = made("summary")["summary"]["row"]["id"]
    asking.refused("POST", f"/api/rows/{row}/edit", 422, body)


def test_of_two_editors_the_second_is_told_and_nothing_is_lost(
    asking: Any, made: Callable[..., dict[str, Any]]
) -> None:
    row = made("summary")["summary"]["row"]
    asking.post(f"/api/rows/{row['id']}/edit", {"text": "The first.", **SIGNED})
    error = asking.refused("POST", f"/api/rows/{row['id']}/edit", 409, {"text": "The second."})
    assert error["kind"] == "changed_meanwhile"
    history = asking.get(f"/api/runs/{row['run_id']}/sections/summary/history")["revisions"]
    assert [each["text"] for each in history] == ["The first.", row["text"]]


def test_of_many_editors_at_the_same_moment_one_is_stored(
    asking: Any, made: Callable[..., dict[str, Any]]
) -> None:
    row = made("summary")["summary"]["row"]
    statuses: list[int] = []

    def edit(number: int) -> None:
        answer = asking.client.post(
            f"/api/rows/{row['id']}/edit",
            json={"text": f"Editor {number}."},
            headers={"X-CSRF-Token": asking.csrf},
        )
        statuses.append(answer.status_code)

    threads = [Thread(target=edit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [409] * 7


def test_a_row_is_approved_released_and_restored(
    asking: Any, made: Callable[..., dict[str, Any]]
) -> None:
    row = made("summary")["summary"]["row"]
    approved = asking.post(f"/api/rows/{row['id']}/approve", SIGNED)["row"]
    assert (approved["locked"], approved["action"]) == (True, "approved")
    released = asking.post(f"/api/rows/{approved['id']}/release", SIGNED)["row"]
    assert released["locked"] is False
    edited = asking.post(f"/api/rows/{released['id']}/edit", {"text": "Other."})["row"]
    restored = asking.post(f"/api/rows/{row['id']}/restore", SIGNED)["row"]
    assert (restored["text"], restored["action"]) == (row["text"], "restored")
    assert edited["text"] == "Other."


@pytest.mark.parametrize("act", ["edit", "approve", "release", "restore"])
def test_a_row_that_is_not_there_is_not_found(standing: Any, act: str) -> None:
    body = {"text": "a"} if act == "edit" else {}
    standing.refused("POST", f"/api/rows/ffff/{act}", 404, body)
    standing.refused("POST", f"/api/rows/ffff/{act}", 422, {**body, "odd": 1})


def test_a_difference_is_word_by_word(asking: Any, made: Callable[..., dict[str, Any]]) -> None:
    row = made("social")["social.x"]["row"]
    first = asking.post(f"/api/rows/{row['id']}/edit", {"text": "Owls sleep by day."})["row"]
    second = asking.post(f"/api/rows/{first['id']}/edit", {"text": "Owls hunt by night."})["row"]
    told = asking.get(f"/api/rows/{second['id']}/diff?with={first['id']}")
    assert (told["base"], told["mine"], told["theirs"]) == (first["text"], second["text"], None)
    changes = told["changes"]["mine"]
    assert "".join(text for kind, text in changes if kind != "insert") == first["text"]
    assert "".join(text for kind, text in changes if kind != "delete") == second["text"]
    asking.refused("GET", f"/api/rows/{second['id']}/diff?with=ffff", 404)
    asking.refused("GET", "/api/rows/ffff/diff", 404)


# --- again --------------------------------------------------------------------------------------


def test_one_section_is_made_again_with_one_call_and_all_others_stay(
    opened: Callable[..., Any], golden: Callable[[str], Any]
) -> None:
    other = {"pairs": [{"question": "Who sleeps?", "answer": "Owls sleep by day."}]}
    script = {"summary": [golden("summary")], "faq": [golden("faq"), other]}
    engine = scripted_engine(script, model="m")
    asking = opened(engine=engine)
    run = asking.finished({"formats": ["summary", "faq"]})
    before = {each["name"]: each["row"] for each in asking.get(f"/api/runs/{run}")["sections"]}
    body = {"instruction": "shorter, no jargon", **SIGNED}
    told = asking.post(f"/api/runs/{run}/sections/faq/regenerate", body, 202)
    assert told == {"run": run, "section": "faq"}
    asking.ended(run)
    after = {each["name"]: each["row"] for each in asking.get(f"/api/runs/{run}")["sections"]}
    assert len(engine.calls) == 3
    assert "shorter, no jargon" in engine.calls[2].instructions
    assert after["summary"] == before["summary"]
    row = after["faq"]
    assert "Owls sleep" in row["text"]
    assert (row["action"], row["author"]) == ("regenerated", "Anna")
    assert row["instruction"] == "shorter, no jargon"


def test_what_a_person_decided_on_stays_and_the_new_text_is_proposed(
    opened: Callable[..., Any], golden: Callable[[str], Any]
) -> None:
    other = {"pairs": [{"question": "Who sleeps?", "answer": "Owls sleep by day."}]}
    asking = opened(engine=scripted_engine({"faq": [golden("faq"), other]}))
    run = asking.finished({"formats": ["faq"]})
    row = asking.get(f"/api/runs/{run}")["sections"][0]["row"]
    asking.post(f"/api/rows/{row['id']}/approve", SIGNED)
    asking.post(f"/api/runs/{run}/sections/faq/regenerate", {}, 202)
    asking.ended(run)
    section = asking.get(f"/api/runs/{run}")["sections"][0]
    assert section["row"]["text"] == row["text"]
    assert "Owls sleep" in section["proposal"]["text"]
    told = asking.get(f"/api/rows/{section['row']['id']}/diff?with={section['proposal']['id']}")
    assert (told["mine"], told["theirs"]) == (row["text"], section["proposal"]["text"])
    taken = asking.post(f"/api/rows/{section['proposal']['id']}/restore", SIGNED)["row"]
    assert taken["text"] == section["proposal"]["text"]
    assert asking.get(f"/api/runs/{run}")["sections"][0]["proposal"] is None


def test_one_post_of_several_is_made_again_alone(asking: Any) -> None:
    run = asking.finished({"formats": ["social"]})
    asking.post(f"/api/runs/{run}/sections/social.x/regenerate", {}, 202)
    asking.ended(run)
    rows = [each["row"] for each in asking.get(f"/api/runs/{run}")["sections"]]
    assert [(row["variant"], row["revision"]) for row in rows] == [
        ("linkedin", 1),
        ("x", 2),
        ("instagram", 1),
    ]


def test_all_posts_are_made_again_where_that_is_asked_for(asking: Any) -> None:
    run = asking.finished({"formats": ["social"]})
    body = {"allVariants": True}
    asking.post(f"/api/runs/{run}/sections/social.x/regenerate", body, 202)
    asking.ended(run)
    sections = asking.get(f"/api/runs/{run}")["sections"]
    assert [each["row"]["revision"] for each in sections] == [2, 2, 2]


def test_a_failure_keeps_the_old_text(
    opened: Callable[..., Any], golden: Callable[[str], Any]
) -> None:
    script: dict[str, Any] = {"faq": [golden("faq"), NeverStarted("no quota left")]}
    asking = opened(engine=scripted_engine(script))
    run = asking.finished({"formats": ["faq"]})
    before = asking.get(f"/api/runs/{run}")["sections"][0]
    asking.post(f"/api/runs/{run}/sections/faq/regenerate", {}, 202)
    asking.ended(run)
    after = asking.get(f"/api/runs/{run}")["sections"][0]
    assert after["row"]["text"] == before["row"]["text"]
    assert after["proposal"] is None
    history = asking.get(f"/api/runs/{run}/sections/faq/history")["revisions"]
    assert "no quota left" in history[0]["message"]


def test_a_section_that_is_not_there_is_not_found(asking: Any) -> None:
    run = asking.finished({"formats": ["faq"]})
    for section in ("summary", "social.x", "..%2f..", "a" * 500):
        asking.refused("POST", f"/api/runs/{run}/sections/{section}/regenerate", 404, {})
        asking.refused("GET", f"/api/runs/{run}/sections/{section}/history", 404)
    asking.refused("POST", "/api/runs/ffff/sections/faq/regenerate", 404, {})


@pytest.mark.parametrize(
    "body", [{"all_variants": True}, {"instruction": "a" * 2001}, {"allVariants": "perhaps"}]
)
def test_a_wish_that_cannot_be_meant_is_refused(asking: Any, body: dict[str, Any]) -> None:
    asking.refused("POST", "/api/runs/last/sections/faq/regenerate", 422, body)


def test_a_run_in_work_is_left_alone(opened: Callable[..., Any], slow: Any) -> None:
    asking = opened(engine=slow.engine())
    run = asking.post("/api/runs", {"text": "Owls.", "formats": ["faq"]}, 202)["run"]
    slow.write("{")
    while asking.get(f"/api/runs/{run}")["run"]["queued"]:
        pass
    error = asking.refused("POST", f"/api/runs/{run}/sections/faq/regenerate", 409, {})
    assert error["kind"] == "busy"
    slow.end()
    slow.end()
    asking.ended(run)


# --- counting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "text", "length", "limit"),
    [
        ("x", "日本 https://example.org/a-long-path", 4 + 1 + 23, 280),
        ("linkedin", "👩‍👩‍👧", 8, 3000),
        ("x=premium", "abc", 3, 25_000),
        ("mastodon=1000", "abc", 3, 1000),
        ("bluesky", "👩‍👩‍👧", 1, 300),
    ],
)
def test_a_text_is_counted_as_its_platform_counts(
    standing: Any, platform: str, text: str, length: int, limit: int
) -> None:
    told = standing.post("/api/count", {"platform": platform, "text": text})
    assert (told["length"], told["limit"], told["over"]) == (length, limit, 0)


def test_a_second_limit_is_told_beside_the_first(standing: Any) -> None:
    told = standing.post("/api/count", {"platform": "bluesky", "text": "é" * 301})
    assert told["over"] == 1
    assert told["also"]["unit"] == "utf8_bytes"
    assert told["also"]["length"] == 602


def test_a_platform_that_is_not_known_is_refused(standing: Any) -> None:
    standing.refused("POST", "/api/count", 422, {"platform": "myspace", "text": "a"})
    standing.refused("POST", "/api/count", 422, {"platform": "x"})


@pytest.mark.shared
def test_the_interface_counts_as_the_shared_cases_say(standing: Any, shared: Path) -> None:
    path = shared / "conformance/twitter-text/validate.yml"
    tests = yaml.safe_load(path.read_text("utf-8"))["tests"]
    known = [
        *tests["WeightedTweetsWithDiscountedEmojiCounterTest"],
        *tests["UnicodeDirectionalMarkerCounterTest"],
    ]
    assert known
    for case in known:
        told = standing.post("/api/count", {"platform": "x", "text": case["text"]})
        assert told["length"] == case["expected"]["weightedLength"], case["description"]
