"""Two receivers and two waiters on one store, of which some are killed as hard as kill -9."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import aiohttp
import pytest

from receivers import QuickClock
from repurpose.api._rendezvous import deliveries_in
from repurpose.receiving.stored import StoredRendezvous
from repurpose.receiving.tokens import key_of, new_token

BASE = "http://127.0.0.1:9"
LANES = 8

WAITER = """
import asyncio, os, random, signal, sys
from functools import partial
from pathlib import Path

from repurpose.api._rendezvous import deliveries_in
from repurpose.api.adapters import SystemClock
from repurpose.receiving.stored import StoredRendezvous

path, keys, ledger, dying, dies_at = sys.argv[1:]
noted = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
last = os.open(dying, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
waiting = Path(keys).read_text().split()
random.Random(int(dies_at)).shuffle(waiting)
rendezvous = StoredRendezvous(partial(deliveries_in, path), "http://127.0.0.1:9", SystemClock())

async def main():
    taken = 0
    while True:
        for key in waiting:
            body = await rendezvous.wait(key, 0)
            if body is None:
                continue
            taken += 1
            line = key.encode() + b" " + body + b"\\n"
            if taken == int(dies_at):
                os.write(last, line)
                os.kill(os.getpid(), signal.SIGKILL)
            os.write(noted, line)

asyncio.run(main())
"""


class Post:
    """Bodies on their way, from one who tries the other receiver where no acknowledgement came."""

    def __init__(self, tokens: list[str], urls: list[str]) -> None:
        self.tokens = iter(tokens)
        self.urls = urls
        self.acknowledged: list[tuple[str, bytes]] = []
        self.lost: list[tuple[str, bytes]] = []
        """Posts that may have been kept or not: their receiver died."""
        self.at: dict[int, Callable[[], None]] = {}
        """What to do after so many acknowledgements."""

    async def all_of_it(self) -> None:
        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*(self._lane(session, number) for number in range(LANES)))

    async def _lane(self, session: aiohttp.ClientSession, number: int) -> None:
        for token in self.tokens:
            for attempt in itertools.count():
                body = f'{{"attempt":{attempt}}}'.encode()
                url = self.urls[(number + attempt) % 2]
                try:
                    async with session.post(f"{url}/callbacks/{token}", data=body) as answer:
                        assert answer.status == 202
                except aiohttp.ClientError:
                    self.lost.append((key_of(token), body))
                    continue
                self.acknowledged.append((key_of(token), body))
                self.at.pop(len(self.acknowledged), lambda: None)()
                break


class Processes:
    """Receivers and waiters over one database; all are gone when the test is over."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.database = folder / "some.db"

    def receiver(self) -> subprocess.Popen[str]:
        command = ["-m", "repurpose", "serve-callbacks", "--port", "0", "--json"]
        return self._begun([*command, "--db", str(self.database)])

    def waiter(self, keys: list[str], dies_at: int = 0) -> subprocess.Popen[str]:
        wanted = self.folder / f"keys {len(keys)}"
        wanted.write_text("\n".join(keys))
        files = [wanted, self.folder / "ledger", self.folder / "dying"]
        return self._begun(["-c", WAITER, str(self.database), *map(str, files), str(dies_at)])

    def _begun(self, arguments: list[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "REPURPOSE_CALLBACK_BASE_URL": BASE},
            stdout=subprocess.PIPE,
            text=True,
        )
        self.stack.callback(process.communicate)
        self.stack.callback(process.kill)
        return process

    def noted(self, name: str) -> list[tuple[str, bytes]]:
        """What waiters took: all of it in `ledger`, but what one was killed with, in `dying`."""
        path = self.folder / name
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [(key.decode(), body) for key, _, body in (line.partition(b" ") for line in lines)]


def address(receiver: subprocess.Popen[str]) -> str:
    assert receiver.stdout is not None
    return str(json.loads(receiver.stdout.readline())["address"])  # noqa: TID251 - our own output


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    with ExitStack() as stack:
        yield Processes(tmp_path, stack)


@pytest.mark.parametrize("count", [50, pytest.param(1_000, marks=pytest.mark.slow)])
def test_each_body_is_taken_once_though_a_receiver_and_a_waiter_are_killed(
    processes: Processes, count: int
) -> None:
    """A killed waiter's last body is gone with it: the claim is what decides, and nobody else may
    take for an answer what the one who asked has taken already."""
    tokens = [new_token() for _ in range(count)]
    with deliveries_in(processes.database) as kept:
        for token in tokens:
            kept.issue(key_of(token), QuickClock().now().timestamp())
    keys = [key_of(token) for token in tokens]
    first, second = processes.receiver(), processes.receiver()
    killed = processes.waiter(keys, dies_at=count // 5)
    processes.waiter(keys[count // 5 :])  # it leaves the other enough to die with
    post = Post(tokens, [address(first), address(second)])

    def kill_a_receiver() -> None:
        first.send_signal(signal.SIGKILL)
        first.wait()

    post.at[count // 3] = kill_a_receiver
    asyncio.run(post.all_of_it())
    assert killed.wait(60) == -signal.SIGKILL
    processes.waiter(keys)
    assert post.lost, "somebody met the dead receiver"
    (gone,) = processes.noted("dying")
    asyncio.run(_until(lambda: set(post.acknowledged) <= {*processes.noted("ledger"), gone}))

    taken = Counter(processes.noted("ledger"))
    assert set(taken.values()) == {1}
    assert gone not in taken
    assert {*taken, gone} <= {*post.acknowledged, *post.lost}
    assert {key for key, _ in taken} | {gone[0]} == set(keys)
    rendezvous = StoredRendezvous(lambda: deliveries_in(processes.database), BASE, QuickClock())
    assert asyncio.run(rendezvous.wait(gone[0], 0)) is None


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - it is other processes that are waited for
            await asyncio.sleep(0.02)
