"""The whole pipeline beside bare clients, against a mock server, as a Markdown table.

    python tests/bench/pipeline.py [--mock PATH] [--documents 500] [--words 1000]
        [--rounds 3] [--concurrency 1 32 256] [--latency 0 200] [--parts hot cold memory commands]

Every measurement is a fresh process on one core, with the mock server on another. The clients
take turns within a round, so that whatever else the machine does hits all alike; the table holds
medians over rounds, and ratios are medians of ratios within a round. Processor time is steadier
than the rate on a machine that does other work.

The mock server is a program that answers chat completions from `--answers FOLDER` (one JSON file
for each schema name), takes `--port 0` and prints the port it chose as the last word of its first
line, and has `POST /__mock/config` with `{"latency_ms": N}` and `GET /__mock/stats` with
`{"counts": {"/v1/chat/completions": N}}`. Without `--mock` it is looked for as
bench/mock_openai.py in the folder that REPURPOSE_SHARED names, else in `shared` beside the
repository.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from workload import FORMATS, MODEL, read_prompts, user_prompt, write_workload

ROOT = Path(__file__).resolve().parents[2]
BASE = "openai"
CLIENTS = ("repurpose", "openai", "instructor")
NAMES = {
    "repurpose": "`repurpose`, load to stored row",
    "openai": "bare `AsyncOpenAI`, `create`",
    "instructor": "`instructor`, JSON_SCHEMA",
}
WAVES = 12  # with latency, each lane answers so many calls, else a round would take an hour
COLD_ROUNDS = 5

Row = dict[str, Any]

COLD_BARE = """
import asyncio, json, sys, openai
system, user, schema = json.load(open(sys.argv[1]))
async def main():
    client = openai.AsyncOpenAI(base_url=sys.argv[2], api_key="k")
    reply = await client.chat.completions.create(
        model=sys.argv[3],
        messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
        response_format={"type": "json_schema",
            "json_schema": {"name": "summary", "strict": True, "schema": schema}})
    print(json.loads(reply.choices[0].message.content))
