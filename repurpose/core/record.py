"""What is stored: a run, its calls, and its rows. One field here is one column there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repurpose.core.call import Call, Quote, Reply
from repurpose.core.json_types import JsonObject

__all__ = ["CallRecord", "Measures", "Row", "RowAction", "RowStatus", "Run", "RunStatus"]

RowStatus = Literal["done", "failed"]
RunStatus = Literal["running", "done", "partial", "failed", "interrupted"]
CutMode = Literal["none", "sentence", "word"]
RowAction = Literal["made", "regenerated", "proposed", "edited", "approved", "restored", "released"]
"""How a revision came about. `proposed`: regenerated beside a locked one, which stays the current
one. `restored`: an earlier or a proposed one, chosen by a person. `released`: no longer locked."""

_LOCKING = frozenset({"edited", "approved", "restored"})


@dataclass(frozen=True, slots=True)
class Measures:
    """How long a text is, and what was done to make it fit.

    `length` and `max_length` are in `unit`: code_points, utf16, utf8_bytes, graphemes, mastodon or
    x_weighted. They count the final text, hashtags included; of a thread, its longest post.
    """

    length: int
    unit: str
    max_length: int | None = None
    shortened: bool = False
    cut_mode: CutMode = "none"
    hashtags_dropped: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One use of `run`: which source, which formats, by which engine, and how it ended."""

    id: str
    source_id: str
    formats: tuple[str, ...]
    engine: str
    model: str | None
    started_at: str
    """ISO 8601, UTC."""
    status: RunStatus = "running"
    finished_at: str | None = None
    language: str | None = None
    """The language asked for, or None for the source's own."""
    audience: str | None = None
    tone: str | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call with both prompts verbatim and its raw reply, stored before validation."""

    id: str
    run_id: str
    source_id: str
    key: str
    """Equal keys are equal requests: engine, model, parameters, prompts, schema, attempt."""
    call: Call
    engine: str
    model: str | None
    parameters: JsonObject
    started_at: str
    seconds: float
    reply: Reply | None = None
    """None where no reply came; then `error` and `error_kind` say why."""
    error: str | None = None
    error_kind: str | None = None
    cost: float | None = None
    """US dollars, or None where the price is not known. Zero means free."""


@dataclass(frozen=True, slots=True)
class Row:
    """One stored result: a format's text for one variant, or the reason why there is none."""

    id: str
    run_id: str
    source_id: str
    format: str
    label: str
    variant: str
    """`default`, or the platform's name where a format yields several; `x.2` is a second one."""
    status: RowStatus
    message: str
    """`FAQ done (1 retry)`, or the reason of a failure."""
    idempotency_key: str
    engine: str
    provenance: str
    created_at: str
    attempts: int = 0
    elapsed_ms: int = 0
    text: str | None = None
    """What is published, as plain text; None on a failed row."""
    content: JsonObject | None = None
    """The same as declared fields; None on a failed row."""
    measures: Measures | None = None
    kind: str | None = None
    """The kind of failure, such as `refused`; None on a done row."""
    model: str | None = None
    language: str | None = None
    quotes: tuple[Quote, ...] = ()
    coerced: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reused_from: str | None = None
    """The run that paid for it, where this row repeats a finished one."""
    validated: bool = True
    """Whether an answer had to be of a declared shape; not so for a format without fields."""
    revision: int = 1
    """Counted within its run, format and variant; the store counts all but the first."""
    action: RowAction = "made"
    author: str | None = None
    """The person who edited, approved, restored, released or regenerated it."""
    instruction: str | None = None
    """What that person asked for, of one that was regenerated."""

    @property
    def locked(self) -> bool:
        """Whether a person decided on this text, so that no regeneration replaces it."""
        return self.action in _LOCKING
