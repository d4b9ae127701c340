"""Pages in a browser that remember every complaint, and a model that writes when it is let."""

from __future__ import annotations

import asyncio
import json
import queue
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from repurpose.core.call import Call, Reply
from repurpose.ports import Engine, Listener

PATIENCE = 10_000
"""Milliseconds that a page may take to show something."""


def section(page: Any, label: str) -> Any:
    """A section of the run page by its heading."""
    heading = page.get_by_role("heading", name=label, exact=True, level=2)
    return page.locator("article.section").filter(has=heading)


class Model:
    """A model that answers well at once, or piece by piece where a test holds a format."""

    def __init__(self, golden: Callable[[str], Any]) -> None:
        self.calls: list[Call] = []
        self.answers: dict[str, list[Any]] = {}
        """What a format is answered with next; a golden answer where nothing is left."""
        self._golden = golden
        self._held: dict[str, queue.Queue[str | None]] = {}

    def hold(self, format: str) -> Callable[..., None]:
        """Have a format's next answers written by what is returned: pieces, then None."""
        pieces = self._held[format] = queue.Queue()

        def write(*written: str | None) -> None:
            for piece in written:
                pieces.put(piece)

        return write

    def release(self, format: str) -> None:
        del self._held[format]

    def engine(self) -> Engine:
        return Engine(name="staged", model="staged-1", answer=self._answer, stream=self._stream)

    async def _answer(self, call: Call) -> Reply:
        self.calls.append(call)
        waiting = self.answers.get(call.format)
        answer = waiting.pop(0) if waiting else self._golden(call.format)
        return Reply(json.dumps(answer, ensure_ascii=False))

    async def _stream(self, call: Call, listener: Listener) -> Reply:
        listener.began()
        pieces = self._held.get(call.format)
        if pieces is None:
            reply = await self._answer(call)
            listener.heard(reply.text)
            return reply
        self.calls.append(call)
        heard = []
        while (piece := await asyncio.to_thread(pieces.get, timeout=20)) is not None:
            heard.append(piece)
            listener.heard(piece)
        return Reply("".join(heard))


class Cable:
    """A connection to a server that can be cut and mended: it passes bytes on while it is whole."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.target = 0
        """The port of the server."""
        self.asked = bytearray()
        """What browsers sent."""
        self._is_whole = True
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._is_whole = False
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_whole = True

    def close(self) -> None:
        self.cut()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if not self._is_whole:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self.target))
                except OSError:  # the server is gone
                    near.close()
                    continue
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        self._open.add(source)
        with suppress(OSError):
            while passed := source.recv(65_536):
                if source.getsockname()[1] == self.port:
                    self.asked += passed
                sink.sendall(passed)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._open.discard(source)
        source.close()


class Pages:
    """Pages of one server in a context of their own, and what went wrong in them."""

    def __init__(self, browser: Any, url: str) -> None:
        self.url = url
        self.complaints: list[str] = []
        self.tolerated: tuple[str, ...] = ()
        """Beginnings of addresses of which a request may fail; a test says so where it means it."""
        self._browser = browser
        self._contexts: list[Any] = []

    def open(self, path: str = "/", **options: Any) -> Any:
        """A page in a new context: no cookie and no storage of another."""
        usual = {"base_url": self.url, "viewport": {"width": 1400, "height": 900}}
        context = self._browser.new_context(**(usual | options))
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        page = context.new_page()
        self._watch(page)
        page.goto(path)
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _watch(self, page: Any) -> None:
        def told(message: Any) -> None:
            if message.type in ("error", "warning") and not self._is_meant(message):
                self.complaints.append(f"console: {message.text}")

        def asked(request: Any) -> None:
            if not request.url.startswith((self.url, "data:", "blob:")):
                self.complaints.append(f"asked elsewhere: {request.url}")

        page.on("console", told)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error.stack}"))
        page.on("request", asked)

    def _is_meant(self, message: Any) -> bool:
        """Whether it tells of a request that a test wants to fail."""
        where = message.location.get("url", "").removeprefix(self.url)
        return any(where.startswith(each) for each in self.tolerated)
