"""Files in folders, patterns and lists, in a fixed order; their contents are not looked at here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from repurpose.api._ignoring import Rules, around, ignored, rules_in
from repurpose.errors import SourceError
from repurpose.sources._kinds import ENDINGS
from repurpose.sources._raw import shown

__all__ = ["DOUBTFUL", "Place", "has_wildcards", "in_folder", "in_list", "matching"]

DOUBTFUL = ("json", "xml")
"""Endings that many files have, of which few are sources."""
_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Place:
    """A file that was found, or a folder that could not be looked into."""

    path: Path
    by_chance: bool = True
    """Whether nobody asked for just this kind of file, so that what is no source is passed over."""
    fault: SourceError | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    """Something in a folder."""

    path: Path
    """As it is shown: it begins as the folder was named."""
    real: str
    is_folder: bool
    rules: Rules


def in_folder(folder: Path) -> Iterator[Place]:
    """The files under `folder` that a loader may read, by name, each folder where its name stands.

    Left out are hidden files (a dot in front), links, what `.gitignore` or `.repurposeignore`
    leave out (those above the folder too, up to the root of a Git repository), and endings that
    no loader reads.
    """
    real = os.path.realpath(folder)
    waiting = [_Seen(folder, real, is_folder=True, rules=around(real))]
    while waiting:
        seen = waiting.pop()
        if not seen.is_folder:
            yield Place(seen.path)
            continue
        try:
            waiting.extend(reversed(_entries(seen)))
        except OSError as fault:
            words = (fault.strerror or "unknown").lower()
            error = SourceError("unreadable", f"{shown(str(seen.path))}: cannot be read: {words}")
            yield Place(seen.path, fault=error)


def has_wildcards(origin: str) -> bool:
    """Whether `origin` is a pattern: it has wildcards, and no file of that very name exists."""
    return not _WILDCARDS.isdisjoint(origin) and not os.path.lexists(origin)


def matching(pattern: str) -> Iterator[Place]:
    """The files that match `pattern`, sorted; `**` stands for folders in folders.

    Links to folders are not followed. A wildcard matches no name that begins with a dot. Where
    the pattern leaves the ending open, only endings that a loader reads count.
    """
    parts = PurePath(pattern).parts
    first = next(place for place, part in enumerate(parts) if not _WILDCARDS.isdisjoint(part))
    wild = list(parts[first:])
    if wild[-1] == "**":
        wild.append("*")
    ending = PurePath(wild[-1]).suffix
    any_ending = not ending or not _WILDCARDS.isdisjoint(ending)
    dotted = any(part.startswith(".") for part in wild)
    base = Path(*parts[:first])
    try:
        found = sorted(base.glob("/".join(wild)))
    except (ValueError, NotImplementedError, OSError):
        return
    for path in found:
        hidden = any(part.startswith(".") for part in path.relative_to(base).parts)
        # pathlib raises for what may not be looked at; os.path says that there is no file.
        if (hidden and not dotted) or not os.path.isfile(path):  # noqa: PTH113 - see above
            continue
        if not any_ending or _may_be_read(path.name):
            yield Place(path, by_chance=any_ending)


def in_list(content: bytes) -> Iterator[str]:
    """The origins in a list: one a line, without blank lines and lines that begin with `#`."""
    # A name that is no UTF-8 comes out as the system's own functions give such names.
    for line in content.decode("utf-8-sig", "surrogateescape").splitlines():
        origin = line.strip()
        if origin and not origin.startswith("#"):
            yield origin


def _entries(folder: _Seen) -> list[_Seen]:
    """What is in a folder and not left out, by name."""
    rules = (*folder.rules, *rules_in(folder.real))
    found: list[_Seen] = []
    with os.scandir(folder.real) as entries:
        for entry in entries:
            if entry.name.startswith((".", "~$")) or entry.is_symlink():  # ~$: Office's lock files
                continue
            is_folder = entry.is_dir()
            wanted = is_folder or (entry.is_file() and _may_be_read(entry.name))
            if wanted and not ignored(entry.path, is_folder, rules):
                found.append(_Seen(folder.path / entry.name, entry.path, is_folder, rules))
    return sorted(found, key=lambda seen: seen.path.name)


def _may_be_read(name: str) -> bool:
    ending = PurePath(name).suffix.lower().removeprefix(".")
    return ending in ENDINGS or ending in DOUBTFUL
