"""Who did something to a row."""

from __future__ import annotations

from repurpose.errors import UsageError

__all__ = ["checked_author"]

_LONGEST = 80


def checked_author(by: str) -> str:
    """The name on one line.

    Raises:
        UsageError: it is blank, or no name for its length.

    >>> checked_author(" Ann   Lee ")
    'Ann Lee'
    """
    name = " ".join(by.split())
    if not name or not name.isprintable() or len(name) > _LONGEST:
        raise UsageError(f"a person's name has 1 to {_LONGEST} characters, on one line")
    return name