asyncio.run(main())
"""


class Mock:
    """The mock server as a process."""

    def __init__(self, script: Path, python: str, folder: Path, processor: int | None) -> None:
        pin = [] if processor is None else ["--cpu", str(processor)]
        self._process = subprocess.Popen(
            [python, str(script), "--port", "0", "--answers", str(folder / "answers"), *pin],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._root = f"http://127.0.0.1:{self._process.stdout.readline().split()[-1]}"
        self.url = f"{self._root}/v1"

    def delay(self, milliseconds: int) -> None:
        """Answer after so many milliseconds from now on."""
        body = json.dumps({"latency_ms": milliseconds}).encode()
        urllib.request.urlopen(f"{self._root}/__mock/config", body).close()

    def completions(self) -> int:
        """How many requests were answered so far."""
        with urllib.request.urlopen(f"{self._root}/__mock/stats") as reply:
            counts = json.loads(reply.read())["counts"]  # noqa: TID251 - the mock's own
        return int(counts.get("/v1/chat/completions", 0))

    def end(self) -> None:
        """Stop the process."""
        self._process.terminate()
        self._process.wait()


@contextmanager
def setting(options: argparse.Namespace) -> Iterator[tuple[Path, Mock]]:
    """A folder with the workload, and a running mock server."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        most = max([options.documents, *(options.memory if "memory" in options.parts else ())])
        write_workload(folder, most + max(options.concurrency) // len(FORMATS), options.words)
        mock = Mock(options.mock, options.mock_python, folder, options.processors[0])
        try:
            yield folder, mock
        finally:
            mock.end()


def one_run(
    client: str, folder: Path, mock: Mock, concurrency: int, documents: int, processor: int | None
) -> Row:
    """The figures of one client in a fresh process; fails where a call was asked twice."""
    warm = max(1, concurrency // len(FORMATS))
    with tempfile.TemporaryDirectory(prefix="bench-store-") as store:
        spec = {
            "client": client,
            "url": mock.url,
            "folder": str(folder),
            "database": f"{store}/bench.db",
            "documents": documents,
            "warm": warm,
            "concurrency": concurrency,
            "processor": processor,
        }
        before = mock.completions()
        worker = Path(__file__).with_name("pipeline_worker.py")
        output = run([sys.executable, str(worker), json.dumps(spec)])
    asked = mock.completions() - before
    expected = len(FORMATS) * (warm + documents)
    assert asked == expected, f"{client} made {asked} calls, not {expected}"
    return {"client": client, **json.loads(output)}  # noqa: TID251 - our worker's


def run(command: Sequence[str]) -> str:
    """What a command of the checkout writes."""
    home = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**home, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def processor_ms(command: Sequence[str]) -> float:
    """User and system time of a whole process, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def hot(options: argparse.Namespace, folder: Path, mock: Mock) -> Iterator[str]:
    """The tables of clients that are warm, one for each latency and concurrency."""
    cells = [(delay, lanes) for delay in options.latency for lanes in options.concurrency]
    rounds: dict[tuple[int, int], list[dict[str, Row]]] = {cell: [] for cell in cells}
    for _ in range(options.rounds):
        for delay, lanes in cells:
            mock.delay(delay)
            few = max(1, WAVES * lanes // len(FORMATS))
            documents = min(options.documents, few) if delay else options.documents
            taken: dict[str, Row] = {}
            for client in options.clients:
                taken[client] = one_run(
                    client, folder, mock, lanes, documents, options.processors[1]
                )
                note(f"{delay} ms, {lanes} in flight: {taken[client]}")
            rounds[delay, lanes].append(taken)
    mock.delay(0)
    yield (
        "| latency | in flight | client | completions/s | × bare | of the ideal"
        " | processor ms | × bare | peak MiB |"
    )
    yield "| --: | --: | :-- | --: | --: | --: | --: | --: | --: |"
    for (delay, lanes), taken_rounds in rounds.items():
        yield from hot_rows(delay, lanes, taken_rounds)


def hot_rows(delay: int, lanes: int, rounds: list[dict[str, Row]]) -> Iterator[str]:
    """The table's rows of one latency and concurrency."""
    for client in rounds[0]:

        def median(name: str, client: str = client) -> float:
            return statistics.median(taken[client][name] for taken in rounds)

        def beside(name: str, client: str = client) -> str:
            if BASE not in rounds[0]:
                return ""
            ratios = [taken[client][name] / taken[BASE][name] for taken in rounds]
            return f"{statistics.median(ratios):.2f}"

        ideal = f"{median('rate') / (1000 * lanes / delay):.0%}" if delay else ""
        yield (
            f"| {delay} ms | {lanes} | {NAMES[client]} | {median('rate'):,.0f} | {beside('rate')} |"
            f" {ideal} | {median('ms'):.2f} | {beside('ms')} | {median('peak_mib'):.0f} |"
        )


def cold(options: argparse.Namespace, folder: Path, mock: Mock) -> Iterator[str]:
    """A process from its start over one completion to its end."""
    prompts = read_prompts(folder)
    document = folder / "documents" / "00000.md"
    case = folder / "cold.json"
    user = user_prompt(prompts, document.read_text("utf-8"))
    case.write_text(json.dumps([prompts.systems["summary"], user, prompts.schemas["summary"]]))
    flags = ["--formats", "summary", "--model", MODEL, "--base-url", mock.url, "--force"]
    database = ["--db", str(folder / "cold.db")]
    commands = {
        "`repurpose run`": ["-m", "repurpose", "run", str(document), *flags, *database],
        "bare `AsyncOpenAI`": ["-c", COLD_BARE, str(case), mock.url, MODEL],
    }
    taken: list[dict[str, float]] = []
    for number in range(max(options.rounds, COLD_ROUNDS) + 1):
        figures = {
            name: processor_ms([sys.executable, *arguments]) for name, arguments in commands.items()
        }
        note(f"cold: {figures}")
        if number:  # the first round compiles and fills the disk's cache
            taken.append(figures)
    yield "| first completion of a new process | processor ms | × bare |"
    yield "| :-- | --: | --: |"
    for name in commands:
        ratio = statistics.median(one[name] / one["bare `AsyncOpenAI`"] for one in taken)
        yield f"| {name} | {statistics.median(one[name] for one in taken):,.0f} | {ratio:.2f} |"


def memory(options: argparse.Namespace, folder: Path, mock: Mock) -> Iterator[str]:
    """The most memory held, for a few and for many documents."""
    lanes = max(options.concurrency)
    few = min(options.memory)
    yield f"| documents, {lanes} in flight | client | peak MiB |"
    yield "| --: | :-- | --: |"
    for client, documents in [(BASE, few), *(("repurpose", count) for count in options.memory)]:
        row = one_run(client, folder, mock, lanes, documents, options.processors[1])
        note(f"memory: {row}")
        yield f"| {documents:,} | {NAMES[client]} | {row['peak_mib']:.0f} |"


def commands(options: argparse.Namespace, folder: Path, mock: Mock) -> Iterator[str]:
    """Short commands over a database with a few runs."""
    database = ["--db", str(folder / "commands.db")]
    cold_flags = ["--formats", ",".join(FORMATS), "--model", MODEL, "--base-url", mock.url]
    for path in sorted((folder / "documents").iterdir())[:3]:
        run([sys.executable, "-m", "repurpose", "run", str(path), *cold_flags, *database])
    yield "| command | processor ms |"
    yield "| :-- | --: |"
    for words in (["list"], ["show", "last"], ["export", "last"]):
        command = [sys.executable, "-m", "repurpose", *words, *database]
        taken = [processor_ms(command) for _ in range(2 * options.rounds + 3)]
        yield f"| `repurpose {' '.join(words)}` | {statistics.median(taken):.0f} |"


PARTS: dict[str, Callable[[argparse.Namespace, Path, Mock], Iterator[str]]] = {
    "hot": hot,
    "cold": cold,
    "memory": memory,
    "commands": commands,
}


def heading(options: argparse.Namespace) -> str:
    """When, with what, and by which command the tables were made."""
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("openai", "instructor") if has(name)
    )
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        f"{datetime.now(UTC):%d %B %Y}, Python {python}, {versions}; medians of"
        f" {options.rounds} rounds of {options.documents:,} documents of {options.words:,} words"
        f" × {len(FORMATS)} formats.\n"
        f"Made by `python tests/bench/pipeline.py {' '.join(sys.argv[1:])}`."
    )


