"""The wire to an endpoint, against sockets on loopback that behave and misbehave."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest

from repurpose.core.exchange import Request, Response, WireError
from repurpose.engines._endpoint_wire import MOST_BYTES, HttpWire, _words
from repurpose.errors import BrokenReply, UsageError

TOKEN = "tok-4f9b2c7d1e8a6350"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n"
Talk = Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Asked:
    """What came over one connection."""

    line: str
    headers: dict[str, str]
    body: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the other side has let go of the connection."""


@dataclass
class Server:
    """A socket that answers each connection by a script."""

    talk: Talk
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    at_work: set[asyncio.Future[None]] = field(default_factory=set)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.at_work.add(asyncio.ensure_future(self._closed(reader, writer)))

    async def _closed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await self._answer(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(head[0], headers, body)
        self.asked.append(asked)
        self.came.set()
        talking = asyncio.ensure_future(self.talk(asked, writer))
        with suppress(ConnectionError):
            while await reader.read(100):
                pass
        asked.gone.set()
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)


@asynccontextmanager
async def serving(talk: Talk, port: int = 0) -> AsyncIterator[Server]:
    server = Server(talk)
    listening = await asyncio.start_server(server.accept, "127.0.0.1", port)
    server.url = "http://{}:{}".format(*listening.sockets[0].getsockname())
    try:
        yield server
    finally:
        listening.close()
        if server.at_work:
            await asyncio.wait(server.at_work, timeout=2)


