"""The Markdown document of a run."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from repurpose.exports.base import after_parts
from repurpose.exports.markdown import markdown_export

WHOLE = """\
# How bees tell the way

Source: bees.md · extracted, no model · run run1 · 2026-05-02T08:00:00.000Z

## Summary

Bees dance. They tell the way.

## FAQ

### Why do bees dance?

To tell the way.
And how far it is.

### Is 1 < 2 </script>?

Yes.

## Social posts

### LinkedIn (24 of 3000)

Bees dance.

#bees #dance

### X (269 of 280, shortened, 1 hashtag dropped)

Bees dance a lot.

### Instagram

> **Failed:** Social posts (instagram) storage error: the disk is full

## Newsletter

**Subject:** Dancing bees

**Preheader:** How they tell the way

First paragraph.

Second paragraph.

**Call to action:** Read the article.
"""


def headings(document: str) -> list[tuple[str, str]]:
    """The headings that a Markdown reader sees, with their level."""
    tokens = MarkdownIt("commonmark").parse(document)
    return [
        (token.tag, following.content)
        for token, following in pairwise(tokens)
        if token.type == "heading_open"
    ]


def test_a_whole_run_is_one_document_in_the_order_that_was_asked_for(samples):
    assert markdown_export(samples.run, samples.source, samples.rows) == WHOLE


def test_the_order_in_which_formats_ended_does_not_show(samples):
    other = sorted(samples.rows, key=lambda row: row.format)
    assert markdown_export(samples.run, samples.source, other) == WHOLE


def test_a_failed_format_stands_in_its_place_with_the_reason(samples):
    rows = [samples.failed("faq", "FAQ", "FAQ generation error: the model refused")]
    document = markdown_export(samples.run, samples.source, rows)
    assert "## FAQ\n\n> **Failed:** FAQ generation error: the model refused\n" in document


def test_a_format_that_never_ran_is_named(samples):
    rows = [samples.row("summary", "Summary", "Bees dance.")]
    document = markdown_export(samples.run, samples.source, rows)
    assert document.endswith("\n\n> **Not made:** faq, social, newsletter\n")


def test_a_source_without_a_title_is_called_by_its_origin(samples):
    untitled = replace(samples.source, title=None)
    assert markdown_export(samples.run, untitled, []).startswith("# bees.md\n")


def test_the_canonical_address_is_named_where_there_is_one(samples):
    published = replace(samples.source, url="https://example.org/bees")
    document = markdown_export(samples.run, published, [])
    assert "Source: https://example.org/bees · run run1" in document


def test_a_platform_of_somebodys_own_is_called_by_its_name(samples):
    rows = [samples.row("social", "Social posts", "Hello.", variant="intranet")]
    assert "### intranet\n" in markdown_export(samples.run, samples.source, rows)


def test_content_of_another_shape_falls_back_to_the_text(samples):
    rows = [
        samples.row("faq", "FAQ", "Q: Why?\nA: Because.", content={"pairs": "none"}),
        samples.row("newsletter", "Newsletter", "Subject: Hi", content={"subject": 1}),
    ]
    document = markdown_export(samples.run, samples.source, rows)
    assert "Q: Why?\nA: Because." in document
    assert "Subject: Hi" in document


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("# Heading", "\\# Heading"),
        ("  ###### Six", "  \\###### Six"),
        ("#bees #dance", "#bees #dance"),
        ("Price\n===", "Price\n\\==="),
        ("Price\n---", "Price\n\\---"),
        ("Price\n-", "Price\n\\-"),
        ("```\ncode", "\\```\ncode"),
        ("~~~", "\\~~~"),
        ("<!-- hidden", "\\<!-- hidden"),
        ("> # quoted", "> \\# quoted"),
        ("1. # listed", "1. \\# listed"),
        ("- one\n- two\n  * three", "- one\n- two\n  * three"),
        ("**bold** and *more* <b>", "**bold** and *more* <b>"),
        ("a # b ## c", "a # b ## c"),
        ("3 < 4", "3 < 4"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
    ],
)
def test_only_what_would_change_the_structure_is_marked(samples, text, written):
    document = markdown_export(
        samples.run, samples.source, [samples.row("summary", "Summary", text)]
    )
    assert f"## Summary\n\n{written}\n\n> **Not made" in document


@pytest.mark.parametrize(
    ("question", "heading"),
    [("Why\nnow?", "Why now?"), ("What is C #", "What is C \\#"), ("Why C#?", "Why C#?")],
)
def test_a_question_is_one_whole_heading(samples, question, heading):
    content = {"pairs": [{"question": question, "answer": "Because."}]}
    rows = [samples.row("faq", "FAQ", "", content=content)]
    document = markdown_export(samples.run, samples.source, rows)
    assert f"\n### {heading}\n" in document


marks = ["#", "##", "=", "-", "---", "```", "~~~", ">", "1.", "+", "*", "|", "`", "\\", "#a"]
openings = ["<!--", "<div>", "</", "<?", "<pre>", "<![CDATA[", "[a]: <b", "&#35;"]
spaces = [" ", "\t", "    ", "\n", "\n\n", "\r"]
hostile = st.lists(st.sampled_from([*marks, *openings, *spaces, "word"]), max_size=14).map("".join)


@settings(max_examples=150, deadline=None)
@given(text=hostile)
def test_no_text_adds_a_heading_or_swallows_one(samples, text):
    rows = [
        samples.row("summary", "Summary", text),
        samples.row("newsletter", "Newsletter", "Subject: Hi", content={}),
    ]
    document = markdown_export(samples.run, samples.source, rows)
    assert headings(document) == [
        ("h1", "How bees tell the way"),
        ("h2", "Summary"),
        ("h2", "Newsletter"),
    ]


def test_what_stands_below_a_formats_parts_is_shown_too(samples):
    content = {"pairs": [{"question": "Why?", "answer": "So."}]}
    text = "Q: Why?\nA: So.\n\n# No advice."
    rows = [samples.row("faq", "FAQ", text, content=content)]
    document = markdown_export(samples.run, samples.source, rows)
    assert "So.\n\n\\# No advice.\n" in document


def test_nothing_stands_below_where_a_text_is_not_its_contents_parts():
    content = {"pairs": [{"question": "Why?", "answer": "So."}]}
    assert after_parts("Q: Why?\nA: So.", content) == ""
    assert after_parts("Something else", content) == ""
    assert after_parts("Why? So.\n\nNo advice. So.", content) == "No advice. So."
