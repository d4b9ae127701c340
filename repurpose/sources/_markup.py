"""A fragment of HTML as Markdown: all of it, without looking for the article in it.

Mails, feed items, book chapters and word-processor documents are text from end to end; an
extractor that looks for an article would drop parts of them. Links and emphasis become plain
words; addresses, pictures and scripts do not get in. Hidden parts are the caller's to remove.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from repurpose.sources._escaping import escaped

__all__ = ["markdown_of", "parsed"]

_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "main",
    "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul"
})  # fmt: skip
_UNSEEN = frozenset({
    "audio", "canvas", "datalist", "embed", "head", "iframe", "img", "input", "map", "noscript",
    "object", "picture", "rp", "rt", "script", "select", "style", "svg", "template", "textarea",
    "title", "video"
})  # fmt: skip
_LISTS = ("ul", "ol", "menu", "dir")
_ANCHOR_MARKS = ("", "#", "¶", "§", "🔗")  # a heading's link to itself; none of its words
_FEW = 5  # elements; a mark has no more, and links within links would be read again and again
_DEEPEST = 10  # quotations and lists in each other; deeper ones are read as if they were not there
_WIDEST = 50  # columns; a wider table is layout, and padding its rows would cost
_LONGEST_NUMBER = 999_999_999  # CommonMark 5.2: list numbers have at most nine digits
_EVENTS = ("start", "end", "comment", "pi")  # the latter two for the text that follows them
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_XML_DECLARATION = re.compile(r"\A\s{0,99}<\?xml[^>]{0,200}\?>")
_SPACE = re.compile(r"[ \t\n\r\f]+")  # what HTML collapses; a no-break space is not among them
_PARAGRAPH_BREAK = re.compile(r"\n\s*\n")


def parsed(markup: str) -> HtmlElement | None:
    """The page or fragment in `markup` as a tree, or None where nothing is in it.

    Never raises. Comments and control characters are gone. Elements stand at most 2,048 deep,
    which is where libxml2 stops reading.
    """
    plain = _CONTROLS.sub("", _XML_DECLARATION.sub("", markup))
    # The bounds of "huge" trees: without it, libxml2 drops all that follows the 256th level or
    # a text of 10 MB. Bytes, so that a declared character set does not count again.
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        return lxml.html.document_fromstring(plain.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def markdown_of(tree: HtmlElement) -> str:
    r"""All that a reader sees of `tree`, as Markdown; "" where that is nothing.

    Line breaks stay line breaks, two in a row divide paragraphs. A table is one where rows and
    columns say so; tables that only lay a page out are read cell by cell.

    >>> markdown_of(parsed("<h2>Why</h2><ol><li>One<li>Two<ul><li># 3</ul></ol>"))
    '## Why\n\n1. One\n2. Two\n   - \\# 3'
    """
    writer = _Writer()
    walk = etree.iterwalk(tree, events=_EVENTS)
    for event, element in walk:
        if event != "start":
            if event == "end":
                writer.leave(element)
            if element is not tree:
                writer.text(element.tail)
        elif writer.enter(element):
            writer.text(element.text)
        else:
            walk.skip_subtree()
    writer.flush()
    return "".join(writer.parts)


def _collapsed(text: str) -> str:
    return _SPACE.sub(" ", text).strip(" ")


def _words(element: HtmlElement) -> str:
    """What is to be read inside `element`, as one line."""
    parts: list[str] = []
    walk = etree.iterwalk(element, events=_EVENTS)
    for event, one in walk:
        if one.tag in _BLOCKS or one.tag == "br":
            parts.append(" ")
        if event != "start":
            parts.append((one.tail if one is not element else None) or "")
        elif one.tag in _UNSEEN:
            walk.skip_subtree()
        else:
            parts.append(one.text or "")
    return _collapsed("".join(parts))


@dataclass(slots=True)
class _Container:
    """A quotation or a list item around the text that is being written."""

    element: HtmlElement
    first: str
    """What stands before its first line."""
    rest: str
    """What stands before each further line."""
    begun: bool = False


@dataclass(slots=True)
class _Writer:
    """One pass over a tree; finished blocks are in `parts`."""

    parts: list[str] = field(default_factory=list)
    _inline: list[str] = field(default_factory=list)
    _around: list[_Container] = field(default_factory=list)
    _before: list[_Container] = field(default_factory=list)
    """What stood around the last finished block."""
    _numbers: dict[HtmlElement, int] = field(default_factory=dict)
    """The number of the next item of each ordered list that is open."""
    _heading: int = 0

    def text(self, text: str | None) -> None:
        if text:
            self._inline.append(_SPACE.sub(" ", text))

    def enter(self, element: HtmlElement) -> bool:
        """Begin `element`; whether what is in it is still to be read."""
        tag = element.tag
        if not isinstance(tag, str) or tag in _UNSEEN:
            return False
        if tag in _BLOCKS:
            self.flush()
            return self._enter_block(element, tag)
        if tag == "br":
            self._inline.append("\n")
        elif tag == "code":
            self._inline.append(_code_span(_words(element)))
            return False
        elif tag == "q":
            self._inline.append("“")
        return not (tag == "a" and self._heading and _is_anchor_mark(element))

    def leave(self, element: HtmlElement) -> None:
        tag = element.tag
        if tag in _BLOCKS:
            self.flush()
            self._heading = 0
            if self._around and self._around[-1].element is element:
                self._around.pop()
            self._numbers.pop(element, None)
        elif tag == "q":
            self._inline.append("”")

    def flush(self) -> None:
        """Finish the paragraph or heading that was begun."""
        text = re.sub(" {2,}", " ", "".join(self._inline))
        self._inline.clear()
        if self._heading:
            words = _collapsed(text)
            if words:
                self._write(f"{'#' * self._heading} {words}")
            return
        for paragraph in _PARAGRAPH_BREAK.split(text):
            lines = [line.strip(" ") for line in paragraph.strip(" \n").split("\n")]
            if any(lines):
                self._write(escaped("\n".join(lines)))

    def _enter_block(self, element: HtmlElement, tag: str) -> bool:
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._heading = int(tag[1])
        elif tag == "pre":
            self._write(_fenced(_preformatted(element)))
            return False
        elif tag == "table":
            rows = _rows(element)
            if rows:
                self._write_table(element, rows)
                return False
        elif tag == "ol":
            self._numbers[element] = _number(element.get("start"), 1)
        elif tag in ("li", "blockquote") and len(self._around) < _DEEPEST:
            self._around.append(self._container(element, tag))
        return True

    def _container(self, element: HtmlElement, tag: str) -> _Container:
        if tag == "blockquote":
            return _Container(element, "> ", "> ")
        owner = element.getparent()
        if owner not in self._numbers:
            return _Container(element, "- ", "  ")
        number = _number(element.get("value"), self._numbers[owner])
        self._numbers[owner] = min(number + 1, _LONGEST_NUMBER)
        mark = f"{number}. "
        return _Container(element, mark, " " * len(mark))

    def _write_table(self, element: HtmlElement, rows: list[list[str]]) -> None:
        caption = element.find("caption")
        words = _words(caption) if caption is not None else ""
        if words:
            self._write(escaped(words))
        self._write(_table(rows))

    def _write(self, block: str) -> None:
        if not block:
            return
        lines = []
        gap = self._gap()
        for line in block.split("\n"):
            lead = "".join(one.rest if one.begun else one.first for one in self._around)
            lines.append(f"{lead}{line}".rstrip())
            for one in self._around:
                one.begun = True
        self.parts.append(gap + "\n".join(lines))
        self._before = list(self._around)

    def _gap(self) -> str:
        """What stands between the last block and the next one."""
        if not self.parts:
            return ""
        item = next((one for one in self._around if not one.begun), None)
        if item is not None and self._is_tight(item):
            return "\n"
        pairs = zip(self._before, self._around, strict=False)
        shared = "".join(one.rest for one, other in pairs if one is other)
        return f"\n{shared.rstrip()}\n"

    def _is_tight(self, item: _Container) -> bool:
        """Whether `item` follows another one, or begins a list in one, without a blank line."""
        if item.element.tag != "li" or not self._before:
            return False
        owner = item.element.getparent()
        if any(one.element.getparent() is owner for one in self._before):
            return True
        # Only a list from 1 on may follow a paragraph at once (CommonMark 5.2).
        last = self._before[-1]
        return last.element.tag == "li" and last in self._around and item.first in ("- ", "1. ")


def _is_anchor_mark(link: HtmlElement) -> bool:
    """Whether `link` is a heading's link to itself, whose mark is not one of its words."""
    few = sum(1 for _ in itertools.islice(link.iter(), _FEW + 1)) <= _FEW
    return few and _words(link) in _ANCHOR_MARKS


