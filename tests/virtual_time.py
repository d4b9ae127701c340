"""An event loop in which waiting takes no time: its clock jumps to whatever comes next.

So a minute of many lanes, with every wait in it, is simulated in a fraction of a second, and comes
out the same each time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

__all__ = ["VirtualClock", "run_virtually"]

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Waits for nothing but the next timer, and tells the clock how long that would have been."""

    seconds = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise AssertionError("everybody waits, and nothing will ever happen")
        self.seconds += max(0.0, timeout)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.jumping = _Selector()
        super().__init__(self.jumping)

    def time(self) -> float:
        return self.jumping.seconds


class VirtualClock:
    """The clock of the loop that is running."""

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """The outcome of `work`, in virtual time."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)
