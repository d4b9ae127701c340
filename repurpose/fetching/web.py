"""One page at a time from the web: bounded in size, time and redirects, and guarded.

Every address that a name resolves to is checked when the connection to it is made, for each
redirect again. No cookie, proxy or certificate is taken from the environment.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Self

import httpcore2
import httpx2

from repurpose import __version__
from repurpose.errors import SourceError
from repurpose.fetching import _media
from repurpose.fetching._faults import FOREIGN, failed, refused_status
from repurpose.fetching._guard import (
    Backend,
    BlockedError,
    Connect,
    Resolve,
    connected,
    resolved,
    within,
)
from repurpose.fetching._transport import Transport, proxy_at
from repurpose.fetching.addresses import is_local_name, literal_address, why_refused
from repurpose.fetching.showing import shown_address

__all__ = ["PRODUCT", "Fetched", "Head", "Limits", "Web"]

PRODUCT = "repurpose"
"""What a robots.txt calls this program (RFC 9309, 2.2.1)."""
_AGENT = f"{PRODUCT}/{__version__} (+https://github.com/repurpose-text/repurpose)"
_HEADERS = {
    "User-Agent": _AGENT,
    "Accept": "text/html, application/xhtml+xml, text/markdown, text/*;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_ENCODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_PORTS = frozenset({80, 443})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OWN_NETWORK = "--allow-private loads from your own network"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the world one page may take."""

    seconds: float = 20.0
    """For all of it: names, connections, redirects and content."""
    content: int = 10_000_000
    """Bytes after decompression."""
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as its server sent it, decompressed."""

    url: str
    """Where it was found in the end, without user, password and fragment."""
    content: bytes
    media_type: str | None
    """In lower case, as declared."""
    charset: str | None
    """Likewise."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of an answer, whatever it is."""

    status: int
    content: bytes


