"""Texts without what surrounds them and nobody reads."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["non_blank", "one_line", "trimmed"]

_EDGES = "".join(c for c in map(chr, range(0x3001)) if c.isspace()) + "\u200b\u2060\ufeff"
"""White space, of which U+3000 is the last, and what a reader cannot tell from nothing."""


def trimmed(text: str) -> str:
    """`text` without white space and invisible characters at both ends.

    >>> trimmed("  First. ")
    'First.'
    """
    return text.strip(_EDGES)


def one_line(text: str) -> str:
    r"""`text` trimmed, with each line break in it replaced by one space.

    For what has to stay on its line: a subject, a title, a question, a sentence of a list.

    >>> one_line(" A subject\r\nBcc: everyone ")
    'A subject Bcc: everyone'
    """
    return " ".join(line for line in map(trimmed, text.splitlines()) if line)


def non_blank(texts: Iterable[str]) -> tuple[str, ...]:
    """`texts` trimmed, without those that have nothing to read."""
    return tuple(text for text in map(trimmed, texts) if text)
