"""Provider batches from a run to its rows, against a provider that does what each test says."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from batch_provider import KEY, BatchProvider, answered, failed, unsent
from mock_server import MockServer
from repurpose.api.adapters import open_store
from repurpose.api.provider_batches import collect, gathering, pending, submit
from repurpose.api.runs import arun
from repurpose.config import Settings
from repurpose.core.provider_batch import Collected, Submitted
from repurpose.core.result import RunResult
from repurpose.engines._batch_sending import Limits
from repurpose.errors import UsageError
from repurpose.ports import BatchStore
from repurpose.prices import own_price

MODEL = "gpt-4.1-mini"
TEXT = "# Ferries\n\nThe ferry crosses at dawn. It carries forty people and two cows.\n"
FOUR = ("summary", "faq", "social", "newsletter")


class QuickClock:
    """Real time that never waits; `hours` is added to it."""

    def __init__(self) -> None:
        self.hours = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(hours=self.hours)

    def monotonic(self) -> float:
        return time.monotonic() + sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


class Claims:
    """Leases of a process that is alone, but for those in `taken`."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.taken = False

    def claim(self, name: str) -> str | None:
        self.held.append(name)
        return "another process" if self.taken else None

    def release(self, name: str) -> None:
        self.held.remove(name)


class Desk:
    """One user's settings, store and provider."""

    def __init__(self, provider: BatchProvider, folder: Path, golden: Any) -> None:
        self.provider = provider
        self.golden = golden
        self.clock = QuickClock()
        self.claims = Claims()
        price = own_price(MODEL, input=0.4, output=1.6, batch=0.5)
        self.settings = Settings(
            model=MODEL,
            api_key=KEY,
            base_url=provider.url,
            database=folder / "repurpose.db",
            prices={MODEL: price},
        )
        self.store: BatchStore = open_store(self.settings.database)

    def run(self, text: str = TEXT, formats: tuple[str, ...] = FOUR, **options: Any) -> RunResult:
        """An ordinary run, whose calls wait for a batch."""
        engine = gathering(self.settings, repair_live=options.pop("repair_live", False))
        settings = self.settings

        async def all_of_it() -> RunResult:
            try:
                return await arun(
                    text.encode(),
                    formats,
                    engine=engine,
                    store=self.store,
                    settings=settings,
                    **options,
                )
            finally:
                await engine.close()

        return asyncio.run(all_of_it())

    def submit(self, **options: Any) -> Submitted:
        work = submit(self.settings, self.store, self.claims, clock=self.clock, **options)
        return asyncio.run(work)

    def collect(self, **options: Any) -> Collected:
        work = collect(self.settings, self.store, self.claims, clock=self.clock, **options)
        return asyncio.run(work)

    def queue(self, count: int, formats: tuple[str, ...] = ("summary",)) -> None:
        """So many sources, with a call each for each format."""
        for number in range(count):
            self.run(f"{TEXT}\nIt is ferry number {number} of the harbour.\n", formats)

    def sent(self, count: int = 1, **options: Any) -> dict[str, Any]:
        """So many requests, in one batch at the provider."""
        self.queue(count)
        self.submit(**options)
        return self.provider.batches[-1]

    def good(self, line: dict[str, Any]) -> str:
        """The golden answer of the format that a line is for."""
        name = line["body"]["response_format"]["json_schema"]["name"]
        return json.dumps(self.golden(name))


@pytest.fixture(scope="module")
def running() -> Iterator[BatchProvider]:
    provider = BatchProvider()
    yield provider
    provider.close()


@pytest.fixture
def provider(running: BatchProvider) -> BatchProvider:
    """The one server, as new."""
    running.files, running.batches, running.faults, running.seen = {}, [], {}, []
    running.counts.clear()
    running.page, running.on = 100, lambda _: None
    return running


@pytest.fixture
def desk(
    provider: BatchProvider, tmp_path: Path, golden: Callable[[str], dict[str, object]]
) -> Iterator[Desk]:
    made = Desk(provider, tmp_path, golden)
    yield made
    made.store.close()


# --- from a run to rows -------------------------------------------------------------------------


