"""What a store keeps of provider batches: each call waits once and has one outcome."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from repurpose.core.call import Reply
from repurpose.core.provider_batch import Answered, Lost, ProviderBatch, Refusal
from repurpose.errors import NeverStarted
from repurpose.ports import Engine, Store
from repurpose.stores.sqlite import open_store

NOON, LATER = "2026-05-02T12:00:00.000Z", "2026-05-02T13:00:00.000Z"


async def _never(_: object) -> Reply:
    raise AssertionError("nothing is asked here")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.db"


@pytest.fixture
def kept(path: Path, samples):
    """A store with a run."""
    store = open_store(path)
    store.start_run(samples.run(), samples.source)
    yield store
    store.close()


@pytest.fixture
def queue(kept: Store, samples) -> Callable[..., bool]:
    """Queue a call by its name, which is its key as well."""

    def queued(name: str, at: str = NOON) -> bool:
        record = replace(samples.call(name), key=f"key {name}", reply=None)
        return kept.provider_batches.keep_waiting(record, f'{{"for": "{name}"}}', at)

    return queued


@pytest.fixture
def engine(samples) -> Engine:
    """The one that the sample calls are for."""
    call = samples.call()
    return Engine(call.engine, _never, model=call.model, parameters=call.parameters)


def batch(name: str = "b1", lines: int = 2) -> ProviderBatch:
    return ProviderBatch(name, "https://api.example/v1", "model-1", lines, "0" * 64, NOON)


def names(store: Store, engine: Engine, since: str | None = None) -> list[str]:
    found = store.provider_batches.queued(engine, after=0, limit=10, wanted_since=since)
    return [each.call_id for each in found]


def test_a_call_waits_once_whoever_asks(kept, queue, engine):
    assert queue("a")
    assert not queue("a")
    assert names(kept, engine) == ["a"]


def test_a_call_that_is_wanted_again_counts_as_wanted(kept, queue, engine):
    queue("a")
    queue("b")
    queue("b", LATER)
    assert names(kept, engine, since=LATER) == ["b"]


def test_the_queue_is_that_of_one_engine_model_and_set_of_parameters(kept, queue, engine):
    queue("a")
    assert names(kept, engine) == ["a"]
    for other in ({"name": "other"}, {"model": "other"}, {"parameters": {"temperature": 0.7}}):
        assert names(kept, replace(engine, **other)) == []


def test_a_call_is_in_one_batch_and_the_slower_process_gets_none_of_it(kept, queue):
    queue("a")
    queue("b")
    assert kept.provider_batches.prepare(batch("b1", 1), ["b"])
    assert not kept.provider_batches.prepare(batch("b2"), ["a", "b"])
    assert [each.id for each in kept.provider_batches.batches()] == ["b1"]
    assert kept.provider_batches.pending().queued == 1


def test_a_reply_is_found_as_any_unused_reply_is(kept, queue):
    queue("a")
    assert kept.unsettled_reply("key a") is None
    kept.provider_batches.prepare(batch(lines=1), ["a"])
    reply = Reply("Bees dance.")
    assert kept.provider_batches.keep_outcomes("b1", [Answered("a", reply, 0.25)]) == 1
    assert kept.unsettled_reply("key a") == ("a", reply)
    assert kept.call("a").cost == 0.25


def test_the_first_outcome_of_a_call_stays(kept, queue):
    queue("a")
    kept.provider_batches.prepare(batch(lines=1), ["a"])
    kept.provider_batches.keep_outcomes("b1", [Answered("a", Reply("first"))])
    later = [Answered("a", Reply("second")), Refusal("a", "no", "never_started"), Lost("a", "?")]
    assert kept.provider_batches.keep_outcomes("b1", later) == 0
    assert kept.call("a").reply == Reply("first")


def test_an_outcome_from_another_batch_is_not_taken(kept, queue):
    queue("a")
    kept.provider_batches.prepare(batch(lines=1), ["a"])
    assert kept.provider_batches.keep_outcomes("b2", [Answered("a", Reply("?"))]) == 0


def test_text_that_cannot_be_stored_is_cleaned_and_not_lost(kept, queue):
    queue("a")
    kept.provider_batches.prepare(batch(lines=1), ["a"])
    kept.provider_batches.keep_outcomes("b1", [Answered("a", Reply("Bees\0dance."))])
    assert kept.call("a").reply == Reply("Bees\ufffddance.")


def test_a_refusal_is_told_to_one_caller(kept, queue):
    queue("a")
    kept.provider_batches.prepare(batch(lines=1), ["a"])
    refusal = Refusal("a", "no such model", NeverStarted.kind, "choose another")
    kept.provider_batches.keep_outcomes("b1", [refusal])
    told = kept.provider_batches.take_refusal("key a")
    assert told == refusal
    assert isinstance(told.error, NeverStarted)
    assert kept.provider_batches.take_refusal("key a") is None
    assert queue("a2")


def test_what_a_batch_left_open_is_queued_again_once(kept, queue, engine):
    queue("a")
    queue("b")
    kept.provider_batches.prepare(batch(), ["a", "b"])
    kept.provider_batches.keep_outcomes("b1", [Answered("a", Reply("."))])
    assert kept.provider_batches.end(batch(), most_sends=3) == (1, 0)
    assert kept.provider_batches.end(batch(), most_sends=3) == (0, 0)
    assert names(kept, engine) == ["b"]
    assert kept.call("b").cost == 0
    assert kept.provider_batches.batches() == ()


def test_a_batch_that_has_ended_is_not_changed_by_a_slower_process(kept, queue):
    queue("a")
    kept.provider_batches.prepare(batch(lines=1), ["a"])
    kept.provider_batches.end(batch(lines=1), most_sends=3)
    kept.provider_batches.note(replace(batch(lines=1), status="in_progress"))
    assert kept.provider_batches.batches() == ()


def test_what_money_hangs_on_is_written_through_to_the_disk(kept, queue, path):
    queue("a")
    said: list[str] = []
    kept._db.conn.set_trace_callback(said.append)
    for write in (
        lambda: kept.provider_batches.prepare(batch(lines=1), ["a"]),
        lambda: kept.provider_batches.note(replace(batch(lines=1), batch_id="batch_1")),
    ):
        said.clear()
        write()
        begin, end = said.index("BEGIN IMMEDIATE"), said.index("COMMIT")
        assert said.index("PRAGMA synchronous = FULL") < begin
        assert said.index("PRAGMA synchronous = NORMAL") > end
    assert kept._db.execute("PRAGMA synchronous").fetchall() == [(1,)]


def test_a_request_holds_its_body_only_until_there_is_an_outcome(kept, queue, path):
    queue("a")
    queue("b")
    kept.provider_batches.prepare(batch(), ["a", "b"])
    kept.provider_batches.keep_outcomes("b1", [Answered("a", Reply("."))])
    with closing(sqlite3.connect(path)) as connection:
        bodies = dict(connection.execute("SELECT call_id, body FROM provider_requests"))
    assert bodies == {"a": None, "b": '{"for": "b"}'}
