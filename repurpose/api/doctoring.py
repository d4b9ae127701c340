"""What is right and wrong with an installation, its database and the model server it is to use.

Nothing is stored but an empty database where there is none yet. A model is called only where one
is configured: twice at most, one request each, with at most 200 tokens to answer in.
"""

from __future__ import annotations

import os
import platform
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path

from repurpose import __version__
from repurpose.api._diagnosis import Diagnosis
from repurpose.api._endpoint import probed
from repurpose.api.adapters import SystemClock, engine_for
from repurpose.api.checking import checked
from repurpose.api.loading import load
from repurpose.api.runs import job_for, runner_for, waited
from repurpose.config import ENDPOINT, Settings
from repurpose.core.result import RunResult
from repurpose.core.steering import Steering
from repurpose.core.table import member
from repurpose.engines import ENGINES
from repurpose.errors import UsageError
from repurpose.formats import FORMATS
from repurpose.ports import Engine

__all__ = ["Diagnosis", "examined"]

_DISTRIBUTION = "repurpose-text"
_SHOWN = ("aiohttp", "pydantic", "jsonschema", "sqlite-utils", "sentencex", "nltk", "trafilatura")
"""The packages whose versions a report of a fault should name."""
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"""\bextra *== *['"]([^'"]{1,100})['"]""")
_REINSTALL = f"install it again: pip install --force-reinstall {_DISTRIBUTION}"

_SAMPLE = b"""# The bridge opens again

## What was done

The footbridge over the mill stream opens again on Monday after four months of repair. Two of
its nine beams were replaced, because water had entered them. The carpenters used larch from the
town's own forest. The work cost 41,000 euros, a tenth less than planned.

## What is the new load limit?

The limit is 40 people at a time. It was 25 before the repair. Carts and horses are still not
allowed on the bridge.

## What comes next

The town council inspects the beams every spring. A larger repair is expected in fifteen years.
"""


def examined(settings: Settings) -> Iterator[Diagnosis]:
    """Each thing that was looked at, as it is found out.

    The installation, the formats, the database, the embedded engine, and, where `settings` name a
    model, its server. Stops after missing packages, since all else would fail with them.

    Raises:
        UsageError: an event loop is already running here.
    """
    yield Diagnosis(
        "repurpose",
        "ok",
        f"{__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
    )
    required, extras = _requirements()
    packages = _packages(required)
    yield packages
    if packages.state == "fault":
        return
    yield from _extras(extras)
    yield from _checks(Path(settings.database))
    yield _embedded()
    if settings.chosen_engine == "openai":
        yield from waited(probed(settings), "probed")
    elif settings.chosen_engine == "responses":
        yield _background(settings)
    elif settings.chosen_engine.startswith(ENDPOINT):
        yield _endpoint(settings)
    elif settings.model:
        found = f"not called: engine {settings.chosen_engine} asks no OpenAI-compatible server"
        yield Diagnosis("model", "note", found)
    else:
        advice = "add --model NAME, and --base-url URL where it is not OpenAI's"
        yield Diagnosis("model", "ok", "none is configured, so none was called", advice)


def _background(settings: Settings) -> Diagnosis:
    """Whether a run in the background could begin; its server is not called."""
    try:
        engine_for(settings)
    except UsageError as error:
        return Diagnosis("model", "fault", error.message, error.hint)
    told = f"{settings.model} in the background, by {settings.background}"
    advice = "to have its server asked, set REPURPOSE_ENGINE=openai"
    return Diagnosis("model", "note", f"not called: {told}", advice)


def _endpoint(settings: Settings) -> Diagnosis:
    """Whether an endpoint could be asked; it is not, since all that it takes is work."""
    name = settings.chosen_engine
    try:
        engine_for(settings)
    except UsageError as error:
        return Diagnosis(name, "fault", error.message, error.hint)
    return Diagnosis(name, "note", "not called: it is only asked for texts")


def _requirements() -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """The packages that are always needed, and those of each extra, by the installed metadata."""
    try:
        lines = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:  # run from its folder
        return _SHOWN, {}
    always: list[str] = []
    extras: dict[str, list[str]] = {}
    for line in lines:
        requirement, marked, marker = line.partition(";")
        named, extra = _NAME.match(requirement.strip()), _EXTRA.search(marker)
        if named is None:
            continue
        if extra:
            extras.setdefault(extra[1], []).append(named[0])
        elif not marked:  # any other marker may exclude this system
            always.append(named[0])
    return tuple(always), extras


def _packages(required: tuple[str, ...]) -> Diagnosis:
    missing = [name for name in required if _version(name) is None]
    if missing:
        return Diagnosis("packages", "fault", f"{', '.join(missing)} missing", _REINSTALL)
    return Diagnosis("packages", "ok", ", ".join(f"{name} {_version(name)}" for name in _SHOWN))


def _extras(extras: dict[str, list[str]]) -> Iterator[Diagnosis]:
    for extra, names in extras.items():
        if extra == "dev":
            continue
        missing = [name for name in names if _version(name) is None]
        advice = f"to have it: pip install '{_DISTRIBUTION}[{extra}]'" if missing else None
        found = f"{', '.join(missing)} not installed" if missing else "installed"
        yield Diagnosis(f"extra {extra}", "ok", found, advice)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _checks(database: Path) -> Iterator[Diagnosis]:
    """The formats and the database, as `repurpose check` finds them."""
    for name, fault in checked(database):
        if fault is not None:
            yield Diagnosis(name, "fault", fault)
        elif name.startswith("database"):
            yield Diagnosis(name, "ok", _database_facts(database))
        else:
            yield Diagnosis(name, "ok", "prompt and schema are right")


def _database_facts(database: Path) -> str:
    """Schema step, runs and size of a database that was just opened."""
    size = database.stat().st_size
    address = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as db:
        [[step]] = db.execute("SELECT name FROM _sqlite_migrations ORDER BY id DESC LIMIT 1")
        [[runs]] = db.execute("SELECT count(*) FROM runs")
    return f"opens; tables of step {step}, {runs:,} runs, {size / 1024:,.0f} KiB"


def _embedded() -> Diagnosis:
    """Whether the engine that needs no model makes every format of a small text."""
    clock = SystemClock()
    began = clock.monotonic()
    try:
        ran = waited(_extracted(), "examined")
    except ImportError as error:  # a package that is there and does not load
        return Diagnosis("embedded engine", "fault", f"{error.name} does not load", _REINSTALL)
    failed = [
        f"{name}: {result.envelope.message}"
        for name, result in ran.results.items()
        if not result.done
    ]
    if failed:
        return Diagnosis("embedded engine", "fault", "; ".join(failed), _REINSTALL)
    seconds = clock.monotonic() - began
    return Diagnosis(
        "embedded engine", "ok", f"{len(ran.results)} formats of a small text in {seconds:.2f} s"
    )


async def _extracted() -> RunResult:
    settings = Settings(database=Path(os.devnull))
    engine: Engine = member(ENGINES["extractive"])()
    source = load(_SAMPLE, kind="markdown")
    jobs = [job_for(name, source, Steering(), settings, None) for name in FORMATS]
    return await runner_for(engine, None, settings, {}).run(source, jobs, Steering())
