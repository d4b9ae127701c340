"""Runs of another writing direction, as their controls mark them (UAX #9, section 2).

A run opens with an isolate (LRI, RLI, FSI) or an embedding or override (LRE, RLE, LRO, RLO), closes
with PDI or PDF, and ends with its paragraph in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["closers", "closing", "directional_spans"]

_OPENER = re.compile("[\u202a\u202b\u202d\u202e\u2066-\u2068]")
_CONTROL = re.compile("[\u202a-\u202e\u2066-\u2069\n\r\x1c-\x1e\x85\u2029]")
_PDF, _PDI = "\u202c", "\u2069"
_ISOLATES = frozenset("\u2066\u2067\u2068")


class _Open:
    """The runs that are open at some place of a text."""

    __slots__ = ("isolates", "stack")

    def __init__(self) -> None:
        self.stack: list[tuple[str, int]] = []
        """What closes each run, and where the run begins."""
        self.isolates = 0

    def meet(self, control: str, start: int) -> int | None:
        """Take in one control; the start of the run that it closes, or None."""
        if control in _ISOLATES:
            self.stack.append((_PDI, start))
            self.isolates += 1
        elif _OPENER.match(control):
            self.stack.append((_PDF, start))
        elif control == _PDI:
            return self._close_isolate() if self.isolates else None
        elif control == _PDF:
            return self.stack.pop()[1] if self.stack and self.stack[-1][0] == _PDF else None
        else:  # a paragraph ends
            self.stack.clear()
            self.isolates = 0
        return None

    def _close_isolate(self) -> int:
        """Close the innermost isolate and the embeddings inside it."""
        self.isolates -= 1
        while True:
            closer, start = self.stack.pop()
            if closer == _PDI:
                return start


def directional_spans(text: str) -> list[tuple[int, int]]:
    r"""The outermost closed runs, controls included, in order; those left open are none.

    >>> directional_spans("a \u2067b\u2069 c")
    [(2, 5)]
    """
    if not _OPENER.search(text):
        return []
    opened = _Open()
    spans: list[tuple[int, int]] = []
    for found in _CONTROL.finditer(text):
        start = opened.meet(found.group(), found.start())
        if start is not None:
            while spans and spans[-1][0] >= start:
                spans.pop()
            spans.append((start, found.end()))
    return spans


def closers(text: str) -> str:
    r"""The controls that close what is open at the end of a text, the innermost first.

    >>> closers("a \u2067b \u202ac") == "\u202c\u2069"
    True
    """
    if not _OPENER.search(text):
        return ""
    opened = _Open()
    for found in _CONTROL.finditer(text):
        opened.meet(found.group(), found.start())
    return "".join(closer for closer, _ in reversed(opened.stack))


def closing(measure: Callable[[str], int]) -> Callable[[str], int]:
    """A measure that counts the controls which a text lacks at its end as well."""

    def measured(text: str) -> int:
        ends = closers(text)
        return measure(text + ends) if ends else measure(text)

    return measured
