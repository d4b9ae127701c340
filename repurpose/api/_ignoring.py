"""What `.gitignore` and `.repurposeignore` leave out of a folder (gitignore(5))."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

from pathspec import GitIgnoreSpec

__all__ = ["Rules", "around", "ignored", "rules_in"]

Rules = tuple[tuple[str, GitIgnoreSpec], ...]
"""Folders and the patterns in them, the outermost first: the last that matches decides."""

_FILES = (".gitignore", ".repurposeignore")


def rules_in(folder: str) -> Rules:
    """The patterns that stand in `folder` itself."""
    specs = (_spec(Path(folder, name)) for name in _FILES)
    return tuple((folder, spec) for spec in specs if spec is not None)


def around(folder: str) -> Rules:
    """The patterns above `folder` in its Git repository; none where they leave `folder` out.

    Whoever names a folder wants what is in it.
    """
    upwards = [Path(folder), *Path(folder).parents]
    root = next((place for place, one in enumerate(upwards) if os.path.lexists(one / ".git")), 0)
    rules: Rules = ()
    for parent, child in pairwise(upwards[root::-1]):
        rules = (*rules, *rules_in(str(parent)))
        if ignored(str(child), True, rules):
            return ()
    return rules


def ignored(path: str, is_folder: bool, rules: Rules) -> bool:
    """Whether the innermost pattern that matches `path` leaves it out."""
    for folder, spec in reversed(rules):
        name = os.path.relpath(path, folder).replace(os.sep, "/")
        left_out = spec.check_file(f"{name}/" if is_folder else name).include
        if left_out is not None:
            return left_out
    return False


def _spec(path: Path) -> GitIgnoreSpec | None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    usable = [line for line in lines if _is_pattern(line)]
    return GitIgnoreSpec.from_lines(usable) if usable else None


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:  # Git passes over what is none
        return False
    return bool(line.strip())
