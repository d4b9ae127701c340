"""A batch and its items: what is known of each source from night to night, and what is to be done.

An item is one source under a key that stays the same when its text is edited. What a night does
with it follows from these values alone; `decided` says so in one place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from repurpose.core.json_types import JsonObject

__all__ = [
    "MOST_TRIES",
    "Action",
    "Batch",
    "BatchStatus",
    "Decision",
    "Found",
    "Item",
    "ItemState",
    "Planned",
    "after_failure",
    "decided",
    "item_key",
]

MOST_TRIES = 3
"""Failures of a source itself, in three nights or by `retry`, after which it is parked."""

ItemState: TypeAlias = Literal["todo", "done", "failed", "parked"]
"""`failed`: some or all formats failed, and it is tried again; `parked`: it is not."""
BatchStatus: TypeAlias = Literal[
    "running", "done", "waiting", "partial", "failed", "budget", "interrupted"
]
"""`waiting`: the rest is answered by a provider's batch, another time."""
Action: TypeAlias = Literal["new", "changed", "again", "done", "parked", "duplicate", "failed"]
"""What a plan says of an item. Only new, changed and again (open formats, other settings, an
earlier failure, `--force`) lead to calls; failed is a source that cannot be read."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is known of one source from the nights before. One field is one column."""

    key: str
    """The path or address of the source, or its feed with the entry's own id."""
    origin: str
    state: ItemState = "todo"
    digest: str | None = None
    """Of title and text, as last read; None where it never could be."""
    title: str | None = None
    within: str | None = None
    """The folder, list or feed it was found in."""
    entry_id: str | None = None
    stat: str | None = None
    """Size and time of the file when it was read: as long as they are equal, so is its text."""
    done: Mapping[str, str] = field(default_factory=dict)
    """For each format with finished rows of this text: under which settings, as a digest."""
    tries: int = 0
    """How often in a row it failed for a reason of its own."""
    error: str | None = None
    error_kind: str | None = None
    run_id: str | None = None
    """The last run over it."""
    batch_id: str | None = None
    """The last batch that worked on it."""
    seen_at: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether an unchanged file need not be read again: its text is known, or never will be."""
        return self.digest is not None or self.state == "parked"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found at an item's origin: its text's digest, or why it cannot be read."""

    key: str
    digest: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done with one item, and why in words."""

    action: Action
    reason: str
    formats: tuple[str, ...] = ()
    """Those that are to be made."""

    @property
    def works(self) -> bool:
        """Whether there is anything to do."""
        return self.action in ("new", "changed", "again")


@dataclass(frozen=True, slots=True)
class Planned:
    """One item of a batch's plan."""

    item: Item
    """As it is now: origin, title and digest are those found tonight."""
    decision: Decision
    number: int = 0
    """Its place in the plan, given by the store."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One use of `repurpose batch`. One field is one column."""

    id: str
    owner: str
    """The process that runs it."""
    origins: tuple[str, ...]
    formats: tuple[str, ...]
    engine: str
    model: str | None
    started_at: str
    status: BatchStatus = "running"
    ended_at: str | None = None
    plan: JsonObject = field(default_factory=dict)
    """Counts, calls and costs as they were planned."""
    summary: JsonObject = field(default_factory=dict)
    """What it came to."""


def item_key(origin: str, within: str | None, entry_id: str | None) -> str:
    """What an item is known by: the entry's id with its feed, else the origin.

    >>> item_key("https://example.org/a", "https://example.org/feed.xml", "urn:1")
    'https://example.org/feed.xml urn:1'
    >>> item_key("/posts/a.md", "/posts", None)
    '/posts/a.md'
    """
    return f"{within or origin} {entry_id}" if entry_id else origin


def decided(
    item: Item | None,
    found: Found,
    wanted: Mapping[str, str],
    needs: Mapping[str, Sequence[str]],
    *,
    force: bool = False,
) -> Decision:
    """What is to be done with a source that was just found, by what is known of it.

    `wanted` is, for each format that is asked for, a digest of the settings it is made under;
    `needs` names the formats whose results a format reads, which are then made with it.
    """
    if found.error is not None:
        if item is not None and item.state == "parked" and not force:
            return _parked(item)
        return Decision("failed", found.error)
    formats = tuple(wanted)
    if force:
        return Decision("again", "forced", formats)
    if item is None:
        return Decision("new", "new", formats)
    if item.digest != found.digest:
        if item.digest is None:
            return Decision("new", "could not be read before", formats)
        return Decision("changed", "its text or title changed", formats)
    if item.state == "parked":
        return _parked(item)
    lacking = [name for name in formats if item.done.get(name) != wanted[name]]
    if not lacking:
        return Decision("done", "done")
    together = _with_needed(lacking, needs)
    return Decision(
        "again", _why(item, lacking), tuple(name for name in formats if name in together)
    )


def after_failure(item: Item, error: str, kind: str, *, counts: bool) -> Item:
    """The item after a failure, which is a try of it where it is the source's own (`counts`)."""
    tries = item.tries + counts
    state: ItemState = "parked" if tries >= MOST_TRIES else "failed"
    return replace(item, state=state, tries=tries, error=error, error_kind=kind)


def _parked(item: Item) -> Decision:
    return Decision("parked", f"parked after {item.tries} tries: {item.error or 'it failed'}")


def _why(item: Item, lacking: Sequence[str]) -> str:
    """Why an item that was seen before is not done."""
    if any(name in item.done for name in lacking):
        return "settings changed"
    if item.state == "failed":
        return f"failed before: {item.error}" if item.error else "failed before"
    if item.done:
        return f"not made yet: {', '.join(lacking)}"
    return "not finished"


def _with_needed(names: Sequence[str], needs: Mapping[str, Sequence[str]]) -> set[str]:
    """The names with all that they need, directly or not."""
    together: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in together:
            together.add(name)
            waiting.extend(needs.get(name, ()))
    return together
