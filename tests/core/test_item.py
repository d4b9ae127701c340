"""What a night does with a source, by what is known of it from the nights before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repurpose.core.item import Found, Item, after_failure, decided, item_key

WANTED = {"summary": "s1", "faq": "f1"}
DONE = Item("bees.md", "bees.md", "done", "d1", done=WANTED)


def decision(item, digest="d1", *, wanted=WANTED, needs=None, **options):
    made = decided(item, Found("bees.md", digest), wanted, needs or {}, **options)
    return made.action, made.reason, made.formats


def test_an_unknown_source_is_new_in_all_formats():
    assert decision(None) == ("new", "new", ("summary", "faq"))


def test_a_source_with_the_same_text_and_settings_is_done():
    assert decision(DONE) == ("done", "done", ())


def test_another_text_is_a_change_of_all_formats():
    assert decision(DONE, "d2") == ("changed", "its text or title changed", ("summary", "faq"))


def test_another_setting_concerns_the_formats_that_it_changes():
    other = {**WANTED, "faq": "f2"}
    assert decision(DONE, wanted=other) == ("again", "settings changed", ("faq",))


def test_a_further_format_is_made_without_the_others():
    more = {**WANTED, "social": "p1"}
    assert decision(DONE, wanted=more) == ("again", "not made yet: social", ("social",))


def test_a_format_brings_the_formats_that_it_reads():
    chain = {"teaser": "t", "brief": "b", **WANTED}
    needs = {"teaser": ("brief",), "brief": ("summary",)}
    item = replace(DONE, done={"brief": "b", **WANTED})
    assert decision(item, wanted=chain, needs=needs)[2] == ("teaser", "brief", "summary")


def test_a_format_that_failed_is_made_again_with_its_reason():
    item = replace(DONE, state="failed", done={"summary": "s1"}, error="no answer came")
    assert decision(item) == ("again", "failed before: no answer came", ("faq",))


def test_what_was_stopped_is_not_finished():
    item = replace(DONE, state="todo", done={})
    assert decision(item) == ("again", "not finished", ("summary", "faq"))


def test_a_parked_source_is_left_out_until_its_text_changes():
    item = replace(DONE, state="parked", done={}, tries=3, error="it was refused")
    assert decision(item) == ("parked", "parked after 3 tries: it was refused", ())
    assert decision(item, "d2")[0] == "changed"


def test_force_makes_everything_again():
    assert decision(DONE, force=True) == ("again", "forced", ("summary", "faq"))


def test_a_source_that_cannot_be_read_fails_with_the_reason():
    made = decided(DONE, Found("bees.md", error="bees.md: no such file"), WANTED, {})
    assert (made.action, made.reason, made.formats) == ("failed", "bees.md: no such file", ())
    assert not made.works


@pytest.mark.parametrize(
    ("tries", "state"), [(0, "failed"), (1, "failed"), (2, "parked"), (3, "parked")]
)
def test_the_third_failure_of_its_own_parks_an_item(tries, state):
    item = after_failure(replace(DONE, tries=tries), "refused", "refused", counts=True)
    assert (item.state, item.tries) == (state, tries + 1)


def test_a_failure_of_the_endpoint_is_no_try():
    item = after_failure(replace(DONE, tries=2), "no answer", "still_working", counts=False)
    assert (item.state, item.tries) == ("failed", 2)


def test_entries_of_two_feeds_with_one_id_are_two_items():
    one, other = (item_key("a", f"{feed}.xml", "1") for feed in "xy")
    assert one != other
