"""Blocks of a Markdown text: kinds, places and the headings above them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.sources import _blocks
from repurpose.sources._blocks import Outline, outline

TEXT = """\
# Title

Lead paragraph
on two lines.

## Part `one` {#one}

- first
- second
  - nested

  more of second

> quoted
>
> - quoted item

| a | b |
|---|---|
| 1 | 2 |

### Detail

```
# no heading
```

Part two
--------

    indented code

1. > a quotation in a list

***

[link]: https://example.org "definition"
[^1]: A footnote.
"""


def parts(text: str) -> list[tuple[str, str]]:
    return [(one.kind, text[one.start : one.end]) for one in outline(text).blocks]


def test_each_kind_is_told_apart_with_its_markup() -> None:
    assert parts(TEXT) == [
        ("heading", "# Title"),
        ("paragraph", "Lead paragraph\non two lines."),
        ("heading", "## Part `one` {#one}"),
        ("list", "- first"),
        ("list", "- second"),
        ("list", "- nested"),
        ("list", "more of second"),
        ("quote", "> quoted"),
        ("quote", "> - quoted item"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("heading", "### Detail"),
        ("code", "```\n# no heading\n```"),
        ("heading", "Part two\n--------"),
        ("code", "    indented code"),
        ("quote", "1. > a quotation in a list"),
        ("paragraph", "[^1]: A footnote."),
    ]


def test_each_block_knows_the_headings_above_it() -> None:
    above = {TEXT[one.start : one.end]: one.headings for one in outline(TEXT).blocks}
    assert above["# Title"] == ()
    assert above["Lead paragraph\non two lines."] == ("Title",)
    assert above["## Part `one` {#one}"] == ("Title",)
    assert above["- first"] == ("Title", "Part one")
    assert above["```\n# no heading\n```"] == ("Title", "Part one", "Detail")
    assert above["    indented code"] == ("Title", "Part two")


def test_headings_have_levels_and_other_blocks_have_none() -> None:
    levels = [one.level for one in outline(TEXT).blocks if one.kind == "heading"]
    assert levels == [1, 2, 3, 2]
    assert {one.level for one in outline(TEXT).blocks if one.kind != "heading"} == {0}


def test_the_title_is_the_first_heading_of_the_first_level() -> None:
    assert outline("## Early\n\n# The *real* `title`\n\n# Second").title == "The real title"


def test_without_a_first_level_the_first_heading_is_the_title() -> None:
    assert outline("Text.\n\n### Only\n\n## Later").title == "Only"


def test_a_text_without_headings_has_no_title() -> None:
    assert outline("Just words.\n\n> # quoted heading").title is None


def test_images_are_no_words_of_a_heading() -> None:
    assert outline("# ![logo](a.png) Words").title == "Words"


def test_what_stands_too_deep_for_the_parser_is_not_lost() -> None:
    text = "> " * 300 + "deep words"
    assert parts(text) == [("paragraph", text)]


@given(st.text("#>-*`|1. \t\nab~=[]:<&", max_size=120))
def test_every_word_stands_in_exactly_one_block(text: str) -> None:
    place = 0
    between = []
    for block in outline(text).blocks:
        assert place <= block.start <= block.end <= len(text)
        between.append(text[place : block.start])
        place = block.end
    between.append(text[place:])
    left = [line for line in "".join(between).split("\n") if "]:" not in line]
    assert not any(char.isalnum() for line in left for char in line)


# --- what is told at a glance is what the parser says ---------------------------------------------

LINES = st.sampled_from(
    """
Words on a line. | words | words | 1986 was a year. | 2. two | 3) three | 7.5 percent | "Quoted."
| **Bold** words | *** | _emphasis_ | - item | * item | + item | - item | -item | - - nested
| - # heading | 1. item | 12. item | # Title | ## Part #1 | ## Part ## | #No | ####### Seven | #
| ### [A](b) `c` | > quote | > - item | > | --- | === | - | * | + | | | a | a | b | --- | --- | :-:
| |---|---| | [a]: /url | [a]: | 'title' | [^1]: note | <div> | </div> | <!-- | ![x](y) | & | é
""".replace("\n", " ").split(" | ")
)
INDENTS = st.sampled_from(["", "", "", "", " ", "  ", "   ", "    ", "\t", "      "])
GAPS = st.sampled_from(["\n", "\n", "\n\n", "\n\n", "\n \n", "\n\n\n", "\n\t\n"])
MARKDOWN = st.lists(st.tuples(INDENTS, LINES, GAPS), max_size=14)


def parsed(text: str) -> Outline:
    """The outline by the parser alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "_plain_leaves", lambda *_: ())
        return outline(text)


@settings(max_examples=300)
@given(MARKDOWN)
def test_a_text_in_parts_has_the_blocks_of_the_whole(lines: list[tuple[str, str, str]]) -> None:
    text = "".join(indent + line + gap for indent, line, gap in lines)
    assert outline(text) == parsed(text)


@given(st.text("a #*_`[]()!<&{}.\\\n", max_size=30))
def test_the_words_of_a_heading_are_what_the_parser_leaves(heading: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        words = _blocks._words(heading)
        patch.setattr(_blocks, "_PLAIN_WORDS", re.compile("$^"))
        assert words == _blocks._words(heading)


def test_most_parts_of_an_article_need_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_blocks, "_parser", None)
    text = "# A title\n\nSome words.\nMore words.\n\n- one\n- two\n\n1986 was dry.\n\n“Yes.”"
    kinds = [block.kind for block in outline(text).blocks]
    assert kinds == ["heading", "paragraph", "list", "list", "paragraph", "paragraph"]
