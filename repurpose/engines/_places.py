"""The line before an endpoint: who may be on the way at once, first come, first served."""

from __future__ import annotations

import asyncio
from collections import deque

from repurpose.engines._pace import Window

__all__ = ["Places"]


class Places:
    """Places for requests on the way, as many as the window has."""

    def __init__(self) -> None:
        self.window = Window()
        self.taken = 0
        """By requests that are on the way, and by those that wait for their moment."""
        self._line: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """Wait for a place."""
        if not self._line and self.window.admits(self.taken):
            self.taken += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._line:
                self._line.remove(turn)
            else:  # its turn had come at the same moment
                self.give_back()
            raise

    def give_back(self) -> None:
        """Leave a place to the next one, or to as many as there is room for now."""
        self.taken -= 1
        while self._line and self.window.admits(self.taken):
            self.taken += 1
            turn = self._line.popleft()
            if not turn.cancelled():
                turn.set_result(None)
