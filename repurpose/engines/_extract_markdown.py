"""The prose of a Markdown text as plain text that knows its place in the source.

The block and inline trees are markdown-it-py's (CommonMark, tables and strikethrough added), so
that what is text and what is markup is decided by a parser. Its tokens of running text carry no
positions; they are found again by walking the raw text beside the tokens, whose raw lengths
CommonMark fixes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

from repurpose.engines._extract_parts import (
    Part,
    PartKind,
    Piece,
    joins_without_space,
    part_of,
)

__all__ = ["markdown_parts"]

_DEEPEST = 100
"""Levels of nesting that are still read; the parser's own limit of 20 would lose text."""
_MARKED = re.compile(r"[\\`*_\[<&~\n]")
_FORGED = re.compile(
    r"<\s?/\s?[A-Za-z]|<\s?(?:system|assistant|user|human|instructions?|prompt|source|document"
    r"|context|article|tool|function|start_of|end_of|im_)|<\|",
    re.IGNORECASE,
)
# Parentheses in an address may nest; twice is deeper than any address in use.
_DESTINATION = re.compile(
    r"""
    \(\s*+
    (?: <(?:\\.|[^<>\\\n])*+>
      | (?!<)(?:\\.|[^\s()\\]|\((?:\\.|[^\s()\\]|\((?:\\.|[^\s()\\])*+\))*+\))*+ )
    (?: \s++ (?: "(?:\\.|[^"\\])*+" | '(?:\\.|[^'\\])*+' | \((?:\\.|[^()\\])*+\) ) )?+
    \s*+\)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANKS = re.compile(r"[ \t]*")


def markdown_parts(text: str) -> list[Part]:
    r"""The prose of a Markdown text in order: no code, no table, no image.

    HTML is not interpreted: loaders do that, and what still looks like a tag was written so.

    >>> [(part.kind, part.text) for part in markdown_parts("# A *b*\n\nSee [c](http://d.org).")]
    [('heading', 'A b'), ('paragraph', 'See c.')]
    """
    return list(_Reader(text).parts())


class _Reader:
    """Walks the block tokens of one text."""

    def __init__(self, text: str) -> None:
        # Each replacement keeps the length, so that offsets stay those of the text as given.
        self._text = text.replace("\r\n", " \n").replace("\r", "\n")
        lines = self._text.split("\n")
        self._line_starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self._markdown = MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
        self._markdown.enable(["table", "strikethrough"])
        self._markdown.disable(["inline", "text_join", "html_block", "html_inline"])
        self._env: EnvType = {}
        self._open_lists: list[int] = []
        self._lists = self._quotes = self._tables = self._heading = 0
        self._after_image = False

    def parts(self) -> Iterator[Part]:
        """Every part in order, each with what stands around it taken into account."""
        for token in self._markdown.parse(self._text, self._env):
            if token.type == "inline" and not self._tables:
                part = self._part(token)
                if part is not None:
                    yield part
            else:
                self._note(token)

    def _note(self, token: Token) -> None:
        """Remember what was opened and closed around the text to come."""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._lists += 1
                self._open_lists.append(self._lists)
            case "bullet_list_close" | "ordered_list_close":
                self._open_lists.pop()
            case "blockquote_open" | "blockquote_close":
                self._quotes += token.nesting
            case "table_open" | "table_close":
                self._tables += token.nesting
            case "heading_open":
                self._heading = int(token.tag[1])
            case "heading_close":
                self._heading = 0
            case _:
                pass

    def _kind(self) -> PartKind:
        if self._heading:
            return "heading"
        # A list inside a quotation is still somebody else's words.
        if self._quotes:
            return "quote"
        return "list" if self._open_lists else "paragraph"

    def _part(self, token: Token) -> Part | None:
        """The part of one inline token, or None where it has no text."""
        content = token.content
        if self._heading:
            content = _without_attributes(content)
        walk = _Walk(content)
        if _MARKED.search(content):
            walk.all(self._markdown.inline.parse(content, self._markdown, self._env, []))
        else:
            walk.literal(content)
        beside_image, self._after_image = self._after_image or walk.images, walk.images
        if not walk.letters:
            return None
        self._after_image = False
        place = self._placer(content, (token.map or [0])[0])
        kind = self._kind()
        return part_of(
            kind,
            [Piece(text, place(start), place(end - 1) + 1) for text, start, end in walk.pieces],
            place(0),
            place(len(content) - 1) + 1,
            level=self._heading,
            list_number=self._open_lists[-1] if kind == "list" else 0,
            caption=beside_image and walk.emphasised == walk.letters,
            forged=walk.forged,
        )

    def _placer(self, content: str, first_line: int) -> _Placer:
        """From an offset in `content` to the offset in the whole text."""
        begins: list[int] = []
        shifts: list[int] = []
        at = 0
        for number, line in enumerate(content.split("\n"), start=first_line):
            begin, end = self._line_starts[number], self._line_starts[number + 1] - 1
            bare = line.lstrip()
            # Containers put marks before a line's content, never behind it; a heading may
            # have closing marks behind it.
            found = self._text.rfind(bare, begin, end) if bare else end
            first = (found if found >= 0 else begin) - (len(line) - len(bare))
            begins.append(at)
            shifts.append(first - at)
            at += len(line) + 1
        return _Placer(begins, shifts)


class _Placer:
    """Maps offsets of a content whose lines stand in different columns of the text."""

    def __init__(self, begins: list[int], shifts: list[int]) -> None:
        self._begins = begins
        self._shifts = shifts

    def __call__(self, at: int) -> int:
        return at + self._shifts[bisect_right(self._begins, at) - 1]


class _Walk:
    """Plain text of one inline run, piece by piece, found again in its raw content."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._at = 0
        self.pieces: list[Piece] = []
        self.images = False
        self.forged = False
        self.letters = 0
        """How many characters are no white space."""
        self.emphasised = 0
        """How many of these stand inside emphasis."""
        self._depth = 0
        self._links: list[str] = []

    def all(self, tokens: Sequence[Token]) -> None:
        """Read every token; whatever it is, the place in the raw content moves on."""
        for token, following in pairwise([*tokens, Token("end", "", 0)]):
            match token.type:
                case "text":
                    self.literal(token.content)
                case "text_special":
                    self._add(token.content, self._at, self._at + len(token.markup))
                case "code_inline":
                    self._code(token)
                case "softbreak" | "hardbreak":
                    self._line_break(following)
                case "link_open":
                    self._links.append(token.markup)
                    self._at += 1
                case "link_close":
                    self._link_end()
                case "image":
                    self.images = True
                    self._at += len(token.content) + 2
                    self._destination()
                case _:
                    self._at += len(token.markup)
                    self._depth += token.nesting

    def literal(self, text: str) -> None:
        """Text that stands in the content as it is."""
        found = self._content.find(text, self._at)
        if found >= 0:
            self._add(text, found, found + len(text))
        else:
            # An address in angle brackets was decoded; only where it ends is known.
            end = self._content.find(">", self._at)
            self._add(text, self._at, end if end > self._at else self._at + 1)
        self.forged = self.forged or ("<" in text and _FORGED.search(text) is not None)

    def _add(self, text: str, start: int, end: int) -> None:
        self._at = end
        if not text:
            return
        self.pieces.append(Piece(text, start, end))
        letters = len(text) - text.count(" ")
        self.letters += letters
        if self._depth > 0:
            self.emphasised += letters

    def _code(self, token: Token) -> None:
        opening = self._at + len(token.markup)
        closing = re.compile(rf"(?<!`){token.markup}(?!`)").search(self._content, opening)
        end = closing.start() if closing else len(self._content)
        inside = self._content[opening:end].replace("\n", " ")
        at = opening + max(inside.find(token.content), 0)
        # A piece must not span lines, since lines may stand in different columns.
        for line in self._content[at : at + len(token.content)].split("\n"):
            self._add(line, at, at + len(line))
            at += len(line)
            if at < opening + len(token.content) and self._content[at : at + 1] == "\n":
                self._add(" ", at, at + 1)
                at += 1
        self._at = end + len(token.markup)

    def _line_break(self, following: Token) -> None:
        newline = self._content.find("\n", self._at)
        before = self.pieces[-1].text[-1] if self.pieces else " "
        after = following.content[:1] if following.type == "text" else ""
        if not (after and joins_without_space(before, after)):
            self._add(" ", newline, newline + 1)
        rest = _BLANKS.match(self._content, newline + 1)
        self._at = rest.end() if rest else newline + 1

    def _link_end(self) -> None:
        if self._links.pop() == "autolink":
            self._at = self._content.find(">", self._at) + 1
            return
        self._destination()

    def _destination(self) -> None:
        """Move behind `](address "title")`, `][label]` or a bare `]`."""
        self._at += 1
        opener = self._content[self._at : self._at + 1]
        if opener == "[":
            self._at = self._content.find("]", self._at) + 1
        elif opener == "(" and (found := _DESTINATION.match(self._content, self._at)):
            self._at = found.end()


def _without_attributes(heading: str) -> str:
    """A heading without the `{#id .class}` that some processors read at its end."""
    bare = heading.rstrip()
    at = bare.rfind("{")
    if bare.endswith("}") and bare[at + 1 : at + 2] in ("#", ".", ":") and "}" not in bare[at:-1]:
        return bare[:at].rstrip() or heading
    return heading
