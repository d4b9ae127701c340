"""What a receiver answers, over a store."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from receivers import QuickClock, post, received
from repurpose.api._rendezvous import deliveries_in
from repurpose.ports.endpoints import Deliveries
from repurpose.receiving.application import LARGEST_BODY
from repurpose.receiving.stored import LOOK_SECONDS, StoredRendezvous
from repurpose.receiving.tokens import key_of, new_token

TOKEN = new_token()
NOW = 1_795_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "some.db"
    with deliveries_in(found) as kept:
        kept.issue(key_of(TOKEN), QuickClock().now().timestamp())
    return found


def asked(path: Path, test: Callable[[str], Awaitable[None]], beneath: str = "") -> None:
    async def run() -> None:
        async with received(path, QuickClock(), beneath=beneath) as url:
            await test(url)

    asyncio.run(run())


def held(path: Path, look: Callable[[Deliveries], object]) -> object:
    with deliveries_in(path) as kept:
        return look(kept)


def test_every_answer_is_json_and_none_shows_the_token(path: Path) -> None:
    cases = {
        ("POST", f"/callbacks/{TOKEN}", b"x"): 202,
        ("POST", f"/callbacks/{TOKEN}", b""): 400,
        ("POST", "/callbacks/", b"x"): 400,
        ("POST", "/callbacks", b"x"): 400,
        ("GET", f"/callbacks/{TOKEN}", b""): 405,
        ("PUT", f"/callbacks/{TOKEN}", b"x"): 405,
        ("POST", f"/callbacks/{TOKEN}x", b"x"): 404,
        ("POST", f"/callbacks/{TOKEN}/more", b"x"): 404,
        ("POST", "/callbacks/%2e%2e%00", b"x"): 404,
        ("POST", "/", b"x"): 404,
        ("POST", "/webhooks/openai", b"{}"): 404,
    }

    async def test(url: str) -> None:
        for (method, where, body), wanted in cases.items():
            status, said = await post(url + where, body, method=method)
            assert status == wanted, (method, where)
            assert ("error" in said) == (status >= 400)
            assert TOKEN not in str(said)

    asked(path, test)


def test_a_body_of_five_mebibytes_is_kept_and_a_longer_one_is_413(path: Path) -> None:
    async def test(url: str) -> None:
        where = f"{url}/callbacks/{TOKEN}"
        assert (await post(where, b"y" * (LARGEST_BODY + 1)))[0] == 413
        assert (await post(where, b"x" * LARGEST_BODY))[0] == 202

    asked(path, test)
    assert LARGEST_BODY == 5 * 1024 * 1024
    assert held(path, lambda kept: kept.claim(key_of(TOKEN), NOW)) == b"x" * LARGEST_BODY
    assert held(path, lambda kept: kept.claim(key_of(TOKEN), NOW)) is None


def test_an_address_with_a_path_is_answered_with_and_without_it(path: Path) -> None:
    """A proxy may take the path away, and without one nobody does."""

    async def test(url: str) -> None:
        for where in ("/in/here/callbacks/", "/callbacks/"):
            assert (await post(f"{url}{where}{TOKEN}"))[0] == 202

    asked(path, test, beneath="/in/here/")


def test_a_database_that_fails_is_told_as_something_to_try_again(path: Path) -> None:
    async def test(url: str) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE deliveries")
        status, said = await post(f"{url}/callbacks/{TOKEN}")
        assert (status, said) == (503, {"error": "it cannot be kept just now; post it again"})

    asked(path, test)


def test_no_log_holds_a_token(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not even of a request that cannot be read, which is logged with its line by default."""
    caplog.set_level(logging.DEBUG)

    async def test(url: str) -> None:
        await post(f"{url}/callbacks/{TOKEN}")
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.split(":")[2]))
        writer.write(f"POST /callbacks/{TOKEN} HTTP/7.7\r\n\r\n".encode())
        assert b"400" in await reader.readline()
        writer.close()
        await writer.wait_closed()

    asked(path, test)
    assert TOKEN not in caplog.text


def test_a_reader_of_the_database_finds_no_address(path: Path) -> None:
    async def test(url: str) -> None:
        assert (await post(f"{url}/callbacks/{TOKEN}"))[0] == 202

    asked(path, test)
    stored = b"".join(each.read_bytes() for each in path.parent.iterdir() if each.is_file())
    assert TOKEN.encode() not in stored
    assert key_of(TOKEN).encode() in stored


# --- the wait in a store ------------------------------------------------------------------------


def test_a_wait_looks_twice_a_second_and_not_beyond_its_time(path: Path, clock) -> None:
    rendezvous = StoredRendezvous(lambda: deliveries_in(path), "http://127.0.0.1:9", clock)
    assert asyncio.run(rendezvous.wait(key_of(TOKEN), 1.7)) is None
    assert LOOK_SECONDS == 0.5
    assert clock.slept == pytest.approx([0.5, 0.5, 0.5, 0.2])


def test_a_body_that_lands_between_two_looks_is_taken_at_the_next(path: Path, clock) -> None:
    sleep = clock.sleep

    async def slept(seconds: float) -> None:
        await sleep(seconds)
        if len(clock.slept) == 2:
            held(path, lambda kept: kept.deliver(key_of(TOKEN), b"landed", NOW))

    clock.sleep = slept
    rendezvous = StoredRendezvous(lambda: deliveries_in(path), "http://127.0.0.1:9", clock)
    assert asyncio.run(rendezvous.wait(key_of(TOKEN), 60)) == b"landed"
    assert clock.slept == [0.5, 0.5]
