"""How fast requests follow each other: by the user's rates, the server's, and its refusals."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server import MockServer
from repurpose.core.call import Call, Usage
from repurpose.core.source import Source
from repurpose.core.waiting import seconds_in
from repurpose.engines._gate import Fault, Gate, Lost, Patience, RateLimited, Transport
from repurpose.engines._pace import Pace, Window
from repurpose.engines.openai import openai_engine
from repurpose.errors import StillWorking, UsageError
from virtual_time import VirtualClock, run_virtually


def moments(pace: Pace, count: int, *, now: float = 0.0, tokens: int = 0) -> list[float]:
    return [pace.moment(now, tokens) for _ in range(count)]


def named(limit: float, remaining: float, reset: str, kind: str = "requests") -> dict[str, str]:
    return {
        f"x-ratelimit-limit-{kind}": f"{limit:g}",
        f"x-ratelimit-remaining-{kind}": f"{remaining:g}",
        f"x-ratelimit-reset-{kind}": reset,
    }


# --- rates ----------------------------------------------------------------------------------------


def test_without_a_rate_every_request_may_go_at_once() -> None:
    assert moments(Pace(), 100) == [0.0] * 100


def test_requests_follow_each_other_at_the_users_rate() -> None:
    assert moments(Pace(rpm=60), 4, now=100.0) == pytest.approx([100.0, 100.9, 101.9, 102.9])


def test_a_pause_is_made_up_for_by_no_more_than_a_tenth_of_a_second() -> None:
    pace = Pace(rpm=1200)
    pace.moment(0.0, 0)
    assert moments(pace, 4, now=1000.0) == pytest.approx([1000.0, 1000.0, 1000.0, 1000.05])


def test_tokens_are_paced_by_the_size_of_what_went_before() -> None:
    pace = Pace(tpm=60_000)
    first, second, third = (pace.moment(10.0, tokens) for tokens in (5_000, 1_000, 1_000))
    assert (first, second, third) == pytest.approx((10.0, 14.9, 15.9))


def test_a_request_larger_than_a_minutes_tokens_passes_all_the_same() -> None:
    pace = Pace(tpm=1_000)
    assert pace.moment(0.0, 50_000) == 0.0


def test_usage_corrects_what_a_request_was_taken_for() -> None:
    pace = Pace(tpm=60_000)
    estimate = pace.estimate(8_000, 3_000)
    assert estimate == 5_000
    pace.moment(10.0, estimate)
    pace.settle(estimate, 8_000, Usage(2_000, 500))
    assert pace.moment(10.0, 0) == pytest.approx(12.4)


def test_later_estimates_learn_how_long_a_token_is() -> None:
    pace = Pace(tpm=60_000)
    for _ in range(30):
        pace.settle(pace.estimate(1_000, None), 1_000, Usage(1_000, 700))
    assert pace.estimate(1_000, None) == pytest.approx(1_700, rel=0.01)


def test_without_a_limit_for_tokens_nothing_is_estimated() -> None:
    assert Pace(rpm=10).estimate(1_000_000, None) == 0


def test_a_hold_takes_back_the_moments_that_were_given() -> None:
    pace = Pace(rpm=60)
    moments(pace, 50)
    pace.restart(10.0)
    assert pace.moment(3.0, 0) == 10.0
    assert pace.era == 1


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_a_rate_is_a_number_above_zero(rate: float) -> None:
    with pytest.raises(UsageError, match="above 0"):
        Pace(rpm=rate)


# --- what headers say -----------------------------------------------------------------------------


def spacing(pace: Pace) -> float:
    first, second = pace.moment(1000.0, 0), pace.moment(1000.0, 0)
    return pace.moment(1000.0, 0) - second if second > first else 0.0


def test_a_named_limit_for_a_minute_is_kept_to_with_three_percent_in_hand() -> None:
    pace = Pace()
    pace.learn(named(60, 59, "1s"), 1)
    assert spacing(pace) == pytest.approx(1 / 0.97)


def test_the_lower_one_of_the_users_and_the_servers_rate_holds() -> None:
    for rpm, seconds in ((30, 2.0), (600, 1 / 0.97)):
        pace = Pace(rpm=rpm)
        pace.learn(named(60, 59, "1s"), 1)
        assert spacing(pace) == pytest.approx(seconds)


def test_a_limit_for_tokens_is_learnt_too() -> None:
    pace = Pace()
    pace.learn(named(6_000, 5_000, "10s", "tokens"), 1)
    pace.moment(1000.0, 970)
    assert pace.moment(1000.0, 0) == pytest.approx(1009.9)


def test_a_limit_for_a_day_sets_no_pace_until_it_is_nearly_used_up() -> None:
    pace = Pace()
    pace.learn(named(14_400, 9_000, "9h0m0s"), 4)
    assert spacing(pace) < 0.01
    pace.learn(named(14_400, 2, "23h59m0s"), 4)
    assert spacing(pace) == pytest.approx(6 / 0.97, rel=0.01)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        named(0, 0, "1s"),
        {"x-ratelimit-limit-requests": "many"},
        {"x-ratelimit-limit-requests": "-5"},
        {"x-ratelimit-limit-requests": "inf"},
        {"x-ratelimit-limit-requests": "9" * 400},
    ],
)
def test_headers_that_name_no_limit_change_nothing(headers: dict[str, str]) -> None:
    pace = Pace()
    assert not pace.learn(headers, 1)
    assert moments(pace, 3) == [0.0] * 3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0),
        ("1.2s", 1.2),
        ("2m59.56s", 179.56),
        ("1h30m", 5_400.0),
        ("1d2h", 93_600.0),
        ("20ms", 0.02),
        ("7", 7.0),
        ("0.25", 0.25),
        ("", None),
        ("soon", None),
        ("1s2m", None),
        ("s", None),
        ("2026-01-01T00:00:00Z", None),
        ("9" * 40 + "s", None),
        (None, None),
    ],
)
def test_a_reset_is_read_in_every_spelling(text: str | None, seconds: float | None) -> None:
    assert seconds_in(text) == seconds


@given(st.dictionaries(st.sampled_from(list(named(1, 1, "1s"))), st.text(max_size=40)))
def test_no_header_makes_learning_fail_or_stops_the_pace(headers: dict[str, str]) -> None:
    pace = Pace()
    pace.learn(headers, 1)
    assert pace.moment(5.0, 10) >= 5.0


def test_the_openai_engine_keeps_to_the_limit_that_its_server_names(
    mock_server: MockServer, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = mock_server._made
    limit = named(60, 59, "1s")
    monkeypatch.setattr(mock_server, "_made", lambda *step: replace(made(*step), headers=limit))
    engine = openai_engine(model="m", base_url=mock_server.url, clock=clock)
    call = Call("brief", "Say it.", "A text.", {}, {}, Source("A text.", "-", "text"))

    async def calls() -> None:
        for _ in range(4):  # the first one teaches the pace, and the second makes up for a pause
            await engine.answer(call)
        await engine.close()

    asyncio.run(calls())
    assert clock.slept == pytest.approx([1 / 0.97 - 0.1, 1 / 0.97])


# --- the window -----------------------------------------------------------------------------------


def admitted(window: Window) -> int:
    return next(count for count in itertools.count() if count > 500 or not window.admits(count))


def test_eight_may_go_before_the_first_answer_and_then_as_many_as_there_are() -> None:
    window = Window()
    assert admitted(window) == 8
    window.succeeded()
    assert admitted(window) > 500


def test_a_refusal_halves_what_is_on_the_way() -> None:
    window = Window()
    window.succeeded()
    window.sent = 39
    window.refused(sent_at=1.0, now=2.0)
    assert admitted(window) == 20


def test_refusals_of_one_round_trip_halve_once() -> None:
    window = Window()
    window.succeeded()
    window.sent = 39
    for _ in range(30):
        window.refused(sent_at=1.0, now=2.0)
    assert admitted(window) == 20
    window.sent = 19
    window.refused(sent_at=2.5, now=3.0)
    assert admitted(window) == 10


def test_one_window_of_successes_makes_up_for_half_and_each_further_one_adds_one() -> None:
    window = Window()
    window.succeeded()
    window.sent = 39
    window.refused(sent_at=1.0, now=2.0)
    sizes = []
    for _ in range(4):
        for _ in range(admitted(window)):
            window.succeeded()
        sizes.append(admitted(window))
    assert sizes == pytest.approx([29, 30, 31, 32], abs=1)


def test_one_may_always_go() -> None:
    window = Window()
    for moment in range(20):
        window.refused(sent_at=moment, now=moment + 0.5)
    assert admitted(window) == 1


# --- lanes at the gate ----------------------------------------------------------------------------


class RefusedError(Exception):
    """What a client raises; it carries the fault that it stands for."""

    def __init__(self, fault: Fault) -> None:
        super().__init__("refused")
        self.fault = fault


def fault_of(error: Exception) -> Fault:
    assert isinstance(error, RefusedError)
    return error.fault


@dataclass
class Server:
    """Takes `rate` requests a second and `burst` at once; names its limit where it is `open`."""

    rate: float = 30.0
    burst: float = 20.0
    latency: float = 0.1
    is_open: bool = True
    gate: Gate = field(init=False)
    clock: VirtualClock = field(default_factory=VirtualClock)
    refused: int = 0
    answered: int = 0
    most: int = 0
    sent: list[float] = field(default_factory=list)
    now_working: int = 0

    def __post_init__(self) -> None:
        self.left, self.at = self.burst, 0.0

    async def send(self, _: float) -> str:
        now = self.clock.monotonic()
        self.sent.append(now)
        self.left = min(self.burst, self.left + (now - self.at) * self.rate)
        self.at = now
        wait = 0.0 if self.left >= 1 else (1 - self.left) / self.rate
        self.left -= not wait
        if not wait:
            self.now_working += 1
            self.most = max(self.most, self.now_working)
            # Not two of them take the same time, and each takes the same time in every run.
            await self.clock.sleep(self.latency * (0.7 + 0.6 * (len(self.sent) % 7) / 7))
            self.now_working -= 1
        if self.is_open:
            reset = f"{(self.burst - self.left) / self.rate:.3f}s"
            self.gate.learn(named(60 * self.rate, max(0, int(self.left)), reset))
        if wait:
            self.refused += 1
            raise RefusedError(RateLimited(retry_after=wait))
        self.answered += 1
        return "an answer"


def transport(server: Server, **rates: float) -> Transport:
    patience = Patience()
    numbers = itertools.cycle(n / 11 for n in range(11))
    jitter: Callable[[], float] = lambda: next(numbers)  # noqa: E731 - a jitter that repeats
    gate = Gate(server.clock, jitter, patience, Pace(**rates))
    server.gate = gate
    return Transport("models.example", gate, server.clock, jitter, patience, "")


async def all_calls(sender: Transport, server: Server, calls: int, lanes: int) -> float:
    """How long all calls took."""
    numbers = iter(range(calls))

    async def lane() -> None:
        for _ in numbers:
            await sender.deliver(server.send, fault_of)

    await asyncio.gather(*(lane() for _ in range(lanes)))
    return server.clock.monotonic()


@pytest.mark.parametrize(
    ("rpm", "possible"), [(28 * 60, 28.0), (None, 30.0)], ids=["asked for", "by the headers"]
)
@pytest.mark.parametrize("lanes", [16, 64])
def test_a_limited_server_is_used_by_ninety_five_percent_and_refuses_under_one(
    rpm: float | None, possible: float, lanes: int
) -> None:
    server, calls = Server(), 1_000
    sender = transport(server, **({"rpm": rpm} if rpm else {}))
    seconds = run_virtually(all_calls(sender, server, calls, lanes))
    assert server.answered == calls
    assert calls / seconds >= 0.95 * possible
    assert server.refused < 0.01 * calls


def test_a_server_that_names_nothing_is_found_out_by_its_refusals() -> None:
    server = Server(is_open=False)
    seconds = run_virtually(all_calls(transport(server), server, 600, 64))
    assert server.answered == 600
    assert 600 / seconds >= 0.7 * 30
    assert server.refused < 0.35 * 600


def test_a_server_without_any_limit_gets_all_lanes_after_its_first_answer() -> None:
    server = Server(rate=1e9, burst=1e9, is_open=False)
    seconds = run_virtually(all_calls(transport(server), server, 2_000, 100))
    assert server.most == 100
    assert seconds < 1.25 * (2_000 / 100 * server.latency)


def test_waiting_in_our_own_line_does_not_use_up_a_calls_time() -> None:
    server = Server()
    sender = transport(server, rpm=2)
    seconds = run_virtually(all_calls(sender, server, 50, 50))
    assert server.answered == 50
    assert seconds > 2 * sender.patience.deadline


def test_an_endless_refusal_still_ends_at_the_deadline() -> None:
    server = Server(rate=0.0001, burst=0.0)

    async def call() -> float:
        with pytest.raises(StillWorking):
            await transport(server).deliver(server.send, fault_of)
        return server.clock.monotonic()

    assert run_virtually(call()) <= Patience().deadline


def test_overload_narrows_the_window_and_uses_the_budget() -> None:
    server = Server()
    sender = transport(server)
    sender.gate._places.window.succeeded()

    async def overloaded(_: float) -> str:
        await server.clock.sleep(1.0)
        raise RefusedError(Lost("status 503", status=503))

    async def lanes() -> list[Any]:
        calls = (sender.deliver(overloaded, fault_of) for _ in range(16))
        return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = run_virtually(lanes())
    assert all(isinstance(each, StillWorking) for each in outcomes)
    assert admitted(sender.gate._places.window) < 8


@dataclass
class Crowded(Server):
    """Takes so many requests at once, and refuses the others."""

    places: int = 32

    async def send(self, _: float) -> str:
        if self.now_working >= self.places:
            self.refused += 1
            raise RefusedError(RateLimited())
        self.now_working += 1
        await self.clock.sleep(self.latency)
        self.now_working -= 1
        self.answered += 1
        return "an answer"


def test_a_server_that_takes_so_many_at_once_is_seldom_asked_for_more() -> None:
    server = Crowded()
    seconds = run_virtually(all_calls(transport(server), server, 6_000, 64))
    assert server.answered == 6_000
    assert server.refused < 0.01 * 6_000
    assert 6_000 / seconds >= 0.5 * server.places / server.latency  # each refusal costs a pause


def test_a_cancelled_lane_gives_its_place_to_the_next() -> None:
    server = Server(is_open=False)
    sender = transport(server)

    async def lanes() -> int:
        async def forever(_: float) -> str:
            await asyncio.Event().wait()
            return "never"

        stuck = [asyncio.ensure_future(sender.deliver(forever, fault_of)) for _ in range(8)]
        waiting = [asyncio.ensure_future(sender.deliver(server.send, fault_of)) for _ in range(3)]
        await asyncio.sleep(1)
        waiting[0].cancel()
        stuck[0].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for each in stuck:
            each.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
        return server.answered

    assert run_virtually(lanes()) == 2
    assert sender.gate._places.window.sent == sender.gate._places.taken == 0
