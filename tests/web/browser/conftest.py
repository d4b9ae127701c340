"""The system's browser, and a server whose model writes when a test lets it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from repurpose.config import Settings
from web_browser import Model, Pages
from web_server import ARTICLE, Served, serving

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
KIT = {
    "version": 1,
    "sections": [
        {"name": "short", "input": "summary", "label": "In short"},
        {"name": "post", "input": "social.x", "label": "The post"},
    ],
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's browser, or a skip that says what is missing.

    For a module only: while it is open, no other test can have an event loop of its own.
    """
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        pytest.skip(f"no browser is installed; looked for {', '.join(BROWSERS)}")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield launched
        launched.close()


@pytest.fixture
def model(golden: Callable[[str], Any]) -> Model:
    return Model(golden)


@pytest.fixture
def server(settings: Settings, model: Model) -> Iterator[Served]:
    """A server with a composite `kit` and the staged model."""
    with serving(replace(settings, composites={"kit": KIT}), engine=model.engine()) as served:
        yield served


@pytest.fixture
def pages(browser: Any, server: Served) -> Iterator[Pages]:
    opened = Pages(browser, server.url)
    yield opened
    opened.close()
    assert opened.complaints == []


@pytest.fixture
def made(server: Served) -> str:
    """A finished run of all formats."""
    return server.asking.finished({"text": ARTICLE, "title": "Kestrels of the ring road"})
