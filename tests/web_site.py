"""A site on loopback, and names that lead to it or to where nobody may go."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpcore2
import pytest

from repurpose.fetching._guard import connected
from repurpose.fetching.web import Web

PUBLIC = "93.184.215.14"
"""An address that may be asked; in tests every connection to it goes to the site on loopback."""


@dataclass
class Page:
    """What the site answers at one path."""

    content: bytes = b"<p>Hello"
    type: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    serve: Callable[[BaseHTTPRequestHandler], None] | None = None
    """Instead of all else."""


class Site:
    """A server on loopback whose pages are a table, and the requests it was sent."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.ended = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else a kept connection waits 40 ms for each page

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                site.asked.append((self.path, headers))
                page = site.pages.get(self.path, Page(b"", None, 404))
                if page.serve is not None:
                    page.serve(self)
                    return
                self.send_response(page.status)
                if page.type is not None:
                    self.send_header("Content-Type", page.type)
                for name, value in page.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(page.content)))
                self.end_headers()
                self.wfile.write(page.content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # readers leave
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    running = Site()
    yield running
    running.close()


class Names:
    """A name server that knows what it is told, and a network that goes nowhere but to the site."""

    def __init__(self, site: Site) -> None:
        self.known: dict[str, list[str]] = {"site.example": [PUBLIC]}
        self.resolved: list[str] = []
        self.connected: list[tuple[str, int]] = []
        self._site = site

    def resolve(self, host: str, port: int) -> list[str]:
        self.resolved.append(host)
        if host not in self.known:
            raise OSError("unknown")
        return self.known[host]

    def connect(self, address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
        self.connected.append((address, port))
        assert address == PUBLIC, f"a connection to {address} was tried"
        return connected("127.0.0.1", self._site.port, seconds)


@pytest.fixture
def names(site: Site) -> Names:
    return Names(site)


@pytest.fixture
def web(names: Names, tls: ssl.SSLContext) -> Iterator[Web]:
    """The web as a user has it, but for where names and connections lead."""
    with Web(resolve=names.resolve, connect=names.connect, tls=tls) as opened:
        yield opened


@pytest.fixture(scope="session")
def tls() -> ssl.SSLContext:
    """Trusts nobody; made once, since reading a system's certificates takes a while."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
