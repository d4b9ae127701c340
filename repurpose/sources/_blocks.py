"""From Markdown text to blocks: what a reader sees as one part, with its place in the text.

Every word of the text belongs to exactly one block; only link definitions, rules and blank
lines stand between them. HTML inside the text is not interpreted here.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from repurpose.core.source import Block, BlockKind

__all__ = ["Outline", "block_parser", "outline"]

_DEEPEST = 100  # levels; the preset's 20 would drop what stands deeper
_PLAIN_LINE = re.compile(r"[^\W\d_]|[\"'(“„«‘’¿¡…–—$€£@%]|[0-9]+(?![0-9.)])|\*\*[^\W_]")
_PLAIN_ITEM = re.compile(r"[-*+] [^\W\d_]")
_PLAIN_HEADING = re.compile(r"(#{1,6}) ([^#\s][^#]*+)")
_PLAIN_WORDS = re.compile(r"[^\\`*_\[\]!<&{]*+")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]{0,200}\}\s*$")
_LEAVES: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
}


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks of a text and what its headings say."""

    blocks: tuple[Block, ...]
    titles: tuple[tuple[int, str], ...]
    """Level and plain words of each heading, in text order."""

    @property
    def title(self) -> str | None:
        """The first heading of the first level, else the first heading, else None."""
        first = sorted(self.titles, key=lambda one: one[0] != 1)[:1]
        return first[0][1] if first else None


@dataclass(frozen=True, slots=True)
class _Leaf:
    first: int
    last: int
    kind: BlockKind
    level: int = 0
    words: str = ""


def block_parser(*, html: bool) -> MarkdownIt:
    """A CommonMark parser with tables that finds blocks only; `html` tells HTML blocks apart."""
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser if html else parser.disable("html_block")


@functools.cache
def _parser() -> MarkdownIt:
    return block_parser(html=False)


@functools.cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").disable(["html_inline"])


def outline(text: str) -> Outline:
    """The blocks of Markdown `text` with their headings, and the headings' words."""
    lines = text.split("\n")
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    leaves: list[_Leaf] = []
    defined: set[int] = set()
    for first, last, plain in _parts(lines, fences="```" in text or "~~~" in text):
        if plain:
            leaves.extend(plain)
            continue
        environment: dict[str, object] = {}
        tokens = _parser().parse("\n".join(lines[first:last]), environment)
        leaves.extend(_leaves(tokens, first))
        defined.update(first + line for line in _definition_lines(environment))
    leaves.extend(_uncovered(text, starts, leaves, defined))
    leaves.sort(key=lambda one: one.first)
    blocks: list[Block] = []
    titles: list[tuple[int, str]] = []
    above: list[tuple[int, str]] = []
    for leaf in leaves:
        if leaf.kind == "heading":
            above = [one for one in above if one[0] < leaf.level]
        start, end = _span(text, starts, leaf)
        path = tuple(words for _, words in above if words)
        blocks.append(Block(leaf.kind, start, end, path, leaf.level))
        if leaf.kind == "heading":
            above.append((leaf.level, leaf.words))
            if leaf.words:
                titles.append((leaf.level, leaf.words))
    return Outline(tuple(blocks), tuple(titles))


def _parts(lines: Sequence[str], *, fences: bool) -> Iterator[tuple[int, int, Sequence[_Leaf]]]:
    """Parts of a text as first line, line after the last, and blocks where no parser is needed.

    A run of lines that starts at the margin with a word depends on nothing before it, unless a
    fence is open. Most of most texts is such runs, and the parser takes ten times as long.
    """
    hard: int | None = None
    end = (len(lines), len(lines))
    for (first, last), (following, _) in itertools.pairwise([*_runs(lines), end]):
        plain = () if fences else _plain_leaves(lines, first, last)
        if plain and plain[0].kind == "list" and _is_indented(lines, following):
            plain = ()  # it may belong to the last item
        if not plain:
            hard = first if hard is None else hard
            continue
        if hard is not None:
            yield hard, first, ()
            hard = None
        yield first, last, plain
    if hard is not None:
        yield hard, len(lines), ()


