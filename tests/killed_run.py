"""A run in a process of its own that kills itself, as hard as kill -9, at a chosen moment.

    python killed_run.py MOMENT SOURCE DATABASE LEDGER

Each answer of the scripted engine is noted in LEDGER, one line a call, before it is returned, so
a test can count what would have been paid. MOMENT is `before NAME N` or `after NAME N`: the N-th
use of a store's method; or `never`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repurpose.api.adapters import open_store
from repurpose.api.runs import run
from repurpose.config import Settings
from repurpose.core.call import Call, Reply
from repurpose.ports import Engine

ANSWERS = Path(__file__).parent.parent / "fixtures" / "replies"


def main(moment: str, source: str, database: str, ledger: str) -> int:
    store = open_store(database)
    _arm(type(store), moment)

    async def answer(call: Call) -> Reply:
        await asyncio.sleep(0)
        _note(ledger, call.format)
        return Reply((ANSWERS / call.format / "golden.json").read_text(encoding="utf-8"))

    result = run(
        source,
        engine=Engine(name="noted", answer=answer),
        store=store,
        settings=Settings(database=Path(database), concurrency=1),
    )
    store.close()
    return result.exit_code


def _note(ledger: str, format: str) -> None:
    """One more line in the ledger."""
    with Path(ledger).open("a", encoding="utf-8") as noted:
        noted.write(f"{format}\n")


def _arm(store: type, moment: str) -> None:
    """Make the store's method kill this process at the moment."""
    if moment == "never":
        return
    side, name, number = moment.split()
    method: Callable[..., Any] = getattr(store, name)
    used: Counter[str] = Counter()

    def armed(self: object, *args: Any, **options: Any) -> Any:
        used[name] += 1
        if side == "before" and used[name] == int(number):
            os.kill(os.getpid(), signal.SIGKILL)
        returned = method(self, *args, **options)
        if side == "after" and used[name] == int(number):
            os.kill(os.getpid(), signal.SIGKILL)
        return returned

    setattr(store, name, armed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
