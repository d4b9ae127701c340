"""The parts of answers that have parts of their own; see `answers`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

__all__ = [
    "Changes",
    "Closed",
    "Fault",
    "FullRun",
    "ListedRun",
    "NamedSection",
    "OfferedComposite",
    "OfferedFormat",
    "OfferedPlatform",
    "PlannedCost",
    "PlannedSource",
    "PlannedTokens",
    "SecondCount",
    "ShownSection",
    "SourceBlock",
    "SourceFacts",
    "StoredRow",
]


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Fault(Closed):
    """What went wrong; `field` is the key of the body that caused it."""

    kind: str
    message: str
    hint: str | None
    field: str | None = None


class OfferedFormat(Closed):
    name: str
    label: str
    custom: bool


class OfferedPlatform(Closed):
    name: str
    label: str
    limit: int
    unit: str
    default: bool


class OfferedSection(Closed):
    name: str
    label: str
    input: str


class OfferedComposite(Closed):
    name: str
    version: int
    sections: list[OfferedSection]


class PlannedSource(Closed):
    title: str | None
    language: str | None
    characters: int
    kind: str
    warnings: list[str]
    suspicions: list[str]


class PlannedTokens(Closed):
    low: int
    expected: int
    high: int


class PlannedCost(Closed):
    expected: float | None
    worst: float | None


class NamedSection(Closed):
    name: str
    label: str


RunStatus = Literal["running", "done", "partial", "failed", "interrupted"]


class ListedRun(Closed):
    id: str
    status: RunStatus
    title: str | None
    origin: str
    formats: list[str]
    engine: str
    model: str | None
    startedAt: str  # noqa: N815 - a key of JSON
    finishedAt: str | None  # noqa: N815 - likewise
    language: str | None
    audience: str | None
    tone: str | None
    sections: int


class FullRun(ListedRun):
    queued: bool
    stopping: bool
    composites: list[str]


class SourceFacts(Closed):
    title: str | None
    url: str | None
    language: str | None
    characters: int


class StoredMeasures(Open):
    length: int
    unit: str
    max_length: int | None
    shortened: bool


class CitationOf(Closed):
    text: str
    start: int
    end: int
    label: str | None


class StoredRow(Open):
    """A row, with every stored fact; these are the ones to rely on."""

    id: str
    run_id: str
    format: str
    label: str
    variant: str
    section: str
    status: Literal["done", "failed"]
    message: str
    text: str | None
    content: dict[str, Any] | None
    measures: StoredMeasures | None
    notes: list[str]
    provenance: str
    attempts: int
    language: str | None
    revision: int
    action: str
    author: str | None
    instruction: str | None
    created_at: str
    locked: bool
    citations: list[CitationOf]


class ShownSection(Closed):
    name: str
    label: str
    format: str
    variant: str
    platform: str | None
    limit: int | None
    unit: str | None
    editing: Literal["text", "content"]
    row: StoredRow | None
    proposal: StoredRow | None


class SourceBlock(Closed):
    kind: str
    start: int
    end: int
    headings: list[str]
    page: int | None
    time: float | None


class Changes(Closed):
    mine: list[tuple[Literal["equal", "insert", "delete"], str]]
    theirs: list[tuple[Literal["equal", "insert", "delete"], str]]


class SecondCount(Closed):
    length: int
    limit: int
    unit: str
    over: int
