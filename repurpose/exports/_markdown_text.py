"""Texts inside a Markdown document: none can add a heading, a code fence or HTML to it.

A text stays as it was written, except that a line which Markdown would take for one of these gets
a backslash before it. Source of the rules: CommonMark 0.31.2, sections 4.2 to 4.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["faq_lines", "heading", "newsletter_lines", "one_line", "text_lines"]

_CONTAINERS = r"^((?:[ \t]*+(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]++[^ \t])))*+[ \t]*+)"
"""Block quote and list markers, inside which the same rules hold."""

_STRUCTURE = re.compile(
    _CONTAINERS
    + r"""(?= \#{1,6}(?:[ \t]|$)    # a heading, but not a line of hashtags
        | (?:=++|-++)[ \t]*+$      # what makes the line above a heading
        | ```|~~~                  # a code fence
        | <[a-zA-Z/!?]             # HTML
        )""",
    re.VERBOSE,
)
_CLOSING_MARKS = re.compile(r"(?:(?<=[ \t])|^)(?=#++$)")
_LINE_ENDS = re.compile(r"\r\n?")


def text_lines(text: str) -> str:
    r"""A text whose lines all stay text.

    >>> text_lines("# Not a heading\n#hashtag")
    '\\# Not a heading\n#hashtag'
    """
    lines = _LINE_ENDS.sub("\n", text).strip("\n").split("\n")
    return "\n".join(_STRUCTURE.sub(r"\1\\", line, count=1) for line in lines)


def heading(text: str) -> str:
    r"""One line that may follow the marks of a heading; marks at its end would be dropped.

    >>> heading("Why C #")
    'Why C \\#'
    """
    return _CLOSING_MARKS.sub(r"\\", one_line(text))


def one_line(text: str) -> str:
    """The text with each line break as one space."""
    return " ".join(line.strip(" \t") for line in text.splitlines()).strip()


def faq_lines(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Each question as a heading over its answer."""
    parts = ((f"### {heading(asked)}", text_lines(answer)) for asked, answer in pairs)
    return [part for pair in parts for part in pair]


def newsletter_lines(
    subject: str, preheader: str, paragraphs: Sequence[str], call_to_action: str
) -> list[str]:
    """The parts of a newsletter, those that are not read as body with their names."""
    return [
        f"**Subject:** {one_line(subject)}",
        f"**Preheader:** {one_line(preheader)}",
        *map(text_lines, paragraphs),
        f"**Call to action:** {one_line(call_to_action)}",
    ]