def says(*pieces: bytes) -> Talk:
    """Writes these pieces one after another, and closes the connection."""

    async def talk(_: Asked, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    return talk


async def silent(_: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def reset(_: Asked, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def post(url: str, **changes: Any) -> Request:
    return Request(**{"method": "POST", "url": url, "body": b'{"text": "A ferry."}', **changes})


def sent(talk: Talk, *, timeout: float = 5.0, **changes: Any) -> tuple[Response, list[Asked]]:
    """One request to a server with this script, and all that it saw."""

    async def once() -> tuple[Response, list[Asked]]:
        async with serving(talk) as server:
            wire = HttpWire(server.url, {"Authorization": f"Bearer {TOKEN}"})
            try:
                return await wire.send(post(f"{server.url}/runs", **changes), timeout), server.asked
            finally:
                await wire.close()

    return asyncio.run(once())


# --- what is said ------------------------------------------------------------------------------


def test_a_request_goes_out_as_it_is_with_the_headers_of_the_wire_over_its_own() -> None:
    response, (asked,) = sent(
        says(OK, b'{"a": "done"}'),
        headers={"content-type": "application/json", "authorization": "none"},
    )
    assert response.status == 200
    assert response.headers["content-type"] == "application/json"
    assert response.body == b'{"a": "done"}'
    assert asked.line == "POST /runs HTTP/1.1"
    assert asked.body == b'{"text": "A ferry."}'
    assert asked.headers["authorization"] == f"bearer {TOKEN}"  # this server lowers all it notes
    assert asked.headers["user-agent"].startswith("repurpose/")


def test_a_path_that_is_percent_encoded_stays_so() -> None:
    async def once() -> str:
        async with serving(says(OK, b'{"a": "done"}')) as server:
            wire = HttpWire(server.url)
            await wire.send(post(f"{server.url}/runs/a%2Fb%3Fx/%7Estatus?q=%20"), 5)
            await wire.close()
            return server.asked[0].line

    assert asyncio.run(once()) == "POST /runs/a%2Fb%3Fx/%7Estatus?q=%20 HTTP/1.1"


def test_a_redirect_is_an_answer_like_any_other() -> None:
    moved = b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    response, asked = sent(says(moved))
    assert response.status == 307
    assert len(asked) == 1


def test_a_request_to_another_address_is_not_sent() -> None:
    async def once() -> int:
        async with serving(says(OK, b'{"a": "done"}')) as server:
            wire = HttpWire("http://127.0.0.1:1", {"Authorization": TOKEN})
            with pytest.raises(WireError, match="is not where"):
                await wire.send(post(server.url), 5)
            await wire.close()
            return len(server.asked)

    assert asyncio.run(once()) == 0


def test_no_cookie_and_no_connection_is_kept_for_the_next_request() -> None:
    baked = OK.replace(b"Content-Type", b"Set-Cookie: run=1; Path=/\r\nContent-Type")

    async def twice() -> list[Asked]:
        async with serving(says(baked, b'{"a": "done"}')) as server:
            wire = HttpWire(server.url)
            for _ in range(2):
                await wire.send(post(server.url), 5)
            await wire.close()
            return server.asked

    first, second = asyncio.run(twice())
    assert "cookie" not in second.headers
    assert first is not second


def test_a_wire_shows_its_server_and_no_header() -> None:
    wire = HttpWire("http://me:hunter2@agents.example:81/a", {"X-Key": TOKEN})
    assert repr(wire) == "HttpWire('agents.example:81')"


@pytest.mark.parametrize(
    "url", ["", "ftp://a", "http://", "http://[::", "agents.example", "http://a:b"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        HttpWire(url)


def test_a_header_that_could_hold_another_one_is_refused_without_its_value() -> None:
    with pytest.raises(UsageError) as told:
        HttpWire("http://a", {"X-Key": f"{TOKEN}\r\nX-Admin: 1"})
    assert TOKEN not in str(told.value)
    assert "X-Key" in str(told.value)


# --- what goes wrong ---------------------------------------------------------------------------


def fails(talk: Talk, **options: Any) -> WireError:
    with pytest.raises(WireError) as told:
        sent(talk, **options)
    assert TOKEN not in str(told.value)
    assert told.value.__cause__ is None
    return told.value


def test_nobody_there_is_told_with_the_address_and_nothing_has_begun() -> None:
    async def once() -> WireError:
        async with serving(silent) as server:
            pass
        wire = HttpWire(server.url)
        with pytest.raises(WireError) as told:
            await wire.send(post(server.url), 5)
        await wire.close()
        assert str(told.value) == f"no connection to {server.url.removeprefix('http://')}"
        return told.value

    assert not asyncio.run(once()).reached


def test_a_connection_that_is_reset_may_have_begun_the_work() -> None:
    error = fails(reset)
    assert "was lost" in str(error)
    assert error.reached


def test_half_a_body_is_a_lost_connection() -> None:
    assert "was lost" in str(fails(says(OK, b'{"a"')))


def test_what_is_not_http_is_told() -> None:
    assert "does not answer in HTTP" in str(fails(says(b"220 mail.example ESMTP\r\n\r\n")))


def test_a_header_that_cannot_be_written_is_told_and_never_sent() -> None:
    error = fails(silent, headers={"x-run": "a\r\nX-Admin: 1"})
    assert "cannot be written" in str(error)
    assert not error.reached


def test_a_server_error_with_a_web_page_is_an_answer() -> None:
    page = b"<html><h1>502 Bad Gateway</h1></html>"
    head = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
    response, asked = sent(says(head % len(page), page))
    assert (response.status, response.body) == (502, page)
    assert len(asked) == 1


@pytest.mark.parametrize("pieces", [(), (OK[:-2],), (OK, b'{"a"')])
def test_a_timeout_reaches_the_socket_wherever_the_server_stops(pieces: tuple[bytes, ...]) -> None:
    async def talk(_: Asked, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        sent(talk, timeout=0.05)


def test_a_body_without_end_is_cut_off_and_told() -> None:
    async def endless(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"%x\r\n%s\r\n" % (2**18, b"x" * 2**18)
        with suppress(ConnectionError):
            while True:
                writer.write(piece)
                await writer.drain()

    with pytest.raises(BrokenReply, match="more than 16 MiB"):
        sent(endless)


def test_a_small_body_that_unpacks_to_a_huge_one_is_cut_off_as_well() -> None:
    packed = gzip.compress(b"x" * (2 * MOST_BYTES))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with pytest.raises((BrokenReply, WireError)):
        sent(says(head, packed))


def _all_faults(base: type[Exception]) -> set[type[Exception]]:
    return {base} | {each for sub in base.__subclasses__() for each in _all_faults(sub)}


@pytest.mark.parametrize(
    "fault", sorted(_all_faults(aiohttp.ClientError), key=lambda c: c.__name__)
)
def test_every_exception_of_the_transport_has_words_of_ours(fault: type[Exception]) -> None:
    words, _ = _words(fault.__new__(fault), "agents.example", reached=False)
    assert "agents.example" in words


# --- streams -----------------------------------------------------------------------------------


def test_pieces_of_a_stream_come_while_the_server_still_talks() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    async def talk(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for event in (b"data: 1\n\n", b"data: 2\n\n"):
            writer.write(event)
            await writer.drain()
            await asyncio.sleep(0.01)
        await asyncio.Event().wait()

    async def once() -> bytes:
        heard = b""
        async with serving(talk) as server:
            wire = HttpWire(server.url)
            async with wire.stream(post(server.url), 5) as coming:
                assert (coming.status, coming.headers["content-type"]) == (200, "text/event-stream")
                async for piece in coming.chunks():
                    heard += piece
                    if b"2" in heard:
                        break
            await asyncio.wait_for(server.asked[0].gone.wait(), 2)
            await wire.close()
        return heard

    assert asyncio.run(once()).replace(b"\n", b"") == b"data: 1data: 2"


def test_a_stream_has_its_time_with_all_that_its_reader_does() -> None:
    async def once() -> None:
        async with serving(says(OK)) as server:
            wire = HttpWire(server.url)
            with pytest.raises(TimeoutError):
                async with wire.stream(post(server.url), 0.05):
                    await asyncio.Event().wait()
            await wire.close()

    asyncio.run(once())


def test_what_the_reader_of_a_stream_raises_is_not_the_wires() -> None:
    async def once() -> None:
        async with serving(says(OK, b'{"a": "done"}')) as server:
            wire = HttpWire(server.url)
            with pytest.raises(ValueError, match="mine"):
                async with wire.stream(post(server.url), 5):
                    raise ValueError("mine")
            await wire.close()

    asyncio.run(once())


# --- cancelling, closing, loops ----------------------------------------------------------------


@pytest.mark.parametrize("pieces", [(), (OK, b'{"a"')])
def test_a_cancelled_request_lets_go_of_its_socket_at_once(pieces: tuple[bytes, ...]) -> None:
    async def talk(_: Asked, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
        await asyncio.Event().wait()

    async def once() -> None:
        async with serving(talk) as server:
            wire = HttpWire(server.url)
            sending = asyncio.ensure_future(wire.send(post(server.url), 60))
            await server.came.wait()
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            await asyncio.wait_for(server.asked[0].gone.wait(), 2)
            await wire.close()

    asyncio.run(once())


def test_one_wire_serves_one_event_loop_after_another() -> None:
    wire: list[HttpWire] = []

    async def once(port: int) -> int:
        async with serving(says(OK, b'{"a": "done"}'), port) as server:
            if not wire:
                wire.append(HttpWire(server.url))
            response = await wire[0].send(post(server.url), 5)
            assert response.body == b'{"a": "done"}'
            return int(server.url.rpartition(":")[2])

    asyncio.run(once(asyncio.run(once(0))))
