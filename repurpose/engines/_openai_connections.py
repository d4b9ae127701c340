"""The openai client, one for each event loop, without retries and without its prompt log."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import cache

import httpx2
import openai

__all__ = ["Connections"]

_CONNECT_SECONDS = 10.0
"""For a connection to be made; a server that is there takes a fraction of it."""


class Connections:
    """One client for each event loop, closed with it: a connection cannot outlive its loop."""

    def __init__(self, url: str, api_key: str | None) -> None:
        self._url = url
        self._api_key = api_key
        self._open: dict[asyncio.AbstractEventLoop, _Open] = {}

    async def client(self) -> openai.AsyncOpenAI:
        """The client of the running loop, made at its first call."""
        loop = asyncio.get_running_loop()
        known = self._open.get(loop)
        if known is not None:
            return known.client
        client = self._made()
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
        self, loop: asyncio.AbstractEventLoop, client: openai.AsyncOpenAI
    ) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._open.pop(loop, None)
            await client.close()

    def _made(self) -> openai.AsyncOpenAI:
        for name in ("openai", "httpx2"):
            _quieten(name)
        return openai.AsyncOpenAI(
            api_key=self._api_key or "none",
            base_url=self._url,
            max_retries=0,
            # The total is `asyncio.timeout`'s; redirects could carry a prompt to another host.
            timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
            http_client=openai.DefaultAioHttpClient(
                timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
                follow_redirects=False,
                verify=_certificates(),
            ),
        )


@dataclass(frozen=True, slots=True)
class _Open:
    """A client in use, and what closes it."""

    client: openai.AsyncOpenAI
    lifetime: AsyncGenerator[None, None]


@cache
def _certificates() -> ssl.SSLContext:
    """Who is trusted; reading the system's store costs more than ten completions, so once."""
    return httpx2.create_ssl_context()


def _quieten(name: str) -> None:
    """Keep a library's own request logs off, unless somebody turned them on by name.

    The client logs whole prompts at level debug, so a root logger at debug would publish them.
    """
    logger = logging.getLogger(name)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
