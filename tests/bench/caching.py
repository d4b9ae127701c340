"""How much of the prompts of four formats comes from a prefix cache, as a Markdown table.

    python tests/bench/caching.py [--mock PATH] [--documents 8] [--words 3000]

Against a mock server that answers chat completions, takes `--answers FOLDER`, `--port 0`,
`--latency-ms N` and `--prefix-cache messages` or `schema-first`, and reports the cached tokens that
a cache of whole blocks would find; see `pipeline.py` for where it is looked for. `schema-first`
puts the response format before the messages, as some providers do. Prompts, answers, runner and
store are those of a run, and the rate is what `repurpose stats` shows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workload import FORMATS, write_workload

from repurpose.api.adapters import SystemClock
from repurpose.api.loading import load
from repurpose.api.runs import arun
from repurpose.config import Settings
from repurpose.core.profile import CacheWish
from repurpose.core.statistics import Tally, together
from repurpose.engines.openai import openai_engine
from repurpose.schema.intake import decode
from repurpose.stores.sqlite import open_store

ROOT = Path(__file__).resolve().parents[2]
PLANS: dict[str, tuple[str, str, CacheWish]] = {
    "each by itself": ("openai", "gpt-4.1-mini", "off"),
    "source first, a schema each": ("vllm", "small", "auto"),
    "source first, one schema": ("openai", "gpt-4.1-mini", "auto"),
    "source first, one schema, marked": ("openai", "gpt-6-luna", "auto"),
    "source first, schema in the task": ("openai:object", "gpt-4.1-mini", "auto"),
}
"""By name: profile, model and `--cache`."""


@contextmanager
def mock(script: Path, answers: Path, mode: str) -> Iterator[str]:
    """The address of a running mock server with a cache of its own."""
    command = [sys.executable, str(script), "--port", "0", "--answers", str(answers)]
    process = subprocess.Popen(
        [*command, "--prefix-cache", mode, "--latency-ms", "20"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().split()[-1]}/v1"
    finally:
        process.terminate()
        process.wait()


async def measured(url: str, documents: list[Path], plan: str) -> Tally:
    """What the calls for these documents took."""
    profile, model, cache = PLANS[plan]
    store = open_store(":memory:")
    engine = openai_engine(model=model, base_url=url, profile=profile, clock=SystemClock())
    settings = Settings(database=Path(os.devnull), cache=cache, max_attempts=1)
    try:
        for path in documents:
            await arun(load(path), FORMATS, engine=engine, store=store, settings=settings)
        return together(store.statistics("format"), plan)
    finally:
        await engine.close()
        store.close()


def tell(line: str) -> None:
    """A line of the table, as soon as it is known."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table."""
    shared = Path(os.environ.get("REPURPOSE_SHARED", ROOT.parent / "shared"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mock", type=Path, default=shared / "bench" / "mock_openai.py")
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--words", type=int, default=3000)
    options = parser.parse_args()
    tell("| prompts | schema | prompt tokens | cached | requests |")
    tell("| :-- | :-- | --: | --: | --: |")
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        write_workload(folder, options.documents, options.words)
        answers = folder / "answers"
        every = {each: decode((answers / f"{each}.json").read_text("utf-8")) for each in FORMATS}
        (answers / "answers.json").write_text(json.dumps(every), encoding="utf-8")
        documents = sorted((folder / "documents").glob("*.md"))
        for mode in ("messages", "schema-first"):
            for plan in PLANS:
                with mock(options.mock, answers, mode) as url:
                    took = asyncio.run(measured(url, documents, plan))
                where = "before the messages" if mode == "schema-first" else "not in the prompt"
                cells = f"{took.prompt_tokens.known:,.0f} | {took.hit_rate or 0:.1%} | {took.calls}"
                tell(f"| {plan} | {where} | {cells} |")
                failed = "" if plan.endswith("in the task") else took.failures
                assert not failed, failed  # the mock knows one answer for all schemas in a task


if __name__ == "__main__":
    main()
