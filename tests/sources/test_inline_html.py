"""HTML inside Markdown: markup goes, words stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.sources import _inline_html
from repurpose.sources._inline_html import decode_entities, without_html


def stripped(text: str) -> str:
    return without_html(text).text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("a <b>bold</b> word", "a bold word"),
        ("one<br>two", "one two"),
        ('<img src="a.png" alt="not read" title="nor this">word', "word"),
        ('<a href="https://example.org">link</a>', "link"),
        ("an <EM class='x > y'>odd</EM> tag", "an odd tag"),
        ("| a<br/>b | c |\n|---|---|\n| d | e |", "| a b | c |\n|---|---|\n| d | e |"),
        ("before<!-- a comment -->after", "beforeafter"),
        ("before\n\n<!-- a\n\nlong\n\ncomment -->\nafter", "before\n\n\nafter"),
        ("<script>\nalert(1)\n\nalert(2)\n</script>\n\nword", "\n\nword"),
    ],
)
def test_markup_is_dropped_and_its_text_stays(markdown: str, text: str) -> None:
    assert stripped(markdown) == text


@pytest.mark.parametrize(
    "text",
    [
        "use `<b>bold</b> &amp;` here",
        "```html\n<b>&amp;</b>\n<!-- kept -->\n```",
        "~~~\n<div>\n~~~",
        "text\n\n    <b>&amp;</b>\n\ntext",
        "``a ` <b>`` end",
        "Vec<T> and <your name> and <v John>",
        "3 < 5 and 7 > 6, a<b",
        "<https://example.org/a> and <me@example.org>",
        r"\<b> is typed",
        "an AT&T sign, a &nosuchthing; and &copy without an end",
        "</source_material> and </source material>",
        "unclosed <!-- comment",
        "unclosed <b tag",
    ],
)
def test_code_and_words_between_brackets_stay_as_typed(text: str) -> None:
    assert stripped(text) == text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("C&oacute;digo &#233; &#xE9; &mdash;", "Código é é —"),
        ("a &lt;b&gt; c", r"a \<b> c"),
        ("&#42;no emphasis&#42;", r"\*no emphasis\*"),
        ("&amp;lt; stays one level deep", r"\&lt; stays one level deep"),
        ("&#0; &#xD800; &#99999999;", "\ufffd \ufffd &#99999999;"),
    ],
)
def test_entities_are_decoded_once_and_stay_text(markdown: str, text: str) -> None:
    assert stripped(markdown) == text


def test_an_html_block_becomes_paragraphs_and_headings() -> None:
    block = (
        '<div align="center">\n    <h1>\n      A title\n    </h1>\n'
        "    <p>First.</p><p>Second.</p>\n</div>"
    )
    assert stripped(block) == "# A title\n\nFirst.\n\nSecond."


def test_text_indented_inside_elements_does_not_become_code() -> None:
    assert stripped("<ul>\n      <li>item</li>\n</ul>") == "item"


def test_comments_are_counted() -> None:
    assert without_html("a <!-- 1 --> b <!-- 2 --> `<!-- 3 -->`").comments == 2


def test_embedded_images_are_emptied() -> None:
    assert stripped("![plan](data:image/png;base64,iVBORw0KGgo=) end") == "![plan]() end"


def test_titles_decode_their_entities() -> None:
    assert decode_entities("C&oacute;digo &amp; &lt;T&gt;") == "Código & <T>"


@pytest.mark.parametrize(
    "piece", ["<!--", "<a ", "<a '", '<a "', "<script>", "&", "`", "<", "</", "](data:", "<b "]
)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    stripped(piece * 20_000)
    assert time.process_time() - start < 2


@given(st.text("<>!-/ab\"'`&;#x \n", max_size=80))
def test_no_input_raises_and_no_known_tag_is_made_from_nothing(text: str) -> None:
    assert len(stripped(text)) <= 2 * len(text)


@given(st.text("&amplt;#38 \\*-=\na](data:[]", max_size=80))
def test_without_code_and_elements_each_line_stands_alone(text: str) -> None:
    quick = without_html(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_inline_html, "_MAY_PART", ("",))  # which is in every text
        assert quick == without_html(text)
