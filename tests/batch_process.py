"""A batch in a process of its own, whose calls are noted in a file before they are answered.

    python batch_process.py DATABASE LEDGER SECONDS CONCURRENCY FOLDER

Each call is one line in LEDGER, `FORMAT DIGEST`, so that a test can count what would have been
paid, by however many processes and whatever became of them. An answer takes SECONDS.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from repurpose.api.loading import LoadOptions
from repurpose.batch.night import Night
from repurpose.config import Settings
from repurpose.core.call import Call, Reply
from repurpose.ports import Engine

ANSWERS = Path(__file__).parent.parent / "fixtures" / "replies"


def main(database: str, ledger: str, seconds: str, concurrency: str, folder: str) -> int:
    noted = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    async def answer(call: Call) -> Reply:
        os.write(noted, f"{call.format} {call.source.digest}\n".encode())
        await asyncio.sleep(float(seconds))
        return Reply((ANSWERS / call.format / "golden.json").read_text(encoding="utf-8"))

    settings = Settings(
        database=Path(database), concurrency=int(concurrency), formats=("summary", "faq")
    )
    engine = Engine(name="noted", answer=answer)
    with Night(settings, LoadOptions(), engine=engine) as night:
        night.planned([folder], lambda _: None)
        outcome = asyncio.run(night.worked(stopping=lambda: False, ended=lambda _: None))
    sys.stdout.write(f"{outcome.batch.status} {outcome.tally.done} {outcome.tally.elsewhere}\n")
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
