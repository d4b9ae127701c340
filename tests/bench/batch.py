"""A night's batch beside bare calls, against a mock server, as a Markdown table.

    python tests/bench/batch.py [--mock PATH] [--documents 200] [--alone 25] [--words 1000]
        [--rounds 3] [--concurrency 1 32 256] [--latency 0 200]
        [--curator-python PATH] [--curator-rounds 1]

The batch has all on that a night has: the gate with a limit of requests and of tokens, a budget in
dollars, calls and tokens, the plan, a stored row for each result, and the report. The limits are
set too high to hold anything up. Its plan is told apart from its work, and the report's writing
belongs to the work; processor time includes processes that it starts. A whole process is told too,
from its start to its end, warm-up included, for each completion. Bare `AsyncOpenAI` is that of
`pipeline.py`, measured as there: fresh processes that take turns on one core, the mock server on
another, medians over rounds, and ratios as medians of ratios within a round. All have made calls
before they are measured, and the first two keep their connections. `--alone` is the number of
documents for one call in flight.

With the Python of an environment that has bespokelabs-curator, its batches of the same prompts
are measured beside, one for each format, after a small one for each that loads what it needs. Its
log, its display and its cache are off, and it takes four characters for a token without counting:
all of that favours it.

The mock server is the one of `pipeline.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import logging
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline import BASE, Mock, Row, note, one_run, run, setting, shared_mock
from pipeline_worker import messages
from workload import FORMATS, MODEL, read_prompts, user_prompt

if TYPE_CHECKING:
    from repurpose.ports import Engine

NAMES = {
    "batch": "`repurpose batch`, work",
    "all": "`repurpose batch`, plan and work",
    BASE: "bare `AsyncOpenAI`, `create`",
    "curator": "curator",
}
NO_LIMIT = 10_000_000
"""Requests or calls; tokens are a thousand times as many."""

Spent = tuple[float, float]
"""Seconds of the clock, and of the processor."""


def spent() -> Spent:
    """Up to now, by this process and those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(each.ru_utime + each.ru_stime for each in used)


def figures(began: Spent, ended: Spent, calls: int) -> Row:
    """What so many calls took."""
    return {"rate": calls / (ended[0] - began[0]), "ms": 1000 * (ended[1] - began[1]) / calls}


def paths_of(spec: Row) -> tuple[list[Path], list[Path]]:
    """The documents to warm up with, and those that are measured."""
    paths = sorted((Path(spec["folder"]) / "documents").iterdir())
    return paths[: spec["warm"]], paths[spec["warm"] : spec["warm"] + spec["documents"]]


async def batch_figures(spec: Row) -> Row:
    """A small night, which opens the connections, and one that is measured."""
    from repurpose.api.adapters import engine_for
    from repurpose.config import Settings
    from repurpose.prices import own_price

    settings = Settings(
        database=Path(spec["store"]) / "bench.db",
        model=MODEL,
        base_url=spec["url"],
        concurrency=spec["concurrency"],
        output_tokens=2_000,  # a budget wants to know the longest reply
        prices={MODEL: own_price(MODEL, input=0.4, output=1.6)},
        max_cost=float(NO_LIMIT),
        max_calls=NO_LIMIT,
        max_tokens=1_000 * NO_LIMIT,
        rpm=float(NO_LIMIT),
        tpm=1_000.0 * NO_LIMIT,
    )
    engine = engine_for(settings)
    warm, paths = paths_of(spec)
    try:
        await night(settings, engine, warm)
        began, planned, ended = await night(settings, engine, paths)
    finally:
        await engine.close()
    calls = len(FORMATS) * len(paths)
    plan = figures(began, planned, calls)
    return {
        **figures(planned, ended, calls),
        "plan_ms": plan["ms"],
        "plan_seconds": planned[0] - began[0],
        "all": figures(began, ended, calls),
    }


async def night(settings: Any, engine: Engine, paths: Sequence[Path]) -> tuple[Spent, Spent, Spent]:
    """What was spent before the plan, after it, and when the report was written."""
    from repurpose.api.loading import LoadOptions
    from repurpose.batch.night import Night, report_of, write_report

    began = spent()
    with Night(settings, LoadOptions(), engine=engine) as opened:
        opened.planned([str(path) for path in paths], lambda _: None)
        planned = spent()
        outcome = await opened.worked(stopping=lambda: False, ended=lambda _: None)
        report = report_of(opened.store, outcome.batch, outcome.exit_code)
        write_report(str(settings.database.with_suffix(".json")), report)
    assert outcome.exit_code == 0, report["result"]
    return began, planned, spent()


