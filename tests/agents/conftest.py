"""An A2A agent on loopback, and a user beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.a2a_agent import Agent, a2a_agent
from agents.desk import TOKEN, Desk


@pytest.fixture(scope="module")
def _running_agent() -> Iterator[Agent]:
    with a2a_agent() as running:
        yield running


@pytest.fixture
def agent(_running_agent: Agent) -> Iterator[Agent]:
    """An agent that has been asked nothing yet."""
    yield _running_agent
    _running_agent.reset()


@pytest.fixture
def desk(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    article = root / "fixtures" / "sources" / "article.md"
    (tmp_path / "article.md").write_bytes(article.read_bytes())
    monkeypatch.setenv("WRITER_TOKEN", TOKEN)
    return Desk(tmp_path, monkeypatch, capsys)
