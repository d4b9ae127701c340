"""Runs in processes of their own that can kill themselves, as hard as kill -9, at a chosen moment.

    python killed_run.py SOURCE

makes one process for each line of its standard input,

    MOMENT TAB SECONDS TAB DATABASE TAB LEDGER TAB SOURCE ...

and prints its number when it begins and its exit code when it has ended. They are forked, after
SOURCE was run once in memory: each begins as a new one would, but without the time of imports.

Sources are run one after another with one store, all formats each. Each call is noted in LEDGER,
one line `FORMAT SOURCE` a call, before the scripted engine takes SECONDS to answer it, so a test
can count what would have been paid.

MOMENT is one of
    `before NAME N`, `after NAME N`   the N-th use of a store's method, or of `execute` for SQL
    `step N`                          the N-th step: the begin or end of any of them, or of any
                                      SQL statement within
    `call C N`                        the N-th step after the ledger has C lines
    `never`
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from repurpose.api.adapters import open_store
from repurpose.api.runs import run
from repurpose.config import Settings
from repurpose.core.call import Call, Reply
from repurpose.ports import Engine

ANSWERS = Path(__file__).parent.parent / "fixtures" / "replies"
METHODS = ("start_run", "done_rows", "unsettled_reply", "keep_call", "keep_result", "finish_run")


def main(moment: str, seconds: str, database: str, ledger: str, *sources: str) -> int:
    death = Death(moment, Path(ledger))
    if moment != "never":
        _arm(Database, "execute", death)
    store = open_store(database)
    if moment != "never":
        for name in METHODS:
            _arm(type(store), name, death)

    async def answer(call: Call) -> Reply:
        death.note(f"{call.format} {call.source.digest}")
        await asyncio.sleep(float(seconds))
        return Reply((ANSWERS / call.format / "golden.json").read_text(encoding="utf-8"))

    engine = Engine(name="noted", answer=answer)
    settings = Settings(database=Path(database), concurrency=1)
    results = [run(source, engine=engine, store=store, settings=settings) for source in sources]
    store.close()
    return max(result.exit_code for result in results)


class Death:
    """Counts steps, and ends the process at the one it was given."""

    def __init__(self, moment: str, ledger: Path) -> None:
        self._kind, *place = moment.split()
        self._place = place
        self._ledger = ledger
        self._lines = len(ledger.read_text(encoding="utf-8").split("\n")) if ledger.exists() else 1
        self._steps = 0

    def note(self, line: str) -> None:
        """One more line in the ledger."""
        with self._ledger.open("a", encoding="utf-8") as noted:
            noted.write(f"{line}\n")
        self._lines += 1
        self.passes("note", "answer")

    def passes(self, side: str, name: str) -> None:
        """A step begins or ends; this process may end with it."""
        if self._counts(side, name):
            self._steps += 1
            if self._steps == int(self._place[-1]):
                os.kill(os.getpid(), signal.SIGKILL)

    def _counts(self, side: str, name: str) -> bool:
        match self._kind, self._place:
            case "before" | "after", [chosen, _]:
                return (side, name) == (self._kind, chosen)
            case "step", _:
                return True
            case "call", [calls, _]:
                return self._lines > int(calls)
            case _:
                return False


def _arm(owner: type, name: str, death: Death) -> None:
    """Have a method tell when it begins and ends."""
    method: Callable[..., Any] = getattr(owner, name)

    def armed(self: object, *args: Any, **options: Any) -> Any:
        death.passes("before", name)
        returned = method(self, *args, **options)
        death.passes("after", name)
        return returned

    setattr(owner, name, armed)


def serve(source: str) -> None:
    """One process after another, each for one line."""
    main("never", "0", ":memory:", os.devnull, source)
    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            signal.alarm(60)
            os._exit(main(*line.rstrip("\n").split("\t")))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        _, status = os.waitpid(number, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