def test_four_formats_are_queued_sent_collected_and_made_without_a_live_call(desk: Desk) -> None:
    assert desk.run().run.status == "interrupted"  # open, and no failed row
    assert pending(desk.store).requests == 4
    sent = desk.submit()
    assert (len(sent.batches), sent.requests, sent.faults) == (1, 4, ())
    desk.provider.answer(desk.provider.batches[0], desk.good)
    collected = desk.collect()
    assert (collected.answered, collected.working, collected.warnings) == (4, (), ())
    result = desk.run()
    assert result.run.status == "done"
    assert len([row for each in result.results.values() for row in each.rows]) == 6
    assert desk.provider.counts["POST /chat"] == 0
    assert pending(desk.store).requests == 0


def test_a_line_is_what_the_live_engine_sends(desk: Desk, mock_server: MockServer) -> None:
    desk.run(formats=("faq",))
    desk.submit()
    (line,) = desk.provider.lines(desk.provider.batches[0])
    live = replace(desk.settings, base_url=mock_server.url, database=Path(":memory:"))
    asyncio.run(arun(TEXT.encode(), ("faq",), settings=live))
    assert line["body"] == mock_server.requests[0].body
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
    assert len(line["custom_id"]) <= 64


def test_the_batch_says_what_it_is_for(desk: Desk) -> None:
    batch = desk.sent()
    assert batch["endpoint"] == "/v1/chat/completions"
    assert batch["completion_window"] == "24h"
    assert batch["metadata"]["repurpose_batch"] == pending(desk.store).batches[0].id


def test_the_same_run_again_queues_nothing_twice(desk: Desk) -> None:
    desk.run()
    desk.run()
    assert pending(desk.store).requests == 4
    desk.submit()
    desk.run()
    assert not desk.submit().batches
    assert len(desk.provider.batches) == 1


def test_replies_cost_half_and_are_the_calls_own(desk: Desk) -> None:
    batch = desk.sent(2)
    desk.provider.answer(batch, desk.good)
    collected = desk.collect()
    each = 0.5 * (1000 * 0.4 + 100 * 1.6) / 1e6
    assert collected.cost == pytest.approx(2 * each)
    (call,) = desk.store.calls(desk.store.runs()[0].id)
    assert call.cost == pytest.approx(each)
    assert (call.error, call.reply and call.reply.usage.prompt_tokens) == (None, 1000)
    assert call.reply is not None
    assert call.reply.request_id == f"req_{call.id}"


def test_a_reply_without_usage_has_no_known_cost(desk: Desk) -> None:
    batch = desk.sent()
    (line,) = desk.provider.lines(batch)
    desk.provider.end(batch, answers=[answered(line, desk.good(line), usage=None)])
    assert (desk.collect().answered, desk.collect().cost) == (1, 0.0)
    (call,) = desk.store.calls(desk.store.runs()[0].id)
    assert call.cost is None


def test_a_waiting_call_costs_nothing_and_one_that_was_sent_nobody_knows_what(desk: Desk) -> None:
    desk.run(formats=("faq",))
    run = desk.store.runs()[0].id
    assert [(call.error_kind, call.cost) for call in desk.store.calls(run)] == [("waiting", 0.0)]
    desk.submit()
    assert [(call.error_kind, call.cost) for call in desk.store.calls(run)] == [("waiting", None)]


def test_answers_that_need_repair_go_into_one_second_batch(desk: Desk) -> None:
    desk.run()
    desk.submit()
    first = desk.provider.batches[0]
    desk.provider.answer(first, lambda line: "{}" if "faq" in str(line) else desk.good(line))
    desk.collect()
    desk.run()
    (second,) = desk.submit().batches
    bad = sum("faq" in str(line) for line in desk.provider.lines(first))
    assert second.lines == bad
    assert all(line["body"]["messages"] for line in desk.provider.lines(desk.provider.batches[1]))
    desk.provider.answer(desk.provider.batches[1], desk.good)
    desk.collect()
    result = desk.run()
    assert result.run.status == "done"
    assert result.results["faq"].meta.attempts == 2


