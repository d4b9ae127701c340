"""When a request may be sent, and how often it may fail: one gate for each endpoint.

A rate limit concerns everybody who talks to an endpoint, so it closes one gate for all lanes. A
lost connection concerns one request, so it has a budget of its own. Both end at the deadline of
the call, and neither is ever told to a model. How fast requests follow each other, and how many
are on the way, is decided by `_pace`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from repurpose.core.call import Call, Reply
from repurpose.core.waiting import retry_after
from repurpose.engines._meter import METER, Meter
from repurpose.engines._pace import Pace
from repurpose.engines._patience import Fault, Final, Lost, Patience, RateLimited
from repurpose.engines._places import Places
from repurpose.errors import EngineError, NeverStarted, StillWorking
from repurpose.ports import Clock

__all__ = ["Fault", "Final", "Gate", "Lost", "Patience", "RateLimited", "Transport", "retry_after"]

T = TypeVar("T")

log = logging.getLogger(__name__)

_OVERLOADED = frozenset({503, 529})
"""Statuses of a server that has too much to do; the second is Anthropic's."""


class Gate:
    """Lets every lane of one endpoint through when its turn has come.

    It knows times and who waits in line, no event loop, so it outlives the loop that it was first
    used in.
    """

    def __init__(
        self,
        clock: Clock,
        jitter: Callable[[], float],
        patience: Patience,
        pace: Pace | None = None,
    ) -> None:
        self.pace = pace or Pace()
        self._clock = clock
        self._jitter = jitter
        self._patience = patience
        self._not_before = -math.inf
        self._spread = 0.0
        self._waves = 0
        self._places = Places()

    async def enter(self, deadline: float, tokens: int = 0) -> float | None:
        """Waits until a request may be sent, and returns the deadline then; None where none may.

        What the endpoint makes a lane wait counts against the deadline. Time in our own line, for
        the pace and for a place among those on the way, does not, and is added to it. Whoever was
        let in has to `leave`.
        """
        if not await self._open(deadline):
            return None
        began = self._clock.monotonic()
        await self._places.take()
        deadline += self._clock.monotonic() - began
        try:
            until = await self._turn(deadline, tokens)
        except BaseException:
            self._places.give_back()
            raise
        if until is None:
            self._places.give_back()
        else:
            self._places.window.sent += 1
        return until

    def leave(self) -> None:
        """Make room for the next one: the request was answered, or came to nothing."""
        self._places.window.sent -= 1
        self._places.give_back()

    async def _turn(self, deadline: float, tokens: int) -> float | None:
        """The deadline, when the gate is open and the pace allows one more."""
        while await self._open(deadline):
            era, now = self.pace.era, self._clock.monotonic()
            at = self.pace.moment(now, tokens)
            if at > now:
                await self._clock.sleep(at - now)
                deadline += self._clock.monotonic() - now
            if era == self.pace.era:  # else the gate was closed meanwhile
                return deadline
        return None

    async def _open(self, deadline: float) -> bool:
        """Whether the gate opens before `deadline`; waits for that.

        Lanes leave spread over a quarter of the hold, so that they do not all return at once and
        are limited again.
        """
        while (left := self._not_before - self._clock.monotonic()) > 0:
            if self._not_before > deadline:
                return False
            await self._clock.sleep(left + self._jitter() * self._spread)
        return self._clock.monotonic() < deadline

    def hold(self, named: float | None) -> None:
        """Close the gate for `named` seconds, or for a growing time where none was named.

        However short the time that a server names, it grows while nothing succeeds at all:
        `Retry-After: 0` on every answer must not become a tight loop.
        """
        now = self._clock.monotonic()
        if now >= self._not_before:  # else an answer to a request sent before the gate closed
            self._waves += 1
        if named is None:
            wait = self._patience.wait(self._waves)
        else:
            wait = max(named, self._patience.wait(self._waves - 3))
        wait = min(wait, self._patience.longest_hold)
        if now + wait > self._not_before:
            self._not_before, self._spread = now + wait, wait / 4
            self.pace.restart(self._not_before)

    def passed(self) -> None:
        """Note that a request was answered: the next hold without a time starts short again."""
        self._waves = 0
        self._places.window.succeeded()

    def refused(self, sent_at: float) -> None:
        """Note that the endpoint has too much to do: fewer are sent at once from now on."""
        self._places.window.refused(sent_at, self._clock.monotonic())

    def learn(self, headers: Mapping[str, str]) -> None:
        """Take the pace that a response names, whatever its status."""
        self.pace.learn(headers, self._places.window.sent)


