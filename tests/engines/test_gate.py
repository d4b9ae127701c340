"""A rate limit holds everybody back; a lost connection costs a part of one call's budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.engines._gate import (
    Fault,
    Final,
    Gate,
    Lost,
    Patience,
    RateLimited,
    Transport,
    retry_after,
)
from repurpose.errors import BrokenReply, EngineError, NeverStarted, StillWorking

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class ForeignError(Exception):
    """What a client library raises; it carries the fault that it stands for."""

    def __init__(self, fault: Fault) -> None:
        super().__init__("a foreign text")
        self.fault = fault


class Server:
    """Fails as planned, then answers; remembers when it was asked."""

    def __init__(self, clock: Any, *plan: Fault | None, takes: float = 0.0) -> None:
        self.clock = clock
        self.plan = list(plan)
        self.takes = takes
        self.asked: list[float] = []
        self.left: list[float] = []

    async def send(self, left: float) -> str:
        self.asked.append(self.clock.monotonic())
        self.left.append(left)
        self.clock.seconds += self.takes
        fault = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
        if fault is not None:
            raise ForeignError(fault)
        return "an answer"


def transport(clock: Any, *, jitter: float = 0.0, **patience: Any) -> Transport:
    limits = Patience(**patience)
    return Transport(
        server="models.example",
        gate=Gate(clock, lambda: jitter, limits),
        clock=clock,
        jitter=lambda: jitter,
        patience=limits,
        unreachable_hint="check --base-url",
    )


def fault_of(error: Exception) -> Fault:
    assert isinstance(error, ForeignError)
    return error.fault


def deliver(sender: Transport, send: Callable[[float], Awaitable[str]]) -> tuple[str, int]:
    return asyncio.run(_deliver(sender, send))


async def _deliver(sender: Transport, send: Callable[[float], Awaitable[str]]) -> tuple[str, int]:
    return await sender.deliver(send, fault_of)


def test_an_answer_at_once_takes_one_request_and_no_wait(clock: Any) -> None:
    assert deliver(transport(clock), Server(clock, None).send) == ("an answer", 1)
    assert clock.slept == []


def test_one_rate_limit_holds_eight_lanes_back_until_the_named_time(clock: Any) -> None:
    sender, server = transport(clock), Server(clock, RateLimited(retry_after=30.0), None)

    async def all_lanes() -> list[tuple[str, int]]:
        first = asyncio.create_task(_deliver(sender, server.send))
        await asyncio.sleep(0)
        others = [_deliver(sender, server.send) for _ in range(7)]
        return [await first, *await asyncio.gather(*others)]

    answers = asyncio.run(all_lanes())
    assert [requests for _, requests in answers] == [2, 1, 1, 1, 1, 1, 1, 1]
    assert server.asked[0] == 0.0
    assert min(server.asked[1:]) >= 30.0


def test_lanes_leave_the_gate_spread_over_a_quarter_of_the_hold(clock: Any) -> None:
    sender = transport(clock, jitter=0.8)
    deliver(sender, Server(clock, RateLimited(retry_after=10.0), None).send)
    assert clock.slept == [pytest.approx(12.0)]


def test_rate_limits_do_not_use_up_the_budget(clock: Any) -> None:
    limits = [RateLimited(retry_after=1.0)] * 20
    assert deliver(transport(clock, budget=1), Server(clock, *limits, None).send)[1] == 21


def test_a_rate_limit_that_names_no_time_waits_longer_each_time(clock: Any) -> None:
    deliver(transport(clock), Server(clock, *[RateLimited()] * 6, None).send)
    assert clock.slept == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]


def test_a_named_time_of_zero_does_not_become_a_tight_loop(clock: Any) -> None:
    server = Server(clock, RateLimited(retry_after=0.0))
    with pytest.raises(StillWorking):
        deliver(transport(clock, deadline=600.0), server.send)
    assert len(server.asked) < 100


def test_a_named_time_is_capped_at_two_minutes(clock: Any) -> None:
    deliver(transport(clock), Server(clock, RateLimited(retry_after=86_400.0), None).send)
    assert clock.slept == [120.0]


def test_an_endless_rate_limit_ends_at_the_deadline_and_says_so(clock: Any) -> None:
    server = Server(clock, RateLimited(retry_after=100.0))
    with pytest.raises(StillWorking) as raised:
        deliver(transport(clock, deadline=250.0), server.send)
    assert server.asked == [0.0, 100.0, 200.0]
    assert str(raised.value) == (
        "models.example kept limiting the rate beyond the 250 s of a call (3 requests)"
    )
    assert raised.value.status == 429


def test_a_success_makes_the_next_unnamed_wait_short_again(clock: Any) -> None:
    sender = transport(clock)
    deliver(sender, Server(clock, *[RateLimited()] * 3, None).send)
    clock.slept.clear()
    deliver(sender, Server(clock, RateLimited(), None).send)
    assert clock.slept == [0.5]


def test_answers_to_requests_of_the_same_wave_lengthen_the_wait_once(clock: Any) -> None:
    gate = Gate(clock, lambda: 0.0, Patience())
    for _ in range(8):
        gate.hold(None)
    asyncio.run(gate.enter(clock.monotonic() + 600))
    assert clock.slept == [0.5]


@pytest.mark.parametrize(("jitter", "waits"), [(0.0, [0.5, 1.0, 2.0]), (1.0, [0.375, 0.75, 1.5])])
def test_a_lost_connection_is_tried_four_times_with_growing_jittered_waits(
    clock: Any, jitter: float, waits: list[float]
) -> None:
    server = Server(clock, Lost("status 503", status=503))
    with pytest.raises(StillWorking) as raised:
        deliver(transport(clock, jitter=jitter), server.send)
    assert len(server.asked) == 4
    assert clock.slept == waits
    assert str(raised.value) == (
        "models.example gave no answer in 4 requests; the last one: status 503"
    )
    assert raised.value.status == 503


def test_waits_between_lost_connections_stop_growing_at_eight_seconds(clock: Any) -> None:
    deliver(transport(clock, budget=9), Server(clock, *[Lost("lost")] * 7, None).send)
    assert clock.slept == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def test_a_503_with_a_time_holds_the_gate_and_uses_the_budget(clock: Any) -> None:
    sender = transport(clock, budget=2)
    server = Server(clock, Lost("status 503", status=503, retry_after=20.0))
    with pytest.raises(StillWorking):
        deliver(sender, server.send)
    assert server.asked == [0.0, 20.0]


def test_a_server_that_was_never_reached_is_a_call_that_never_started(clock: Any) -> None:
    with pytest.raises(NeverStarted) as raised:
        deliver(transport(clock), Server(clock, Lost("no connection", reached=False)).send)
    assert str(raised.value) == "no server answers at models.example (4 requests)"
    assert raised.value.hint == "check --base-url"


def test_a_server_that_was_reached_once_may_have_done_the_work(clock: Any) -> None:
    faults = [Lost("the connection was lost"), Lost("no connection", reached=False)]
    with pytest.raises(StillWorking, match="no connection"):
        deliver(transport(clock), Server(clock, *faults).send)


def test_lost_connections_end_at_the_deadline_too(clock: Any) -> None:
    server = Server(clock, Lost("no answer within 120 s"), takes=120.0)
    with pytest.raises(StillWorking) as raised:
        deliver(transport(clock, deadline=200.0), server.send)
    assert len(server.asked) == 2
    assert str(raised.value) == (
        "models.example gave no answer within the 200 s of a call (2 requests);"
        " the last one: no answer within 120 s"
    )


def test_each_request_is_told_how_much_of_the_call_is_left(clock: Any) -> None:
    server = Server(clock, Lost("lost"), None, takes=100.0)
    deliver(transport(clock, deadline=600.0), server.send)
    assert server.left == [600.0, 499.5]


def test_what_is_final_is_sent_once_and_keeps_its_cause(clock: Any) -> None:
    server = Server(clock, Final(NeverStarted("refused")))
    with pytest.raises(NeverStarted, match="refused") as raised:
        deliver(transport(clock), server.send)
    assert len(server.asked) == 1
    assert isinstance(raised.value.__cause__, ForeignError)


def test_an_error_of_ours_passes_through_as_it_is(clock: Any) -> None:
    async def broken(_: float) -> str:
        raise BrokenReply("half a body")

    with pytest.raises(BrokenReply, match="half a body"):
        deliver(transport(clock), broken)


def test_a_gate_serves_one_event_loop_after_another(clock: Any) -> None:
    sender = transport(clock)
    for _ in range(3):
        assert deliver(sender, Server(clock, RateLimited(retry_after=1.0), None).send)[1] == 2


@given(
    faults=st.lists(
        st.one_of(
            st.builds(
                RateLimited, retry_after=st.one_of(st.none(), st.floats(0, 1e6, allow_nan=False))
            ),
            st.builds(Lost, what=st.just("lost"), retry_after=st.none()),
        ),
        min_size=1,
        max_size=12,
    ),
    jitter=st.floats(0, 0.99),
)
def test_no_call_outlives_its_deadline_by_more_than_one_wait(
    faults: list[Fault], jitter: float
) -> None:
    clock = _Ticking()
    server = Server(clock, *faults)
    with pytest.raises(EngineError):
        deliver(transport(clock, jitter=jitter, deadline=300.0), server.send)
    assert max(server.asked) < 300.0
    assert clock.seconds <= 300.0 + 120.0 / 4


class _Ticking:
    """A clock for laws, where a fixture would be shared by all examples."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.seconds += seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 00:01:00 GMT"}, 60.0),
        ({"retry-after": "Thu, 01 Jan 2026 01:01:00 +0100"}, 60.0),
        ({"retry-after": "Wed, 31 Dec 2025 23:59:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after-ms": "none", "retry-after": "3"}, 3.0),
    ],
)
def test_the_time_to_wait_is_read_from_every_spelling(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text(st.characters(codec="latin-1"), max_size=60))
def test_no_header_makes_reading_it_fail(value: str) -> None:
    seconds = retry_after({"retry-after": value}, NOW)
    assert seconds is None or seconds >= 0