def test_repairs_may_be_asked_for_live(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.run(formats=("faq",))
    desk.submit()
    desk.provider.answer(desk.provider.batches[0], lambda _: "{}")
    desk.collect()
    live: list[bytes] = []
    served = desk.provider.served

    def answering(method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        if path.endswith("/chat/completions"):
            live.append(body)
            line = {"custom_id": "", "body": json.loads(body)}  # noqa: TID251 - a test's server
            return answered(line, desk.good(line))["response"]["body"]
        return served(method, path, headers, body)

    monkeypatch.setattr(desk.provider, "served", answering)
    result = desk.run(formats=("faq",), repair_live=True)
    assert (result.run.status, len(live)) == ("done", 1)
    assert pending(desk.store).requests == 0


def test_the_process_may_end_between_all_steps(desk: Desk) -> None:
    for step in (desk.run, desk.submit, lambda: None, desk.collect):
        step()
        desk.store.close()
        desk.store = open_store(desk.settings.database)
        if step == desk.submit:
            desk.provider.answer(desk.provider.batches[0], desk.good)
    assert desk.run().run.status == "done"


def test_only_what_is_still_wanted_is_sent(desk: Desk) -> None:
    desk.run(TEXT, ("summary",))
    began = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    time.sleep(0.002)  # noqa: TID251 - the clock of the runs is the real one
    desk.run(TEXT + "The cows are gone.\n", ("summary",))
    assert desk.submit(wanted_since=began).requests == 1
    assert pending(desk.store).queued == 1


def test_other_engines_have_no_such_batches(desk: Desk) -> None:
    for other in ({"model": None}, {"model": "anthropic/some", "base_url": None}):
        with pytest.raises(UsageError, match="provider batches"):
            gathering(replace(desk.settings, **other))


def test_calls_with_other_settings_stay_in_the_queue(desk: Desk) -> None:
    desk.run(formats=("summary",))
    desk.settings = replace(desk.settings, model="gpt-4.1")
    assert not desk.submit().batches
    assert pending(desk.store).queued == 1


def test_the_parts_of_a_long_source_go_together_after_the_first_one(desk: Desk) -> None:
    desk.settings = replace(desk.settings, context_tokens=2600, output_tokens=600)
    filler = "Nobody has ever asked the voles in the grass what they think of that. " * 28
    chapters = [f"## Part {n}\n\nPart {n} counts {n}11 kestrels. {filler}" for n in range(1, 13)]
    text = "# Birds\n\n" + "\n\n".join(chapters)

    def noted(line: dict[str, Any]) -> str:
        if '"brief"' not in json.dumps(line["body"]["response_format"]):
            return desk.good(line)
        found = re.findall(r"Part (\d+) counts (\d+) kestrels\.", str(line["body"]["messages"]))
        points = [
            {
                "text": f"In part {part} there are {count} kestrels.",
                "kind": "main",
                "heading": f"Part {part}",
                "names": [],
                "numbers": [count],
                "quotes": [f"Part {part} counts {count} kestrels."],
            }
            for part, count in found
        ]
        return json.dumps({"points": points})

    rounds = []
    while (result := desk.run(text, ("summary",))).run.status == "interrupted":
        rounds.append(desk.submit().requests)
        desk.provider.answer(desk.provider.batches[-1], noted)
        desk.collect()
    assert result.run.status == "done"
    assert len(rounds) == 3
    assert (rounds[0], rounds[2]) == (1, 1)
    assert rounds[1] > desk.settings.concurrency


# --- limits -------------------------------------------------------------------------------------


def test_more_lines_than_a_batch_may_have_make_several(desk: Desk) -> None:
    desk.queue(5)
    assert [batch.lines for batch in desk.submit(limits=Limits(lines=2)).batches] == [2, 2, 1]
    ids = [name for batch in desk.provider.batches for name in desk.provider.ids(batch)]
    assert len(set(ids)) == 5


def test_more_bytes_than_a_batch_may_have_make_several(desk: Desk) -> None:
    batch = desk.sent(4)
    longest = max(map(len, desk.provider.files[batch["input_file_id"]].split(b"\n"))) + 1
    desk.provider.batches.clear()
    for number in range(4):
        desk.run(f"{TEXT}\nIt is ferry number {number} of the river.\n", ("summary",))
    desk.submit(limits=Limits(size=2 * longest + 2))
    files = [desk.provider.files[each["input_file_id"]] for each in desk.provider.batches]
    assert [content.count(b"\n") for content in files] == [2, 2]
    assert all(len(content) <= 2 * longest + 2 for content in files)


def test_a_line_longer_than_a_batch_goes_alone(desk: Desk) -> None:
    desk.queue(2)
    assert [batch.lines for batch in desk.submit(limits=Limits(size=10)).batches] == [1, 1]


# --- submission that fails ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["POST /files", "GET /batches"])
def test_what_can_be_asked_twice_is(desk: Desk, kind: str) -> None:
    desk.provider.faults[kind] = ["503", "lost", "429"]
    batch = desk.sent()
    desk.provider.answer(batch, desk.good)
    assert desk.collect().answered == 1
    assert len(desk.provider.batches) == 1


@pytest.mark.parametrize("fault", ["lost", "cut", "html"])
def test_a_batch_whose_creation_was_not_answered_is_found_again(desk: Desk, fault: str) -> None:
    desk.provider.faults["POST /batches"] = [fault]
    desk.queue(1)
    sent = desk.submit()
    assert (len(sent.batches), sent.faults) == (1, ())
    assert len(desk.provider.batches) == 1
    assert pending(desk.store).batches[0].batch_id == "batch_1"


def test_a_batch_that_is_not_there_after_an_error_is_made_once_more(desk: Desk) -> None:
    desk.provider.faults["POST /batches"] = ["503"]
    desk.queue(1)
    assert not desk.submit().faults
    assert len(desk.provider.batches) == 1
    looked = [path for path, _, _ in desk.provider.seen if path.startswith("GET /v1/batches")]
    assert looked


def test_a_rate_limit_is_waited_for_since_nothing_was_accepted(desk: Desk) -> None:
    desk.provider.faults["POST /batches"] = ["429", "429"]
    desk.queue(1)
    assert not desk.submit().faults
    assert not any(path.startswith("GET") for path, _, _ in desk.provider.seen)


def test_a_provider_that_refuses_is_told_and_nothing_is_lost(desk: Desk) -> None:
    desk.queue(2)
    desk.provider.faults["POST /batches"] = ["401"]
    (fault,) = desk.submit().faults
    assert "refused the API key" in fault
    assert KEY not in fault
    sent = desk.submit()
    assert (sent.requests, sent.faults) == (2, ())
    assert len(desk.provider.batches) == 1
    assert desk.provider.counts["POST /files"] == 1


def test_a_server_without_batches_says_so(desk: Desk) -> None:
    desk.provider.faults["POST /files"] = ["404"]
    desk.queue(1)
    (fault,) = desk.submit().faults
    assert "no files are taken at this address" in fault


def test_a_file_that_is_gone_is_sent_anew(desk: Desk) -> None:
    desk.queue(1)
    desk.provider.faults["POST /batches"] = ["401"]
    desk.submit()
    desk.provider.files.clear()
    assert desk.submit().faults
    assert desk.submit().requests == 1


def test_a_list_is_read_to_its_end_before_a_batch_is_sent_again(desk: Desk) -> None:
    desk.provider.page = 1
    desk.queue(1)
    desk.provider.faults["POST /batches"] = ["lost"]
    lost = desk.provider.served
    desk.provider.served = lambda *a: 401 if a[1].startswith("/v1/batches?") else lost(*a)  # type: ignore[method-assign]
    assert desk.submit().faults
    del desk.provider.served
    newer = [{**desk.provider.batches[0], "id": f"batch_{n}", "metadata": None} for n in (7, 8, 9)]
    desk.provider.batches.extend(newer)
    sent = desk.submit()
    assert ([each.batch_id for each in sent.attached], sent.batches) == (["batch_1"], ())


def test_what_another_process_is_sending_is_left_to_it(desk: Desk) -> None:
    desk.queue(1)
    desk.provider.faults["POST /batches"] = ["401"]
    desk.submit()
    desk.claims.taken = True
    (fault,) = desk.submit().faults
    assert "another process" in fault
    assert not desk.provider.batches


def test_claims_are_given_up(desk: Desk) -> None:
    desk.sent()
    assert desk.claims.held == []


# --- statuses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status", ["validating", "in_progress", "finalizing", "cancelling", "some_new_word"]
)
def test_a_batch_in_work_is_left_alone(desk: Desk, status: str) -> None:
    batch = desk.sent()
    batch["status"] = status
    collected = desk.collect()
    assert [each.status for each in collected.working] == [status]
    assert (collected.answered, collected.ended) == (0, ())
    assert pending(desk.store).requests == 1


def test_an_expired_batch_keeps_what_was_answered_and_the_rest_is_sent_anew(desk: Desk) -> None:
    batch = desk.sent(4)
    lines = desk.provider.lines(batch)
    desk.provider.end(
        batch,
        answers=[answered(line, desk.good(line)) for line in lines[:2]],
        errors=[unsent(line, "batch_expired") for line in lines[2:]],
        status="expired",
    )
    collected = desk.collect()
    assert (collected.answered, collected.again) == (2, 2)
    assert any("2 requests to do again" in line for line in collected.warnings)
    assert desk.submit().requests == 2
    assert set(desk.provider.ids(desk.provider.batches[1])) == {x["custom_id"] for x in lines[2:]}


def test_an_expired_batch_without_an_error_file_is_the_same(desk: Desk) -> None:
    batch = desk.sent(3)
    first = desk.provider.lines(batch)[0]
    answers = [answered(first, desk.good(first))]
    desk.provider.end(batch, answers=answers, status="expired")
    collected = desk.collect()
    assert (collected.answered, collected.again) == (1, 2)


def test_a_cancelled_batch_goes_back_into_the_queue_however_often(desk: Desk) -> None:
    desk.queue(2)
    for _ in range(4):
        desk.submit()
        desk.provider.end(desk.provider.batches[-1], status="cancelled")
        assert (desk.collect().again, pending(desk.store).queued) == (2, 2)


def test_a_request_that_three_batches_did_not_answer_fails_its_format(desk: Desk) -> None:
    desk.queue(1)
    for _ in range(3):
        desk.submit()
        desk.provider.end(desk.provider.batches[-1], status="expired")
        collected = desk.collect()
    assert (collected.again, collected.refused) == (0, 1)
    desk.queue(1)
    (row,) = desk.store.rows(desk.store.runs()[0].id)
    assert (row.status, row.kind) == ("failed", "still_working")
    assert "no answer in 3 batches" in row.message


def test_a_failed_validation_refuses_the_named_lines_and_nothing_is_paid(desk: Desk) -> None:
    batch = desk.sent(3)
    bad = desk.provider.ids(batch)[1]
    desk.provider.refuse(
        batch,
        {"code": "invalid_request", "line": 2, "message": "You wrote: cows", "param": "body.model"},
    )
    collected = desk.collect()
    assert (collected.refused, collected.again, collected.cost) == (1, 2, 0.0)
    said = [line for line in collected.warnings if line.startswith("summary of ")]
    assert len(said) == 1
    assert "code invalid_request" in said[0]
    assert "cows" not in " ".join(collected.warnings)
    assert desk.submit().requests == 2
    assert bad not in desk.provider.ids(desk.provider.batches[1])


def test_a_refused_request_fails_its_format_once_and_is_asked_anew_the_next_time(
    desk: Desk,
) -> None:
    batch = desk.sent()
    desk.provider.refuse(batch, {"code": "invalid_request", "line": 1})
    desk.collect()
    desk.queue(1)
    (row,) = desk.store.rows(desk.store.runs()[0].id)
    assert (row.status, row.kind) == ("failed", "never_started")
    assert desk.store.calls(desk.store.runs()[0].id) == ()  # it is the call that waited
    desk.queue(1)
    assert desk.submit().requests == 1


def test_a_batch_refused_as_a_whole_fails_all_its_requests(desk: Desk) -> None:
    batch = desk.sent(2)
    desk.provider.refuse(batch, {"code": "model_not_found", "line": None, "message": "no"})
    collected = desk.collect()
    assert (collected.refused, collected.again) == (2, 0)


def test_a_full_queue_at_the_provider_is_no_fault_of_the_requests(desk: Desk) -> None:
    desk.queue(2)
    for _ in range(4):
        desk.submit()
        full = {"code": "token_limit_exceeded", "line": None, "message": "Enqueued token limit"}
        desk.provider.refuse(desk.provider.batches[-1], full)
        collected = desk.collect()
        assert (collected.refused, collected.again) == (0, 2)
        assert any("token_limit_exceeded" in line for line in collected.warnings)


# --- lines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_a_line_with_a_passing_status_is_sent_again(desk: Desk, status: int) -> None:
    batch = desk.sent(2)
    one, two = desk.provider.lines(batch)
    answers = [answered(one, desk.good(one))]
    desk.provider.end(batch, answers=answers, errors=[failed(two, status)])
    collected = desk.collect()
    assert (collected.answered, collected.again, collected.refused) == (1, 1, 0)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "context_length_exceeded", "never_started"),
        (401, "invalid_api_key", "never_started"),
        (404, "model_not_found", "never_started"),
        (429, "insufficient_quota", "never_started"),
    ],
)
def test_a_line_with_a_final_status_is_refused(
    desk: Desk, status: int, code: str, kind: str
) -> None:
    batch = desk.sent()
    (line,) = desk.provider.lines(batch)
    desk.provider.end(batch, errors=[failed(line, status, code=code)])
    collected = desk.collect()
    assert (collected.refused, collected.again) == (1, 0)
    assert "secret" not in " ".join(collected.warnings)
    (call,) = desk.store.calls(desk.store.runs()[0].id)
    assert (call.error_kind, call.cost) == (kind, 0.0)


