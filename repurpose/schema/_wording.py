"""The words of findings: what rule was broken, never what the answer said.

Every value in them comes from the schema, which is the editor's, or is a count or a type name.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

__all__ = ["counted", "listed", "must_be", "quoted", "syntax_fault", "undeclared"]

_LONGEST_LIST = 200
_LONGEST_VALUE = 80

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
    """That these keys may not stand here, and which may.

    They are not named: a model takes them from its source, and a finding stands in a system
    prompt, where nothing of a source may.

    >>> undeclared(["note"], ["title"])
    'has an undeclared key; only "title" may stand here'
    """
    what = "an undeclared key" if len(keys) == 1 else f"{len(keys)} undeclared keys"
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
