"""What follows from a value alone, worked out once for as long as the value is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["remembered"]

T = TypeVar("T")
R = TypeVar("R")

_MOST = 64
"""How many values are remembered: far more than there are formats in use at one time."""


def remembered(make: Callable[[T], R]) -> Callable[[T], R]:
    """`make`, called once for each object it is given; the last 64 objects are remembered.

    Goes by identity, since schemas cannot be hashed and comparing them costs more than most of
    what is made of them. So it is for values that nobody changes, such as a format's schema. A
    remembered object stays alive, so that no other one can take its identity.

    >>> length = remembered(len)
    >>> length([1, 2])
    2
    """
    known: dict[int, tuple[T, R]] = {}

    def made(value: T) -> R:
        entry = known.get(id(value))
        if entry is None:
            entry = value, make(value)
            while len(known) >= _MOST:
                known.pop(next(iter(known), 0), None)
            known[id(value)] = entry
        return entry[1]

    return made
