"""Calls against a server with a rate limit: how fast, how often refused, how many lost.

    python tests/bench/pace.py [--mock PATH] [--calls 900] [--lanes 64] [--latency 100]
        [--allowed 30] [--burst 20] [--rates 28 0] [--rounds 1]

The server takes `--allowed` requests a second and `--burst` of them at once. `repurpose` is
measured with each of `--rates` as its own limit, where 0 means that it is told none and goes by
the server's headers; the openai client beside it with its two retries and with ten. What is
possible is the lower one of the rate asked for and the rate allowed. Calls are counted by the
server: what it refused, and what it answered.

The mock server is the one of `pipeline.py`, with `--rpm` and `--burst`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from pipeline import shared_mock

from repurpose.api.adapters import SystemClock
from repurpose.core.call import Call
from repurpose.core.source import Source
from repurpose.engines.openai import openai_engine
from repurpose.errors import EngineError

MODEL = "mock-model"
SOURCE = Source("The ferry sails at nine. " * 200, "-", "text")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}

Ask = Callable[[int], Coroutine[Any, Any, bool]]
"""Makes the call of this number; whether it was answered."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What one client came to."""

    seconds: float
    answered: int
    lost: int
    refused: int
    possible: float
    """Answers a second that were possible."""

    @property
    def share(self) -> float:
        """Of the rate that was possible."""
        return self.answered / self.seconds / self.possible

    @property
    def refusals(self) -> float:
        """Of all requests."""
        return self.refused / (self.refused + self.answered)


@contextmanager
def serving(options: argparse.Namespace) -> Iterator[str]:
    """A fresh mock server with a full bucket."""
    allowed = 60 * options.allowed
    arguments = {
        "--port": 0,
        "--latency-ms": options.latency,
        "--rpm": allowed,
        "--burst": options.burst / allowed,
        "--answer-bytes": 500,
    }
    flat = [str(part) for pair in arguments.items() for part in pair]
    process = subprocess.Popen(
        [sys.executable, str(options.mock), *flat], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().split()[-1]}"
    finally:
        process.terminate()
        process.wait()


def counts(root: str) -> dict[str, int]:
    """What the server counted."""
    with urllib.request.urlopen(f"{root}/__mock/stats") as reply:
        told: dict[str, int] = json.loads(reply.read())["counts"]  # noqa: TID251 - the mock's own
    return told


async def all_calls(ask: Ask, calls: int, lanes: int) -> tuple[float, int]:
    """The seconds that all calls took, and how many were answered."""
    numbers = iter(range(calls))
    answered = 0

    async def lane() -> None:
        nonlocal answered
        for number in numbers:
            was_answered = await ask(number)
            answered += was_answered

    began = time.perf_counter()
    await asyncio.gather(*(lane() for _ in range(lanes)))
    return time.perf_counter() - began, answered


async def ours(url: str, calls: int, lanes: int, rate: float) -> tuple[float, int]:
    """`repurpose`, told a rate a second or, with 0, none."""
    engine = openai_engine(
        model=MODEL, base_url=url, clock=SystemClock(), rpm=60 * rate if rate else None
    )

    async def ask(number: int) -> bool:
        call = Call("brief", "Say it.", f"{number} {SOURCE.text}", SCHEMA, SCHEMA, SOURCE)
        try:
            await engine.answer(call)
        except EngineError:
            return False
        return True

    try:
        return await all_calls(ask, calls, lanes)
    finally:
        await engine.close()


async def bare(url: str, calls: int, lanes: int, retries: int) -> tuple[float, int]:
    """The openai client with retries of its own."""
    import openai

    shape = {"name": "brief", "strict": True, "schema": SCHEMA}
    async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=retries) as client:

        async def ask(number: int) -> bool:
            try:
                await client.chat.completions.create(
                    model=MODEL,
                    messages=[
                        {"role": "system", "content": "Say it."},
                        {"role": "user", "content": f"{number} {SOURCE.text}"},
                    ],
                    response_format={"type": "json_schema", "json_schema": shape},
                )
            except openai.APIError:
                return False
            return True

        return await all_calls(ask, calls, lanes)


def measured(
    options: argparse.Namespace, rate: float, run: Callable[[str], Coroutine[Any, Any, Any]]
) -> Ran:
    """One client against a fresh server."""
    with serving(options) as root:
        seconds, answered = asyncio.run(run(f"{root}/v1"))
        refused = counts(root).get("rate limited", 0)
    possible = min(rate or options.allowed, options.allowed)
    return Ran(seconds, answered, options.calls - answered, refused, possible)


def tell(line: str) -> None:
    """One line of the report, seen at once also where it goes into a file."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mock", default=shared_mock(), help="the mock server")
    parser.add_argument("--calls", type=int, default=900)
    parser.add_argument("--lanes", type=int, default=64, help="calls in work at once")
    parser.add_argument("--latency", type=int, default=100, help="milliseconds")
    parser.add_argument("--allowed", type=float, default=30, help="requests a second")
    parser.add_argument("--burst", type=float, default=20, help="requests at once")
    parser.add_argument("--rates", type=float, nargs="*", default=[28, 0])
    parser.add_argument("--retries", type=int, nargs="*", default=[2, 10])
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    size = (options.calls, options.lanes)
    clients: dict[str, tuple[float, Callable[[str], Coroutine[Any, Any, Any]]]] = {}
    for rate in options.rates:
        name = f"`repurpose`, {f'{rate:g}/s asked for' if rate else 'by the headers'}"
        clients[name] = (rate, lambda url, rate=rate: ours(url, *size, rate))
    for retries in options.retries:
        name = f"`AsyncOpenAI`, {retries} retries"
        clients[name] = (0, lambda url, retries=retries: bare(url, *size, retries))
    tell(
        f"{options.calls} calls, {options.lanes} at once, {options.latency} ms,"
        f" {options.allowed:g}/s allowed and {options.burst:g} at once;"
        f" openai {version('openai')}, {datetime.now(UTC):%d %b %Y}\n"
    )
    tell("| client | seconds | answers/s | of the possible rate | refused (429) | lost calls |")
    tell("|---|--:|--:|--:|--:|--:|")
    rounds: dict[str, list[Ran]] = {name: [] for name in clients}
    for _ in range(options.rounds):
        for name, (rate, run) in clients.items():
            rounds[name].append(measured(options, rate, run))
    for name, runs in rounds.items():
        seconds = statistics.median(run.seconds for run in runs)
        share = statistics.median(run.share for run in runs)
        refusals = statistics.median(run.refusals for run in runs)
        answers = statistics.median(run.answered / run.seconds for run in runs)
        lost = statistics.median(run.lost for run in runs)
        tell(
            f"| {name} | {seconds:.1f} | {answers:.1f} | {share:.2f} | {refusals:.1%} | {lost:g} |"
        )


if __name__ == "__main__":
    main()
