"""How requests reach an endpoint: each once, on a connection of its own, and no redirect followed.

What is true here: headers that hold secrets go to the endpoint's own address and nowhere else, no
exception of the transport leaves this module with its own text, and nothing here is logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from repurpose import __version__
from repurpose.core.exchange import Request, Response, WireError
from repurpose.engines._per_loop import PerLoop
from repurpose.engines._sessions import new_session
from repurpose.errors import BrokenReply, UsageError
from repurpose.ports.endpoints import Streaming

__all__ = ["MOST_BYTES", "HttpWire"]

MOST_BYTES = 16 * 1024 * 1024
"""The largest answer that is taken, unpacked; a text that we asked for has a thousandth of it."""


class HttpWire:
    """A `ports.endpoints.Wire` over HTTP/1.1, to the server at one address.

    `headers` are sent with every request, over those that the request brings itself; they are
    ready to be sent, and never shown. Sessions are opened at the first request in an event loop
    and closed with it, or by `close`.

    Raises:
        UsageError: it is no http or https address, or a header cannot be one.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str] | None = None) -> None:
        self._origin = _origin_of(base_url)
        self._headers = CIMultiDict(headers or {})
        for name, value in self._headers.items():
            if not (value.isprintable() and value.isascii()):
                raise UsageError(f"header {name} holds a character that no header has")
        authority = self._origin.authority
        self.server = authority
        """Host and port, for messages."""
        self._sessions = PerLoop(
            lambda: new_session(base_url, {"User-Agent": f"repurpose/{__version__}"}, reused=False),
            aiohttp.ClientSession.close,
        )

    def __repr__(self) -> str:
        return f"HttpWire({self.server!r})"

    async def send(self, request: Request, timeout: float) -> Response:  # noqa: ASYNC109 - a promise of the port
        """The response with its whole body.

        Raises:
            WireError: none came.
            TimeoutError: none came in time.
            BrokenReply: it is larger than 16 MiB.
        """
        async with self.stream(request, timeout) as coming:
            body = b"".join([piece async for piece in coming.chunks()])
            return Response(coming.status, coming.headers, body)

    @asynccontextmanager
    async def stream(
        self,
        request: Request,
        timeout: float,  # noqa: ASYNC109 - a promise of the port
    ) -> AsyncIterator[Streaming]:
        """The response as soon as its head is there; its connection is closed on the way out.

        Raises:
            WireError: none came.
            TimeoutError: it did not come in time, the time of whoever reads it included.
        """
        async with asyncio.timeout(timeout):
            response = await self._head(request)
            try:
                yield _Coming(response, self.server)
            finally:
                # It may have more to say; a connection that is given back is read to its end.
                response.close()

    async def close(self) -> None:
        """Let go of the running event loop's session."""
        await self._sessions.close()

    async def _head(self, request: Request) -> aiohttp.ClientResponse:
        with _told(self.server, reached=False):
            url = _exactly(request.url)
            if url.origin() != self._origin:
                raise WireError(f"{self.server} is not where this request would go")
            session = await self._sessions.client()
            headers = CIMultiDict(request.headers)
            headers.update(self._headers)
            return await session.request(
                request.method, url, data=request.body, headers=headers, allow_redirects=False
            )


@dataclass(frozen=True, slots=True)
class _Coming:
    """A response whose head has come."""

    _response: aiohttp.ClientResponse = field(repr=False)
    _server: str

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return {name.lower(): value for name, value in self._response.headers.items()}

    async def chunks(self) -> AsyncIterator[bytes]:
        size = 0
        pieces = self._response.content.iter_any()
        while True:
            with _told(self._server, reached=True):
                piece = await anext(pieces, None)
            if piece is None:
                return
            size += len(piece)
            if size > MOST_BYTES:
                raise BrokenReply(
                    f"{self._server} answered more than {MOST_BYTES // 2**20} MiB",
                    status=self.status,
                )
            yield piece


@contextmanager
def _told(server: str, *, reached: bool) -> Iterator[None]:
    """Whatever the transport raises, as a `WireError` in our words; our own pass as they are."""
    try:
        yield
    except TimeoutError as fault:
        if not isinstance(fault, aiohttp.ClientError):
            raise  # the caller's own time is over
        raise WireError(f"no connection to {server}") from None
    except (aiohttp.ClientError, OSError, ValueError) as fault:
        words, reached = _words(fault, server, reached=reached)
        raise WireError(words, reached=reached) from None


def _words(fault: Exception, server: str, *, reached: bool) -> tuple[str, bool]:
    """What happened, and whether the server may have begun to work."""
    match fault:
        case aiohttp.ClientConnectorCertificateError():
            return f"the certificate of {server} cannot be verified", False
        case aiohttp.ClientConnectorError():
            return f"no connection to {server}", False
        case aiohttp.InvalidURL():
            return f"the address of the request to {server} cannot be used", False
        case aiohttp.ClientResponseError():
            return f"{server} does not answer in HTTP", True
        case aiohttp.ClientError() | OSError():
            return f"the connection to {server} was lost", True
        case _:  # a header or a method that cannot be written
            return f"the request to {server} cannot be written", reached


def _origin_of(base_url: str) -> URL:
    try:
        url = URL(base_url)
        if url.scheme in ("http", "https") and url.host:
            return url.origin()
    except ValueError:
        pass
    raise UsageError(
        "the address of an endpoint cannot be used",
        hint="base_url begins with http:// or https:// and a name",
    )


def _exactly(url: str) -> URL:
    """The address as it stands: what is percent-encoded in it stays so."""
    return URL(url, encoded=url.isascii() and url.isprintable() and " " not in url)
