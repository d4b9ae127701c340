"""How fast requests to one endpoint may follow each other, and how many may be on the way at once.

Decisions only: every method takes the time as an argument and none of them waits. The user's rates
count, and those that the endpoint names in `x-ratelimit-*` headers; the lower one holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from repurpose.core.call import Usage
from repurpose.core.waiting import number_in, seconds_in
from repurpose.errors import UsageError

__all__ = ["Pace", "Window"]

_SHARE = 0.97
"""Of a rate that an endpoint names: a little slower is never refused, and costs less than that."""
_CATCH_UP = 0.1
"""Seconds that may be made up for after nobody wanted to send: loops wake a little late."""
_LONG_RESET = 60.0
"""A limit that needs longer to refill holds for an hour or a day, not for a minute."""
_FIRST_AT_ONCE = 8
"""Requests before the first answer: enough for a run by hand, too few to be refused together."""
_KINDS = ("requests", "tokens")
_LIMITS = tuple(f"x-ratelimit-limit-{kind}" for kind in _KINDS)
_CHARACTERS = 4
"""In a token, until a reply says how many there are."""
_REPLY_TOKENS = 700
"""What a reply without a budget is taken for."""
_LEARNING = 0.2
"""How much one reply changes what is known of a token's length."""


class Pace:
    """When the next request may be sent, under limits for requests and tokens a minute.

    A request that is let go delays those after it by as long as its part of the limit takes to
    refill. So no burst is sent, any size of request passes at last, and what lanes are told is
    their own moment: they need not be woken to compete for it.
    """

    def __init__(self, rpm: float | None = None, tpm: float | None = None) -> None:
        """Raises UsageError where a rate is no number above 0."""
        for rate in (rpm, tpm):
            if rate is not None and not 0 < rate < math.inf:
                raise UsageError("rpm and tpm must be numbers above 0")
        self._requests = _Rate(rpm)
        self._tokens = _Rate(tpm)
        self._length = 1 / _CHARACTERS
        self.era = 0
        """Raised by each hold: moments that were given before it no longer count."""

    def moment(self, now: float, tokens: int) -> float:
        """When a request of so many tokens may be sent, taken for it; `now` for at once."""
        at = max(self._requests.free(now), self._tokens.free(now))
        self._requests.take(at, 1)
        self._tokens.take(at, tokens)
        return max(at, now)

    def restart(self, at: float) -> None:
        """Give no moment before `at`, and take back those that were given and not used."""
        self.era += 1
        self._requests.restart(at)
        self._tokens.restart(at)

    def estimate(self, characters: int, output_tokens: int | None) -> int:
        """The tokens that a request is taken for before its usage is known; 0 without a limit."""
        if not self._tokens.limited:
            return 0
        return math.ceil(characters * self._length) + (output_tokens or _REPLY_TOKENS)

    def settle(self, estimated: int, characters: int, usage: Usage) -> None:
        """Correct a request's part of the limit by what its usage says, and later estimates."""
        prompt, reply = usage.prompt_tokens, usage.completion_tokens
        if not estimated or prompt is None or reply is None or not characters:
            return
        self._tokens.correct(prompt + reply - estimated)
        self._length += _LEARNING * (prompt / characters - self._length)

    def learn(self, headers: Mapping[str, str], on_the_way: int) -> bool:
        """Take the limits that a response names; whether it names any.

        Limits are for a minute, as OpenAI's are. One that takes longer to refill (Groq's requests
        are for a day) sets no pace until what remains of it is about to be used up. Header names
        are looked up in lower case.
        """
        named = False
        for name, rate, kind in zip(_LIMITS, (self._requests, self._tokens), _KINDS, strict=True):
            limit = number_in(headers.get(name))
            if limit:
                named = True
                remaining = number_in(headers.get(f"x-ratelimit-remaining-{kind}"))
                per_second = limit / 60
                if remaining is not None and remaining <= on_the_way:
                    reset = seconds_in(headers.get(f"x-ratelimit-reset-{kind}"))
                    per_second = _refill(limit, remaining, reset)
                rate.learn(per_second)
        return named


def _refill(limit: float, remaining: float, reset: float | None) -> float:
    """The rate at which a limit refills, a second.

    >>> _refill(1800, 0, 60.0), round(_refill(14_400, 0, 86_400), 3)
    (30.0, 0.167)
    """
    if reset is None or reset <= _LONG_RESET:
        return limit / 60
    return min(limit / 60, (limit - remaining) / reset)


class _Rate:
    """One limit: so many units a second, at most."""

    def __init__(self, per_minute: float | None) -> None:
        self._own = math.inf if per_minute is None else per_minute / 60
        self._named = math.inf
        self._free = -math.inf

    @property
    def limited(self) -> bool:
        return self._rate < math.inf

    @property
    def _rate(self) -> float:
        return min(self._own, self._named)

    def free(self, now: float) -> float:
        """When what was taken has been refilled; a little in the past after a pause."""
        return max(self._free, now - _CATCH_UP)

    def take(self, at: float, units: float) -> None:
        self._free = at + units / self._rate

    def correct(self, units: float) -> None:
        self._free += units / self._rate

    def restart(self, at: float) -> None:
        self._free = at

    def learn(self, per_second: float) -> None:
        self._named = _SHARE * per_second


class Window:
    """How many requests may be on the way at once: halved by refusals, widened by successes.

    Opens with the first answer, since nothing is known against it then; how many lanes there are
    bounds it from above. After a refusal, one window of successes brings it back to three quarters
    of where it was: a stray refusal costs little. From there each adds one, so that an endpoint
    with a limit of its own is asked for too much seldom.
    """

    def __init__(self) -> None:
        self._size: float = _FIRST_AT_ONCE
        self._is_open = False
        self._top = 0.0
        self._halved_at = -math.inf
        self.sent = 0
        """Requests that wait for their answer."""

    def admits(self, inside: int) -> bool:
        """Whether there is room for one more beside those that were let in."""
        return inside + 1 <= self._size

    def succeeded(self) -> None:
        """Widen it by this success's part of a window."""
        if not self._is_open:
            self._size, self._is_open = math.inf, True
        elif self._size < self._top * 3 / 4:
            self._size += max(1.0, self._top / 4) / self._size
        else:
            self._size += 1 / self._size

    def refused(self, sent_at: float, now: float) -> None:
        """Halve what is on the way, once for all requests that were sent before the last time.

        `sent` no longer counts the refused one.
        """
        if sent_at >= self._halved_at:
            self._top = min(self._size, self.sent + 1)
            self._size = max(1.0, self._top // 2)
            self._is_open = True
            self._halved_at = now
