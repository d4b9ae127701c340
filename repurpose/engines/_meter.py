"""Where a transport tells of each request that failed, for whoever pays for them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

__all__ = ["METER", "Meter"]


class Meter(Protocol):
    """Follows the requests of one call; the first one is sent without asking."""

    def failed(self, *, maybe_paid: bool) -> None:
        """A request brought no answer; whether it may have to be paid all the same."""

    async def again(self) -> None:
        """Wait until one more request may be sent; raises `EngineError` where none may be."""


METER: ContextVar[Meter | None] = ContextVar("meter", default=None)
"""What follows the call that is being answered here, if anything does."""
