"""How many items of an answer's lists are published; the first ones win.

Upper bounds are code here, not prompt, because a model that is asked for eight writes eleven.
Lower bounds stand in prompts only; nothing here pads or rejects a short list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

__all__ = ["MAX_PAIRS", "MAX_SENTENCES", "capped"]

MAX_SENTENCES: Final = 8
MAX_PAIRS: Final = 10

_T = TypeVar("_T")


def capped(items: Sequence[_T], limit: int) -> tuple[_T, ...]:
    """The first `limit` items; a model's best come first."""
    return tuple(items[:limit])
