"""Fragments of HTML as Markdown: every word a reader sees, and none that is not text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.sources._blocks import outline
from repurpose.sources._markup import markdown_of, parsed


def markdown(markup: str) -> str:
    tree = parsed(markup)
    return "" if tree is None else markdown_of(tree)


def test_headings_and_paragraphs_become_markdown() -> None:
    assert markdown("<h1>Late\n opening</h1><p>It was\n<b>ten</b>.</p>And <i>loud</i>.") == (
        "# Late opening\n\nIt was ten.\n\nAnd loud."
    )


def test_lists_keep_their_numbers_and_nesting() -> None:
    markup = "<ol start=3><li>Three<ul><li>a</li><li><p>b</p><p>c</p></li></ul></li><li>Four</ol>"
    assert markdown(markup) == "3. Three\n   - a\n   - b\n\n     c\n4. Four"


def test_a_list_that_follows_a_paragraph_stands_apart() -> None:
    assert markdown("<p>Two:</p><ul><li>a<li>b</ul><p>End</p>") == "Two:\n\n- a\n- b\n\nEnd"


def test_quotations_hold_paragraphs_and_lists() -> None:
    markup = "<blockquote><p>One</p><p>Two</p><ul><li>x</ul></blockquote>After"
    assert markdown(markup) == "> One\n>\n> Two\n>\n> - x\n\nAfter"


def test_code_keeps_its_lines_and_is_fenced_longer_than_what_it_holds() -> None:
    assert markdown("<pre><code>if a:\n    b()<br>```\n</code></pre>") == (
        "````\nif a:\n    b()\n```\n````"
    )
    assert markdown("<p>Call <code>a  *b*</code> twice") == "Call `a *b*` twice"


def test_reading_a_tree_leaves_it_as_it_is() -> None:
    tree = parsed("<pre>a<br>b</pre><p>c<img>d")
    assert tree is not None
    assert markdown_of(tree) == markdown_of(tree) == "```\na\nb\n```\n\ncd"


def test_a_table_of_values_becomes_a_table() -> None:
    markup = (
        "<table><caption>Visits</caption><tr><th>Day<th>How many<tr><td>Mon<td>4 | 5"
        "<tr><td colspan=2>none</table>"
    )
    assert markdown(markup) == (
        "Visits\n\n| Day | How many |\n| --- | --- |\n| Mon | 4 \\| 5 |\n| none | |"
    )
    assert outline(markdown(markup)).blocks[1].kind == "table"


@pytest.mark.parametrize(
    "markup",
    [
        "<table><tr><td><table><tr><td>One</table><tr><td>Two</table>",
        "<table role=presentation><tr><td>One<td><tr><td>Two<td></table>",
        "<table><tr><td>One<tr><td>Two</table>",
        "<table><tr><td><p>One</p><p>Two</p><td><tr><td><td></table>",
    ],
)
def test_a_table_that_lays_out_a_page_is_read_cell_by_cell(markup: str) -> None:
    assert markdown(markup) == "One\n\nTwo"


def test_line_breaks_stay_and_two_of_them_divide_paragraphs() -> None:
    assert markdown("<p>Roses<br>are red<br> <br>Violets") == "Roses\nare red\n\nViolets"


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<img alt=SECRET src='https://example.org/SECRET.gif'>",
        "<!-- SECRET -->",
        "<svg><title>SECRET</title></svg>",
        "<a href='https://example.org/SECRET' title=SECRET></a>",
        "<iframe src=SECRET>SECRET</iframe>",
    ],
)
def test_what_is_no_text_does_not_get_in(unseen: str) -> None:
    assert markdown(f"<html><head><title>SECRET</title></head><p>Before{unseen}, after.") == (
        "Before, after."
    )


def test_the_mark_of_a_heading_link_is_no_word() -> None:
    assert markdown("<h2>Why? <a href=#why>¶</a></h2><p>See <a href=/x>¶</a>") == (
        "## Why?\n\nSee ¶"
    )


def test_text_that_looks_like_structure_stays_text() -> None:
    assert markdown("<p># 1 of 3<p>- 4 degrees<p>2. Bundesliga") == (
        "\\# 1 of 3\n\n\\- 4 degrees\n\n2\\. Bundesliga"
    )


def test_words_of_neighbouring_cells_and_lines_do_not_grow_together() -> None:
    assert markdown("<table><tr><td>a<br>b<td>c<tr><td><div>d</div>e<td>f</table>") == (
        "| a b | c |\n| --- | --- |\n| d e | f |"
    )


@pytest.mark.parametrize("markup", ["", " \n", "\x00", "<!-- only -->", "<?xml version='1.0'?>"])
def test_nothing_gives_nothing(markup: str) -> None:
    assert markdown(markup) == ""


def test_a_declared_character_set_does_not_count_for_decoded_text() -> None:
    assert markdown("<?xml version='1.0' encoding='latin-1'?><meta charset=utf-16><p>Grüße") == (
        "Grüße"
    )


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "table><tr><td", "ul><li", "h1><a"])
def test_deep_nesting_keeps_its_words_and_takes_no_time(tag: str) -> None:
    start = time.perf_counter()
    text = markdown(f"<{tag}>word " * 600 + "<p>the end" + "x " * 100_000)
    assert text.count("word") == 600
    assert "the end" in text
    assert time.perf_counter() - start < 2


def test_what_follows_the_300th_level_is_read() -> None:
    assert markdown("<div>" * 300 + "deep" + "</div>" * 300 + "after") == "deep\n\nafter"


def test_a_text_of_more_than_ten_megabytes_is_read() -> None:
    tree = parsed(f"<p>{'word ' * 2_100_000}<p>end")
    assert tree is not None
    assert str(tree.text_content()).endswith("end")


@given(st.text(alphabet="<>/ \n&;!-=\"'abltrduhpe123#|`*", max_size=300))
def test_no_markup_is_too_broken(markup: str) -> None:
    outline(markdown(markup))
