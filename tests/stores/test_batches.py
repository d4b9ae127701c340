"""What a store knows of items, plans and leases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repurpose.core.item import Batch, Decision, Item, Planned
from repurpose.errors import UsageError

NOW = 1_000_000.0
BATCH = Batch("b1", "me", ("posts/",), ("faq",), "scripted", "model-1", "2026-05-02T08:00:00Z")
ITEM = Item("/posts/bees.md", "bees.md", digest="d1", title="Bees", stat="v 10 20", seen_at="now")
NEW = Decision("new", "new", ("faq",))


def plan(store, *planned, batch="b1"):
    return store.keep_planned(batch, planned, ())


@pytest.fixture
def night(store):
    """A store in which a batch has begun."""
    store.claim("batch b1", "me", NOW, NOW + 60)
    store.begin_batch(BATCH, NOW)
    return store


# --- batches


def test_a_batch_comes_back_with_its_plan_and_summary(night):
    night.note_plan("b1", {"items": 3})
    night.end_batch("b1", "partial", "2026-05-02T09:00:00Z", {"failed": {"refused": 1}})
    wanted = replace(
        BATCH,
        status="partial",
        ended_at="2026-05-02T09:00:00Z",
        plan={"items": 3},
        summary={"failed": {"refused": 1}},
    )
    assert night.batch("last") == night.batch("b") == night.batch("b1") == wanted


def test_no_batch_and_an_unknown_batch_are_told(store, night):
    with pytest.raises(UsageError, match="no batch 'nine'"):
        night.batch("nine")


def test_a_batch_whose_lease_is_over_has_died_and_its_plan_is_forgotten(night):
    plan(night, Planned(ITEM, NEW))
    night.begin_batch(replace(BATCH, id="b2"), NOW + 61)
    assert night.batch("b1").status == "interrupted"
    assert night.planned("b1", 0, 10) == ()


def test_a_batch_that_is_alive_keeps_its_plan_while_another_one_begins(night):
    plan(night, Planned(ITEM, NEW))
    night.begin_batch(replace(BATCH, id="b2", owner="you"), NOW + 1)
    assert night.batch("b1").status == "running"
    assert len(night.planned("b1", 0, 10)) == 1


def test_the_end_of_a_batch_releases_all_that_its_process_held(night):
    night.claim("d1", "me", NOW, NOW + 60)
    night.claim("d2", "you", NOW, NOW + 60)
    night.end_batch("b1", "done", "2026-05-02T09:00:00Z", {})
    assert night.holder("d1", NOW) is None
    assert night.holder("d2", NOW) == "you"


# --- plans and items


def test_planned_items_come_in_order_some_at_a_time(night):
    items = [replace(ITEM, key=f"/{n}", digest=f"d{n}") for n in range(5)]
    plan(night, *(Planned(item, NEW) for item in items))
    first = night.planned("b1", 0, 3)
    assert [each.item.key for each in first] == ["/0", "/1", "/2"]
    assert first[0].decision == NEW
    rest = night.planned("b1", first[-1].number, 3)
    assert [each.item.key for each in rest] == ["/3", "/4"]


def test_what_is_done_is_in_the_plan_but_not_to_be_done(night):
    plan(night, Planned(ITEM, Decision("done", "done")))
    assert night.planned("b1", 0, 10) == ()


def test_a_text_is_planned_once_and_its_twin_is_told_the_first(night):
    twin = replace(ITEM, key="/posts/copy.md")
    assert plan(night, Planned(ITEM, NEW), Planned(twin, NEW)) == (None, "/posts/bees.md")
    assert night.items([twin.key]) == {}


def test_another_batch_may_plan_the_same_text(night):
    night.begin_batch(replace(BATCH, id="b2", owner="you"), NOW)
    assert plan(night, Planned(ITEM, NEW)) == (None,)
    assert plan(night, Planned(ITEM, NEW), batch="b2") == (None,)


def test_a_planned_item_keeps_what_was_done_of_its_text(night):
    done = replace(ITEM, state="done", done={"faq": "f1"}, tries=1, run_id="r1", batch_id="b1")
    night.settle_item(done)
    plan(night, Planned(replace(ITEM, title="Bees!", stat="v 11 21"), NEW))
    kept = night.items([ITEM.key])[ITEM.key]
    assert kept == replace(done, title="Bees!", stat="v 11 21")


def test_a_changed_text_begins_anew(night):
    night.settle_item(replace(ITEM, state="parked", done={"faq": "f1"}, tries=3, error="refused"))
    plan(night, Planned(replace(ITEM, digest="d2"), NEW))
    kept = night.items([ITEM.key])[ITEM.key]
    assert (kept.state, kept.digest, kept.done, kept.tries, kept.error) == (
        "todo",
        "d2",
        {},
        0,
        None,
    )


def test_what_became_of_an_older_text_does_not_settle_a_newer_one(night):
    plan(night, Planned(replace(ITEM, digest="d2"), NEW))
    night.settle_item(replace(ITEM, state="done", done={"faq": "f1"}))
    assert night.items([ITEM.key])[ITEM.key].state == "todo"


def test_items_are_counted_and_listed_by_state(night):
    for n, state in enumerate(["done", "failed", "parked", "parked"]):
        night.settle_item(replace(ITEM, key=f"/{n}", state=state, batch_id=f"b{n % 2}"))
    assert night.item_counts() == {"todo": 0, "done": 1, "failed": 1, "parked": 2}
    assert night.item_counts("b1") == {"todo": 0, "done": 0, "failed": 1, "parked": 1}
    assert [item.key for item in night.items_of("b1", ("failed", "parked"))] == ["/1", "/3"]
    assert [item.key for item in night.items_of("b1", ("failed", "parked"), 1)] == ["/1"]


def test_a_parked_item_can_be_tried_again(night):
    night.settle_item(replace(ITEM, state="parked", tries=3))
    night.retry_items([ITEM.key, "/unknown"])
    kept = night.items([ITEM.key])[ITEM.key]
    assert (kept.state, kept.tries) == ("todo", 0)


def test_an_item_whose_name_is_broken_unicode_is_found_again(night):
    key = "/posts/caf\udce9.md"
    plan(night, Planned(replace(ITEM, key=key), NEW))
    assert night.items([key])[key].title == "Bees"


def test_sources_with_a_run_are_known(begun, samples):
    begun.keep_planned("b1", (), [replace(samples.source, text="Another.")])
    other = replace(samples.source, text="Another.").digest
    assert begun.known_sources([samples.source.digest, other]) == {samples.source.digest}
    assert begun.source(other).text == "Another."


def test_repairs_and_sizes_are_observed_by_format(begun, samples):
    for n, attempt in enumerate([1, 1, 1, 2]):
        call = replace(samples.call().call, attempt=attempt)
        begun.keep_call(samples.call(f"c{n}", call=call))
    begun.keep_call(samples.call("unanswered", reply=None))
    begun.keep_call(samples.call("other", model="model-2"))
    seen = begun.observed("model-1", "scripted")["social"]
    assert (seen.calls, seen.repairs, seen.completion_tokens) == (4, 1, 20.0)


# --- leases


def test_a_lease_is_one_owners_until_its_time_is_over(store):
    assert store.claim("d1", "me", NOW, NOW + 60) is None
    assert store.claim("d1", "you", NOW + 59, NOW + 119) == "me"
    assert store.holder("d1", NOW + 59) == "me"
    assert store.claim("d1", "you", NOW + 60, NOW + 120) is None
    assert store.holder("d1", NOW + 60) == "you"


def test_an_owner_may_claim_what_it_has(store):
    assert store.claim("d1", "me", NOW, NOW + 60) is None
    assert store.claim("d1", "me", NOW, NOW + 60) is None


def test_renewing_prolongs_all_and_counts_what_was_not_lost(store):
    store.claim("d1", "me", NOW, NOW + 60)
    store.claim("d2", "me", NOW, NOW + 60)
    store.claim("d1", "you", NOW + 61, NOW + 120)
    assert store.renew("me", NOW + 200) == 1
    assert store.claim("d2", "you", NOW + 199, NOW + 300) == "me"


def test_nobody_can_release_what_another_has(store):
    store.claim("d1", "me", NOW, NOW + 60)
    store.release("you", "d1")
    assert store.holder("d1", NOW) == "me"
    store.release("me", "d1")
    assert store.holder("d1", NOW) is None
