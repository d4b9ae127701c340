"""How alike two texts are in what they literally say, whatever script they are in."""

from __future__ import annotations

import re

__all__ = ["NEAR_COPY", "likeness"]

NEAR_COPY = 0.55
"""From here on, an editor would take two posts for one. Posts about one subject that are written
apart stay below 0.45, one that was reworded here and there above 0.57; the tests show pairs."""

_SHINGLE = 3
_UNREAD = re.compile(r"[\W_]++")


def likeness(one: str, other: str) -> float:
    """The share of three-character runs that both texts have: 1 for the same, 0 for nothing alike.

    Jaccard's coefficient (Broder 1997, "On the resemblance and containment of documents") over
    characters, so that it holds without word boundaries. Case, punctuation and spaces do not
    count; two texts without letters or digits are not alike.

    >>> likeness("We open in May!", "we open in MAY"), likeness("We open in May.", "Bees hum.")
    (1.0, 0.0)
    """
    first, second = _shingles(one), _shingles(other)
    either = len(first | second)
    return len(first & second) / either if either else 0.0


def _shingles(text: str) -> frozenset[str]:
    said = _UNREAD.sub("", text.casefold())
    if len(said) < _SHINGLE:
        return frozenset({said} - {""})
    return frozenset(said[start : start + _SHINGLE] for start in range(len(said) - _SHINGLE + 1))
