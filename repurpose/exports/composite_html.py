"""A composite as one HTML document: self-contained, without script, and every text escaped.

It asks for nothing over the network, in light and in dark, and prints well. `fragment` is the same
without what stands around it, for a page that has its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

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
from repurpose.text.language import well_formed

__all__ = ["composite_html", "fragment"]

_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.55;
  font-family: system-ui, sans-serif; color: #1b1b1b; background: #ffffff; }
h1 { line-height: 1.2; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8a8a8a; padding-bottom: .25rem; }
p, dd, li { overflow-wrap: anywhere; }
dt { font-weight: bold; }
dd { margin: 0 0 .5rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.facts, .places { color: #555555; font-size: .9rem; }
.dropped { border-left: .25rem solid #b35900; padding-left: 1rem; }
@media (prefers-color-scheme: dark) {
  body { color: #e8e8e8; background: #161616; }
  .facts, .places { color: #b0b0b0; }
  .dropped { border-color: #ffb366; }
}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may do for the document: apply its style, and nothing else."""
_BLANK_LINES = re.compile(r"\n[ \t]*+\n\s*+")
_LINE_ENDS = re.compile(r"\r\n?")
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that no document may hold (html.spec.whatwg.org, preprocessing the input stream)."""


def composite_html(payload: JsonObject, facts: CompositeFacts) -> str:
    """A whole document with the source's title, each section under its label, and the facts."""
    language = facts.language if facts.language and well_formed(facts.language) else "und"
    title = _inline(facts.title)
    return "\n".join(
        (
            "<!DOCTYPE html>",
            f'<html lang="{escape(language)}">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>{_STYLE}</style>",
            "</head>",
            "<body>",
            "<main>",
            f'<h1 dir="auto">{title}</h1>',
            f'<p class="facts">{_inline(facts.line)}</p>',
            fragment(payload).rstrip("\n"),
            "</main>",
            "</body>",
            "</html>\n",
        )
    )


def fragment(payload: JsonObject, _: CompositeFacts | None = None) -> str:
    """The sections alone, headings from the second level on; safe to put into a page as it is."""
    lines: list[str] = []
    for section in sections_of(payload):
        lines += ["<section>", f'<h2 dir="auto">{_inline(heading_of(section))}</h2>']
        lines += _content(part_of(section))
        places = places_of(section)
        if places:
            lines.append(f'<p class="places">From the source: {_inline("; ".join(places))}</p>')
        lines.append("</section>")
    dropped = list(dropped_lines(payload))
    if dropped:
        lines += ['<aside class="dropped">', "<h2>Left out</h2>", "<ul>"]
        lines += [f"<li>{_inline(f'{name}: {reason}')}</li>" for name, reason in dropped]
        lines += ["</ul>", "</aside>"]
    return "\n".join(lines) + "\n"


def _content(part: Part) -> Iterator[str]:
    match part:
        case None:
            yield "<p>(no content)</p>"
        case Plain(text):
            yield from _paragraphs(text)
        case Faq(pairs, below):
            for question, answer in pairs:
                yield f'<h3 dir="auto">{_inline(question)}</h3>'
                yield from _paragraphs(answer)
            yield from _paragraphs(below)
        case Newsletter():
            yield from _newsletter(part)
        case Record(fields):
            yield "<dl>"
            yield from (f"<dt>{_inline(name)}</dt>{_described(value)}" for name, value in fields)
            yield "</dl>"
        case Texts(items):
            yield "<ul>"
            yield from (f'<li dir="auto">{_inline(item)}</li>' for item in items)
            yield "</ul>"
        case Value(compact):
            yield f"<pre><code>{_escaped(compact)}</code></pre>"


def _newsletter(part: Newsletter) -> Iterator[str]:
    yield _named("Subject", part.subject)
    yield _named("Preheader", part.preheader)
    for paragraph in part.paragraphs:
        yield from _paragraphs(paragraph)
    yield _named("Call to action", part.call_to_action)
    yield from _paragraphs(part.below)


def _named(name: str, text: str) -> str:
    return f'<p dir="auto"><strong>{name}:</strong> {_inline(text)}</p>'


def _described(value: str) -> str:
    return f'<dd dir="auto">{_inline(value)}</dd>'


def _paragraphs(text: str) -> Iterator[str]:
    """The text in paragraphs, its line breaks kept."""
    for paragraph in _BLANK_LINES.split(_LINE_ENDS.sub("\n", text).strip()):
        if paragraph:
            lines = "<br>\n".join(_escaped(line) for line in paragraph.split("\n"))
            yield f'<p dir="auto">{lines}</p>'


def _inline(text: str) -> str:
    """The text on one line."""
    return _escaped(" ".join(text.split()))


def _escaped(text: str) -> str:
    """The text with nothing left that HTML could take for markup, or does not allow."""
    return escape(_FORBIDDEN.sub("", text), quote=False)
