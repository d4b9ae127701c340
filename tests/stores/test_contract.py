"""What every store promises, whatever it keeps its records in."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from repurpose.core.call import Reply, Usage
from repurpose.errors import StoreError, UsageError


def nested(depth: int) -> object:
    """A one in that many lists."""
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


# --- runs and sources


def test_a_run_and_its_source_come_back_as_they_were_kept(begun, samples):
    assert begun.run("run1") == samples.run()
    assert begun.source(samples.source.digest) == samples.source


def test_a_source_with_the_same_digest_is_kept_once_as_it_was_first_loaded(begun, samples):
    elsewhere = replace(samples.source, origin="copy.md")
    begun.start_run(samples.run("run2"), elsewhere)
    assert begun.source(samples.source.digest).origin == "bees.md"


def test_how_a_run_ended_is_noted(begun):
    begun.finish_run("run1", "partial", "2026-05-02T08:01:00.000Z")
    run = begun.run("run1")
    assert (run.status, run.finished_at) == ("partial", "2026-05-02T08:01:00.000Z")


def test_ending_an_unknown_run_is_an_error(begun):
    with pytest.raises(StoreError, match="no run nine"):
        begun.finish_run("nine", "done", "2026-05-02T08:01:00.000Z")


def test_runs_are_listed_newest_first_and_no_more_than_asked_for(begun, samples):
    for name in ("run2", "run3"):
        begun.start_run(samples.run(name), samples.source)
    assert [run.id for run in begun.runs()] == ["run3", "run2", "run1"]
    assert [run.id for run in begun.runs(2)] == ["run3", "run2"]
    assert begun.runs(0) == ()


def test_an_unknown_source_is_an_error(store):
    with pytest.raises(StoreError, match="no source"):
        store.source("0" * 64)


def test_a_path_or_a_wish_in_broken_unicode_is_kept_readable(store, samples):
    store.start_run(
        samples.run(tone="dry\udce9"), replace(samples.source, origin="caf\udce9.md", title="a\0b")
    )
    assert store.run("run1").tone == "dry\ufffd"
    assert store.source(samples.source.digest).origin == "caf\ufffd.md"


# --- finding a run


def test_last_is_the_newest_run(begun, samples):
    begun.start_run(samples.run("a-later-run"), samples.source)
    assert begun.run("last").id == "a-later-run"


def test_last_of_no_runs_says_how_to_start_one(store):
    with pytest.raises(UsageError, match="no run is stored") as caught:
        store.run("last")
    assert "repurpose run" in (caught.value.hint or "")


def test_a_unique_beginning_of_an_id_is_enough(begun, samples):
    begun.start_run(samples.run("other"), samples.source)
    assert begun.run("oth").id == "other"


def test_a_whole_id_wins_over_longer_ones_that_begin_with_it(begun, samples):
    begun.start_run(samples.run("run10"), samples.source)
    assert begun.run("run1").id == "run1"


def test_an_ambiguous_beginning_names_the_runs_it_could_mean(begun, samples):
    begun.start_run(samples.run("run2"), samples.source)
    with pytest.raises(UsageError, match="run2, run1") as caught:
        begun.run("run")
    assert "more letters" in (caught.value.hint or "")


@pytest.mark.parametrize("meant", ["nine", "", "RUN1", "run_", "%", "run1\0", "\udce9"])
def test_an_unknown_id_says_where_the_ids_are(begun, meant):
    with pytest.raises(UsageError, match="no run begins with") as caught:
        begun.run(meant)
    assert "repurpose list" in (caught.value.hint or "")


# --- rows


def test_rows_come_back_whole_and_in_the_order_they_were_stored(begun, samples):
    rows = samples.posts()
    assert begun.keep_result(rows, settles=()) == rows
    begun.keep_result([samples.failed("late", format="faq", variant="default")], settles=())
    assert begun.rows("run1") == (
        *rows,
        samples.failed("late", format="faq", variant="default"),
    )


def test_a_run_without_rows_has_none(begun):
    assert begun.rows("run1") == ()


def test_a_row_of_an_unknown_run_is_an_error_and_leaves_nothing(begun, samples):
    with pytest.raises(StoreError):
        begun.keep_result([samples.row(run="nine")], settles=())
    assert begun.rows("nine") == ()


@pytest.mark.parametrize("bad", ["half \ud83d", "cut\0short"])
def test_a_text_that_cannot_be_stored_fails_its_own_row_only(begun, samples, bad):
    linkedin, x, instagram = samples.posts()
    stored = begun.keep_result([linkedin, replace(x, text=bad), instagram], settles=())
    assert [row.status for row in stored] == ["done", "failed", "done"]
    assert stored[1].message.startswith("Social posts (x) storage error: ")
    assert stored == begun.rows("run1")


def test_a_row_that_failed_to_be_stored_holds_nothing_to_publish(begun, samples):
    [row] = begun.keep_result([samples.row(content={"text": "a\0"})], settles=())
    assert (row.text, row.content, row.measures, row.quotes) == (None, None, None, ())
    assert (row.id, row.kind, row.idempotency_key) == ("row1", "store", "key of the result")


@pytest.mark.parametrize(
    "content",
    [
        {"n": float("nan")},
        {"n": [{"deep": "\udfff"}]},
        {"n\0": 1},
        {"n": 10**5000},
        {"n": 10**200},
        {"n": nested(100)},
    ],
    ids=["not a number", "surrogate inside", "key", "huge number", "long number", "deep"],
)
def test_content_that_could_not_be_read_back_is_refused(begun, samples, content):
    [row] = begun.keep_result([samples.row(content=content)], settles=())
    assert "its content" in row.message


def test_content_nested_beyond_reason_is_refused(begun, samples):
    [row] = begun.keep_result([samples.row(content={"n": nested(100_000)})], settles=())
    assert row.status == "failed"


def test_a_number_beyond_64_bits_fails_its_own_row_only(begun, samples):
    linkedin, x, instagram = samples.posts()
    measures = replace(x.measures, length=2**70)
    stored = begun.keep_result([linkedin, replace(x, measures=measures), instagram], settles=())
    assert [row.status for row in stored] == ["done", "failed", "done"]
    assert "too large" in stored[1].message


def test_a_failed_row_keeps_its_reason_whatever_characters_it_holds(begun, samples):
    [row] = begun.keep_result([samples.failed("row1", message="no \ud83d answer")], settles=())
    assert row.message == "no \ufffd answer"
    assert begun.rows("run1") == (row,)


# --- finished results


def test_the_newest_complete_result_with_a_key_is_found(begun, samples):
    begun.start_run(samples.run("run2"), samples.source)
    begun.keep_result(samples.posts("run2"), settles=())
    begun.keep_result(samples.posts("run1"), settles=())  # the older run ends last
    assert begun.done_rows("key of the result") == samples.posts("run2")


def test_a_result_with_a_failed_variant_is_passed_over_for_an_older_whole_one(begun, samples):
    begun.keep_result(samples.posts("run1"), settles=())
    begun.start_run(samples.run("run2"), samples.source)
    linkedin, x, instagram = samples.posts("run2")
    begun.keep_result([linkedin, replace(x, text="\0"), instagram], settles=())
    assert begun.done_rows("key of the result") == samples.posts("run1")


def test_a_failed_result_is_never_reused(begun, samples):
    begun.keep_result([samples.failed("row1")], settles=())
    assert begun.done_rows("key of the result") == ()


def test_another_key_finds_nothing(begun, samples):
    begun.keep_result(samples.posts(), settles=())
    assert begun.done_rows("another key") == ()


def test_a_reused_result_names_the_run_that_paid_for_it(begun, samples):
    begun.start_run(samples.run("run2"), samples.source)
    begun.keep_result(samples.posts("run2", reused_from="run1"), settles=())
    assert {row.reused_from for row in begun.done_rows("key of the result")} == {"run1"}


# --- calls


def test_a_call_comes_back_with_both_prompts_and_its_reply(begun, samples):
    begun.keep_call(samples.call())
    assert begun.calls("run1") == (samples.call(),)


def test_a_call_that_was_not_answered_keeps_its_error(begun, samples):
    unanswered = samples.call(reply=None, cost=None, error="no quota left", error_kind="quota")
    begun.keep_call(unanswered)
    assert begun.calls("run1") == (unanswered,)


def test_an_unknown_cost_is_not_zero_and_zero_is_not_unknown(begun, samples):
    begun.keep_call(samples.call("a", cost=None))
    begun.keep_call(samples.call("b", cost=0.0))
    assert [call.cost for call in begun.calls("run1")] == [None, 0.0]


def test_tokens_that_nobody_reported_stay_unknown(begun, samples):
    begun.keep_call(samples.call(reply=Reply("{}", usage=Usage(cached_tokens=0))))
    [call] = begun.calls("run1")
    assert call.reply is not None
    assert call.reply.usage == Usage(None, None, 0, None)


def test_calls_are_listed_in_the_order_they_were_made(begun, samples):
    begun.keep_call(samples.call("second", started_at="2026-05-02T08:00:09.000Z"))
    begun.keep_call(samples.call("first"))
    assert [call.id for call in begun.calls("run1")] == ["first", "second"]


def test_a_reply_in_broken_unicode_is_kept_as_evidence(begun, samples):
    begun.keep_call(samples.call(reply=Reply("a\ud800b\0c", reasoning="\udfff")))
    [call] = begun.calls("run1")
    assert call.reply == Reply("a\ufffdb\ufffdc", reasoning="\ufffd")


# --- from reply to result


def test_a_reply_without_a_stored_result_is_used_again(begun, samples):
    begun.keep_call(samples.call())
    assert begun.unsettled_reply("key of the call") == ("call1", samples.call().reply)


def test_an_empty_reply_is_a_reply(begun, samples):
    begun.keep_call(samples.call(reply=Reply("")))
    assert begun.unsettled_reply("key of the call") == ("call1", Reply(""))


def test_the_newest_unused_reply_is_used_first(begun, samples):
    begun.keep_call(samples.call("older"))
    begun.keep_call(samples.call("newer", reply=Reply("{}")))
    assert begun.unsettled_reply("key of the call") == ("newer", Reply("{}"))


def test_a_call_without_a_reply_is_asked_again(begun, samples):
    begun.keep_call(samples.call(reply=None, error="lost", error_kind="engine"))
    assert begun.unsettled_reply("key of the call") is None


def test_another_request_finds_no_reply(begun, samples):
    begun.keep_call(samples.call())
    assert begun.unsettled_reply("another key") is None


def test_a_stored_result_settles_its_calls(begun, samples):
    for name in ("a", "b"):
        begun.keep_call(samples.call(name))
    begun.keep_result(samples.posts(), settles=["a", "b"])
    assert begun.unsettled_reply("key of the call") is None


def test_a_stored_failure_settles_its_calls_too(begun, samples):
    begun.keep_call(samples.call())
    begun.keep_result([samples.failed("row1")], settles=["call1"])
    assert begun.unsettled_reply("key of the call") is None


def test_a_row_that_could_not_be_stored_leaves_its_call_to_be_used_again(begun, samples):
    begun.keep_call(samples.call())
    begun.keep_result([samples.row(text="\0")], settles=["call1"])
    assert begun.unsettled_reply("key of the call") is not None


# --- sharing and closing


def test_several_threads_may_share_a_store(begun, samples):
    faults: list[Exception] = []

    def work(number: int) -> None:
        try:
            for turn in range(5):
                begun.keep_result([samples.row(f"{number}-{turn}")], settles=())
                begun.rows("run1")
        except Exception as fault:  # noqa: BLE001 - a thread has no other way to tell
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(begun.rows("run1")) == 20


def test_a_closed_store_says_so_in_its_own_error(begun):
    begun.close()
    begun.close()
    with pytest.raises(StoreError):
        begun.runs()
