"""The shapes of what programs are answered, for the description of the interface.

Answers are made as plain objects; a test holds them against these. A shape that says
`extra="allow"` names what a program can rely on and is not all there is.
"""

from __future__ import annotations

from pydantic import JsonValue

from repurpose.web._shapes import (
    Changes,
    Closed,
    Fault,
    FullRun,
    ListedRun,
    NamedSection,
    OfferedComposite,
    OfferedFormat,
    OfferedPlatform,
    PlannedCost,
    PlannedSource,
    PlannedTokens,
    SecondCount,
    ShownSection,
    SourceBlock,
    SourceFacts,
    StoredRow,
)

__all__ = [
    "Begun",
    "Count",
    "Diff",
    "Faulty",
    "History",
    "Kept",
    "Offered",
    "OneRow",
    "Planned",
    "RunWithSections",
    "RunsPage",
    "Session",
    "SourceText",
    "Started",
    "Stopping",
]


class Faulty(Closed):
    """An answer that says no."""

    error: Fault


class Session(Closed):
    """What a request that changes something shows."""

    csrf: str


class Offered(Closed):
    """What can be chosen."""

    formats: list[OfferedFormat]
    platforms: list[OfferedPlatform]
    voices: list[str]
    composites: list[OfferedComposite]
    model: str | None
    endpoint: str | None
    languages: list[str]


class Kept(Closed):
    """A file that waits."""

    upload: str
    name: str
    bytes: int


class Planned(Closed):
    """What a run would take; `cost` is in US dollars, null where a price is not known."""

    source: PlannedSource
    calls: int
    tokens: PlannedTokens | None
    cost: PlannedCost
    model: str | None
    stored: list[str]
    sections: list[NamedSection]
    plan: str


class Begun(Closed):
    """A run that began."""

    run: str
    url: str


class RunsPage(Closed):
    """A page of runs."""

    runs: list[ListedRun]
    next: str | None


class RunWithSections(Closed):
    """A run, section by section."""

    run: FullRun
    source: SourceFacts
    sections: list[ShownSection]
    live: bool


class SourceText(Closed):
    """A source."""

    text: str
    title: str | None
    blocks: list[SourceBlock]


class Stopping(Closed):
    """A run that was asked to stop."""

    run: str
    stopping: bool


class Started(Closed):
    """A section that is written anew."""

    run: str
    section: str


class History(Closed):
    """Revisions, newest first."""

    revisions: list[StoredRow]


class OneRow(Closed):
    """A row as it is now."""

    row: StoredRow


class Diff(Closed):
    """Two or three texts, and what differs."""

    base: str | None
    mine: str | None
    theirs: str | None
    changes: Changes
    rows: dict[str, JsonValue]


class Count(SecondCount):
    """A length; `over` is by how much it is too long."""

    also: SecondCount | None = None