class Web:
    """Asks for pages over HTTP, and for nothing in the network that it runs in.

    Private, loopback, link-local and other special addresses are refused, and so are ports but
    80 and 443, unless `allow_private`. With a `proxy` (an http or https address) the proxy
    resolves the names, so only addresses that are spelled out in numbers can be refused.
    Connections are kept for the next page until `close`.

    Raises:
        UsageError: `proxy` is no address of a proxy.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        proxy: str | None = None,
        limits: Limits = Limits(),
        resolve: Resolve = resolved,
        connect: Connect = connected,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.limits = limits
        self._allow_private = allow_private
        self._proxy = proxy_at(proxy) if proxy else None
        self._tls = tls
        guarded = self._proxy is None and not allow_private
        self._backend = Backend(resolve, connect, guarded=guarded)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are kept; a later page opens new ones."""
        if "_pool" in vars(self):  # else no page was asked for
            self._pool.close()

    def get(self, url: str) -> Fetched:
        """The page at `url`.

        Raises:
            SourceError: `fetch-failed`, `blocked-address`, `too-large`, or `unsupported` for a
                content that holds no text; the message is one line, without query or password.
        """
        where = shown_address(url)
        with self._answered(url, self.limits.seconds) as answer:
            response = answer.response
            if not response.is_success:
                raise refused_status(
                    where, response.status_code, response.headers.get("retry-after")
                )
            media_type, charset = _media.declared(response.headers.get("content-type"))
            wanted = _media.wanted(media_type)
            if wanted is False:
                raise _unsupported(where, media_type)
            content = self._content(response, where)
        path = answer.url.path
        if wanted is None and content and not _media.told_by_content(path, content):
            raise _unsupported(where, media_type)
        return Fetched(str(answer.url), content, media_type, charset)

    def head(self, url: str, size: int, seconds: float) -> Head:
        """Status and first `size` bytes of what is at `url`, of whatever type.

        Raises:
            SourceError: no answer came within `seconds`, or the address is refused.
        """
        with self._answered(url, seconds) as answer:
            content = bytearray()
            for chunk in answer.response.iter_bytes():
                content += chunk
                if len(content) >= size:
                    break
        return Head(answer.response.status_code, bytes(content[:size]))

    @contextmanager
    def _answered(self, url: str, seconds: float) -> Iterator[_Answer]:
        """The last answer after all redirects, its content not yet read."""
        where = shown_address(url)
        response: httpx2.Response | None = None
        try:
            with within(seconds):
                answer = self._followed(httpx2.URL(url.strip()), where)
                response = answer.response
                yield answer
        except BlockedError as refused:
            raise _blocked(where, str(refused)) from None
        except FOREIGN as fault:
            raise failed(where, fault, seconds) from None
        finally:
            if response is not None:
                response.close()

    def _followed(self, url: httpx2.URL, where: str) -> _Answer:
        credentials, first = _credentials(url), url
        for _ in range(self.limits.redirects + 1):
            self._check(url, where)
            own = credentials if _origin(url) == _origin(first) else {}
            url = url.copy_with(userinfo=b"", fragment=None)
            response = self._asked(url, own)
            target = response.headers.get("location")
            if response.status_code not in _REDIRECTS or not target:
                return _Answer(url, response)
            response.close()
            url = url.join(target)
        raise SourceError(
            "fetch-failed", f"{where}: redirects more than {self.limits.redirects} times"
        )

    def _asked(self, url: httpx2.URL, credentials: dict[str, str]) -> httpx2.Response:
        request = httpx2.Request("GET", url, headers={**_HEADERS, **credentials})
        return Transport(self._pool).handle_request(request)

    def _check(self, url: httpx2.URL, where: str) -> None:
        """Refuse what can be seen without asking a name server."""
        if url.scheme not in _DEFAULT_PORTS or not url.host:
            raise SourceError(
                "unsupported", f"{where}: only http and https addresses can be fetched"
            )
        if self._allow_private:
            return
        if (url.port or _DEFAULT_PORTS[url.scheme]) not in _PORTS:
            message = f"{where}: port {url.port} is neither 80 nor 443; {_OWN_NETWORK}"
            raise SourceError("blocked-address", message)
        host = url.raw_host.decode("ascii")
        literal = literal_address(host)
        refused = why_refused(literal) if literal else None
        if is_local_name(host):
            refused = "a loopback address"
        if refused:
            raise _blocked(where, refused)

    def _content(self, response: httpx2.Response, where: str) -> bytes:
        encodings = response.headers.get("content-encoding", "").lower().split(",")
        if not {one.strip() for one in encodings} <= _ENCODINGS:
            raise SourceError(
                "fetch-failed", f"{where}: compressed in a way that was not asked for"
            )
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > self.limits.content:
                size = f"{self.limits.content / 1_000_000:g} MB"
                raise SourceError("too-large", f"{where}: larger than {size}")
        return bytes(content)

    @cached_property
    def _pool(self) -> httpcore2.ConnectionPool:
        return httpcore2.ConnectionPool(
            ssl_context=self._tls or httpx2.create_ssl_context(trust_env=False),
            proxy=self._proxy,
            max_keepalive_connections=4,
            keepalive_expiry=30.0,
            network_backend=self._backend,
        )


@dataclass(frozen=True, slots=True)
class _Answer:
    url: httpx2.URL
    """Where it came from, after all redirects."""
    response: httpx2.Response


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or _DEFAULT_PORTS.get(url.scheme, 0)


def _credentials(url: httpx2.URL) -> dict[str, str]:
    """User and password of an address as a header, since the address itself may be logged."""
    if not url.userinfo:
        return {}
    pair = base64.b64encode(f"{url.username}:{url.password}".encode()).decode("ascii")
    return {"Authorization": f"Basic {pair}"}


def _blocked(where: str, what: str) -> SourceError:
    return SourceError("blocked-address", f"{where}: leads to {what}; {_OWN_NETWORK}")


def _unsupported(where: str, media_type: str | None) -> SourceError:
    what = media_type or "a content of no declared type"
    return SourceError("unsupported", f"{where}: {what} is no text that can be read")
