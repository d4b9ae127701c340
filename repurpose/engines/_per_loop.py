"""What every SDK needs of us: one client for each event loop, and no log of prompts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["PerLoop", "quieten"]

ClientT = TypeVar("ClientT")


class PerLoop(Generic[ClientT]):
    """One client for each event loop, closed with it: a connection cannot outlive its loop."""

    def __init__(
        self, make: Callable[[], ClientT], close: Callable[[ClientT], Awaitable[None]]
    ) -> None:
        self._make = make
        self._close = close
        self._open: dict[asyncio.AbstractEventLoop, _Open[ClientT]] = {}

    async def client(self) -> ClientT:
        """The client of the running loop, made at its first call."""
        loop = asyncio.get_running_loop()
        known = self._open.get(loop)
        if known is not None:
            return known.client
        client = self._make()
        # The loop closes its unfinished generators when it ends, and this one closes the client.
        lifetime = self._lifetime(loop, client)
        self._open[loop] = _Open(client, lifetime)
        await anext(lifetime)
        return client

    async def close(self) -> None:
        """Close the connections of the running loop; a later call opens new ones."""
        known = self._open.get(asyncio.get_running_loop())
        if known is not None:
            await known.lifetime.aclose()

    async def _lifetime(
        self, loop: asyncio.AbstractEventLoop, client: ClientT
    ) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._open.pop(loop, None)
            await self._close(client)


@dataclass(frozen=True, slots=True)
class _Open(Generic[ClientT]):
    """A client in use, and what closes it."""

    client: ClientT
    lifetime: AsyncGenerator[None, None]


def quieten(*names: str) -> None:
    """Keep these libraries' own request logs off, unless somebody turned them on by name.

    SDKs log whole prompts at level debug, so a root logger at debug would publish them.
    """
    for name in names:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
