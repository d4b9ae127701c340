"""Stretches of a line in brackets or quotation marks, in which no sentence of the line ends."""

from __future__ import annotations

import re

__all__ = ["asides"]

_LONGEST_ASIDE = 200  # a longer one in brackets or quotes is read as sentences of its own

_PAIRS = {
    ")": "(", "]": "[", "}": "{", "」": "「", "』": "『", "）": "（", "】": "【", "》": "《",
    "〉": "〈", "”": "“", "›": "‹",
}  # fmt: skip
_EITHER = '“”„«»"`'  # which of them open depends on the language or on what stands beside
_OPENERS = frozenset({*_PAIRS.values(), "„", "«", "»", '"', "`"})
_SIGN = re.compile("[" + re.escape("".join({*_PAIRS, *_OPENERS})) + "]")


def asides(masked: str) -> list[tuple[int, int]]:
    """Stretches in brackets or paired quotes, outermost only: from the opener to the closer."""
    opened: dict[str, list[int]] = {}
    pairs: list[tuple[int, int]] = []
    for sign in _SIGN.finditer(masked):
        position, character = sign.start(), sign.group()
        opener = _PAIRS.get(character)
        if character in _EITHER:
            opener = _quote_closes(masked, position, opened)
        if opener:
            if stack := opened.get(opener):
                begin = stack.pop()
                if position - begin <= _LONGEST_ASIDE:
                    pairs.append((begin, position))
        elif position == 0 or masked[position - 1] not in ":;=-":  # a sad face opens nothing
            opened.setdefault(character, []).append(position)
    outermost: list[tuple[int, int]] = []
    for begin, end in sorted(pairs):
        if not outermost or begin > outermost[-1][1]:
            outermost.append((begin, end))
    return outermost


def _quote_closes(masked: str, position: int, opened: dict[str, list[int]]) -> str | None:
    """The opener that this quotation mark closes, or None where it opens."""
    character = masked[position]
    if character == "„":
        return None
    if character == "`":  # inline code
        return "`" if opened.get("`") else None
    if character in "“”":  # both close in some language; the first one opens in English
        opener = "„" if opened.get("„") else "“"
        return None if character == opener else opener
    before = masked[position - 1] if position else " "
    opens = before.isspace() or before in "([—–"
    if character != "«":  # in French a space stands before the closing one too
        opens = opens and masked[position + 1 : position + 2].strip() != ""
    if opens:
        return None
    return {"«": "»", "»": "«", '"': '"'}[character]
