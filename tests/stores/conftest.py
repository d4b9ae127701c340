"""Sample records, and a fresh store of every kind."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repurpose.core.call import Call, Quote, Reply, Usage
from repurpose.core.record import CallRecord, Measures, Row, Run
from repurpose.core.source import Block, Source
from repurpose.ports import Store
from repurpose.stores import STORES

SOURCE = Source(
    text="# Bees\n\nBees dance to tell the way.",
    origin="bees.md",
    kind="markdown",
    blocks=(Block("heading", 0, 6, (), 1), Block("paragraph", 8, 35, ("Bees",))),
    title="Bees",
    author="A. Meadow",
    date="2026-05-01",
    language="en",
    url="https://example.org/bees",
    hidden=2,
    warnings=("2 hidden characters removed",),
)
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


class Samples:
    """Records that are complete, each with an id of its own unless one is given."""

    source = SOURCE

    def run(self, name: str = "run1", **changes: object) -> Run:
        run = Run(
            id=name,
            source_id=SOURCE.digest,
            formats=("faq", "social"),
            engine="scripted",
            model="model-1",
            started_at="2026-05-02T08:00:00.000Z",
            language="de",
            audience="beekeepers",
            tone="dry",
        )
        return replace(run, **changes)

    def call(self, name: str = "call1", run: str = "run1", **changes: object) -> CallRecord:
        record = CallRecord(
            id=name,
            run_id=run,
            source_id=SOURCE.digest,
            key="key of the call",
            call=Call(
                "social", "Our rules.", "<block>", SCHEMA, {"type": "object"}, SOURCE, 2, 900
            ),
            engine="scripted",
            model="model-1",
            parameters={"temperature": 0.5},
            started_at="2026-05-02T08:00:01.000Z",
            seconds=1.25,
            reply=Reply(
                text='{"text": "Bienen tanzen 🐝"}',
                reasoning="short",
                usage=Usage(100, 20, 64, 0),
                model="model-1-2026",
                request_id="req-7",
                requests=2,
                quotes=(Quote("Bees dance", 8, 18),),
            ),
            cost=0.0125,
        )
        return replace(record, **changes)

    def row(self, name: str = "row1", run: str = "run1", **changes: object) -> Row:
        row = Row(
            id=name,
            run_id=run,
            source_id=SOURCE.digest,
            format="social",
            label="Social posts",
            variant="x",
            status="done",
            message="Social posts done (1 retry)",
            idempotency_key="key of the result",
            engine="scripted",
            provenance="model model-1",
            created_at="2026-05-02T08:00:02.000Z",
            attempts=2,
            elapsed_ms=1300,
            text="Bienen tanzen 🐝 #bees",
            content={"text": "Bienen tanzen 🐝", "hashtags": ["#bees"]},
            measures=Measures(22, "x_weighted", 280, True, "word", 3),
            model="model-1",
            language="de",
            quotes=(Quote("Bees dance", 8, 18),),
            coerced=("count",),
            dropped=("mood",),
            notes=("cut at a word",),
            reused_from=None,
        )
        return replace(row, **changes)

    def failed(self, name: str, run: str = "run1", **changes: object) -> Row:
        row = self.row(name, run, status="failed", message="no answer came", kind="refused")
        return replace(row, text=None, content=None, measures=None, quotes=(), **changes)

    def posts(self, run: str = "run1", **changes: object) -> tuple[Row, ...]:
        """The three rows of one social result."""
        names = ("linkedin", "x", "instagram")
        return tuple(self.row(f"{run}-{name}", run, variant=name, **changes) for name in names)


@pytest.fixture(scope="session")
def samples() -> Samples:
    return Samples()


@pytest.fixture(scope="session", params=sorted(STORES))
def new_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], Store]:
    """Opens an empty store of each kind, from a copy of one that was made once: that is faster."""
    module, _, function = STORES[request.param].partition(":")
    open_store = getattr(importlib.import_module(module), function)
    made = tmp_path_factory.mktemp(request.param) / "store"
    open_store(made).close()

    def opened(path: Path) -> Store:
        shutil.copy(made, path)
        store: Store = open_store(path)
        return store

    return opened


@pytest.fixture
def store(new_store: Callable[[Path], Store], tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    opened = new_store(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def begun(store: Store, samples: Samples) -> Store:
    """A store in which `run1` has begun."""
    store.start_run(samples.run(), samples.source)
    return store
