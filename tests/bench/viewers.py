"""How long a word takes from the model to everybody who watches a run.

    python tests/bench/viewers.py [--viewers 50] [--pieces 200] [--stalled 5] [--busy]

The server and the viewers are two processes. The model writes the moment of each piece into it, so
a viewer knows how old the piece is that it reads. Stalled viewers ask and never read. With `--busy`
the server makes another run without a model meanwhile, which keeps a processor at work.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

PAUSE = 0.02
"""Seconds between pieces: fifty a second, as a fast model writes."""
_STAMP = re.compile(r"<(\d+\.\d+)>")


def main() -> None:
    """Measure, and print what was measured."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--viewers", type=int, default=50)
    asked.add_argument("--pieces", type=int, default=200)
    asked.add_argument("--stalled", type=int, default=5)
    asked.add_argument("--busy", action="store_true")
    asked.add_argument("--serve", help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.serve:
        serve(Path(options.serve), options.pieces)
    else:
        asyncio.run(measured(options))


# --- the server ---------------------------------------------------------------------------------


def told(line: str) -> None:
    """Write a line, and now."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def serve(folder: Path, pieces: int) -> None:
    """The server, whose model stamps what it writes."""
    from repurpose.config import Settings
    from repurpose.core.call import Call, Reply
    from repurpose.engines.extractive import extractive_engine
    from repurpose.ports import Engine, Listener
    from repurpose.web import serving

    quick = extractive_engine()

    async def answer(call: Call) -> Reply:
        return await quick.answer(call)

    async def stream(call: Call, listener: Listener) -> Reply:
        if "BUSY" in call.source.text:
            return await quick.answer(call)
        listener.began()
        heard = ['{"pairs": [{"question": "When?", "answer": "']
        listener.heard(heard[0])
        while not (folder / "go").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
        for _ in range(pieces):
            await asyncio.sleep(PAUSE)
            heard.append(f"It is <{time.monotonic():.6f}>. ")
            listener.heard(heard[-1])
        heard.append('"}]}')
        listener.heard(heard[-1])
        return Reply("".join(heard))

    serving.serve(
        Settings(database=folder / "texts.db"),
        host="127.0.0.1",
        port=0,
        token=None,
        author="bench",
        tell=told,
        engine=Engine(name="stamped", answer=answer, stream=stream),
    )


# --- the viewers --------------------------------------------------------------------------------


async def measured(options: argparse.Namespace) -> None:
    """Start a server, let everybody watch one run, and tell how old each piece was."""
    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.create_subprocess_exec(
            sys.executable,
            __file__,
            *("--serve", folder, "--pieces", str(options.pieces)),
            stdout=asyncio.subprocess.PIPE,
            env=os.environ,
        )
        assert server.stdout is not None
        try:
            port = int((await server.stdout.readline()).decode().rstrip("/\n").rpartition(":")[2])
            ages = await _watched(options, port, Path(folder))
        finally:
            server.terminate()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(server.wait(), 10)
            if server.returncode is None:
                server.kill()
    first = [each[0] for each in ages]
    every = [age for each in ages for age in each]
    lasts = [max(column) for column in zip(*ages, strict=False)]
    told(f"{len(ages)} viewers, {options.stalled} stalled, {min(map(len, ages))} pieces each")
    for name, found in (("first piece", first), ("every piece", every), ("last viewer", lasts)):
        ordered = sorted(found)
        told(
            f"{name}: median {1000 * statistics.median(ordered):.1f} ms,"
            f" 95 of 100 {1000 * ordered[int(0.95 * (len(ordered) - 1))]:.1f} ms,"
            f" most {1000 * ordered[-1]:.1f} ms"
        )


async def _watched(options: argparse.Namespace, port: int, folder: Path) -> list[list[float]]:
    csrf = json.loads(await _asked(port, "GET", "/api/session"))["csrf"]  # noqa: TID251 - our own
    run = await _begun(port, csrf, "Owls sleep by day.")
    joined = asyncio.Semaphore(0)
    watching = [asyncio.ensure_future(_viewer(port, run, joined)) for _ in range(options.viewers)]
    stalled = [await _opened(port, run) for _ in range(options.stalled)]
    for _ in range(options.viewers):
        await joined.acquire()
    if options.busy:
        text = (ROOT / "fixtures/sources/article.md").read_text(encoding="utf-8")
        await _begun(port, csrf, f"BUSY\n\n{text * 20}")
    (folder / "go").touch()
    ages = list(await asyncio.gather(*watching))
    for _, writer in stalled:
        writer.close()
    return ages


async def _begun(port: int, csrf: str, text: str) -> str:
    body = json.dumps({"text": text, "formats": ["faq"]})
    told = await _asked(port, "POST", "/api/runs", csrf, body)
    return str(json.loads(told)["run"])  # noqa: TID251 - our own


async def _asked(port: int, method: str, path: str, csrf: str = "", body: str = "") -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
        f"X-CSRF-Token: {csrf}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body.encode())}\r\n\r\n"
    )
    writer.write((head + body).encode())
    answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n\r\n")[2]


async def _opened(port: int, run: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    path = f"/api/runs/{run}/events?until=end"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    return reader, writer


async def _viewer(port: int, run: str, joined: asyncio.Semaphore) -> list[float]:
    """How old each piece was when it came, in seconds."""
    reader, writer = await _opened(port, run)
    ages: list[float] = []
    async for line in reader:
        now = time.monotonic()
        if line.startswith(b"retry:"):
            joined.release()
        elif line.startswith(b"data: ") and b"textDelta" in line:
            ages.extend(now - float(stamp) for stamp in _STAMP.findall(line.decode()))
        elif line.startswith(b"event: run_ended"):
            break
    writer.close()
    return ages


if __name__ == "__main__":
    main()
