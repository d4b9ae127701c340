"""Decodes the body of a response into events while it comes, however it is cut into pieces.

Server-sent events are decoded by `httpx2`, by the rules of the WHATWG (HTML, server-sent events).
It is there already, for web pages; its client is not used.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING

from repurpose.errors import BrokenReply

if TYPE_CHECKING:
    from httpx2 import ServerSentEvent

__all__ = ["events_in", "looks_like_event_stream", "server_sent_events"]

_FIELD = re.compile(rb"(?:data|event|id|retry)?:")
"""How an event stream begins."""
_LONGEST_EVENT = 16 * 1024 * 1024
"""Bytes; a server that ignores what an event is may send a whole answer in one."""
_BOM = b"\xef\xbb\xbf"


def looks_like_event_stream(first: bytes, kind: str) -> bool:
    """Whether a body is an event stream, going by its beginning before its content type."""
    beginning = first.removeprefix(_BOM).lstrip()
    if beginning.startswith((b"{", b"[", b"<")):
        return False
    return "event-stream" in kind.lower() or _FIELD.match(beginning) is not None


async def events_in(chunks: AsyncIterable[bytes], kind: str) -> AsyncGenerator[str, None]:
    """The text of each event in a body: data of server-sent events, or lines of JSON lines.

    Raises:
        BrokenReply: an event has more than 16 MiB.
    """
    source = aiter(chunks)
    first = b""
    while len(first.removeprefix(_BOM).lstrip()) < 6 and (piece := await anext(source, None)):
        first += piece

    async def all_of_it() -> AsyncIterator[bytes]:
        yield first
        async for piece in source:
            yield piece

    if looks_like_event_stream(first, kind):
        async for event in server_sent_events(all_of_it()):
            yield event.data
    else:
        async for line in _lines(all_of_it()):
            yield line


async def server_sent_events(chunks: AsyncIterable[bytes]) -> AsyncIterator[ServerSentEvent]:
    """The events of a stream, the last one also where no blank line follows it.

    Raises:
        BrokenReply: an event has more than 16 MiB.
    """
    # Fetching pages aside, only who listens needs it.
    from httpx2 import EventSource, Request, Response, SSEError  # noqa: PLC0415 - see above

    async def content() -> AsyncIterator[bytes]:
        first = True
        async for piece in chunks:
            yield piece.removeprefix(_BOM) if first else piece
            first = False
        yield b"\n\n"

    response = Response(
        200,
        headers={"content-type": "text/event-stream; charset=utf-8"},
        content=content(),
        request=Request("POST", "http://localhost"),
    )
    try:
        async for event in EventSource(response, max_event_size=_LONGEST_EVENT):
            yield event
    except SSEError as error:
        raise BrokenReply("an event of the stream is too large", status=200) from error


async def _lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """The lines of a body, the last one also without its end."""
    waiting: list[bytes] = []
    size = 0
    async for piece in chunks:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            yield b"".join((*waiting, line)).decode("utf-8-sig", "replace")
            waiting, size = [], 0
        waiting.append(rest)
        size += len(rest)
        if size > _LONGEST_EVENT:
            raise BrokenReply("a line of the stream is too large", status=200)
    if size:
        yield b"".join(waiting).decode("utf-8-sig", "replace")
