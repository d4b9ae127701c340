"""Requests of httpx2 over a connection pool of ours, since httpx2's own transport makes its own."""

from __future__ import annotations

from collections.abc import Iterator

import httpcore2
import httpx2

from repurpose.errors import UsageError
from repurpose.fetching.showing import shown_address

__all__ = ["Transport", "proxy_at"]


class Transport(httpx2.BaseTransport):
    """Sends a request through a pool."""

    def __init__(self, pool: httpcore2.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, as far as its headers."""
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        answer = self._pool.handle_request(
            httpcore2.Request(request.method, url, headers=request.headers.raw)
        )
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,
            request=request,
        )


class _Body(httpx2.SyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def proxy_at(address: str) -> httpcore2.Proxy:
    """The proxy at an http or https address, which may hold user and password.

    Raises:
        UsageError: it is no such address.
    """
    try:
        url: httpx2.URL | None = httpx2.URL(address.strip())
    except httpx2.InvalidURL:
        url = None
    if url is None or url.scheme not in ("http", "https") or not url.host:
        raise UsageError(
            f"--proxy {shown_address(address)} is no address of a proxy",
            hint="give one such as http://proxy.example:3128",
        )
    return httpcore2.Proxy(
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=b"/"),
        auth=(url.username.encode(), url.password.encode()) if url.userinfo else None,
    )
