"""Lines as an event stream, for as long as its viewer is there.

Written here and not taken from sse-starlette: that one takes over uvicorn's signals when it is
imported, polls for their effect, logs each chunk, and makes several tasks for each viewer.
Source of the form: WHATWG HTML, Server-sent events.
"""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope, Send

from repurpose.web.hub import Hub, Viewer
from repurpose.web.lines import Line

__all__ = ["EventStream"]

_KEEP_ALIVE_SECONDS = 15.0
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # else a proxy might hold lines back
]


class EventStream:
    """An answer that tells a viewer's lines as they come; an ASGI application."""

    def __init__(
        self,
        hub: Hub,
        viewer: Viewer,
        first: list[Line],
        *,
        until_end: bool,
        keep_alive: float = _KEEP_ALIVE_SECONDS,
    ) -> None:
        self._hub = hub
        self._viewer = viewer
        self._first = first
        """What is told of stored rows before the channel's lines."""
        self._until_end = until_end
        self._keep_alive = keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send lines until there are no more, or nobody to send them to."""
        watching = asyncio.ensure_future(self._left(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._sent(send, b"retry: 1000\n\n" + b"".join(n.encoded() for n in self._first))
            self._first = []
            await self._told(send)
            if not self._viewer.gone:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            watching.cancel()
            self._hub.leave(self._viewer)

    async def _told(self, send: Send) -> None:
        """Every line, until the viewer leaves, the server closes, or nothing more will come."""
        viewer, channel = self._viewer, self._viewer.channel
        while not viewer.gone:
            viewer.woken.clear()
            over = self._hub.closing or (self._until_end and channel.over and not channel.busy)
            portion = viewer.portion()
            if portion:
                await self._sent(send, portion)
            elif over:
                return
            else:
                await self._waited(send)

    async def _waited(self, send: Send) -> None:
        try:
            async with asyncio.timeout(self._keep_alive):
                await self._viewer.woken.wait()
        except TimeoutError:
            await self._sent(send, b": still here\n\n")

    async def _left(self, receive: Receive) -> None:
        """Note when the viewer's connection is closed."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._viewer.gone = True
        self._viewer.woken.set()

    @staticmethod
    async def _sent(send: Send, body: bytes) -> None:
        await send({"type": "http.response.body", "body": body, "more_body": True})
