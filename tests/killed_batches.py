"""Steps of provider batches in processes that kill themselves, as hard as kill -9, at a moment.

    python killed_batches.py

makes one process for each line of its standard input and prints its exit code when it has ended:

    COMMAND TAB DATABASE TAB URL TAB MOMENT

COMMAND is `queue`, `submit` or `collect`; MOMENT is the number of the step at which it dies, where
a step is the begin or the end of a request to the provider or of a write about its batches. 0:
never. They are forked, so each begins as a new one would, but without the time of imports.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from batch_provider import KEY
from repurpose.api.adapters import SystemClock, open_store
from repurpose.api.provider_batches import collect, gathering, submit
from repurpose.api.runs import run
from repurpose.batch.leases import Leases, new_owner
from repurpose.config import Settings
from repurpose.engines import _batch_collecting
from repurpose.engines._batch_server import BatchServer
from repurpose.engines.scripted import scripted_engine
from repurpose.stores._provider_batches import SqliteProviderBatches

SOURCES = tuple(f"# Ferries\n\nFerry number {n} crosses at dawn." for n in range(5))
REQUESTS = ("upload", "create", "found", "told", "download")
WRITES = ("keep_waiting", "prepare", "note", "keep_outcomes", "end")


def main(command: str, database: str, url: str, moment: str) -> int:
    _arm(int(moment))
    _batch_collecting._WRITTEN = 2  # so that a process can die between two parts of a file
    settings = Settings(model="small", api_key=KEY, base_url=url, database=Path(database))
    store = open_store(database)
    claims = Leases(store, new_owner(), SystemClock())
    match command:
        case "queue":
            for text in SOURCES:
                engine = gathering(settings)
                run(text.encode(), ("summary",), engine=engine, store=store, settings=settings)
        case "submit":
            sent = asyncio.run(submit(settings, store, claims))
            assert not sent.faults, sent.faults
        case "collect":
            collected = asyncio.run(collect(settings, store, claims))
            assert not collected.faults, collected.faults
    store.close()
    return 0


def _warmed() -> None:
    """Have everything imported and read that a process needs."""
    url = "http://127.0.0.1:9/v1"
    settings = Settings(model="small", base_url=url, database=Path(":memory:"))
    store = open_store(":memory:")
    text, one = SOURCES[0].encode(), ("summary",)
    run(text, one, engine=gathering(settings), store=store, settings=settings)
    reply = Path(__file__).parent.parent / "fixtures" / "replies" / "summary" / "golden.json"
    scripted = scripted_engine([reply.read_text(encoding="utf-8")])
    run(text, one, engine=scripted, store=store, settings=settings)
    store.close()


def _arm(moment: int) -> None:
    """Have this process end itself at a step."""
    left = [moment]

    def passes() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in WRITES:
        _around(SqliteProviderBatches, name, passes)
    for name in REQUESTS:
        _around_request(name, passes)


def _around(owner: type, name: str, passes: Callable[[], None]) -> None:
    method: Callable[..., Any] = getattr(owner, name)

    def armed(self: object, *args: Any, **options: Any) -> Any:
        passes()
        returned = method(self, *args, **options)
        passes()
        return returned

    setattr(owner, name, armed)


def _around_request(name: str, passes: Callable[[], None]) -> None:
    method: Callable[..., Any] = getattr(BatchServer, name)

    async def armed(self: object, *args: Any, **options: Any) -> Any:
        passes()
        returned = await method(self, *args, **options)
        passes()
        return returned

    setattr(BatchServer, name, armed)


def serve() -> None:
    """One process after another, each for one line."""
    _warmed()
    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            signal.alarm(60)
            code = 1
            try:
                code = main(*line.rstrip("\n").split("\t"))
            finally:
                os._exit(code)
        _, status = os.waitpid(number, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
