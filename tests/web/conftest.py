"""Servers to ask: in the test's own process, or on a socket of loopback with viewers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from repurpose.config import Settings
from repurpose.engines.scripted import scripted_engine
from repurpose.formats import FORMATS
from repurpose.ports import Engine
from repurpose.web.app import create_app
from web_server import Asking, Served, Slow, serving


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database=tmp_path / "texts.db")


@pytest.fixture
def golden_engine(golden: Callable[[str], Any]) -> Engine:
    """A model that answers each format well, as often as it is asked."""
    return scripted_engine({name: [golden(name)] for name in FORMATS}, model="m", repeat_last=True)


@pytest.fixture
def opened(settings: Settings) -> Iterator[Callable[..., Asking]]:
    """Opens an application in this process: `opened(engine=..., token=...)`."""
    open_clients: list[TestClient] = []

    def make(app_settings: Settings | None = None, **options: Any) -> Asking:
        app = create_app(app_settings or settings, **options)
        client = TestClient(app, base_url="http://127.0.0.1:8400", follow_redirects=False)
        client.__enter__()
        open_clients.append(client)
        return client if "token" in options else Asking(client)  # type: ignore[return-value]

    yield make
    for client in open_clients:
        client.__exit__(None, None, None)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """One server for tests that leave nothing behind."""
    app = create_app(Settings(database=tmp_path_factory.mktemp("standing") / "texts.db"))
    with TestClient(app, base_url="http://127.0.0.1:8400", follow_redirects=False) as client:
        yield Asking(client)


@pytest.fixture
def asking(opened: Callable[..., Asking], golden_engine: Engine) -> Asking:
    """The usual server, with a model that answers well."""
    return opened(engine=golden_engine)


@pytest.fixture
def served(settings: Settings) -> Iterator[Callable[..., Served]]:
    """Opens a server on a socket: `served(engine=...)`."""
    stack: list[Any] = []

    def make(**options: Any) -> Served:
        context = serving(settings, **options)
        stack.append(context)
        return context.__enter__()

    yield make
    for context in reversed(stack):
        context.__exit__(None, None, None)


@pytest.fixture
def slow() -> Slow:
    return Slow()