def test_a_filtered_prompt_is_an_answer_and_no_fault(desk: Desk) -> None:
    batch = desk.sent()
    (line,) = desk.provider.lines(batch)
    desk.provider.end(batch, errors=[failed(line, 400, code="content_filter")])
    assert desk.collect().answered == 1
    desk.queue(1)
    (row,) = desk.store.rows(desk.store.runs()[0].id)
    assert (row.status, row.kind) == ("failed", "refused")


def test_an_answer_without_choices_is_refused_and_may_have_been_paid(desk: Desk) -> None:
    batch = desk.sent()
    (line,) = desk.provider.lines(batch)
    desk.provider.end(batch, answers=[answered(line, "", choices=[])])
    assert desk.collect().refused == 1
    (call,) = desk.store.calls(desk.store.runs()[0].id)
    assert (call.error_kind, call.cost) == ("broken_reply", None)


def test_strange_repeated_and_broken_lines_are_left_out_with_a_warning(desk: Desk) -> None:
    batch = desk.sent(2)
    lines = desk.provider.lines(batch)
    stranger = answered({**lines[0], "custom_id": "somebody-elses"}, "{}")
    nameless = {**answered(lines[0], "{}"), "custom_id": 5}
    twice = [answered(lines[0], desk.good(lines[0]))] * 2
    answers = [*twice, answered(lines[1], desk.good(lines[1])), stranger, nameless]
    desk.provider.end(batch, answers=answers, tail=b'[]\n"x"\n\n{"custom_id"\n', counts=False)
    collected = desk.collect()
    assert (collected.answered, len(collected.ended)) == (2, 1)
    said = " ".join(collected.warnings)
    assert "1 times answer to a request that is not ours" in said
    assert "1 times second answer" in said
    assert "4 times line that cannot be read" in said