@dataclass(frozen=True, slots=True)
class Transport:
    """Sends a request until it is answered, given up or refused."""

    server: str
    """How messages call the other side: its host, never a whole address."""
    gate: Gate
    clock: Clock
    jitter: Callable[[], float]
    """A number from 0 up to 1, new at each call."""
    patience: Patience
    unreachable_hint: str

    async def reply_to(
        self,
        call: Call,
        send: Callable[[float], Awaitable[Reply]],
        fault_of: Callable[[Exception], Fault],
    ) -> Reply:
        """The reply that `deliver` gets, with the number of its requests; logs counts and times."""
        began = self.clock.monotonic()
        pace, characters = self.gate.pace, len(call.system) + len(call.user)
        tokens = pace.estimate(characters, call.output_tokens)
        reply, requests = await self.deliver(send, fault_of, tokens)
        pace.settle(tokens, characters, reply.usage)
        log.debug(
            "%s answered %s: %d requests, %.2f s, finish %s",
            self.server,
            call.caller,
            requests,
            self.clock.monotonic() - began,
            reply.finish,
        )
        return reply if requests == 1 else replace(reply, requests=reply.requests + requests - 1)

    async def deliver(
        self,
        send: Callable[[float], Awaitable[T]],
        fault_of: Callable[[Exception], Fault],
        tokens: int = 0,
    ) -> tuple[T, int]:
        """What `send` returned, and how many requests that took.

        `send` is given the seconds that are left for the whole call. Its errors of ours pass
        through; foreign ones are what `fault_of` says. `tokens` is what a request counts for
        under a limit for tokens.

        Raises:
            StillWorking: the budget or the deadline is used up.
            NeverStarted: no server was ever reached.
            EngineError: whatever `fault_of` called final.
        """
        gate, meter = self.gate, METER.get()
        lost: list[Lost] = []
        requests = 0
        cause: Exception | None = None
        until = await gate.enter(self.clock.monotonic() + self.patience.deadline, tokens)
        while until is not None:
            requests += 1
            began = self.clock.monotonic()
            try:
                value = await send(until - began)
                gate.passed()
            except EngineError:
                raise
            except Exception as error:  # noqa: BLE001 - foreign code; every class of it is mapped
                fault, cause = fault_of(error), error
            else:
                return value, requests
            finally:
                gate.leave()
            await self._after(fault, began, lost, requests, cause, meter)
            until = await gate.enter(until, tokens)
        raise self._out_of_time(lost, requests) from cause

    async def _after(
        self,
        fault: Fault,
        began: float,
        lost: list[Lost],
        requests: int,
        cause: Exception,
        meter: Meter | None,
    ) -> None:
        """Wait for another try, or give up."""
        match fault:
            case Final(ours):
                raise ours from cause
            case RateLimited(retry_after=named):
                if meter:
                    meter.failed(maybe_paid=False)
                self.gate.hold(named)
                self.gate.refused(began)
            case Lost():
                if meter:
                    meter.failed(maybe_paid=fault.maybe_paid)
                lost.append(fault)
                if fault.status in _OVERLOADED:
                    self.gate.refused(began)
                await self._after_loss(lost, requests, cause)
        if meter:
            await meter.again()

    async def _after_loss(self, lost: list[Lost], requests: int, cause: Exception) -> None:
        """Wait for another try, or give up."""
        if len(lost) >= self.patience.budget:
            raise self._given_up(lost, requests) from cause
        named = lost[-1].retry_after
        if named is not None:
            self.gate.hold(named)
        else:
            await self.clock.sleep(self.patience.wait(len(lost)) * (1 - self.jitter() / 4))

    def _given_up(self, lost: list[Lost], requests: int) -> EngineError:
        if not any(fault.reached for fault in lost):
            return NeverStarted(
                f"no server answers at {self.server} ({_counted(requests)})",
                hint=self.unreachable_hint,
            )
        return StillWorking(
            f"{self.server} gave no answer in {_counted(requests)}; the last one: {lost[-1].what}",
            hint="try again later",
            status=lost[-1].status,
        )

    def _out_of_time(self, lost: list[Lost], requests: int) -> StillWorking:
        limit = f"the {self.patience.deadline:g} s of a call"
        if requests > len(lost) or not requests:
            return StillWorking(
                f"{self.server} kept limiting the rate beyond {limit} ({_counted(requests)})",
                hint="try again later, or with fewer calls at once",
                status=429,
            )
        return StillWorking(
            f"{self.server} gave no answer within {limit} ({_counted(requests)});"
            f" the last one: {lost[-1].what}",
            hint="try again later",
            status=lost[-1].status,
        )


def _counted(requests: int) -> str:
    return "1 request" if requests == 1 else f"{requests} requests"
