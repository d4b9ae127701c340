"""How requests reach a server: one session for each event loop, without retries and redirects.

It is aiohttp's and not the openai client's: a request through that client takes three times the
processor time, and to load it most of a second. What people set for that client in their
environment is honoured here: proxies, certificates, organization, project and further headers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict

from repurpose import __version__
from repurpose.engines._per_loop import PerLoop
from repurpose.engines._sessions import new_session

__all__ = ["StatusError", "sessions"]

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


def sessions(
    url: str, api_key: str | None, *, is_openai: bool, reused: bool = True
) -> PerLoop[aiohttp.ClientSession]:
    """Sessions for the server at `url`, one for each event loop.

    Only OpenAI itself is told the organization and the project. Without `reused`, each request has
    a connection of its own.
    """

    def made() -> aiohttp.ClientSession:
        return new_session(url, _headers(url, api_key, is_openai=is_openai), reused=reused)

    return PerLoop(made, aiohttp.ClientSession.close)


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
