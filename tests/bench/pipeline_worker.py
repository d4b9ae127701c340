"""One measurement of one client in a process of its own; started by pipeline.py.

Reads a specification as JSON from its only argument and prints the figures as JSON. Every client
is given the same documents and sends the same prompts: `repurpose` reads, fences, asks, checks,
fits and stores; the two others read the file, ask and decode.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from workload import FORMATS, MODEL, Prompts, read_prompts, user_prompt

Work = Callable[[Path], Awaitable[None]]
"""Everything that one document needs, all four formats of it."""
Closing = Callable[[], Awaitable[None]]


def openai_client(spec: dict[str, Any]) -> tuple[Work, Closing]:
    """Bare `AsyncOpenAI` as its documentation shows it: default transport, typed `create`."""
    import openai

    client = openai.AsyncOpenAI(base_url=spec["url"], api_key="k")
    prompts = read_prompts(Path(spec["folder"]))
    lanes = asyncio.Semaphore(spec["concurrency"])

    async def one(name: str, user: str) -> None:
        async with lanes:
            reply = await client.chat.completions.create(
                model=MODEL,
                messages=messages(prompts, name, user),  # type: ignore[arg-type]  # plain dicts
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": name, "strict": True, "schema": prompts.schemas[name]},
                },
            )
        answer = json.loads(reply.choices[0].message.content or "")  # noqa: TID251 - what a user writes
        assert isinstance(answer, dict)

    async def work(path: Path) -> None:
        user = user_prompt(prompts, path.read_text("utf-8"))  # noqa: ASYNC240 - a local file
        await asyncio.gather(*(one(name, user) for name in FORMATS))

    return work, client.close


def instructor_client(spec: dict[str, Any]) -> tuple[Work, Closing]:
    """instructor in its JSON_SCHEMA mode, with one repair as `repurpose` has."""
    import instructor
    import openai
    from pydantic import BaseModel

    class Summary(BaseModel):
        sentences: list[str]

    class Pair(BaseModel):
        question: str
        answer: str

    class Faq(BaseModel):
        pairs: list[Pair]

    class Post(BaseModel):
        text: str
        hashtags: list[str]

    class Social(BaseModel):
        linkedin: Post
        x: Post
        instagram: Post

    class Newsletter(BaseModel):
        subject: str
        preheader: str
        paragraphs: list[str]
        callToAction: str  # noqa: N815 - the name in the schema

    models = dict(zip(FORMATS, (Summary, Faq, Social, Newsletter), strict=True))
    inner = openai.AsyncOpenAI(base_url=spec["url"], api_key="k")
    client = instructor.from_openai(inner, mode=instructor.Mode.JSON_SCHEMA)
    prompts = read_prompts(Path(spec["folder"]))
    lanes = asyncio.Semaphore(spec["concurrency"])

    async def one(name: str, user: str) -> None:
        async with lanes:
            answer = await client.create(
                model=MODEL,
                messages=messages(prompts, name, user),  # type: ignore[arg-type]  # plain dicts
                response_model=models[name],
                max_retries=1,
            )
        assert isinstance(answer, models[name])

    async def work(path: Path) -> None:
        user = user_prompt(prompts, path.read_text("utf-8"))  # noqa: ASYNC240 - a local file
        await asyncio.gather(*(one(name, user) for name in FORMATS))

    return work, inner.close


def repurpose_client(spec: dict[str, Any]) -> tuple[Work, Closing]:
    """The whole pipeline: the file loaded and fenced, every call and row stored."""
    from dataclasses import replace

    from repurpose.api.adapters import engine_for, open_store
    from repurpose.api.loading import load
    from repurpose.api.runs import job_for, runner_for, steering_for
    from repurpose.config import Settings

    settings = Settings(
        database=Path(spec["database"]), model=MODEL, base_url=spec["url"], concurrency=4
    )
    engine = engine_for(settings)
    lanes = asyncio.Semaphore(spec["concurrency"])

    async def answer(call: Any) -> Any:
        async with lanes:
            return await engine.answer(call)

    store = open_store(settings.database)
    steering = steering_for(engine, settings)
    runner = runner_for(replace(engine, answer=answer), store, settings, {})

    async def work(path: Path) -> None:
        source = load(path)
        jobs = [job_for(name, source, steering, settings, None) for name in FORMATS]
        ran = await runner.run(source, jobs, steering)
        assert ran.run.status == "done", [one.envelope.message for one in ran.results.values()]

    async def closing() -> None:
        await engine.close()
        store.close()

    return work, closing


CLIENTS = {
    "repurpose": repurpose_client,
    "openai": openai_client,
    "instructor": instructor_client,
}


def messages(prompts: Prompts, name: str, user: str) -> list[dict[str, str]]:
    """The two messages of a call."""
    return [{"role": "system", "content": prompts.systems[name]}, {"role": "user", "content": user}]


def processor_seconds() -> float:
    """User and system time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def measured(spec: dict[str, Any]) -> dict[str, float]:
    """Warm up, then all documents, a few more of them open than calls can be in flight."""
    work, closing = CLIENTS[spec["client"]](spec)
    warm, count = spec["warm"], spec["documents"]
    paths = sorted((Path(spec["folder"]) / "documents").iterdir())[: warm + count]

    async def side_by_side(waiting: Iterator[Path]) -> None:
        async def lane() -> None:
            for path in waiting:
                await work(path)

        await asyncio.gather(*(lane() for _ in range(spec["concurrency"] // len(FORMATS) + 2)))

    await side_by_side(iter(paths[:warm]))
    began, processor = time.perf_counter(), processor_seconds()
    await side_by_side(iter(paths[warm:]))
    wall, used = time.perf_counter() - began, processor_seconds() - processor
    await closing()
    calls = len(FORMATS) * count
    return {"rate": calls / wall, "ms": 1000 * used / calls}


def main() -> None:
    """Measure what the argument specifies."""
    spec = json.loads(sys.argv[1])  # noqa: TID251 - written by pipeline.py
    if spec["processor"] is not None:
        os.sched_setaffinity(0, {spec["processor"]})
    figures = asyncio.run(measured(spec))
    scale = 1024 if sys.platform == "darwin" else 1  # bytes there, kibibytes elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale / 1024
    sys.stdout.write(json.dumps({**figures, "peak_mib": peak}) + "\n")


if __name__ == "__main__":
    main()
