"""Nights over files, one after another: what is paid, and what is not paid again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from batch_nights import write
from repurpose.batch.night import report_of, write_report
from repurpose.errors import BudgetReached, NeverStarted, Refused, UsageError


def test_the_first_night_makes_everything_and_the_second_nothing(nights, posts):
    for n in range(3):
        write(posts / f"{n}.md", f"Edition {n}")
    assert nights.run(posts).batch.status == "done"
    assert nights.model.counted() == {"summary": 3, "faq": 3}
    outcome = nights.run(posts)
    assert nights.actions() == {"0.md": "done", "1.md": "done", "2.md": "done"}
    assert (outcome.batch.status, outcome.exit_code) == ("done", 0)
    assert len(nights.model.paid) == 6


def test_only_a_new_and_a_changed_text_are_paid_for(nights, posts):
    for n in range(3):
        write(posts / f"{n}.md", f"Edition {n}")
    nights.run(posts)
    nights.model.paid.clear()
    write(posts / "1.md", "Edition 1, corrected", age=50)
    write(posts / "2.md", "Edition 2", age=50)  # saved again as it was
    write(posts / "3.md", "Edition 3")
    nights.run(posts)
    assert nights.actions() == {
        "0.md": "done",
        "1.md": "changed",
        "2.md": "done",
        "3.md": "new",
    }
    assert nights.model.counted() == {"summary": 2, "faq": 2}


def test_a_changed_setting_is_told_and_makes_its_formats_again(nights, posts):
    write(posts / "a.md", "Edition")
    nights.run(posts)
    nights.run(posts, tone="dry")
    assert nights.steps[0].decision.reason == "settings changed"
    assert nights.model.counted() == {"summary": 2, "faq": 2}


def test_a_further_format_is_made_alone(nights, posts):
    write(posts / "a.md", "Edition")
    nights.run(posts)
    nights.formats = ("summary", "faq", "newsletter")
    nights.run(posts)
    assert nights.model.counted() == {"summary": 1, "faq": 1, "newsletter": 1}


def test_a_copy_of_a_text_is_left_out(nights, posts):
    write(posts / "a.md", "Edition")
    write(posts / "b.md", "Edition")
    nights.run(posts)
    assert nights.actions() == {"a.md": "new", "b.md": "duplicate"}
    assert len(nights.model.paid) == 2


def test_a_file_that_moved_costs_nothing(nights, posts):
    write(posts / "a.md", "Edition")
    nights.run(posts)
    (posts / "a.md").rename(posts / "b.md")
    outcome = nights.run(posts)
    assert nights.plan.takes.least.calls == 0
    assert nights.plan.stored == 2
    assert (outcome.tally.formats_done, outcome.tally.reused) == (2, 2)
    assert len(nights.model.paid) == 2


def test_an_unchanged_file_is_not_read_again(nights, posts, monkeypatch):
    write(posts / "a.md", "Edition")
    nights.run(posts)

    def read(*_: object) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr("repurpose.batch.planning.opened", read)
    assert nights.run(posts, tone="dry").tally.done == 1


def test_a_source_without_text_fails_for_three_nights_and_is_parked(nights, posts):
    write(posts / "a.md", "Edition")
    (posts / "empty.md").write_text("", encoding="utf-8")
    for _ in range(3):
        outcome = nights.run(posts)
        assert outcome.exit_code == 1
    assert outcome.tally.parked == 1
    outcome = nights.run(posts)
    assert nights.actions() == {"a.md": "done", "empty.md": "parked"}
    assert outcome.exit_code == 0


def test_a_source_that_is_refused_three_times_is_parked_until_it_changes(nights, posts):
    write(posts / "bomb.md", "How to build a bomb")
    nights.model.faults["bomb"] = Refused("the model refused to answer")
    for _ in range(5):
        nights.run(posts)
    assert nights.model.counted() == {"summary": 3, "faq": 3}
    assert nights.steps[0].decision.reason == (
        "parked after 3 tries: Summary generation error: the model refused to answer"
    )
    write(posts / "bomb.md", "How a bombardier beetle works", age=50)
    nights.run(posts)
    assert nights.model.counted() == {"summary": 4, "faq": 4}


def test_a_format_that_fails_is_made_again_without_its_siblings(nights, posts):
    write(posts / "a.md", "Edition")
    whole = nights.model.answers
    nights.model.answers = lambda name: "no JSON" if name == "faq" else whole(name)
    outcome = nights.run(posts)
    assert (outcome.exit_code, outcome.tally.formats_failed) == (1, {"invalid_answer": 1})
    nights.model.answers = whole
    nights.model.paid.clear()
    assert nights.run(posts).exit_code == 0
    assert nights.model.counted() == {"faq": 1}


def test_an_endpoint_that_is_down_parks_nothing(nights, posts):
    write(posts / "a.md", "Edition")
    nights.model.faults["Halvik"] = NeverStarted("no server answers")
    for _ in range(4):
        assert nights.run(posts).exit_code == 4
    nights.model.faults.clear()
    assert nights.run(posts).tally.done == 1


def test_an_endpoint_that_turns_everything_away_ends_the_night_soon(nights, posts):
    for n in range(60):
        write(posts / f"{n:02}.md", f"Edition {n}")
    nights.model.faults["Halvik"] = NeverStarted("the key is wrong")
    outcome = nights.run(posts)
    assert outcome.exit_code == 4
    assert "turned away" in outcome.reason.message
    assert len(nights.model.paid) <= 40


def test_one_source_that_fails_stops_no_other(nights, posts):
    for n in range(8):
        write(posts / f"{n}.md", f"Edition {n}")
    nights.model.faults["Edition 3"] = RuntimeError("a bug of somebody else")
    outcome = nights.run(posts)
    assert (outcome.tally.done, outcome.tally.failed) == (7, 1)
    assert (outcome.batch.status, outcome.exit_code) == ("partial", 1)
    assert outcome.tally.formats_failed == {"unexpected": 2}


def test_the_budgets_end_stops_cleanly_and_another_night_goes_on(nights, posts):
    for n in range(12):
        write(posts / f"{n:02}.md", f"Edition {n}")
    left = 9

    def spend(_: object) -> None:
        nonlocal left
        if not left:
            raise BudgetReached("US$ 0.10 of 0.10 are spent")
        left -= 1

    nights.model.before = spend
    outcome = nights.run(posts)
    assert (outcome.batch.status, outcome.exit_code) == ("budget", 5)
    assert outcome.reason.message == "US$ 0.10 of 0.10 are spent"
    assert len(nights.model.paid) == 9
    nights.model.before = lambda _: None
    assert nights.run(posts).exit_code == 0
    assert len(nights.model.paid) == len(set(nights.model.paid)) == 24


def test_no_more_calls_are_in_work_at_once_than_are_wished_for(nights, posts):
    for n in range(20):
        write(posts / f"{n:02}.md", f"Edition {n}")
    nights.run(posts, concurrency=3)
    assert nights.model.most == 3


def test_what_is_stopped_begins_nothing_and_is_interrupted(nights, posts):
    write(posts / "a.md", "Edition")
    outcome = nights.run(posts, stopping=True)
    assert (outcome.batch.status, outcome.exit_code) == ("interrupted", 130)
    assert nights.model.paid == []


def test_repairs_are_counted_and_expected_from_then_on(nights, posts):
    for n in range(4):
        write(posts / f"{n}.md", f"Edition {n}")
    first: set[str] = set()
    whole = nights.model.answers

    def answer(name: str) -> str:
        good = name in first
        first.add(name)
        return whole(name) if good else "no JSON"

    nights.model.answers = answer
    outcome = nights.run(posts)
    assert (outcome.tally.formats_done, outcome.tally.repaired) == (8, 2)
    assert outcome.tally.usage.calls == 10
    write(posts / "new.md", "Another edition")
    nights.run(posts)
    assert nights.plan.repairs == 2 / 8
    assert nights.plan.takes.expected.calls == 2 * (1 + 2 / 8)


def test_a_dry_run_calls_nothing_and_keeps_nothing(nights, posts, tmp_path):
    write(posts / "a.md", "Edition")
    with nights.night() as night:
        plan = night.foreseen([str(posts)], nights.steps.append)
        assert night.store.item_counts()["todo"] == 0
    assert (plan.todo, plan.takes.least.calls) == (1, 2)
    assert nights.actions() == {"a.md": "new"}
    assert nights.model.paid == []


def test_a_folder_without_sources_is_told_every_night(nights, posts):
    for _ in range(4):
        assert nights.run(posts).exit_code == 3
    assert nights.actions() == {"posts": "failed"}


def test_a_retry_makes_again_what_was_parked(nights, posts):
    write(posts / "bomb.md", "How to build a bomb")
    write(posts / "a.md", "Edition")
    nights.model.faults["bomb"] = Refused("the model refused to answer")
    for _ in range(3):
        nights.run(posts)
    nights.model.faults.clear()
    nights.model.paid.clear()
    with nights.night() as night:
        plan = night.retried("last", ("failed", "parked"), nights.steps.append)
        outcome = asyncio.run(night.worked(stopping=lambda: False, ended=lambda _: None))
    assert plan.todo == 1
    assert nights.model.counted() == {"summary": 1, "faq": 1}
    assert (outcome.tally.done, outcome.exit_code) == (1, 0)


def test_the_report_names_what_failed_and_why(nights, posts, tmp_path):
    write(posts / "a.md", "Edition")
    write(posts / "bomb.md", "How to build a bomb")
    nights.model.faults["bomb"] = Refused("the model refused to answer")
    outcome = nights.run(posts)
    with nights.night() as night:
        write_report(str(tmp_path / "r.json"), report_of(night.store, outcome.batch, 1))
    report = json.loads((tmp_path / "r.json").read_text("utf-8"))  # noqa: TID251 - written by us
    assert (report["status"], report["exit_code"]) == ("partial", 1)
    assert report["plan"]["todo"] == 2
    assert report["result"]["formats"]["failed_by_kind"] == {"refused": 2}
    assert report["result"]["usage"]["calls"] == 4
    (failed,) = report["failed"]
    assert Path(failed["origin"]).name == "bomb.md"
    assert (failed["state"], failed["tries"], failed["kind"]) == ("failed", 1, "refused")


def test_a_report_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(str(tmp_path / "no" / "r.json"), {})


def test_settings_of_one_run_are_refused_before_anything_is_read(nights):
    with pytest.raises(UsageError, match="nothing"), nights.night(formats=("nothing",)):
        pass


def test_a_price_gives_the_least_the_expected_and_the_worst_cost(nights, posts):
    """1,000,000 tokens of prompts and of answers cost a dollar each."""
    from repurpose.prices import own_price

    write(posts / "a.md", "Edition")
    price = own_price("mine", input=1.0, output=1.0)
    nights.formats = ("summary",)
    nights.run(posts, prices={"mine": price}, output_tokens=2000)
    takes = nights.plan.takes
    assert takes.least.calls == 1
    assert takes.least.cost == pytest.approx(takes.least.tokens / 1e6)
    assert takes.worst.calls == 2  # one repair, with twice the budget of the first answer
    assert takes.worst.tokens > 2000 + 4000 + 2 * (takes.least.tokens - 700)
    assert takes.least.cost < takes.expected.cost < takes.worst.cost


def test_a_cost_that_is_not_known_is_not_nothing(nights, posts):
    write(posts / "a.md", "Edition")
    nights.run(posts)
    assert nights.plan.takes.least.unpriced == 2
    assert nights.plan.to_json()["least"]["cost"] is None


def test_what_is_stored_goes_by_the_database_alone(nights, posts, tmp_path):
    """Nothing else is written beside it."""
    write(posts / "a.md", "Edition")
    before = set(tmp_path.rglob("*"))
    nights.run(posts)
    made = {path.name for path in set(tmp_path.rglob("*")) - before}
    assert made <= {"nights.db", "nights.db-wal", "nights.db-shm"}
