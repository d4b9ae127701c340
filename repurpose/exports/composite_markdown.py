"""A composite as one Markdown document, to read, edit and paste from.

A text stays as it was written, except that no text can add to the document's headings or swallow
those that follow.
"""

from __future__ import annotations

from collections.abc import Iterator

from repurpose.core.json_types import JsonObject
from repurpose.exports._composites import (
    CompositeFacts,
    Faq,
    Newsletter,
    Part,
    Plain,
    Record,
    Texts,
    Value,
    dropped_lines,
    heading_of,
    part_of,
    places_of,
    sections_of,
)
from repurpose.exports._markdown_text import (
    faq_lines,
    heading,
    newsletter_lines,
    one_line,
    text_lines,
)

__all__ = ["composite_markdown"]


def composite_markdown(payload: JsonObject, facts: CompositeFacts) -> str:
    """The source's title, where the texts come from, then each section under its label.

    A section that was dropped is told in a note at the end, with the reason.
    """
    parts = [f"# {heading(facts.title)}", one_line(facts.line)]
    for section in sections_of(payload):
        parts.append(f"## {heading(heading_of(section))}")
        parts.extend(_content(part_of(section)))
        places = places_of(section)
        if places:
            parts.append(text_lines(one_line(f"From the source: {'; '.join(places)}")))
    parts.extend(
        f"> **Left out:** {one_line(f'{name}: {reason}')}"
        for name, reason in dropped_lines(payload)
    )
    return "\n\n".join(parts) + "\n"


def _content(part: Part) -> Iterator[str]:
    match part:
        case None:
            yield "(no content)"
        case Plain(text):
            yield text_lines(text)
        case Faq(pairs, below):
            yield from faq_lines(pairs)
            yield from _below(below)
        case Newsletter(subject, preheader, paragraphs, call_to_action, below):
            yield from newsletter_lines(subject, preheader, paragraphs, call_to_action)
            yield from _below(below)
        case Record(fields):
            yield "\n".join(f"- **{one_line(name)}:** {one_line(value)}" for name, value in fields)
        case Texts(items):
            yield "\n".join(text_lines(f"- {one_line(item)}") for item in items)
        case Value(compact):
            yield f"    {compact}"  # a code block, in which nothing is markup


def _below(text: str) -> Iterator[str]:
    if text:
        yield text_lines(text)