def curator_figures(spec: Row) -> Row:
    """curator, a batch of all documents for each format; it owns its loop."""
    os.environ.update(
        CURATOR_CACHE_DIR=spec["store"],
        CURATOR_DISABLE_CACHE="1",
        CURATOR_DISABLE_RICH_DISPLAY="1",
        HF_HUB_OFFLINE="1",
        OPENAI_API_KEY="k",
        TELEMETRY_ENABLED="false",
        TQDM_DISABLE="1",
    )
    import tiktoken  # type: ignore[import-not-found]  # in an environment of its own

    class Quarter:
        name = "quarter"

        def encode(self, text: str, **_: object) -> range:
            return range(len(text) // 4)

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_: Quarter()
    warm, paths = paths_of(spec)
    logging.disable(logging.WARNING)
    with redirect_stdout(io.StringIO()):
        curated(spec, warm)
        began = spent()
        curated(spec, paths)
        ended = spent()
    return figures(began, ended, len(FORMATS) * len(paths))


def curated(spec: Row, paths: Sequence[Path]) -> None:
    """The texts of these documents in all formats, by curator."""
    from bespokelabs import curator  # type: ignore[import-not-found]  # likewise
    from pydantic import create_model

    def shape(title: str, **members: Any) -> Any:
        fields: dict[str, Any] = {name: (kind, ...) for name, kind in members.items()}
        return create_model(title, **fields)

    post = shape("Post", text=str, hashtags=list[str])
    texts = dict.fromkeys(("subject", "preheader", "callToAction"), str)
    shapes = {
        "summary": shape("Summary", sentences=list[str]),
        "faq": shape("Faq", pairs=list[shape("Pair", question=str, answer=str)]),  # type: ignore[misc]  # made here
        "social": shape("Social", linkedin=post, x=post, instagram=post),
        "newsletter": shape("Newsletter", paragraphs=list[str], **texts),
    }
    prompts = read_prompts(Path(spec["folder"]))

    def writer_of(name: str) -> Any:
        class Writer(curator.LLM):  # type: ignore[misc]  # it has no types
            response_format = shapes[name]

            def prompt(self, row: Row) -> list[dict[str, str]]:
                user = user_prompt(prompts, Path(row["path"]).read_text("utf-8"))
                return messages(prompts, name, user)

            def parse(self, row: Row, response: Any) -> list[Row]:
                return [{**row, "made": response.model_dump_json()}]

        return Writer(
            model_name="gpt-4o-mini",  # it wants one that it knows
            backend="openai",
            backend_params={
                "base_url": spec["url"],
                "max_requests_per_minute": NO_LIMIT,
                "max_tokens_per_minute": 1_000 * NO_LIMIT,
                "max_concurrent_requests": spec["concurrency"],
            },
        )

    for name in FORMATS:
        made = writer_of(name)([{"path": str(path)} for path in paths])
        rows = getattr(made, "dataset", made)
        assert len(rows) == len(paths), f"curator made {len(rows)} of {len(paths)}"


def worker(spec: Row) -> None:
    """Measure what the specification says, and print the figures."""
    if spec["processor"] is not None:
        os.sched_setaffinity(0, {spec["processor"]})
    client = spec["client"]
    taken = curator_figures(spec) if client == "curator" else asyncio.run(batch_figures(spec))
    scale = 1024 if sys.platform == "darwin" else 1  # bytes there, kibibytes elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale / 1024
    sys.stdout.write(json.dumps({**taken, "peak_mib": peak}) + "\n")


def worker_run(
    options: argparse.Namespace,
    client: str,
    folder: Path,
    mock: Mock,
    lanes: int,
    documents: int,
) -> Row:
    """The figures of one client in a fresh process; fails where the batch asked a call twice."""
    warm = max(1, lanes // len(FORMATS))
    with tempfile.TemporaryDirectory(prefix="bench-store-") as store:
        spec = {
            "client": client,
            "url": mock.url,
            "folder": str(folder),
            "store": store,
            "documents": documents,
            "warm": warm,
            "concurrency": lanes,
            "processor": options.processors[1],
        }
        python = str(options.curator_python) if client == "curator" else sys.executable
        before = mock.completions()
        output = run([python, __file__, "--worker", json.dumps(spec)])
    asked, expected = mock.completions() - before, len(FORMATS) * (warm + documents)
    # curator asks once more to learn of limits, so only the least is known.
    assert asked == expected or (client == "curator" and asked > expected), (client, asked)
    return dict(json.loads(output))  # noqa: TID251 - our worker's


def one_round(
    options: argparse.Namespace, folder: Path, mock: Mock, lanes: int, number: int
) -> dict[str, Row]:
    """What each client took, one after the other."""
    documents = options.alone if lanes == 1 else options.documents

    def whole(measure: Callable[[], Row]) -> Row:
        """The figures, with what the process took from its start to its end."""
        before = spent()
        taken = measure()
        calls = len(FORMATS) * (max(1, lanes // len(FORMATS)) + documents)
        return {**taken, "whole_ms": figures(before, spent(), calls)["ms"]}

    def of_worker(client: str) -> Row:
        return whole(lambda: worker_run(options, client, folder, mock, lanes, documents))

    taken = {"batch": of_worker("batch")}
    both = taken["batch"].pop("all")
    taken["all"] = {**taken["batch"], **both}
    processor = options.processors[1]
    taken[BASE] = whole(lambda: one_run(BASE, folder, mock, lanes, documents, processor))
    if options.curator_python and number < options.curator_rounds:
        taken["curator"] = of_worker("curator")
    return taken


def table(options: argparse.Namespace, folder: Path, mock: Mock) -> Iterator[str]:
    """A row for each latency, number of calls in flight, and client."""
    cells = [(delay, lanes) for delay in options.latency for lanes in options.concurrency]
    rounds: dict[tuple[int, int], list[dict[str, Row]]] = {cell: [] for cell in cells}
    for number in range(options.rounds):
        for delay, lanes in cells:
            mock.delay(delay)
            taken = one_round(options, folder, mock, lanes, number)
            rounds[delay, lanes].append(taken)
            note(f"{delay} ms, {lanes} in flight: {taken}")
    yield (
        "| latency | in flight | client | completions/s | × bare | processor ms a completion"
        " | × bare | × curator | of a whole process | × curator | peak MiB |"
    )
    yield "| --: | --: | :-- | --: | --: | --: | --: | --: | --: | --: | --: |"
    for (delay, lanes), taken_rounds in rounds.items():
        yield from rows(f"| {delay} ms | {lanes} |", taken_rounds)
    yield ""
    for (delay, lanes), taken_rounds in rounds.items():
        plans = [taken["batch"] for taken in taken_rounds]
        each = statistics.median(plan["plan_ms"] for plan in plans) * len(FORMATS)
        seconds = statistics.median(plan["plan_seconds"] for plan in plans)
        documents = options.alone if lanes == 1 else options.documents
        yield (
            f"- plan at {delay} ms, {lanes} in flight: {seconds:.2f} s for {documents:,} documents,"
            f" {each:.1f} processor ms a document"
        )


def rows(start: str, rounds: Sequence[dict[str, Row]]) -> Iterator[str]:
    """The table's rows of one latency and number of calls in flight."""
    for client, name in NAMES.items():
        measured = [taken[client] for taken in rounds if client in taken]
        if not measured:
            continue

        def median(name: str, measured: Sequence[Row] = measured) -> float:
            return float(statistics.median(each[name] for each in measured))

        whole = " | "
        if client != "batch":  # its plan is part of the process
            ratio = beside(rounds, client, "curator", "whole_ms")
            whole = f"{median('whole_ms'):.2f} | {ratio}"
        rate, ms = beside(rounds, client, BASE, "rate"), beside(rounds, client, BASE, "ms")
        yield (
            f"{start} {name} | {median('rate'):,.0f} | {rate} | {median('ms'):.2f} | {ms}"
            f" | {beside(rounds, client, 'curator', 'ms')} | {whole} | {median('peak_mib'):.0f} |"
        )


def beside(rounds: Sequence[dict[str, Row]], client: str, other: str, name: str) -> str:
    """The median ratio of two clients over the rounds in which both were measured."""
    ratios = [
        taken[client][name] / taken[other][name]
        for taken in rounds
        if client in taken and other in taken
    ]
    return f"{statistics.median(ratios):.2f}" if ratios else ""


def heading(options: argparse.Namespace) -> str:
    """When, with what, and by which command the table was made."""
    python = ".".join(map(str, sys.version_info[:3]))
    versions = f"Python {python}, openai {version('openai')}"
    if options.curator_python:
        asked = "from importlib.metadata import version; print(version('bespokelabs-curator'))"
        versions += f", curator {run([str(options.curator_python), '-c', asked]).strip()}"
        versions += f" (rounds: {options.curator_rounds})"
    return (
        f"{datetime.now(UTC):%d %B %Y}, {versions}; medians of {options.rounds} rounds of"
        f" {options.documents:,} documents ({options.alone} where one call is in flight) of"
        f" {options.words:,} words × {len(FORMATS)} formats.\n"
        f"Made by `python tests/bench/batch.py {' '.join(sys.argv[1:])}`."
    )


def arguments() -> argparse.Namespace:
    """The command line's, checked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    option: Callable[..., Any] = parser.add_argument
    option("--mock", type=Path, default=shared_mock(), help="the mock server")
    option("--mock-python", default=sys.executable, help="what runs it")
    option("--documents", type=int, default=200)
    option("--alone", type=int, default=25, help="documents for one call in flight")
    option("--words", type=int, default=1_000, help="in a document")
    option("--rounds", type=int, default=3)
    option("--concurrency", type=int, nargs="*", default=[1, 32, 256])
    option("--latency", type=int, nargs="*", default=[0, 200], help="milliseconds")
    option("--curator-python", type=Path, help="measure curator beside, with this Python")
    option("--curator-rounds", type=int, default=1, help="of all rounds, the first so many")
    return parser.parse_args()


def main() -> None:
    """Measure, and print the table."""
    if sys.argv[1:2] == ["--worker"]:
        worker(json.loads(sys.argv[2]))  # noqa: TID251 - written by `worker_run`
        return
    options = arguments()
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    options.processors = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
    options.parts = ()  # of `setting`: the workload needs no documents but ours
    with setting(options) as (folder, mock):
        lines = "\n".join(table(options, folder, mock))
    sys.stdout.write(f"{heading(options)}\n\n{lines}\n")


if __name__ == "__main__":
    main()
