"""Guards and fixtures for every test: no network but loopback, no home directory, no real key."""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings

from mock_server import MockServer
from repurpose.ports import Store
from repurpose.schema.intake import decode
from repurpose.stores.sqlite import open_store

# The same examples in every run, so that a change lands or does not for its own reasons. To look
# for new ones: pytest --hypothesis-profile=explore
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=2000)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parent.parent
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared conformance data, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("REPURPOSE_SHARED", ROOT.parent / "shared"))
    if not (folder / "corpus" / "corpus.yaml").is_file():
        pytest.skip(f"shared data not found at {folder}; set REPURPOSE_SHARED to its folder")
    return folder


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each test has an empty home, an own data directory and no settings from outside."""
    home = tmp_path / "home"
    home.mkdir()
    for name in [n for n in os.environ if n.startswith(("REPURPOSE_", "OPENAI_", "XDG_"))]:
        if name != "REPURPOSE_SHARED":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "share"))


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but loopback fails the test that tries it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            raise AssertionError(f"a test tried to connect to {address[0]}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


class FakeClock:
    """A clock that moves only when somebody sleeps or the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 11, 29, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def new_id() -> Callable[[], str]:
    """Ids that sort in the order they were made: id0001, id0002, …"""
    numbers = itertools.count(1)
    return lambda: f"id{next(numbers):04}"


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store that keeps nothing after the test."""
    opened = open_store(":memory:")
    yield opened
    opened.close()


@pytest.fixture
def golden(root: Path) -> Callable[[str], dict[str, object]]:
    """A format's golden answer, by the format's name."""

    def read(name: str) -> dict[str, object]:
        text = (root / "fixtures" / "replies" / name / "golden.json").read_text(encoding="utf-8")
        return dict(decode(text))  # type: ignore[arg-type]  # golden answers are objects

    return read


@pytest.fixture(scope="session")
def _running_mock_server() -> Iterator[MockServer]:
    server = MockServer()
    yield server
    server.close()


@pytest.fixture
def mock_server(_running_mock_server: MockServer) -> Iterator[MockServer]:
    """An OpenAI-compatible server on loopback; see `tests/mock_server.py` for its plans."""
    yield _running_mock_server
    _running_mock_server.reset()