def _runs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Runs of lines without a blank one, as first line and line after the last."""
    first: int | None = None
    for at, line in enumerate((*lines, "")):
        if line.strip(" \t"):
            first = at if first is None else first
        elif first is not None:
            yield first, at
            first = None


def _is_indented(lines: Sequence[str], at: int) -> bool:
    return at < len(lines) and lines[at][0] in " \t"


def _plain_leaves(lines: Sequence[str], first: int, last: int) -> Sequence[_Leaf]:
    """The blocks of a run of lines, or none where it takes a parser to tell."""
    run = lines[first:last]
    if all(map(_PLAIN_LINE.match, run)):
        return (_Leaf(first, last, "paragraph"),)
    if all(map(_PLAIN_ITEM.match, run)):
        return [_Leaf(line, line + 1, "list") for line in range(first, last)]
    heading = _PLAIN_HEADING.fullmatch(run[0]) if len(run) == 1 else None
    if heading is None:
        return ()
    return (_Leaf(first, last, "heading", len(heading[1]), _words(heading[2].strip())),)


def _leaves(tokens: Sequence[Token], offset: int) -> Iterator[_Leaf]:
    containers: list[str] = []
    in_table = False
    for at, token in enumerate(tokens):
        if token.type in ("list_item_open", "blockquote_open"):
            containers.append(token.type)
        elif token.type in ("list_item_close", "blockquote_close"):
            containers.pop()
        elif token.type in ("table_open", "table_close"):
            in_table = token.type == "table_open"
        kind = _LEAVES.get(token.type)
        if kind is None or token.map is None or (in_table and kind != "table"):
            continue
        first, last = (offset + line for line in token.map)
        if kind in ("heading", "paragraph"):
            kind = _kind_within(containers, kind)
        if kind == "heading":
            words = _words(tokens[at + 1].content)
            yield _Leaf(first, last, kind, int(token.tag[1]), words)
        else:
            yield _Leaf(first, last, kind)


def _kind_within(containers: Sequence[str], kind: BlockKind) -> BlockKind:
    # A list inside a quotation is still somebody else's words.
    if "blockquote_open" in containers:
        return "quote"
    return "list" if containers else kind


def _words(markdown: str) -> str:
    """What a reader sees of a heading: no markup, no image text, no attributes."""
    if _PLAIN_WORDS.fullmatch(markdown):
        return " ".join(markdown.split())
    inline = _inline_parser().parseInline(_ATTRIBUTES.sub("", markdown))
    parts = (child for token in inline for child in token.children or ())
    return " ".join("".join(_visible(part) for part in parts).split())


def _visible(part: Token) -> str:
    if part.type in ("softbreak", "hardbreak"):
        return " "
    return part.content if part.type in ("text", "code_inline") else ""


def _uncovered(
    text: str, starts: Sequence[int], leaves: Sequence[_Leaf], defined: AbstractSet[int]
) -> Iterator[_Leaf]:
    """Lines with words that the parser gave to no block: footnotes, and what is nested deeper."""
    covered = {line for one in leaves for line in range(one.first, one.last)} | defined
    run: list[int] = []
    for line in range(len(starts) - 1):
        words = line not in covered and _has_words(text[starts[line] : starts[line + 1]])
        if words:
            run.append(line)
        elif run:
            yield _Leaf(run[0], run[-1] + 1, "paragraph")
            run = []
    if run:
        yield _Leaf(run[0], run[-1] + 1, "paragraph")


def _has_words(line: str) -> bool:
    return any(char.isalnum() for char in line)


def _definition_lines(environment: dict[str, object]) -> Iterator[int]:
    """The lines of link definitions; those of footnotes (`[^1]: ...`) hold text."""
    named = environment.get("references")
    again = environment.get("duplicate_refs")
    found: list[tuple[str, object]] = []
    if isinstance(named, dict):
        found.extend((str(label), one) for label, one in named.items())
    if isinstance(again, list):
        found.extend((str(one.get("label", "")), one) for one in again if isinstance(one, dict))
    for label, one in found:
        place = one.get("map") if isinstance(one, dict) else None
        if place and not label.startswith("^"):
            yield from range(*place)


def _span(text: str, starts: Sequence[int], leaf: _Leaf) -> tuple[int, int]:
    start, end = starts[leaf.first], min(starts[leaf.last], len(text))
    part = text[start:end]
    lead = 0 if leaf.kind == "code" else len(part) - len(part.lstrip())
    return start + lead, start + len(part.rstrip())
