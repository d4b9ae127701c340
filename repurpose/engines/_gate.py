"""When a request may be sent, and how often it may fail: one gate for each endpoint.

A rate limit concerns everybody who talks to an endpoint, so it closes one gate for all lanes. A
lost connection concerns one request, so it has a budget of its own. Both end at the deadline of
the call, and neither is ever told to a model.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from repurpose.core.call import Call, Reply
from repurpose.errors import EngineError, NeverStarted, StillWorking
from repurpose.ports import Clock

__all__ = ["Fault", "Final", "Gate", "Lost", "Patience", "RateLimited", "Transport", "retry_after"]

T = TypeVar("T")

log = logging.getLogger(__name__)

_LONGEST_NUMBER = 32
"""Characters of a number in a header; a longer one is an attack, not a waiting time."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long one call is tried; all times in seconds."""

    budget: int = 4
    """Requests that may fail on the way. Rate limits do not count."""
    first_wait: float = 0.5
    """Before the second request; doubled for each further one."""
    longest_wait: float = 8.0
    """What doubling stops at: the bounds of the openai client, which servers are used to."""
    longest_hold: float = 120.0
    """The most of a `Retry-After` that is honoured; after it the server is asked again."""
    deadline: float = 600.0
    """For the whole call, with every wait in it."""

    def wait(self, failures: int) -> float:
        """How long to wait after so many failures in a row; below 1 it goes on halving."""
        return min(self.longest_wait, self.first_wait * 2.0 ** min(failures - 1, 10))


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Too many requests: nobody may send before the named time."""

    status: int = 429
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """The request failed in a way that may pass."""

    what: str
    """In our own words, for the message: `status 503`, `the connection was lost`."""
    status: int | None = None
    retry_after: float | None = None
    reached: bool = True
    """Whether there was a server at all."""


@dataclass(frozen=True, slots=True)
class Final:
    """Sending it again would change nothing."""

    error: EngineError


Fault = RateLimited | Lost | Final
"""What a foreign exception means for the next step."""


class Gate:
    """Holds every lane of one endpoint back until the time that the endpoint named.

    It knows times only, no event loop, so it outlives the loop that it was first used in.
    """

    def __init__(self, clock: Clock, jitter: Callable[[], float], patience: Patience) -> None:
        self._clock = clock
        self._jitter = jitter
        self._patience = patience
        self._not_before = -math.inf
        self._spread = 0.0
        self._waves = 0

    async def enter(self, deadline: float) -> bool:
        """Whether a request may be sent; waits for that, but not beyond `deadline`.

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

    def passed(self) -> None:
        """Note that a request was answered: the next hold without a time starts short again."""
        self._waves = 0


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
        reply, requests = await self.deliver(send, fault_of)
        log.debug(
            "%s answered %s: %d requests, %.2f s, finish %s",
            self.server,
            call.caller,
            requests,
            self.clock.monotonic() - began,
            reply.finish,
        )
        return replace(reply, requests=requests)

    async def deliver(
        self, send: Callable[[float], Awaitable[T]], fault_of: Callable[[Exception], Fault]
    ) -> tuple[T, int]:
        """What `send` returned, and how many requests that took.

        `send` is given the seconds that are left for the whole call. Its errors of ours pass
        through; foreign ones are what `fault_of` says.

        Raises:
            StillWorking: the budget or the deadline is used up.
            NeverStarted: no server was ever reached.
            EngineError: whatever `fault_of` called final.
        """
        deadline = self.clock.monotonic() + self.patience.deadline
        lost: list[Lost] = []
        requests = 0
        cause: Exception | None = None
        while await self.gate.enter(deadline):
            requests += 1
            try:
                value = await send(deadline - self.clock.monotonic())
            except EngineError:
                raise
            except Exception as error:  # noqa: BLE001 - foreign code; every class of it is mapped
                fault, cause = fault_of(error), error
            else:
                self.gate.passed()
                return value, requests
            match fault:
                case Final(ours):
                    raise ours from cause
                case RateLimited(retry_after=named):
                    self.gate.hold(named)
                case Lost():
                    lost.append(fault)
                    await self._after_loss(lost, requests, cause)
        raise self._out_of_time(lost, requests) from cause

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


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that a server asks to wait, or None where it names no time we understand.

    `retry-after-ms` (OpenAI's own) before `retry-after` in seconds or as a date (RFC 9110,
    10.2.3). A date in the past is 0. Header names are looked up in lower case.

    >>> midnight = datetime(2026, 1, 1, tzinfo=UTC)
    >>> retry_after({"retry-after": "1.5"}, midnight)
    1.5
    >>> retry_after({"retry-after": "Thu, 01 Jan 2026 00:00:20 GMT"}, midnight)
    20.0
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    named = headers.get("retry-after")
    seconds = _number(named)
    if seconds is not None or named is None:
        return seconds
    try:
        until = parsedate_to_datetime(named[:_LONGEST_NUMBER])
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())


def _number(text: str | None) -> float | None:
    """A finite number, not below 0; None where the text is none."""
    if text is None or len(text) > _LONGEST_NUMBER:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _counted(requests: int) -> str:
    return "1 request" if requests == 1 else f"{requests} requests"
