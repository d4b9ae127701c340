"""The pattern language of a schema: what JSON Schema, Python and Rust read alike, in linear time.

Python's `re` has no limit on backtracking, so `^(a+)+$` takes longer than a night on 40 letters.
Patterns therefore run on Rust's `regex` crate, which pydantic ships: it matches in time linear in
the text, and the verdict depends on nothing but pattern and text (a time limit would make it
depend on the machine). `$` means the very end, as in ECMA-262; in Python it also matches before
a final line break. What the engines read differently is refused, so that a schema means the same
to every reader.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

__all__ = ["LONGEST_PATTERN", "PatternError", "matcher", "pattern_fault"]

LONGEST_PATTERN = 1_000
"""In characters; a longer pattern is a program, not a constraint."""

_PIECE = re.compile(
    r"""
      \\(?P<escaped>x[0-9A-Fa-f]{2} | u[0-9A-Fa-f]{4} | .)
    | (?P<class>\[\^?\]?(?:[^\]\\]|\\.)*+\])
    | (?P<extension>\(\?(?!:))
    | (?P<possessive>(?:[*+?]|\{[0-9,]{1,20}\})\+)
    | .
    """,
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|(.))", re.DOTALL)
_PORTABLE_ESCAPES = frozenset("dDwWsSbBnrtfv")
_CLASS_OPERATORS = ("[", "&&", "--", "~~", "||")


class PatternError(ValueError):
    """A pattern that is not in the language; the message says what to do."""


def pattern_fault(pattern: str) -> str | None:
    """What is wrong with `pattern` as words that follow "the pattern", or None.

    >>> pattern_fault("^[a-z]{2}$"), pattern_fault("(?=a)b")
    (None, 'uses (?...), which providers refuse; only (?:...) is supported')
    """
    try:
        matcher(pattern)
    except PatternError as fault:
        return str(fault)
    return None


@lru_cache(maxsize=256)  # a schema has few patterns, and each is tried on every answer
def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether `pattern` matches anywhere in a text.

    Linear in the text for every pattern and text, and false for text with lone surrogates.

    Raises:
        PatternError: the pattern is empty, too long, does not compile or is not portable.

    >>> matcher("^(a+)+$")("a" * 40 + "b")
    False
    """
    # Few schemas have a pattern, and the package takes longer to import than they to be read.
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # noqa: PLC0415 - see above

    if not pattern:
        raise PatternError("is empty; remove it")
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"has more than {LONGEST_PATTERN:,} characters; shorten it")
    for piece in _PIECE.finditer(pattern):
        _check_piece(piece)
    try:
        engine = SchemaValidator(
            core_schema.str_schema(pattern=pattern, strict=True, regex_engine="rust-regex")
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python warns where another reading is possible
            re.compile(pattern)
    except (SchemaError, re.error, OverflowError, RecursionError, Warning):
        raise PatternError("does not compile; correct it") from None
    return engine.isinstance_python


def _check_piece(piece: re.Match[str]) -> None:
    """Refuse what the engines read differently."""
    escaped, characters = piece["escaped"], piece["class"]
    if escaped and len(escaped) == 1:
        _check_escape(escaped)
    if characters:
        _check_class(characters[1:-1].removeprefix("^"))
    if piece["extension"]:
        raise PatternError("uses (?...), which providers refuse; only (?:...) is supported")
    if piece["possessive"]:
        raise PatternError("has + after a repeat, which engines read differently; remove it")


def _check_class(content: str) -> None:
    """Refuse what Rust and Python read as an operation on sets, or as no member."""
    for escape in _ESCAPE.finditer(content):
        if escape[1]:
            _check_escape(escape[1])
    bare = _ESCAPE.sub("", content)
    if content.startswith("]") or any(operator in bare for operator in _CLASS_OPERATORS):
        raise PatternError("has a set operation inside [...]; escape its signs with \\")


def _check_escape(character: str) -> None:
    if character.isalnum() and character not in _PORTABLE_ESCAPES:
        raise PatternError(
            "has an escape other than \\d \\D \\w \\W \\s \\S \\b \\B \\n \\r \\t \\f \\v"
            " \\xHH \\uHHHH; write it with these"
        )
