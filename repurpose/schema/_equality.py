"""Equality of JSON values: strict about types, or as JSON Schema has it; never by Python's `==`.

In Python `True == 1 == 1.0`. The strict reading tells all three apart; JSON Schema's reading
tells booleans apart and takes 1 and 1.0 for one number (JSON Schema Core 2020-12, 4.2.2).
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MAX_ITEM_DEPTH", "TooDeepError", "all_distinct", "same"]

MAX_ITEM_DEPTH = 200
"""Above what intake lets through, below what would exhaust the stack."""


class TooDeepError(ValueError):
    """A value nested more deeply than equality looks."""


def same(one: object, other: object, *, strict: bool = True) -> bool:
    """Whether two JSON values are equal, told apart by type where `strict`.

    Looks no deeper than the shallower of both, so one short value keeps it short.

    >>> same(1, 1.0), same(1, 1.0, strict=False), same(True, 1, strict=False)
    (False, True, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            key in other and same(value, other[key], strict=strict) for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            same(a, b, strict=strict) for a, b in zip(one, other, strict=True)
        )
    if strict or bool in (type(one), type(other)):
        return type(one) is type(other) and one == other
    return one == other


def all_distinct(items: Iterable[object], *, strict: bool = True) -> bool:
    """Whether no two items are equal, in time linear in their size.

    Raises:
        TooDeepError: an item is nested more than 200 deep.
    """
    seen: set[object] = set()
    for item in items:
        key = _key(item, strict, MAX_ITEM_DEPTH)
        if key in seen:
            return False
        seen.add(key)
    return True


def _key(value: object, strict: bool, room: int) -> object:
    """A hashable stand-in for `value`: equal values have equal ones, and only they.

    Numbers become text, since the hash of a text cannot be foreseen and that of a number can:
    a list of numbers with one hash would take quadratic time.
    """
    if room == 0:
        raise TooDeepError("nested too deeply")
    if isinstance(value, dict):
        return "{", frozenset((key, _key(item, strict, room - 1)) for key, item in value.items())
    if isinstance(value, list):
        return "[", tuple(_key(item, strict, room - 1) for item in value)
    if isinstance(value, str):
        return "s", value
    if isinstance(value, float):
        return _float_key(value, strict)
    if isinstance(value, int) and not isinstance(value, bool):
        return "i", hex(value)
    return "k", str(value)  # true, false, null


def _float_key(value: float, strict: bool) -> tuple[str, str]:
    if not strict and value.is_integer():
        return "i", hex(int(value))
    return "f", (value + 0.0).hex()  # adding zero makes -0.0 the 0.0 that it equals
