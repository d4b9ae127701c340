"""Revisions: numbered, never lost, decided in one transaction, and current one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repurpose.core.record import Row
from repurpose.errors import ChangedMeanwhile, StoreError
from repurpose.ports import Store


@pytest.fixture
def ended(begun: Store, samples: Any) -> Store:
    """A run that failed its FAQ and made three posts, and is over."""
    faq = {"format": "faq", "label": "FAQ", "idempotency_key": "key of the FAQ"}
    faq = {"format": "faq", "label": "FAQ", "variant": "default", "idempotency_key": "another"}
    begun.keep_result([samples.failed("faq", **faq)], settles=())
    begun.keep_result(samples.posts(), settles=())
    begun.finish_run("run1", "partial", "2026-05-02T08:01:00.000Z")
    return begun


def current(store: Store) -> dict[str, str]:
    """The ids of the current rows by format and variant."""
    return {f"{row.format}.{row.variant}": row.id for row in store.rows("run1")}


def again(store: Store, samples: Any, name: str, **changes: Any) -> Row:
    """A post for X that was made again."""
    made = samples.row(name, action="regenerated", author="Ann", **changes)
    (kept,) = store.keep_result([made], settles=())
    return kept


def test_a_row_that_is_made_again_replaces_its_own_and_no_other(ended: Store, samples: Any) -> None:
    before = current(ended)
    kept = again(ended, samples, "new", instruction="shorter")
    assert (kept.revision, kept.action, kept.instruction) == (2, "regenerated", "shorter")
    assert current(ended) == before | {"social.x": "new"}
    assert ended.row("new") == kept
    assert [row.id for row in ended.history("run1") if row.variant == "x"] == ["run1-x", "new"]


@pytest.mark.parametrize("action", ["edited", "approved", "restored"])
def test_beside_a_row_that_a_person_decided_on_it_is_only_proposed(
    ended: Store, samples: Any, action: str
) -> None:
    ended.keep_revision(samples.row("mine", action=action, author="Ann"), over="run1-x")
    kept = again(ended, samples, "new")
    assert (kept.revision, kept.action, kept.status) == (3, "proposed", "done")
    assert current(ended)["social.x"] == "mine"


def test_a_released_row_is_replaced_again(ended: Store, samples: Any) -> None:
    ended.keep_revision(samples.row("mine", action="edited", author="Ann"), over="run1-x")
    ended.keep_revision(samples.row("free", action="released", author="Ann"), over="mine")
    assert again(ended, samples, "new").action == "regenerated"
    assert current(ended)["social.x"] == "new"


@pytest.mark.parametrize("variant", ["x", "default"])
def test_a_failure_never_replaces_a_text(ended: Store, samples: Any, variant: str) -> None:
    before = current(ended)
    failed = samples.failed("bad", action="regenerated", variant=variant)
    (kept,) = ended.keep_result([failed], settles=())
    assert (kept.action, kept.status) == ("proposed", "failed")
    assert current(ended) == before


def test_a_row_that_cannot_be_written_replaces_nothing(ended: Store, samples: Any) -> None:
    kept = again(ended, samples, "bad", text="half \ud800 of a pair")
    assert (kept.action, kept.status, kept.kind) == ("proposed", "failed", "store")
    assert current(ended)["social.x"] == "run1-x"


def test_a_failed_format_that_could_be_made_changes_how_the_run_ended(
    ended: Store, samples: Any
) -> None:
    failed = samples.failed("f2", format="faq", variant="default", action="regenerated")
    (kept,) = ended.keep_result([failed], settles=())
    assert (kept.action, ended.run("run1").status) == ("regenerated", "partial")
    made = samples.row("f3", format="faq", variant="default", action="regenerated")
    ended.keep_result([made], settles=())
    run = ended.run("run1")
    assert (run.status, run.finished_at) == ("done", "2026-05-02T08:01:00.000Z")
    assert current(ended)["faq.default"] == "f3"


def test_variants_take_the_place_of_the_failed_row_of_their_format(
    begun: Store, samples: Any
) -> None:
    begun.keep_result([samples.failed("bad", variant="default")], settles=())
    begun.finish_run("run1", "interrupted", "2026-05-02T08:01:00.000Z")
    begun.keep_result(samples.posts(action="regenerated"), settles=())
    assert list(current(begun)) == ["social.linkedin", "social.x", "social.instagram"]
    assert begun.run("run1").status == "interrupted"  # its FAQ was never begun


def test_a_run_that_is_still_at_work_stays_so(begun: Store, samples: Any) -> None:
    begun.keep_result(samples.posts(), settles=())
    again(begun, samples, "new")
    assert begun.run("run1").status == "running"


def test_only_a_change_of_the_current_row_is_kept(ended: Store, samples: Any) -> None:
    ended.keep_revision(samples.row("a", action="edited", author="Ann"), over="run1-x")
    with pytest.raises(ChangedMeanwhile):
        ended.keep_revision(samples.row("b", action="edited", author="Ben"), over="run1-x")
    assert [row.id for row in ended.history("run1") if row.variant == "x"] == ["run1-x", "a"]


def test_a_revision_that_cannot_be_written_leaves_the_row_before(
    ended: Store, samples: Any
) -> None:
    with pytest.raises(StoreError):
        ended.keep_revision(samples.row("b", text="\x00", action="edited"), over="run1-x")
    assert current(ended)["social.x"] == "run1-x"


def test_of_two_editors_at_the_same_moment_one_is_told(
    new_store: Callable[[Path], Store], samples: Any, tmp_path: Path
) -> None:
    place = tmp_path / "two"
    new_store(place).close()
    module = __import__("repurpose.stores.sqlite", fromlist=["open_store"])
    first = module.open_store(place)
    first.start_run(samples.run(), samples.source)
    first.keep_result(samples.posts(), settles=())
    told: list[str] = []
    start = threading.Barrier(8)

    def edit(name: str) -> None:
        store = module.open_store(place)
        start.wait()
        try:
            row = samples.row(name, action="edited", author=name, text=f"by {name}")
            told.append(store.keep_revision(row, over="run1-x").id)
        except ChangedMeanwhile:
            told.append("refused")
        finally:
            store.close()

    editors = [threading.Thread(target=edit, args=(f"editor{n}",)) for n in range(8)]
    for each in editors:
        each.start()
    for each in editors:
        each.join()
    (winner,) = [each for each in told if each != "refused"]
    assert told.count("refused") == 7
    assert [row.id for row in first.history("run1") if row.variant == "x"] == ["run1-x", winner]
    assert current(first)["social.x"] == winner
    first.close()


def test_an_edit_is_no_result_that_a_later_run_may_use(ended: Store, samples: Any) -> None:
    key = samples.row().idempotency_key
    before = ended.done_rows(key)
    ended.keep_revision(samples.row("mine", action="edited", text="Mine."), over="run1-x")
    again(ended, samples, "new")
    assert ended.done_rows(key) == before
    assert {row.text for row in before} == {samples.row().text}


def test_edits_and_proposals_are_no_results_of_calls(ended: Store, samples: Any) -> None:
    before = ended.statistics("format")
    ended.keep_revision(samples.row("mine", action="edited", text="Mine."), over="run1-x")
    again(ended, samples, "new")
    ended.keep_revision(samples.row("ok", action="approved"), over="mine")
    assert ended.statistics("format") == before
