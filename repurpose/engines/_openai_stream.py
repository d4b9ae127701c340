"""Reads a reply that an OpenAI-compatible server streams, into what it would have sent whole.

The chunks are put together to one chat completion, which is read like any other: so a streamed
reply is the same as one that came at once. What servers do differently is taken: no content type,
another end of line, an event without its blank line, no `[DONE]`, usage in any chunk, whole
messages in place of deltas, an error in place of a chunk, or one JSON body although a stream was
asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING

import aiohttp

from repurpose.completion._events import looks_like_event_stream, server_sent_events
from repurpose.core.call import Reply
from repurpose.engines._openai_connections import StatusError
from repurpose.engines._openai_reply import decoded, error_object, read_reply
from repurpose.errors import BrokenReply

if TYPE_CHECKING:
    from httpx2 import ServerSentEvent

__all__ = ["StreamEndedError", "Streaming", "streamed_reply"]

_REFUSING = frozenset({400, 422, 501})
_NO_STREAM = re.compile(
    r"\bstream(?:ing)?\b[^.]{0,60}\b(?:not|unsupported)\b"
    r"|\b(?:not|unsupported|verified to)\b[^.]{0,60}\bstream(?:ing)?\b",
    re.IGNORECASE,
)
"""More than the word, since a refusal may repeat the prompt."""
_LONGEST_REFUSAL = 2000
_GRACE_SECONDS = 0.2
"""For a server to end its response after it said `[DONE]`, so that the connection can be used
again."""


class StreamEndedError(ConnectionError):
    """The stream ended, and its answer did not."""


class Streaming:
    """What of streaming a server takes, as far as it has refused any of it."""

    def __init__(self) -> None:
        self._fields: tuple[dict[str, object], ...] = (
            {"stream": True, "stream_options": {"include_usage": True}},
            {"stream": True},  # Mistral: usage comes unasked, and the wish for it is refused
            {},  # OpenAI: some models stream to verified organizations only
        )
        self._level = 0

    @property
    def fields(self) -> dict[str, object]:
        """What is added to a request; nothing where nothing can be streamed."""
        return self._fields[self._level]

    def learn(self, refused: StatusError, sent: Mapping[str, object]) -> bool:
        """Whether a refusal was about the fields sent: then fewer are sent from now on."""
        if refused.status not in _REFUSING or not sent:
            return False
        body = refused.body
        told = json.dumps(body, default=str) if isinstance(body, Mapping) else str(body)
        told = told[:_LONGEST_REFUSAL]
        if "stream_options" in told or "include_usage" in told:
            least = 1 if "stream_options" in sent else 2
        elif _param(body).startswith("stream") or _NO_STREAM.search(told):
            least = 2
        else:
            return False
        self._level = max(self._level, least)
        return True


async def streamed_reply(
    response: aiohttp.ClientResponse, heard: Callable[[str], None], *, server: str
) -> Reply:
    """The reply in a response of success; `heard` is told its text while it comes.

    Raises:
        BrokenReply: it is none.
        StreamEndedError: the server stopped before its answer was complete.
        aiohttp.ClientError: the connection was lost.
    """
    request_id = response.headers.get("x-request-id")
    kind = response.headers.get("content-type", "")
    first = await response.content.readany()
    while first and not first.strip(b"\r\n\t \xef\xbb\xbf"):
        first = await response.content.readany()
    if not looks_like_event_stream(first, kind):
        body = decoded(
            first + await response.content.read(),
            server=server,
            status=response.status,
            kind=kind,
        )
        reply = read_reply(body, server=server, request_id=request_id)
        heard(reply.text)
        return reply
    pieces = _Pieces(server)
    await _read(first, response.content, pieces, heard)
    if pieces.fault is not None:
        raise pieces.fault
    if not pieces.is_whole:
        raise StreamEndedError("the stream ended before the answer did")
    if pieces.is_over:
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await response.content.readany()
    return read_reply(pieces.completion(), server=server, request_id=request_id)


async def _read(
    first: bytes, rest: aiohttp.StreamReader, pieces: _Pieces, heard: Callable[[str], None]
) -> None:
    """Take in events up to the last one.

    A connection that is lost when the answer is complete has cost no more than the usage.
    """
    try:
        async for event in server_sent_events(_until_over(first, rest, pieces)):
            text = pieces.add(event)
            if text:
                heard(text)
    except aiohttp.ClientError:
        if not pieces.is_whole:
            raise


async def _until_over(
    first: bytes, rest: aiohttp.StreamReader, pieces: _Pieces
) -> AsyncIterator[bytes]:
    """A body as far as it is wanted. It ends by itself, so that no generator is left half read."""
    yield first
    while not pieces.is_over and (piece := await rest.readany()):
        yield piece


class _Pieces:
    """The answer as far as it has come."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._whole: dict[str, object] = {}
        self._message: dict[str, list[str]] = {}
        self._finish: object = None
        self._has_choice = False
        self._has_message = False
        self._high = ""
        self.is_over = False
        """Whether nothing more is to be read: the server said so, or what it said is no answer."""
        self.fault: BrokenReply | None = None
        """Why it is no answer."""

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete."""
        return self.is_over or self._finish is not None

    def add(self, event: ServerSentEvent) -> str:
        """Take in one event, and return the text that it adds to the answer.

        What comes after the end is passed over.
        """
        try:
            return "" if self.is_over else self._add(event)
        except BrokenReply as fault:
            self.fault, self.is_over = fault, True
            return ""

    def _add(self, event: ServerSentEvent) -> str:
        if not event.data.strip():
            return ""
        if event.data.strip() == "[DONE]":
            self.is_over = True
            return ""
        content = event.data.encode("utf-8", "replace")
        if event.event == "error":
            chunk: object = {"error": error_object(content)}
        else:
            chunk = decoded(content, server=self._server, status=200, kind="")
        if not isinstance(chunk, Mapping):
            raise BrokenReply(
                f"{self._server} answered with JSON that is not an object", status=200
            )
        if chunk.get("error"):
            read_reply({"error": chunk["error"]}, server=self._server)
        for name in ("id", "model", "usage"):
            if chunk.get(name):
                self._whole[name] = chunk[name]
        return self._choice(chunk.get("choices"))

    def completion(self) -> dict[str, object]:
        """All of it, as the server would have sent it at once."""
        message = {name: _whole_pairs("".join(parts)) for name, parts in self._message.items()}
        choice = {
            "message": message if self._has_message else None,
            "finish_reason": self._finish,
        }
        return {**self._whole, "choices": [choice] if self._has_choice else []}

    def _choice(self, choices: object) -> str:
        """The text that the first choice adds."""
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("index") in (0, None):
                break
        else:
            return ""
        self._has_choice = True
        if choice.get("finish_reason") == "error":  # OpenRouter
            read_reply({"choices": [choice]}, server=self._server)
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            delta = choice.get("message")
        return self._delta(delta) if isinstance(delta, Mapping) else ""

    def _delta(self, delta: Mapping[str, object]) -> str:
        self._has_message = True
        text, refusal = _content(delta.get("content"))
        for name, piece in (
            ("content", text),
            ("refusal", refusal or delta.get("refusal")),
            ("reasoning_content", delta.get("reasoning_content") or delta.get("reasoning")),
        ):
            if isinstance(piece, str) and piece:
                self._message.setdefault(name, []).append(piece)
        text, self._high = self._high + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":  # the second half comes with the next chunk
            text, self._high = text[:-1], text[-1]
        return _whole_pairs(text)


def _param(body: object) -> str:
    """The field that a refusal names."""
    param = body.get("param") if isinstance(body, Mapping) else None
    return param if isinstance(param, str) else ""


def _content(content: object) -> tuple[str, str]:
    """Text and refusal of a delta, which may be a list of parts."""
    if isinstance(content, str):
        return content, ""
    parts = content if isinstance(content, list) else []
    told: dict[str, list[str]] = {"text": [], "refusal": []}
    for part in parts:
        for kind, found in told.items():
            if isinstance(part, Mapping) and part.get("type") in (kind, f"output_{kind}"):
                piece = part.get(kind)
                found.append(piece if isinstance(piece, str) else "")
    return "".join(told["text"]), "".join(told["refusal"])


def _whole_pairs(text: str) -> str:
    """The text with its surrogate pairs put together; halves stay as they are."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
