"""Where sources lie: each file or address by itself, none of them opened."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from repurpose import __version__
from repurpose.api._places import has_wildcards, in_folder, in_list, matching
from repurpose.errors import SourceError
from repurpose.fetching.showing import without_credentials
from repurpose.sources import read_path
from repurpose.sources._raw import shown

__all__ = ["Spot", "spots"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://")
_LISTINGS = frozenset({".xml", ".json", ".rss", ".atom", ".gz", ".jsonl"})
"""Endings of files that may name other sources, which may be many."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A file or an address that has not been opened."""

    origin: str
    within: str | None = None
    """The folder, pattern or list it was found in."""
    by_chance: bool = False
    """Whether nobody asked for just this file, so that what is no source is passed over."""
    error: SourceError | None = None
    """Why there is nothing to open."""

    @property
    def is_file(self) -> bool:
        """Whether it lies on this machine and can be looked at again."""
        return self.error is None and self.origin != "-" and not _ADDRESS.match(self.origin)

    @property
    def may_list(self) -> bool:
        """Whether it may hold or name many sources, which come one after another."""
        return not self.is_file or PurePath(self.origin).suffix.lower() in _LISTINGS

    @property
    def key(self) -> str:
        """What its item is known by, whatever folder the command is used in."""
        if self.is_file:
            return os.path.abspath(self.origin)  # noqa: PTH100 - it follows no links
        return without_credentials(self.origin)

    def stat(self, now: float) -> str | None:
        """Size and time of the file, with our version; equal ones mean an equal text.

        None for what is no file, and for one that was changed in the last two seconds: it may be
        changed again within the same tick of its clock.
        """
        if not self.is_file:
            return None
        try:
            found = os.stat(self.origin)  # noqa: PTH116 - a name may be too long for pathlib
        except (OSError, ValueError):
            return None
        if now - found.st_mtime < 2.0:
            return None
        return f"{__version__} {found.st_size} {found.st_mtime_ns}"


def spots(*origins: str) -> Iterator[Spot]:
    """Every file and address that these origins lead to, in a fixed order.

    An origin is a file, an address, `-`, a folder, a pattern, or `@FILE`, a list of these. What
    cannot be looked into is a spot with an error.
    """
    for origin in origins:
        yield from _named(origin, None)


def _named(origin: str, within: str | None) -> Iterator[Spot]:
    try:
        if origin.startswith("@") and within is None:
            yield from _listed(origin)
        elif _ADDRESS.match(origin):
            yield Spot(origin, within)
        elif has_wildcards(origin):
            yield from _inside(origin, pattern=True)
        elif os.path.isdir(origin):  # noqa: PTH112 - pathlib raises for a name that is too long
            yield from _inside(origin, pattern=False)
        else:
            yield Spot(origin, within)
    except SourceError as error:
        yield Spot(origin, within, error=error)


def _listed(origin: str) -> Iterator[Spot]:
    name = origin.removeprefix("@")
    content = sys.stdin.buffer.read() if name == "-" else read_path(name)
    for line in in_list(content):
        if line.startswith("@"):
            message = f"{shown(line)}: a list in a list; name it itself"
            yield Spot(line, origin, error=SourceError("unsupported", message))
        else:
            yield from _named(line, origin)


def _inside(origin: str, *, pattern: bool) -> Iterator[Spot]:
    """The files of a folder or a pattern."""
    empty = True
    for place in matching(origin) if pattern else in_folder(Path(origin)):
        empty = False
        yield Spot(str(place.path), origin, place.by_chance, place.fault)
    if empty:
        what = "no file that can be read matches" if pattern else "a folder without files to read"
        reason = "not-found" if pattern else "empty"
        raise SourceError(reason, f"{shown(origin)}: {what}")
