"""What every session of ours with a server has: the environment's proxy and certificates.

A session follows no redirect by itself and sends nothing twice; its total time is the caller's.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

__all__ = ["certificates", "new_session", "proxy_for"]

_CONNECT_SECONDS = 10.0
"""For a connection to be made; a server that is there takes a fraction of it."""
_MOST_CONNECTIONS = 1000
"""At once, as the openai client has it; the lanes of a run stay far below."""
_IDLE_SECONDS = 5.0
"""A connection is kept for the next request; servers close theirs after as much as that."""


def new_session(
    url: str, headers: Mapping[str, str], *, reused: bool = True
) -> aiohttp.ClientSession:
    """A session for the server at `url`, in the running event loop; whoever asks for it closes it.

    Without `reused`, every request has a connection of its own and no cookie is kept: a server may
    close a kept connection at the moment that a request goes out on it, and a request that must
    not be sent twice would be lost then.
    """
    connector = aiohttp.TCPConnector(
        limit=_MOST_CONNECTIONS,
        ssl=certificates() if url.startswith("https:") else True,
        **({"keepalive_timeout": _IDLE_SECONDS} if reused else {"force_close": True}),
    )
    return aiohttp.ClientSession(
        connector=connector,
        headers=headers,
        cookie_jar=None if reused else aiohttp.DummyCookieJar(),
        proxy=proxy_for(url),
        # The total is `asyncio.timeout`'s.
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
    )


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for `url`, if any.

    aiohttp would look for it too, but also for a password in a netrc file, unasked.
    """
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    known = getproxies()
    proxy = known.get(parts.scheme) or known.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


@cache
def certificates() -> ssl.SSLContext:
    """Who is trusted; reading the system's store costs more than ten completions, so once."""
    # Knows where each system keeps it, and SSL_CERT_FILE. A server without TLS needs none of it.
    from httpx2 import create_ssl_context  # noqa: PLC0415 - see above

    return create_ssl_context()
