"""Everything that programs can ask, as one table: routes and their description are made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request

from repurpose.web import answers, api_facts, api_rows, api_runs, bodies
from repurpose.web.site import Asked, Site

__all__ = ["OPERATIONS", "Operation"]

_BIG = 24_000_000
"""Bytes of a body that holds a source; written in escapes, five megabytes of text are as many."""
_EDIT = 2_000_000
_SMALL = 64_000


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be asked."""

    name: str
    method: str
    path: str
    summary: str
    handle: Callable[[Site, Asked], Any] | None = None
    """Answers in a thread, with an object or a response."""
    take: Callable[[Site, Request], Awaitable[Any]] | None = None
    """Answers in the loop, and reads the request itself."""
    body: type[bodies.Body] | None = None
    bound: int = _SMALL
    """Bytes that the body may have."""
    gives: type[BaseModel] | None = None
    """The answer's shape; None where it is no JSON of ours."""
    media: str = "application/json"
    status: int = 200
    query: Mapping[str, str] | None = None
    """Parameters by name, each with what it means."""
    slow: bool = False
    """Whether it may load or fetch something, so that only a few of it are done at once."""


_TO = {"to": "markdown, html (composites only) or json"}
_SEARCH = {
    "q": "part of a title, an origin or an id",
    "status": "running, done, partial, failed or interrupted",
    "format": "a format that the run was asked for",
    "before": "the `next` of the page before",
    "limit": "runs of a page, 1 to 200; 30 by default",
}
_RUN = "/api/runs/{run}"
_SECTION = "/api/runs/{run}/sections/{section}"

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "session",
        "GET",
        "/api/session",
        "What a request that changes something shows as X-CSRF-Token",
        api_facts.session,
        gives=answers.Session,
    ),
    Operation(
        "choices",
        "GET",
        "/api/choices",
        "What can be made, and for whom",
        api_facts.choices,
        gives=answers.Offered,
    ),
    Operation(
        "upload",
        "POST",
        "/api/uploads",
        "Send a file of at most 20 MB, for a plan or a run within the hour",
        take=api_facts.upload,
        gives=answers.Kept,
    ),
    Operation(
        "count",
        "POST",
        "/api/count",
        "Count a text as a platform counts it",
        api_facts.count,
        body=bodies.Counting,
        bound=_EDIT,
        gives=answers.Count,
    ),
    Operation(
        "plan",
        "POST",
        "/api/plan",
        "What a run would take; nothing is called",
        api_runs.plan,
        body=bodies.Wish,
        bound=_BIG,
        gives=answers.Planned,
        slow=True,
    ),
    Operation(
        "start",
        "POST",
        "/api/runs",
        "Begin a run, of a source or of a plan",
        api_runs.start,
        body=bodies.Start,
        bound=_BIG,
        gives=answers.Begun,
        status=202,
        slow=True,
    ),
    Operation(
        "runs",
        "GET",
        "/api/runs",
        "The stored runs, newest first",
        api_runs.runs,
        gives=answers.RunsPage,
        query=_SEARCH,
    ),
    Operation(
        "run",
        "GET",
        _RUN,
        "A run with its sections; `last` is the newest",
        api_runs.run,
        gives=answers.RunWithSections,
    ),
    Operation(
        "source",
        "GET",
        f"{_RUN}/source",
        "The text that a run was made of; places are in code points",
        api_runs.source,
        gives=answers.SourceText,
    ),
    Operation(
        "events",
        "GET",
        f"{_RUN}/events",
        "A run's lines as they come; Last-Event-ID goes on where a connection was lost",
        take=api_runs.events,
        media="text/event-stream",
        query={"until": "`end`: the answer ends with the run; else it waits for later changes"},
    ),
    Operation(
        "stop",
        "POST",
        f"{_RUN}/stop",
        "Finish what is in flight and begin nothing more; asked again, stop at once",
        api_runs.stop,
        body=bodies.Nothing,
        gives=answers.Stopping,
        status=202,
    ),
    Operation(
        "export",
        "GET",
        f"{_RUN}/export",
        "A run as one document",
        api_runs.export,
        media="*/*",
        query=_TO,
    ),
    Operation(
        "exportComposite",
        "GET",
        f"{_RUN}/composites/{{name}}/export",
        "A composite of a run as one document",
        api_runs.composite_export,
        media="*/*",
        query=_TO,
    ),
    Operation(
        "regenerate",
        "POST",
        f"{_SECTION}/regenerate",
        "Have a section written anew, with one call; what a person decided on stays",
        api_rows.regenerate,
        body=bodies.Regeneration,
        gives=answers.Started,
        status=202,
    ),
    Operation(
        "history",
        "GET",
        f"{_SECTION}/history",
        "Every revision of a section, newest first",
        api_rows.history,
        gives=answers.History,
    ),
    Operation(
        "edit",
        "POST",
        "/api/rows/{row}/edit",
        "Store a person's own text; 409 where the row was changed meanwhile",
        api_rows.edit,
        body=bodies.Edit,
        bound=_EDIT,
        gives=answers.OneRow,
    ),
    Operation(
        "approve",
        "POST",
        "/api/rows/{row}/approve",
        "Lock a row as it is",
        api_rows.approve,
        body=bodies.Signed,
        gives=answers.OneRow,
    ),
    Operation(
        "release",
        "POST",
        "/api/rows/{row}/release",
        "Let a row be replaced again",
        api_rows.release,
        body=bodies.Signed,
        gives=answers.OneRow,
    ),
    Operation(
        "restore",
        "POST",
        "/api/rows/{row}/restore",
        "Make an earlier or a proposed revision the current one",
        api_rows.restore,
        body=bodies.Signed,
        gives=answers.OneRow,
    ),
    Operation(
        "diff",
        "GET",
        "/api/rows/{row}/diff",
        "How a row differs from the one before it, or from what is proposed, word by word",
        api_rows.diff,
        gives=answers.Diff,
        query={"with": "another row to compare with"},
    ),
)
"""In the order in which a program needs them."""
