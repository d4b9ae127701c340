"""What a call through an endpoint costs beside one of the openai engine, and what a receiver takes.

    python tests/bench/endpoints.py [--calls 1000] [--lanes 32] [--posts 2000] [--rounds 3]

The service is a process of its own that answers at once. Each round asks it in every way, one after
another, and the ratios are those within a round; a callback is met in this process. The receivers
are one and two processes of `repurpose serve-callbacks` over one store.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

ANSWER = '{"headline": "Ferry sank"}'
DONE = {"field": "state", "equals": "completed"}
WAYS: dict[str, dict[str, Any]] = {
    "sync": {"submit": "/write"},
    "poll": {
        "submit": "/write",
        "completion": {"mode": "poll", "status_path": "/write", "done": DONE},
    },
    "stream": {"submit": "/stream", "completion": {"mode": "stream", "done": DONE}},
    "callback": {"submit": "/callback", "completion": {"mode": "callback", "done": DONE}},
}


def main() -> None:
    """Measure, and print what was measured."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--calls", type=int, default=1000)
    asked.add_argument("--lanes", type=int, default=32)
    asked.add_argument("--posts", type=int, default=2000)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = asked.parse_args()
    asyncio.run(served() if options.serve else measured(options))


def told(line: str) -> None:
    """Write a line, and now."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


# --- the service --------------------------------------------------------------------------------


async def served() -> None:
    """A service that has finished before it is asked."""
    from aiohttp import ClientSession, web

    state = {"state": "completed", "output": ANSWER}
    choice = {"index": 0, "message": {"content": ANSWER}, "finish_reason": "stop"}
    posting: set[asyncio.Task[None]] = set()

    async def post(url: str) -> None:
        async with ClientSession() as session, session.post(url, json=state):
            pass

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        match request.path:
            case "/stream":
                return web.Response(
                    text=f"data: {json.dumps(state)}\n\n", content_type="text/event-stream"
                )
            case "/callback":
                url = (await request.json())["callback_url"]
                task = asyncio.create_task(post(url))
                posting.add(task)
                task.add_done_callback(posting.discard)
                return web.json_response({}, status=202)
            case "/v1/chat/completions":
                return web.json_response({"choices": [choice]})
            case _:
                return web.json_response(state)

    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    told(f"http://127.0.0.1:{runner.addresses[0][1]}")
    await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def _process(*command: str) -> AsyncIterator[str]:
    """The first line of a process, which is ended afterwards."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE, env=os.environ
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


# --- calls --------------------------------------------------------------------------------------


async def measured(options: argparse.Namespace) -> None:
    """Ask in every way, round by round; then post to receivers."""
    async with _process(__file__, "--serve") as url:
        engines = _engines(url)
        rounds = [
            {name: await _cost(engine, options) for name, engine in engines.items()}
            for _ in range(options.rounds)
        ]
        for engine in engines.values():
            await engine.close()
    told(f"{options.calls} calls, {options.lanes} at once, medians of {options.rounds} rounds")
    for name in engines:
        wall = statistics.median(each[name][0] for each in rounds)
        ratio = statistics.median(each[name][1] / each["openai"][1] for each in rounds)
        told(f"{name}: {wall:.2f} ms a call, {ratio:.2f} of the processor time of engine openai")
    for receivers in (1, 2):
        told(f"{receivers} receivers: {await _posted(receivers, options):.0f} posts a second")


def _engines(url: str) -> dict[str, Any]:
    from repurpose.api.adapters import SystemClock, new_id
    from repurpose.completion.configured import endpoint_from
    from repurpose.engines.endpoint import endpoint_engine
    from repurpose.engines.openai import openai_engine
    from repurpose.receiving.memory import MemoryRendezvous

    clock = SystemClock()
    engines: dict[str, Any] = {
        "openai": openai_engine(model="m", base_url=f"{url}/v1", api_key="none", clock=clock)
    }
    for name, table in WAYS.items():
        engines[name] = endpoint_engine(
            endpoint_from(name, {"base_url": url, "result_path": "output", **table}),
            clock=clock,
            new_id=new_id,
            environment={},
            rendezvous=MemoryRendezvous(clock),
        )
    return engines


async def _cost(engine: Any, options: argparse.Namespace) -> tuple[float, float]:
    """Milliseconds a call takes, and of processor time in this process."""
    from repurpose.core.call import Call
    from repurpose.core.source import Source

    schema = {"type": "object", "properties": {"headline": {"type": "string"}}}
    source = Source("A ferry sank. " * 400, "ferry.md", "markdown")
    call = Call("brief", "Rules. " * 200, source.text, schema, schema, source)

    async def one() -> None:
        assert (await engine.answer(call)).text == ANSWER

    return await _each(options.calls, options.lanes, one)


async def _each(count: int, lanes: int, act: Callable[[], Any]) -> tuple[float, float]:
    limit = asyncio.Semaphore(lanes)

    async def limited() -> None:
        async with limit:
            await act()

    began, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(limited() for _ in range(count)))
    wall, used = time.perf_counter() - began, time.process_time() - used
    return 1000 * wall / count, 1000 * used / count


# --- posts --------------------------------------------------------------------------------------


async def _posted(receivers: int, options: argparse.Namespace) -> float:
    """How many posts a second so many receivers over one store acknowledge."""
    from aiohttp import ClientSession

    from repurpose.api.adapters import open_store
    from repurpose.receiving.tokens import key_of, new_token

    os.environ["REPURPOSE_CALLBACK_BASE_URL"] = "http://127.0.0.1:8410"
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "texts.db")
        store = open_store(database)
        tokens = [new_token() for _ in range(options.posts)]
        for token in tokens:
            store.deliveries.issue(key_of(token), time.time())
        store.close()
        command = ("-m", "repurpose", "serve-callbacks", "--port", "0", "--json", "--db", database)
        async with contextlib.AsyncExitStack() as running, ClientSession() as session:
            lines = [
                await running.enter_async_context(_process(*command)) for _ in range(receivers)
            ]
            addresses = [json.loads(line)["address"] for line in lines]  # noqa: TID251 - our own
            waiting = [
                f"{addresses[number % receivers]}/callbacks/{token}"
                for number, token in enumerate(tokens)
            ]

            async def one() -> None:
                async with session.post(waiting.pop(), data=b"{}") as answer:
                    assert answer.status == 202

            wall, _ = await _each(len(tokens), options.lanes, one)
    return 1000 / wall


if __name__ == "__main__":
    main()
