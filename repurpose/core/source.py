"""A source: one piece of long-form content, as values that never change."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Block", "BlockKind", "Source", "digest_of"]

BlockKind = Literal["heading", "paragraph", "list", "quote", "code", "table", "turn"]
"""A turn is what a named speaker says until another speaks; it begins with `Name: `."""


_PLAIN = frozenset({"text", "srt", "vtt", "podcast-json", "youtube-json3"})


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a source that a reader sees as one: a heading, a paragraph, a list item.

    `Source.text[start:end]` is the block as it stands in the text, markup included.
    """

    kind: BlockKind
    start: int
    """Where the block begins in `Source.text`, in code points."""
    end: int
    """Where the block ends, exclusive."""
    headings: tuple[str, ...] = ()
    """The headings it stands under, outermost first; for a heading: those above it."""
    level: int = 0
    """1 to 6 for a heading, else 0."""
    page: int | None = None
    """The page or slide it begins on, counted from 1; None where the origin has none."""
    time: float | None = None
    """When it is said, in seconds from the beginning; None where nobody says it."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a loader makes of a file, a page or a pipe.

    A value that the origin does not give is None, never a guess. `text` is clean: no front
    matter, no hidden or control characters, line ends as newlines. It is not yet defused; that
    is done where it enters a prompt.
    """

    text: str
    """The body; Markdown unless `plain`."""
    origin: str
    """The path, address or `-` as the user gave it."""
    kind: str
    """A key of `repurpose.sources.SOURCES`, such as markdown, pdf or vtt."""
    blocks: tuple[Block, ...] = ()
    """In text order, without overlap; together they hold every word of the body."""
    title: str | None = None
    author: str | None = None
    date: str | None = None
    """ISO 8601 date, as declared."""
    language: str | None = None
    """A well-formed language code, declared or else detected; None where neither is sure."""
    url: str | None = None
    """The canonical address, where the origin declares one."""
    hidden: int = 0
    """How many hidden characters and nodes were removed before extraction."""
    warnings: tuple[str, ...] = field(default=())
    """What a user should know about this source, one line each."""

    @property
    def plain(self) -> bool:
        """Whether the text means itself: an asterisk in it is no markup."""
        return self.kind in _PLAIN

    @property
    def digest(self) -> str:
        """SHA-256 of title and text, as 64 hex digits: equal digests are equal content."""
        return digest_of(self.title or "", self.text)


def digest_of(*parts: str) -> str:
    """SHA-256 over `parts`, as 64 hex digits; the borders between parts count."""
    state = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "big"))
        state.update(raw)
    return state.hexdigest()