def _number(value: str | None, otherwise: int) -> int:
    digits = (value or "").strip()
    return int(digits) if re.fullmatch(r"[0-9]{1,9}", digits) else otherwise


def _code_span(words: str) -> str:
    if not words:
        return ""
    return f"`` {words} ``" if "`" in words else f"`{words}`"


def _preformatted(element: HtmlElement) -> str:
    parts: list[str] = []
    walk = etree.iterwalk(element, events=_EVENTS)
    for event, one in walk:
        if event != "start":
            parts.append((one.tail if one is not element else None) or "")
        elif one.tag in _UNSEEN:
            walk.skip_subtree()
        else:
            parts.append("\n" if one.tag == "br" else one.text or "")
    return "".join(parts).replace("\r\n", "\n").strip("\n")


def _fenced(code: str) -> str:
    if not code.strip():
        return ""
    longest = max((len(run) for run in re.findall("`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    lines = "\n".join(line.rstrip() for line in code.split("\n"))
    return f"{fence}\n{lines}\n{fence}"


def _rows(table: HtmlElement) -> list[list[str]]:
    """The cells of a table that holds values; nothing for one that lays out a page.

    Values stand in rows and columns, at least two of each, and hold no blocks of their own:
    mails are laid out with tables whose cells hold paragraphs, headings and further tables.
    """
    if table.get("role") in ("presentation", "none"):
        return []
    blocks = ("table", "ul", "ol", "h1", "h2", "h3", "blockquote", "pre")
    if any(one is not table for one in table.iter(*blocks)):
        return []
    if any(cell.find("p") is not None for cell in table.iter("td") if len(cell) > 1):
        return []
    rows = [list(_cells(row)) for row in table.iter("tr")]
    rows = [row for row in rows if any(row)]
    width = max((len(row) for row in rows), default=0)
    if len(rows) < 2 or not 2 <= width <= _WIDEST:
        return []
    return [row + [""] * (width - len(row)) for row in rows]


def _cells(row: HtmlElement) -> Iterator[str]:
    for cell in row.iterchildren("td", "th"):
        yield _words(cell).replace("|", "\\|")
        yield from [""] * min(_number(cell.get("colspan"), 1) - 1, _WIDEST)


def _table(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"|{' --- |' * len(rows[0])}")
    return "\n".join(re.sub(" {2,}", " ", line) for line in lines)
