"""Provider batches whose process is killed at each step in turn, and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from killed_batches import SOURCES

from batch_provider import BatchProvider
from repurpose.api.adapters import open_store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL is a POSIX signal"),
]

COUNT = len(SOURCES)


class Starter:
    """Starts processes one after another; see `killed_batches.py`."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(root / "tests" / "killed_batches.py")],
            env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str, database: Path, url: str, moment: int = 0) -> bool:
        """Whether the process ended well; False where it was killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\t{database}\t{url}\t{moment}\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        assert code in (0, -signal.SIGKILL)
        return code == 0

    def close(self) -> None:
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def starter(root: Path) -> Iterator[Starter]:
    made = Starter(root)
    yield made
    made.close()


@pytest.fixture
def provider() -> Iterator[BatchProvider]:
    made = BatchProvider()
    yield made
    made.close()


@pytest.fixture
def good(golden: Callable[[str], dict[str, object]]) -> str:
    return json.dumps(golden("summary"))


def finished(starter: Starter, database: Path, provider: BatchProvider, good: str) -> None:
    """Do all steps once more, undisturbed, and see that nothing was doubled or lost."""
    starter.run("queue", database, provider.url)
    starter.run("submit", database, provider.url)
    for batch in provider.batches:
        if batch["status"] == "validating":
            provider.answer(batch, lambda _: good)
    starter.run("collect", database, provider.url)
    starter.run("queue", database, provider.url)
    ids = [name for batch in provider.batches for name in provider.ids(batch)]
    assert (len(ids), len(set(ids))) == (COUNT, COUNT)
    store = open_store(database)
    runs = store.runs(COUNT)
    rows = [row for run in runs for row in store.rows(run.id)]
    assert [row.status for row in rows] == ["done"] * COUNT
    assert store.provider_batches.pending().requests == 0
    store.close()


@pytest.mark.parametrize("command", ["queue", "submit", "collect"])
def test_a_process_killed_at_any_step_sends_nothing_twice_and_loses_nothing(
    command: str, starter: Starter, tmp_path: Path, good: str
) -> None:
    moment, ended = 0, False
    while not ended:
        moment += 1
        provider = BatchProvider()
        database = tmp_path / f"{moment}.db"
        for step in ("queue", "submit", "collect"):
            if step == command:
                break
            assert starter.run(step, database, provider.url)
        for batch in provider.batches:
            provider.answer(batch, lambda _: good)
        ended = starter.run(command, database, provider.url, moment)
        finished(starter, database, provider, good)
        provider.close()
    assert moment > 8  # it was killed at as many steps


def test_a_process_killed_between_the_creation_and_its_answer_finds_the_batch_again(
    starter: Starter, provider: BatchProvider, tmp_path: Path, good: str
) -> None:
    database = tmp_path / "some.db"
    starter.run("queue", database, provider.url)
    # Steps: prepare, upload, note and create, each with a begin and an end; 8 is the end of create,
    # when the provider has the batch and the store does not know of it.
    assert not starter.run("submit", database, provider.url, 8)
    assert len(provider.batches) == 1
    store = open_store(database)
    (batch,) = store.provider_batches.batches()
    assert (batch.state, batch.batch_id) == ("prepared", None)
    store.close()
    provider.answer(provider.batches[0], lambda _: good)
    assert starter.run("collect", database, provider.url)
    finished(starter, database, provider, good)
    assert provider.counts["POST /batches"] == 1
