"""What loading many sources takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from repurpose.core.envelope import Envelope
from repurpose.core.outputs import source_envelope
from repurpose.core.source import Source
from repurpose.errors import SourceError, UsageError
from repurpose.fetching.showing import shown_address
from repurpose.sources import LISTINGS, SOURCES
from repurpose.sources._raw import shown

__all__ = ["LoadOptions", "Loaded", "Origin", "attempted", "shown_origin"]

Origin = str | Path | bytes
"""What names a source, or is one."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How sources are found and fetched.

    Raises:
        UsageError: a value that cannot be used.
    """

    kind: str | None = None
    """A key of `SOURCES`, or sitemap, for all that is named; None finds it out."""
    follow: bool = False
    """Fetch what a feed on this machine, or a sitemap in a folder, points to; what a feed or
    sitemap from the web points to is always fetched."""
    limit: int | None = None
    """The most entries of one feed or sitemap; of a feed, the newest."""
    allow_private: bool = False
    """Fetch from private addresses and other ports too."""
    proxy: str | None = None
    """An http or https address; no address that a name resolves to can be checked behind it."""

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in SOURCES | LISTINGS:
            known = ", ".join(SOURCES | LISTINGS)
            raise UsageError(f"unknown kind of source {self.kind!r}; known are {known}")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit {self.limit} is not at least 1")


@dataclass(frozen=True, slots=True)
class Loaded:
    """One source, or why there is none: exactly one of `source`, `error`, `duplicate_of` is set."""

    origin: str
    """The path or address of the source, without user and password; `-` or `bytes`."""
    source: Source | None = None
    error: SourceError | None = None
    duplicate_of: str | None = None
    """The origin that the same title and text, or the same page, came from before."""
    entry_id: str | None = None
    """For an entry of a feed or sitemap: what stays the same when it is edited."""
    within: str | None = None
    """The folder, pattern, list, feed or sitemap it was found in; None where it was named."""

    @property
    def envelope(self) -> Envelope:
        """What loading hands on: title, text, language and source; or why there is no source."""
        if self.source is not None:
            return source_envelope(self.source)
        if self.error is not None:
            return source_envelope(self.error)
        return Envelope.failure(f"the same as {shown_origin(self.duplicate_of or '')}; left out")


def attempted(told: Loaded, load: Callable[[], Source]) -> Loaded:
    """`told` with the source that `load` gives, or with why there is none."""
    try:
        source = load()
    except SourceError as error:
        return replace(told, error=error)
    return replace(told, origin=source.origin, source=source)


def shown_origin(origin: str) -> str:
    """`origin` for a line that a person reads: no query of an address, no hidden characters."""
    return shown_address(origin) if "://" in origin else shown(origin)