def test_a_file_cut_short_is_read_again_and_nothing_is_sent_twice(desk: Desk) -> None:
    batch = desk.sent(3)
    desk.provider.answer(batch, desk.good)
    whole = desk.provider.files[batch["output_file_id"]]
    desk.provider.files[batch["output_file_id"]] = whole[: len(whole) // 2]
    collected = desk.collect()
    assert (collected.answered, collected.again, len(collected.working)) == (1, 0, 1)
    assert any("collect again" in line for line in collected.warnings)
    desk.provider.files[batch["output_file_id"]] = whole
    collected = desk.collect()
    assert (collected.answered, collected.again, len(collected.ended)) == (2, 0, 1)


def test_a_body_cut_short_on_the_way_is_fetched_again(desk: Desk) -> None:
    batch = desk.sent(3)
    desk.provider.answer(batch, desk.good)
    desk.provider.faults["GET /files"] = ["cut", "503"]
    collected = desk.collect()
    assert (collected.answered, collected.faults, len(collected.ended)) == (3, (), 1)


def test_files_that_are_gone_are_given_up_after_three_tries_and_two_days(desk: Desk) -> None:
    batch = desk.sent(2)
    desk.provider.answer(batch, desk.good)
    del desk.provider.files[batch["output_file_id"]]
    for hours in (1, 24, 47):
        desk.clock.hours = hours
        collected = desk.collect()
        assert (len(collected.working), collected.again) == (1, 0)
    desk.clock.hours = 49
    collected = desk.collect()
    assert (collected.working, collected.again) == ((), 2)
    assert any("given up" in line for line in collected.warnings)


def test_a_key_that_sees_no_such_batch_loses_nothing(desk: Desk) -> None:
    desk.sent()
    batches, desk.provider.batches = desk.provider.batches, []
    for _ in range(4):
        collected = desk.collect()
        assert any("no such batch for this key" in line for line in collected.warnings)
    desk.provider.batches = batches
    desk.provider.answer(batches[0], desk.good)
    assert desk.collect().answered == 1


def test_a_provider_that_is_down_is_told_and_the_other_batches_are_collected(desk: Desk) -> None:
    desk.queue(2)
    desk.submit(limits=Limits(lines=1))
    for batch in desk.provider.batches:
        desk.provider.answer(batch, desk.good)
    desk.provider.faults["GET /batches"] = ["503"] * 4
    collected = desk.collect()
    assert (len(collected.faults), collected.answered) == (1, 1)
    assert desk.collect().answered == 1


def test_collecting_twice_changes_nothing(desk: Desk) -> None:
    batch = desk.sent()
    desk.provider.answer(batch, desk.good)
    assert desk.collect().answered == 1
    asked = desk.provider.counts.total()
    again = desk.collect()
    assert (again.answered, again.ended) == (0, ())
    assert desk.provider.counts.total() == asked


def test_a_forced_run_after_the_collection_does_ask_again(desk: Desk) -> None:
    batch = desk.sent()
    desk.provider.answer(batch, desk.good)
    desk.collect()
    desk.run(TEXT + "\nIt is ferry number 0 of the harbour.\n", ("summary",), force=True)
    assert pending(desk.store).queued == 1


# --- waiting ------------------------------------------------------------------------------------


def test_waiting_looks_until_all_batches_are_over(desk: Desk) -> None:
    batch = desk.sent()
    looks: list[str] = []

    def worked_on(kind: str) -> None:
        looks.append(kind)
        if len(looks) == 3:
            desk.provider.answer(batch, desk.good)

    desk.provider.on = worked_on
    collected = desk.collect(wait=True, poll_seconds=30.0)
    assert (collected.answered, collected.working) == (1, ())
    assert sum(desk.clock.slept) == pytest.approx(60.0 * len(looks[:3]) / 2, rel=0.6)


def test_waiting_ends_when_the_user_asks_for_it(desk: Desk) -> None:
    desk.sent()
    collected = desk.collect(wait=True, stopping=lambda: True)
    assert len(collected.working) == 1


def test_a_webhook_ends_the_wait_within_a_second(desk: Desk) -> None:
    batch = desk.sent()
    deliveries = desk.store.deliveries
    sleep = desk.clock.sleep

    async def slept(seconds: float) -> None:
        await sleep(seconds)
        if len(desk.clock.slept) == 5:  # after five seconds of an hour
            desk.provider.answer(batch, desk.good)
            now = desk.clock.now().timestamp()
            assert deliveries.deliver_event("wh_0", "openai:batch_of_others", b"{}", now)
            assert deliveries.deliver_event("wh_1", f"openai:{batch['id']}", b"{}", now)

    desk.clock.sleep = slept  # type: ignore[method-assign]
    collected = desk.collect(wait=True, poll_seconds=3_600.0)
    assert (collected.answered, collected.working) == (1, ())
    assert sum(desk.clock.slept) == pytest.approx(5, abs=1.1)
    now = desk.clock.now().timestamp()
    assert deliveries.claim("openai:batch_of_others", now) == b"{}", "it is left to its own waiter"


def test_a_webhook_that_comes_before_the_provider_is_ready_leaves_polling_as_it_was(
    desk: Desk,
) -> None:
    batch = desk.sent()
    key, now = f"openai:{batch['id']}", desk.clock.now().timestamp()
    desk.store.deliveries.deliver_event("wh_1", key, b"{}", now)
    sleep = desk.clock.sleep

    async def slept(seconds: float) -> None:
        await sleep(seconds)
        if sum(desk.clock.slept) > 100:
            desk.provider.answer(batch, desk.good)

    desk.clock.sleep = slept  # type: ignore[method-assign]
    collected = desk.collect(wait=True, poll_seconds=60.0)
    assert (collected.answered, collected.working) == (1, ())
    assert sum(desk.clock.slept) == pytest.approx(120, abs=3)