def has(name: str) -> bool:
    """Whether a distribution is installed."""
    try:
        version(name)
    except ModuleNotFoundError:
        return False
    return True


def note(line: str) -> None:
    """Tell how it goes, beside the tables."""
    sys.stderr.write(f"{line}\n")


def shared_mock() -> Path:
    """Where the mock server is, unless an argument says so."""
    shared = Path(os.environ.get("REPURPOSE_SHARED", ROOT.parent / "shared"))
    return shared / "bench" / "mock_openai.py"


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mock", type=Path, default=shared_mock(), help="the mock server")
    parser.add_argument("--mock-python", default=sys.executable, help="what runs it")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--words", type=int, default=1_000, help="in a document")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, nargs="*", default=[1, 32, 256])
    parser.add_argument("--latency", type=int, nargs="*", default=[0, 200], help="milliseconds")
    parser.add_argument("--clients", nargs="*", choices=CLIENTS, default=list(CLIENTS))
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--memory", type=int, nargs="*", default=[1_000, 10_000], help="documents")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    options.processors = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
    with setting(options) as (folder, mock):
        tables = ["\n".join(PARTS[part](options, folder, mock)) for part in options.parts]
    sys.stdout.write("\n\n".join([heading(options), *tables]) + "\n")


if __name__ == "__main__":
    main()
