"""A run as one Markdown document, to read, edit and paste from.

A text stays as it was written, except that a line which Markdown would take for a heading, a
code fence or HTML gets a backslash before it: no text can add to the document's headings or
swallow those that follow. Source of the rules: CommonMark 0.31.2, sections 4.2 to 4.6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from repurpose.core.json_types import JsonObject
from repurpose.core.record import Measures, Row, Run
from repurpose.core.source import Source
from repurpose.exports.base import after_parts, by_format, pairs_of
from repurpose.platforms import variant_label

__all__ = ["markdown_export"]

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


def markdown_export(run: Run, source: Source, rows: Sequence[Row]) -> str:
    """Title, where the text comes from, then a section a format and a subsection a platform.

    A failed row stands in its place as a note with the reason. Lengths and cuts stand in the
    subsection's heading: `X (269 of 280, shortened)`.
    """
    found = by_format(run, rows)
    parts = [f"# {_heading(source.title or source.origin)}", _origin(run, source, rows)]
    for of_format in found.values():
        parts.append(f"## {_heading(of_format[0].label)}")
        parts.extend(part for row in of_format for part in _section(row))
    missing = [name for name in run.formats if name not in found]
    if missing:
        parts.append(f"> **Not made:** {', '.join(missing)}")
    return "\n\n".join(parts) + "\n"


def _origin(run: Run, source: Source, rows: Sequence[Row]) -> str:
    """Where the text comes from and what wrote it, as one line."""
    writers = dict.fromkeys(row.provenance for row in rows)
    facts = [source.url or source.origin, *writers, f"run {run.id}", run.started_at]
    return _one_line(f"Source: {' · '.join(facts)}")


def _section(row: Row) -> Iterator[str]:
    """A row's parts, a subheading first where its format has several variants."""
    if row.variant != "default":
        yield f"### {_heading(variant_label(row.variant) + _facts(row.measures))}"
    if row.status == "failed":
        yield f"> **Failed:** {_one_line(row.message)}"
        return
    body = _BODIES.get(row.format, _no_parts)(row.content or {})
    below = after_parts(row.text or "", row.content) if body else ""
    yield from body or [_text(row.text or "")]
    if below:
        yield _text(below)


def _facts(measures: Measures | None) -> str:
    """` (269 of 280, shortened)`; nothing where no limit holds."""
    if measures is None or measures.max_length is None:
        return ""
    facts = [f"{measures.length} of {measures.max_length}"]
    if measures.shortened:
        facts.append("shortened")
    if measures.hashtags_dropped:
        tags = "hashtag" if measures.hashtags_dropped == 1 else "hashtags"
        facts.append(f"{measures.hashtags_dropped} {tags} dropped")
    return f" ({', '.join(facts)})"


def _faq(content: JsonObject) -> list[str]:
    """Each question as a heading over its answer."""
    parts = ((f"### {_heading(asked)}", _text(answer)) for asked, answer in pairs_of(content))
    return [part for pair in parts for part in pair]


def _newsletter(content: JsonObject) -> list[str]:
    """The parts of a newsletter, those that are not read as body with their names."""
    match content:
        case {
            "subject": str(subject),
            "preheader": str(preheader),
            "paragraphs": [*paragraphs],
            "callToAction": str(call_to_action),
        }:
            return [
                f"**Subject:** {_one_line(subject)}",
                f"**Preheader:** {_one_line(preheader)}",
                *(_text(str(paragraph)) for paragraph in paragraphs),
                f"**Call to action:** {_one_line(call_to_action)}",
            ]
        case _:
            return []


def _no_parts(_: JsonObject) -> list[str]:
    """For a format that is written as its text."""
    return []


_BODIES: Mapping[str, Callable[[JsonObject], list[str]]] = {
    "faq": _faq,
    "newsletter": _newsletter,
}
"""Formats whose parts are shown as parts; content of another shape falls back to the text."""


def _text(text: str) -> str:
    r"""A text whose lines all stay text.

    >>> _text("# Not a heading\n#hashtag")
    '\\# Not a heading\n#hashtag'
    """
    lines = _LINE_ENDS.sub("\n", text).strip("\n").split("\n")
    return "\n".join(_STRUCTURE.sub(r"\1\\", line, count=1) for line in lines)


def _heading(text: str) -> str:
    r"""One line that may follow the marks of a heading; marks at its end would be dropped.

    >>> _heading("Why C #")
    'Why C \\#'
    """
    return _CLOSING_MARKS.sub(r"\\", _one_line(text))


def _one_line(text: str) -> str:
    """The text with each line break as one space."""
    return " ".join(line.strip(" \t") for line in text.splitlines()).strip()
