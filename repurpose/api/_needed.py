"""Formats together with those whose results they read."""

from __future__ import annotations

from collections.abc import Sequence

from repurpose.formats import Formats, needed_by
from repurpose.formats.base import Format

__all__ = ["with_needed"]


def with_needed(formats: Sequence[Format], known: Formats) -> tuple[Format, ...]:
    """The formats with all those whose results they read, directly or not, as far as there are."""
    found = {format.name: format for format in formats}
    waiting = [name for format in formats for name in needed_by(format)]
    while waiting:
        name = waiting.pop()
        if name not in found and name in known.names():
            found[name] = known.named(name)
            waiting.extend(needed_by(found[name]))
    return tuple(found.values())
