"""HTML inside Markdown: the markup goes, its text stays, code is left alone.

Only elements of the HTML standard are markup; `<your name>` and `<T>` are what somebody wrote.
Every search runs forward once, so that no input takes more than linear time.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.entities import html5

from markdown_it import MarkdownIt

from repurpose.sources._blocks import block_parser

__all__ = ["Stripped", "decode_entities", "without_html"]

_BLOCK_ELEMENTS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center",
    "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr",
    "html", "legend", "li", "main", "menu", "nav", "noscript", "ol", "optgroup", "option",
    "p", "pre", "search", "section", "select", "summary", "table", "tbody", "td", "template",
    "textarea", "tfoot", "th", "thead", "title", "tr", "ul"
})  # fmt: skip
_INLINE_ELEMENTS = frozenset({
    "a", "abbr", "acronym", "area", "audio", "b", "base", "bdi", "bdo", "big", "canvas",
    "cite", "code", "col", "colgroup", "data", "datalist", "del", "dfn", "em", "embed",
    "font", "i", "iframe", "img", "input", "ins", "kbd", "label", "link", "map", "mark",
    "meta", "meter", "nobr", "object", "output", "param", "picture", "progress", "q", "rp",
    "rt", "ruby", "s", "samp", "script", "slot", "small", "source", "span", "strike",
    "strong", "style", "sub", "sup", "svg", "time", "track", "tt", "u", "var", "video", "wbr"
})  # fmt: skip
_UNSEEN_ELEMENTS = frozenset({"script", "style"})
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TAG = re.compile(
    r"""<(?:/(?P<closed>[A-Za-z][A-Za-z0-9]{0,15})\s{0,99}+
    | (?P<opened>[A-Za-z][A-Za-z0-9]{0,15})(?=[\s/>])(?:[^<>"']++|"[^"]*+"|'[^']*+'){0,500}+)>""",
    re.VERBOSE,
)
_STOP = re.compile(
    r"""\\[!-/:-@\[-`{-~] | `++ | <!-- | <!DOCTYPE[^<>]{0,300}> | < | &""",
    re.VERBOSE | re.IGNORECASE,
)
_MAY_PART = ("<", "`", "\t", " " * 4, "~~~", "\r")
"""One of these is in every element, comment and code: without them, an entity needs its line only
and no parser."""
_DATA_ADDRESS = re.compile(
    r"(\]\([ \t]{0,4}<?|^ {0,3}\[[^\]\n]{1,99}\]:[ \t]{0,4})data:[^)\s>]*+", re.MULTILINE
)
_AS_TYPED = frozenset("*_`[]\\|<")  # would become markup again if they stood alone
_LIKE_ENTITY = re.compile(r"#?\w{1,32};")
_BLANK_RUN = re.compile(r"\n(?:[ \t]*\n){2,}")


@dataclass(frozen=True, slots=True)
class Stripped:
    """Markdown without HTML, and how many comments were taken out."""

    text: str
    comments: int


def without_html(text: str) -> Stripped:
    r"""Markdown `text` without tags and comments, with entities decoded outside code.

    >>> without_html("Caf&eacute; <b>bold</b>, `<b>`, Vec<T><!-- no -->")
    Stripped(text='Café bold, `<b>`, Vec<T>', comments=1)
    """
    lines = text.split("\n")
    if not any(mark in text for mark in _MAY_PART):
        lines = [_Scan(line, html=False).stripped() if "&" in line else line for line in lines]
        return Stripped(_without_data("\n".join(lines)), 0)
    parts: list[str] = []
    comments = 0
    for kind, first, last in _regions(text, len(lines)):
        part = "\n".join(lines[first:last])
        if kind == "code" or not ("<" in part or "&" in part):
            parts.append(part)
            continue
        scan = _Scan(part, html=kind == "html")
        parts.append(scan.stripped())
        comments += scan.comments
    return Stripped(_without_data("\n".join(parts)), comments)


def _without_data(text: str) -> str:
    return _DATA_ADDRESS.sub(r"\1", text) if "data:" in text else text


def decode_entities(text: str) -> str:
    """`text` with entities decoded once; only those that end with a semicolon are entities."""
    return _ENTITY.sub(lambda one: _character(one[0]), text)


def _character(entity: str) -> str:
    name = entity[1:]
    if not name.startswith("#"):
        return html5.get(name, entity)
    digits = name[1:-1]
    number = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return "\ufffd"
    return chr(number)


@functools.cache
def _parser() -> MarkdownIt:
    return block_parser(html=True)


def _regions(text: str, count: int) -> Iterator[tuple[str, int, int]]:
    """Runs of lines that belong together, as kind, first line and line after the last."""
    kinds = ["text"] * count
    borders = {0, count}
    for token in _parser().parse(text):
        if token.map is None:
            continue
        first, last = token.map[0], min(token.map[1], count)
        borders.update((first, last))
        if token.type in ("fence", "code_block", "html_block"):
            kinds[first:last] = ["html" if token.type == "html_block" else "code"] * (last - first)
    for first, last in itertools.pairwise(sorted(borders)):
        yield kinds[first], first, last


@dataclass(slots=True)
class _Scan:
    """One pass over one region."""

    part: str
    html: bool
    comments: int = 0
    _missing: set[str] = field(default_factory=set)
    """Ends that were searched for in vain, and would be again."""

    def stripped(self) -> str:
        kept: list[str] = []
        at = 0
        while (stop := _STOP.search(self.part, at)) is not None:
            kept.append(self.part[at : stop.start()])
            piece, at = self._piece(stop)
            kept.append(piece)
        kept.append(self.part[at:])
        text = "".join(kept)
        return self._laid_out(text) if self.html else text

    def _piece(self, stop: re.Match[str]) -> tuple[str, int]:
        """What stands for the text at `stop`, and where to go on."""
        found, at = stop[0], stop.start()
        if found == "&":
            return self._entity(at)
        if found == "<!--":
            return self._comment(at)
        if found == "<":
            return self._tag(at)
        if found[0] == "<":
            return "", stop.end()
        if found[0] == "`" and not self.html:
            return self._code(found, stop.end())
        return found, stop.end()

    def _after(self, end: str, at: int) -> int | None:
        """The place after the next `end`, or None; an absent end is searched for once."""
        if end in self._missing:
            return None
        place = self.part.find(end, at)
        if place < 0:
            self._missing.add(end)
            return None
        return place + len(end)

    def _code(self, ticks: str, at: int) -> tuple[str, int]:
        if ticks in self._missing:
            return ticks, at
        for close in re.compile("`++").finditer(self.part, at):
            if close[0] == ticks:
                return ticks + self.part[at : close.end()], close.end()
        self._missing.add(ticks)
        return ticks, at

    def _comment(self, at: int) -> tuple[str, int]:
        end = self._after("-->", at + 4)
        if end is None:
            return "<", at + 1
        self.comments += 1
        return "", end

    def _entity(self, at: int) -> tuple[str, int]:
        found = _ENTITY.match(self.part, at)
        if found is None:
            return "&", at + 1
        text = _character(found[0])
        again = text == "&" and _LIKE_ENTITY.match(self.part, found.end())
        return (f"\\{text}" if text in _AS_TYPED or again else text), found.end()

    def _tag(self, at: int) -> tuple[str, int]:
        found = _TAG.match(self.part, at)
        if found is None:
            return "<", at + 1
        closing, end = found["closed"] is not None, found.end()
        name = (found["closed"] or found["opened"]).lower()
        if name in _UNSEEN_ELEMENTS and not closing:
            after = self._after(f"</{name}>", end)
            return "", end if after is None else after
        if name in _BLOCK_ELEMENTS:
            return self._break(name, closing=closing), end
        return ("", end) if name in _INLINE_ELEMENTS else ("<", at + 1)

    def _break(self, name: str, *, closing: bool) -> str:
        if not self.html:
            return " "
        if len(name) == 2 and name[0] == "h" and name[1] in "123456" and not closing:
            return f"\n\n{'#' * int(name[1])} \x00"
        return "\n" if name == "br" else "\n\n"

    def _laid_out(self, text: str) -> str:
        """Lines without the indentation of nested elements, which would read as code."""
        text = re.sub("\x00\\s*", "", text)
        lines = "\n".join(line.strip() for line in text.split("\n"))
        return _BLANK_RUN.sub("\n\n", lines).strip("\n")
