"""The README's examples of services that write, each run against such a service on loopback."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.a2a_agent import Agent, a2a_agent
from endpoint_servers import Workflow, workflow
from test_readme import _run as run
from test_readme import blocks

NAMES = {"writer": "sync", "jobs": "poll", "agent": "stream", "flow": "callback", "traced": "trace"}
"""The examples, and the mode that each shows."""


def example(name: str) -> str:
    """The README's settings of an endpoint."""
    (found,) = [block for block in blocks("toml") if f"[endpoints.{name}]" in block]
    return found


@pytest.fixture(scope="module")
def service() -> Iterator[Workflow]:
    with workflow() as running:
        yield running


@pytest.fixture(scope="module")
def agent() -> Iterator[Agent]:
    with a2a_agent() as running:
        yield running


@pytest.fixture
def folder(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    service: Workflow,
    agent: Agent,
) -> Path:
    """A folder with the article and the examples, whose addresses are those of the servers here."""
    article = root / "fixtures" / "sources" / "article.md"
    (tmp_path / "article.md").write_bytes(article.read_bytes())
    settings = "\n".join(map(example, NAMES))
    for written, here in (
        ("http://localhost:9000", service.url),
        ("http://localhost:9001/", agent.url),
    ):
        settings = settings.replace(written, here)
    # A user waits for a second or two between two looks.
    settings = settings.replace("interval = 1.0", "interval = 0.01")
    settings = settings.replace('mode = "trace"', 'mode = "trace"\ninterval = 0.01')
    (tmp_path / "repurpose.toml").write_text(settings, encoding="utf-8")
    service.traces = tmp_path / "traces.jsonl"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WRITER_TOKEN", "a-token-of-mine")
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_an_example_writes_the_summary(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(
        f"repurpose run article.md --engine endpoint:{name} --formats summary", folder, monkeypatch
    )
    said = capsys.readouterr()
    assert ended == 0, said.err
    assert "The public library of Halvik, a harbour town of 31,000 people" in said.out
    assert "1 call" in said.err


def test_the_token_of_an_example_goes_to_its_service_alone(
    folder: Path, service: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("writer", "jobs"):
        run(
            f"repurpose run article.md --engine endpoint:{name} --formats summary",
            folder,
            monkeypatch,
        )
    sent = [each.get("authorization") for each in service.headers]
    assert set(sent) == {"Bearer a-token-of-mine", None}


@pytest.mark.parametrize(("name", "mode"), NAMES.items())
def test_an_example_shows_the_mode_that_it_is_to_show(name: str, mode: str) -> None:
    settings: dict[str, Any] = tomllib.loads(example(name))["endpoints"][name]
    assert settings.get("completion", {"mode": "sync"})["mode"] == mode
