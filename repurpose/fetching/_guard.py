"""Connections that go where they were checked to go, and end when their time is up.

A name is resolved once for each connection. All that it resolves to is checked, and the
connection goes to an address that was checked, so no second answer of a name server counts.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import httpcore2

from repurpose.fetching.addresses import why_refused

__all__ = [
    "Backend",
    "BlockedError",
    "Connect",
    "Resolve",
    "connected",
    "resolved",
    "until",
    "within",
]

Resolve = Callable[[str, int], Sequence[str]]
"""From host and port to addresses; raises OSError where there are none."""
Connect = Callable[[str, int, float], httpcore2.NetworkStream]
"""A stream to an address and a port, within so many seconds."""

# Of the request that is made in this thread: a connection outlives the request it was opened for.
_deadline: ContextVar[float] = ContextVar("deadline")


class BlockedError(Exception):
    """An address that may not be asked; `str()` says what kind of address it is."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """A time in which every step of a request, from the name on, has to end."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def until() -> float:
    """The seconds that are left, above 0.

    Raises:
        httpcore2.ReadTimeout: none.
    """
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout
    return left


def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of `host` as this system tells them, in its order of preference."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def connected(address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
    """A stream over TCP; `address` is a number, so nothing is resolved again."""
    return httpcore2.SyncBackend().connect_tcp(address, port, timeout=seconds, socket_options=())


class Backend(httpcore2.NetworkBackend):
    """What a connection pool opens its connections with."""

    def __init__(self, resolve: Resolve, connect: Connect, *, guarded: bool) -> None:
        self._resolve = resolve
        self._connect = connect
        self._guarded = guarded

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """A stream to the first address of `host` that answers.

        Raises:
            BlockedError: one of its addresses may not be asked.
            OSError: the name is not known.
        """
        addresses = self._addresses(host, port)
        for place, address in enumerate(addresses):
            seconds = until() / (len(addresses) - place)  # one that never answers leaves time
            try:
                return _Stream(self._connect(address, port, seconds))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if place == len(addresses) - 1:
                    raise
        raise socket.gaierror(socket.EAI_NONAME, "no addresses")

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Never: no address names such a socket."""
        raise NotImplementedError

    def _addresses(self, host: str, port: int) -> Sequence[str]:
        addresses = _timely(lambda: self._resolve(host, port))
        if self._guarded:
            for address in addresses:
                refused = why_refused(address)
                if refused is not None:
                    raise BlockedError(refused)
        return addresses


class _Stream(httpcore2.NetworkStream):
    """A stream whose every step is limited by the time of the request it serves."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=until())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=until())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout=until()))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _timely(resolve: Callable[[], Sequence[str]]) -> Sequence[str]:
    """What `resolve` gives, within the time: a name server may let a thread wait for minutes."""
    ended: list[Sequence[str] | OSError] = []

    def work() -> None:
        try:
            ended.append(resolve())
        except UnicodeError:  # a part of the name is longer than names may be
            ended.append(socket.gaierror(socket.EAI_NONAME, "not a name"))
        except OSError as fault:
            ended.append(fault)

    # A daemon, since nothing can stop it and nobody waits for it at the end.
    thread = threading.Thread(target=work, name="resolver", daemon=True)
    thread.start()
    thread.join(until())
    if not ended:
        raise httpcore2.ConnectTimeout
    if isinstance(ended[0], OSError):
        raise ended[0]
    return ended[0]
