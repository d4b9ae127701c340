"""How requests reach a server: one session for each event loop, without retries and redirects.

It is aiohttp's and not the openai client's: a request through that client takes three times the
processor time, and to load it most of a second. What people set for that client in their
environment is honoured here: proxies, certificates, organization, project and further headers.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDict

from repurpose import __version__
from repurpose.engines._per_loop import PerLoop

__all__ = ["StatusError", "sessions"]

_CONNECT_SECONDS = 10.0
"""For a connection to be made; a server that is there takes a fraction of it."""
_MOST_CONNECTIONS = 1000
"""At once, as the openai client has it; the lanes of a run stay far below."""
_IDLE_SECONDS = 5.0
"""A connection is kept for the next request; servers close theirs after as much as that."""
_OPENAI_ONLY = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}


class StatusError(Exception):
    """A status that is no success, with what can be read of its reply."""

    def __init__(self, status: int, headers: Mapping[str, str], body: object) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.headers = headers
        """Names are looked up in lower case."""
        self.body = body
        """The error object, or a text where the server sent something else."""


def sessions(url: str, api_key: str | None, *, is_openai: bool) -> PerLoop[aiohttp.ClientSession]:
    """Sessions for the server at `url`, one for each event loop.

    Only OpenAI itself is told the organization and the project.
    """
    return PerLoop(lambda: _made(url, api_key, is_openai=is_openai), aiohttp.ClientSession.close)


def _made(url: str, api_key: str | None, *, is_openai: bool) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=_MOST_CONNECTIONS,
            keepalive_timeout=_IDLE_SECONDS,
            ssl=_certificates() if url.startswith("https:") else True,
        ),
        headers=_headers(url, api_key, is_openai=is_openai),
        proxy=_proxy(url),
        # The total is `asyncio.timeout`'s.
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
    )


def _headers(url: str, api_key: str | None, *, is_openai: bool) -> CIMultiDict[str]:
    """What every request to `url` says."""
    headers = CIMultiDict(_custom())
    headers["Accept"] = headers["Content-Type"] = "application/json"
    headers["User-Agent"] = f"repurpose/{__version__}"
    if api_key and "@" not in urlsplit(url).netloc:  # else the address holds what to say
        headers["Authorization"] = f"Bearer {api_key}"
    for name, variable in _OPENAI_ONLY.items() if is_openai else ():
        if os.environ.get(variable):
            headers[name] = os.environ[variable]
    return headers


def _custom() -> dict[str, str]:
    """The headers in OPENAI_CUSTOM_HEADERS, one on each line, as the openai client reads them."""
    lines = (
        line.partition(":") for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    )
    return {name.strip(): value.strip() for name, colon, value in lines if colon}


def _proxy(url: str) -> str | None:
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
def _certificates() -> ssl.SSLContext:
    """Who is trusted; reading the system's store costs more than ten completions, so once."""
    # Knows where each system keeps it, and SSL_CERT_FILE. A server without TLS needs none of it.
    from httpx2 import create_ssl_context  # noqa: PLC0415 - see above

    return create_ssl_context()
