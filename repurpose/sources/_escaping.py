"""Plain words inside Markdown: what people typed must not turn into structure."""

from __future__ import annotations

import re

__all__ = ["escaped", "typed_markdown"]

_QUOTED = re.compile(r"\s{0,3}>")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
# What CommonMark reads as structure where a line begins (its chapters 4 and 5).
_LINE_MARK = re.compile(
    r"""(?P<lead>[ ]{0,3})(?:
        (?P<number>[0-9]{1,9})(?=[.)](?:[ \t]|$))       # an ordered list
      | (?=\#{1,6}(?:[ \t]|$))                          # a heading
      | (?=>)                                           # a quotation
      | (?=[-+*](?:[ \t]|$))                            # a list
      | (?=```|~~~)                                     # a code fence
      | (?=(?:=+|-+)[ \t]*$)                            # an underlined heading
      | (?=[-*_](?:[ \t]*[-*_]){2,}[ \t]*$)             # a rule
      | (?=\[[^\]\n]{1,999}\]:)                         # a link definition
      | (?=[|:\-][^|\n]*\|)(?=[|:\- \t]++$)             # the line under a table's head
    )""",
    re.VERBOSE,
)


def escaped(text: str) -> str:
    r"""`text` with a backslash before what Markdown would read as structure at a line's start.

    Asterisks and underscores inside a line stay as they are: most of them are no markup.

    >>> escaped("1. FC Nord\n#tag\n# 9"), escaped("2026 - 2027")
    ('1\\. FC Nord\n#tag\n\\# 9', '2026 - 2027')
    """
    return "\n".join(_escaped_line(line) for line in text.split("\n"))


def _escaped_line(line: str) -> str:
    found = _LINE_MARK.match(line)
    if found is None:
        return line
    return f"{line[: found.end()]}\\{line[found.end() :]}"


def typed_markdown(text: str) -> str:
    """Plain `text` as Markdown: typed lists and quotations are ones, all else is words."""
    lines: list[str] = []
    for line in text.split("\n"):
        quoted = _QUOTED.match(line) is not None
        if lines and lines[-1].startswith(">") and not quoted:
            lines.append("")  # without it, Markdown takes the line as quoted, too
        lines.append(line.lstrip() if quoted else _typed_line(line))
    return "\n".join(lines)


def _typed_line(line: str) -> str:
    words = line.strip()
    if _LIST_ITEM.match(line):
        return " " * min(len(line) - len(line.lstrip()), 3) + words
    return escaped(words)
