"""The openai client as we use it: without retries, redirects and its prompt log."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2
import openai

from repurpose.engines._per_loop import PerLoop, quieten

__all__ = ["connections"]

_CONNECT_SECONDS = 10.0
"""For a connection to be made; a server that is there takes a fraction of it."""


def connections(url: str, api_key: str | None) -> PerLoop[openai.AsyncOpenAI]:
    """Clients for the server at `url`, one for each event loop."""
    return PerLoop(lambda: _made(url, api_key), openai.AsyncOpenAI.close)


def _made(url: str, api_key: str | None) -> openai.AsyncOpenAI:
    quieten("openai", "httpx2")
    return openai.AsyncOpenAI(
        api_key=api_key or "none",
        base_url=url,
        max_retries=0,
        # The total is `asyncio.timeout`'s; redirects could carry a prompt to another host.
        timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
        http_client=openai.DefaultAioHttpClient(
            timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
            follow_redirects=False,
            verify=_certificates(),
        ),
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Who is trusted; reading the system's store costs more than ten completions, so once."""
    return httpx2.create_ssl_context()
