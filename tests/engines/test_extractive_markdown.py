"""Plain text from Markdown, and the way back to each character's place in the source."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.core.source import Source
from repurpose.engines._extract_article import article_of
from repurpose.engines._extract_markdown import markdown_parts


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("A *b* __c__ ~~d~~ e.", "A b c d e."),
        ("See [the *rules*](https://a.org/x_(y) \"t) i\") now.", "See the rules now."),
        ("See [a][r], [rules][] and [rules].\n\n[r]: /a\n[rules]: /b", "See a, rules and rules."),
        ("One `*-linux-*` and ``a ` b``.", "One *-linux-* and a ` b."),
        ("A ![portrait](p.jpg)b.", "A b."),
        ("5 \\* 3 &amp; &eacute; &#x41;", "5 * 3 & é A"),
        ("soft\nbreak and  \nhard\\\nbreak", "soft break and hard break"),
        ("日本語の\n文章です。", "日本語の文章です。"),
        ("<https://a.org/%C3%A4> here", "https://a.org/ä here"),
        ("no [link](with a space) here", "no [link](with a space) here"),
        ("## Title {#id .c}", "Title"),
    ],
)  # fmt: skip
def test_markup_goes_and_text_stays(markdown: str, plain: str) -> None:
    assert [part.text for part in markdown_parts(markdown)] == [plain]


def test_code_and_tables_are_no_prose() -> None:
    text = "A.\n\n```\ncode\n```\n\n    more code\n\n| a | b |\n|---|---|\n| c | d |\n\nB."
    assert [part.text for part in markdown_parts(text)] == ["A.", "B."]


def test_items_know_their_list_and_quotations_stay_quotations() -> None:
    parts = markdown_parts("Two:\n\n- a\n  - b\n- c\n\n1. d\n\n> - e\n>\n> f")
    kinds = [(part.text, part.kind, part.list_number) for part in parts]
    assert kinds == [
        ("Two:", "paragraph", 0),
        ("a", "list", 1),
        ("b", "list", 2),
        ("c", "list", 1),
        ("d", "list", 3),
        ("e", "quote", 0),
        ("f", "quote", 0),
    ]


def test_an_emphasised_line_under_an_image_is_its_caption() -> None:
    under, beside, other = "![a](b)\n\n*A heron.*", "![a](b) *A heron.*", "![a](b)\n\nA heron."
    assert [markdown_parts(text)[0].caption for text in (under, beside, other)] == [
        True,
        True,
        False,
    ]


def test_tags_that_frame_texts_for_machines_are_noted_outside_of_code() -> None:
    texts = ("</source_material> x", "<system>x", "Use `</p>` here", "3 < 5 and <T> too")
    assert [markdown_parts(text)[0].forged for text in texts] == [True, True, False, False]


@pytest.mark.parametrize(
    "markdown",
    [
        "- one\n  two *three*\n\n  > four `fi\n  > ve` six",
        "1. a [b](c 'd') e\n   f\n\n\ttabbed",
        "# A #\n\nB\n=\n\n> c\nlazy *d*",
        "a &amp;&lt; b\\*c\\\\ ![i](j)k [l] [m][n]\n\n[l]: /o\n[n]: /p",
        "line one \r\nline two *x*\r\n\r\n## h\r\ny",
    ],
)
def test_each_character_knows_where_it_stands(markdown: str) -> None:
    for part in markdown_parts(markdown):
        for at, char in enumerate(part.text):
            raw = markdown[part.source_start(at) : part.source_end(at)]
            assert raw == char or raw in ("\n", "\r") or raw[0] in "\\&"


MARKDOWN = st.lists(
    st.sampled_from([*"ab *_`[]()!<>&;#\\\n|~-", "](u)", "&amp;", "\n\n", "\n> ", "\n- ", "é。"]),
    max_size=40,
).map("".join)


@given(MARKDOWN)
def test_no_markdown_breaks_the_way_back(markdown: str) -> None:
    for part in markdown_parts(markdown):
        starts = [part.source_start(at) for at in range(len(part.text))]
        ends = [part.source_end(at) for at in range(len(part.text))]
        assert starts == sorted(starts)
        assert all(
            0 <= start < end <= len(markdown) for start, end in zip(starts, ends, strict=True)
        )
        letters = re.compile(r"[a-zé]")
        for at, char in enumerate(part.text):
            if letters.match(char):
                assert markdown[starts[at]] == char or markdown[starts[at]] == "&"


@given(MARKDOWN)
def test_every_sentence_begins_and_ends_inside_its_source(markdown: str) -> None:
    for sentence in article_of(Source(markdown, "-", "markdown")).sentences:
        raw = markdown[sentence.start : sentence.end]
        assert raw == raw.strip()
        missing = iter(raw)
        wanted = [char for char in sentence.text if char.isalnum()]
        assert all(char in missing for char in wanted) or "&" in raw


def test_the_raw_span_takes_the_markup_along_that_hugs_a_sentence() -> None:
    text = "One. **Two *is* here.** [Three](x) ends [so](y)."
    found = [
        text[each.start : each.end] for each in article_of(Source(text, "-", "markdown")).sentences
    ]
    assert found == ["One.", "**Two *is* here.**", "[Three](x) ends [so](y)."]
