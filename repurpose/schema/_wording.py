"""The words of findings: what rule was broken, never what the answer said.

Every value in them comes from the schema, which is the editor's, or is a count or a type name.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

from repurpose.schema._paths import shown_key

__all__ = ["counted", "listed", "must_be", "quoted", "syntax_fault", "undeclared"]

_LONGEST_LIST = 200
_LONGEST_VALUE = 80
_SHOWN_KEYS = 3

# How the messages of Python's decoder begin, and words that help to correct the fault.
_SYNTAX = {
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing after a key",
    "Expecting property name": "a key in double quotes is missing",
    "Expecting value": "a value is missing",
    "Extra data": "something follows the JSON",
    "Illegal trailing comma": "a comma stands before a closing bracket",
    "Invalid \\": "a string holds a backslash that begins no escape of JSON",
    "Invalid control character": "a string holds a line break or another control character",
    "Unterminated string": "a string is not closed",
}


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form.

    >>> counted(1, "item"), counted(3, "item")
    ('1 item', '3 items')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def quoted(value: object) -> str:
    """A value of a schema as JSON, cut to 80 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def listed(values: Iterable[object]) -> str:
    """Values of a schema as JSON, joined by commas and cut to about 200 characters.

    >>> listed(["a", 1, None])
    '"a", 1, null'
    """
    text = ""
    for value in values:
        if len(text) > _LONGEST_LIST:
            return f"{text}, …"
        text = f"{text}, {quoted(value)}" if text else quoted(value)
    return text


def must_be(types: Collection[str], actual: str) -> str:
    """What types a value may have and which it has.

    >>> must_be(["integer", "null"], "string")
    'must be an integer or null, is a string'
    """
    return f"must be {' or '.join(map(_with_article, types))}, is {_with_article(actual)}"


def undeclared(keys: Sequence[str], declared: Collection[str]) -> str:
    """That these keys may not stand here, and which may; only short plain names are named.

    >>> undeclared(["note"], ["title"])
    'has the undeclared key "note"; only "title" may stand here'
    """
    names = [name for name in map(shown_key, keys[:_SHOWN_KEYS]) if name is not None]
    if len(keys) == 1:
        what = f'the undeclared key "{names[0]}"' if names else "an undeclared key"
    else:
        shown = ", ".join(f'"{name}"' for name in names)
        what = f"{len(keys)} undeclared keys" + (f", such as {shown}" if shown else "")
    allowed = f"only {listed(declared)} may" if declared else "no key may"
    return f"has {what}; {allowed} stand here"


def syntax_fault(error: json.JSONDecodeError) -> str:
    """What is wrong with a text that is no JSON, with line and column but none of the text."""
    found = (words for begin, words in _SYNTAX.items() if error.msg.startswith(begin))
    place = f"line {error.lineno}, column {error.colno}"
    return f"the reply is not valid JSON at {place}: {next(found, 'the syntax is wrong')}"


def _with_article(type_name: str) -> str:
    if type_name == "null":
        return type_name
    return f"an {type_name}" if type_name[0] in "aio" else f"a {type_name}"
