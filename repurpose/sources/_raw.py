"""What a loader is given, apart from `base` so that naming a source loads no library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repurpose.core.listing import Listing
from repurpose.core.source import Source

__all__ = ["MAX_BYTES", "Lister", "Loader", "Raw", "shown"]

MAX_BYTES = 20_000_000
"""The largest content that is read; a book of a thousand pages is a tenth of it."""

_LONGEST = 200  # characters of a path in a message


@dataclass(frozen=True, slots=True)
class Raw:
    """What a caller read: bytes, and where from."""

    origin: str
    """The path, address or `-`, as the user gave it."""
    content: bytes
    charset: str | None = None
    """The character set that a server named; it counts before what a page says of itself."""


Loader = Callable[[Raw], Source]
Lister = Callable[[Raw], Listing]


def shown(origin: str) -> str:
    r"""`origin` for a message: on one line, without hidden characters, and short.

    >>> shown("-"), shown("a\x1b[31m\nb.md")
    ('standard input', 'a?[31m?b.md')
    """
    if origin == "-":
        return "standard input"
    name = "".join(char if char.isprintable() else "?" for char in origin)
    return name if len(name) <= _LONGEST else f"{name[:80]}…{name[-100:]}"
