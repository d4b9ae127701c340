"""Where JSON stands in a text that holds other things too, found in linear time.

Nothing here decodes. Brackets are counted with strings in mind, so a brace inside a string opens
nothing; a first `{` and a last `}` are never taken for a pair without looking between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["groups", "inside_fence", "is_deeper", "reasoning_block", "reasoning_ends"]

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[{}\[\]]', re.DOTALL)
"""A bracket, or a string, closed or running to the end. It never gives a character back."""

_TAGS = "think|thinking|thought|reasoning"
_OPEN = re.compile(rf"<(?:{_TAGS})\s{{0,8}}>", re.IGNORECASE)
_CLOSE = re.compile(rf"</(?:{_TAGS})\s{{0,8}}>", re.IGNORECASE)
_FENCE = re.compile(r"(`{3,40}|~{3,40})[ \t]{0,8}[\w+.-]{0,20}")
_BRACKET = re.compile(r"[{\[]")
_JSON_BEGINS = re.compile(r'\{\s*+"|\[\s*+["{\[\d]')
_SPACE = re.compile(r"\s*+")
_MAX_STRAY = 8
"""How many brackets of prose may stay open; each costs one more pass over the rest."""
_MAX_GROUPS = 10_000
"""How many groups are looked at: more than the longest reasoning has, and soon done."""


def is_deeper(text: str, limit: int) -> bool:
    """Whether brackets are nested more than `limit` deep in a text read as JSON.

    >>> is_deeper('{"a": [1, "[[["]}', 2)
    False
    """
    if text.count("{") + text.count("[") <= limit:
        return False
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += _step(text[token.start()])
        if depth > limit:
            return True
    return False


def groups(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every outermost bracketed group, in order.

    A bracket that never closes is passed over where it is prose (`use { to open`). Where it looks
    like the beginning of JSON, the text is an answer that was cut, and what stands inside it is
    not a value of its own: the search ends.

    >>> [('a {b} "c" [d {e}] f')[start:end] for start, end in groups('a {b} "c" [d {e}] f')]
    ['{b}', '[d {e}]']
    """
    stray = 0
    bracket = _BRACKET.search(text)
    for _ in range(_MAX_GROUPS):
        if bracket is None:
            return
        start = bracket.start()
        end = _group_end(text, start)
        if end is not None:
            yield start, end
        elif stray == _MAX_STRAY or _JSON_BEGINS.match(text, start):
            return
        else:
            stray += 1
        bracket = _BRACKET.search(text, start + 1 if end is None else end)


def _group_end(text: str, start: int) -> int | None:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += _step(text[token.start()])
        if depth == 0:
            return token.end()
    return None


def _step(first: str) -> int:
    """How a token that begins with this character changes the depth."""
    if first == '"':
        return 0
    return 1 if first in "{[" else -1


def reasoning_block(text: str) -> tuple[str, str] | None:
    """A leading reasoning block and what follows it, or None where the text begins otherwise.

    Several blocks in a row are one. A block that is never closed is followed by nothing.

    >>> reasoning_block("<think>so</think> {}")
    ('so', '{}')
    """
    inside: list[str] = []
    position = 0
    while opening := _OPEN.match(text, position):
        closing = _CLOSE.search(text, opening.end())
        inside.append(text[opening.end() : closing.start() if closing else len(text)])
        position = closing.end() if closing else len(text)
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]  # always matches
    return ("\n".join(inside), text[position:]) if inside else None


def reasoning_ends(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every closing tag of a reasoning block.

    Some chat templates put the opening tag into the prompt, so that only the closing one comes.
    """
    for tag in _CLOSE.finditer(text):
        yield tag.span()


def inside_fence(text: str) -> str | None:
    r"""What stands in the one code fence that is the whole text; None where it begins otherwise.

    The closing fence may be missing. A fence inside a string of the content stays as it is.

    >>> inside_fence('```json\n{"a": 1}\n```')
    '{"a": 1}'
    """
    opening = _FENCE.match(text)
    if opening is None:
        return None
    return text[opening.end() :].rstrip().removesuffix(opening[1]).strip()
