"""How long a call is tried, and what a failed request means for the next one."""

from __future__ import annotations

from dataclasses import dataclass

from repurpose.errors import EngineError

__all__ = ["Fault", "Final", "Lost", "Patience", "RateLimited"]


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

    @property
    def maybe_paid(self) -> bool:
        """Whether the server may have done the work: it was reached and did not refuse."""
        return self.reached and self.status is None


@dataclass(frozen=True, slots=True)
class Final:
    """Sending it again would change nothing."""

    error: EngineError


Fault = RateLimited | Lost | Final
"""What a foreign exception means for the next step."""
