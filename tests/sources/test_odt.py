"""OpenDocument texts: what a reader sees, in the order of the page."""

from __future__ import annotations

import io
import zipfile

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import _document
from repurpose.sources._raw import Raw
from repurpose.sources.odt import load

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{place}:1.0"'
    for name, place in [
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("style", "style"),
        ("draw", "drawing"),
        ("meta", "meta"),
        ("manifest", "manifest"),
    ]
)
DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
TITLE = '<style:style style:family="paragraph" style:name="P1" style:parent-style-name="Title"/>'


def odt(body: str, *, styles: str = "", meta: str = "", **more: str | bytes) -> bytes:
    parts: dict[str, str | bytes] = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": (
            f"<office:document-content {NAMES}><office:automatic-styles>{styles}"
            "</office:automatic-styles><office:body><office:text>"
            f"{body}</office:text></office:body></office:document-content>"
        ),
        "meta.xml": (
            f"<office:document-meta {NAMES} {DC}><office:meta>{meta}</office:meta>"
            "</office:document-meta>"
        ),
    }
    parts |= more
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def loaded(body: str, **more: str) -> Source:
    return load(Raw("a.odt", odt(body, **more)))


def p(words: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{words}</text:p>'


def test_headings_and_paragraphs_become_markdown_with_blocks() -> None:
    source = loaded('<text:h text:outline-level="2">The pier</text:h>' + p("It opens."))
    assert source.text == "## The pier\n\nIt opens."
    assert [(one.kind, one.headings) for one in source.blocks] == [
        ("heading", ()),
        ("paragraph", ("The pier",)),
    ]
    assert (source.kind, source.hidden, source.warnings) == ("odt", 0, ())


@pytest.mark.parametrize(("level", "marks"), [("1", 1), ("6", 6), ("10", 6), ("x", 6)])
def test_levels_beyond_the_sixth_are_the_sixth(level: str, marks: int) -> None:
    source = loaded(f'<text:h text:outline-level="{level}">Deep</text:h>' + p("Text."))
    assert source.text.startswith(f"{'#' * marks} Deep\n")


def test_a_title_paragraph_is_a_heading_and_the_title_where_none_is_declared() -> None:
    source = loaded(p("Ferry report", "P1") + p("Text."), styles=TITLE)
    assert source.text == "# Ferry report\n\nText."
    assert source.title == "Ferry report"


def test_a_title_paragraph_in_the_middle_is_no_title_of_the_document() -> None:
    source = loaded(p("Summer") + p("Swimming", "P1"), styles=TITLE)
    assert source.title is None


def test_declared_values_are_taken_over() -> None:
    source = loaded(
        p("The pier opens in May."),
        meta="<dc:title>Harbour plan</dc:title><meta:initial-creator>Mia Ortiz"
        "</meta:initial-creator><dc:creator>Somebody Else</dc:creator>"
        "<dc:language>en-GB</dc:language>"
        "<meta:creation-date>2026-03-01T09:00:00.123456789</meta:creation-date>",
    )
    assert (source.title, source.author) == ("Harbour plan", "Mia Ortiz")
    assert (source.date, source.language) == ("2026-03-01", "en-GB")


def test_space_is_collapsed_and_spaces_tabs_and_breaks_are_read() -> None:
    source = loaded(p('One\n   two<text:s text:c="3"/>three<text:tab/>four<text:line-break/>five'))
    assert source.text == "One two three four\nfive"


def test_lists_have_their_kind_and_depth() -> None:
    style = (
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1"/>'
        '<text:list-level-style-bullet text:level="2"/></text:list-style>'
    )
    item = "<text:list-item>{}</text:list-item>"
    inner = f"<text:list>{item.format(p('In it'))}</text:list>"
    source = loaded(
        f'<text:list text:style-name="L1">{item.format(p("One") + inner)}{item.format(p("Two"))}'
        f"</text:list><text:list>{item.format(p('Dot'))}</text:list>",
        styles=style,
    )
    assert source.text == "1. One\n   - In it\n2. Two\n\n- Dot"


def test_tables_are_tables_and_repeated_cells_are_repeated() -> None:
    cell = "<table:table-cell{}>{}</table:table-cell>"
    repeated = ' table:number-columns-repeated="2"'
    rows = (
        "<table:table-header-rows><table:table-row>"
        + cell.format("", p("Boat"))
        + cell.format(repeated, p("Seats"))
        + "</table:table-row></table:table-header-rows><table:table-row>"
        + cell.format("", p("Anna"))
        + cell.format("", p("90") + p("and 12"))
        + "<table:covered-table-cell/></table:table-row>"
    )
    source = loaded(f"<table:table>{rows}</table:table>")
    assert source.text == "| Boat | Seats | Seats |\n| --- | --- | --- |\n| Anna | 90 and 12 | |"


def test_a_million_declared_cells_are_not_made() -> None:
    cell = '<table:table-cell table:number-columns-repeated="999999999"/>'
    rows = f"<table:table-row>{cell}</table:table-row>" * 100
    assert loaded(f"<table:table>{rows}</table:table>{p('Text.')}").text == "Text."


def test_notes_stand_at_the_end_with_their_numbers_in_the_text() -> None:
    note = (
        "<text:note><text:note-citation>9</text:note-citation><text:note-body>{}"
        "</text:note-body></text:note>"
    )
    source = loaded(p(f"One{note.format(p('First.'))} two{note.format(p('Second.'))}."))
    assert source.text == "One[1] two[2].\n\n1. First.\n2. Second."


def test_deletions_comments_and_indexes_are_no_text() -> None:
    source = loaded(
        "<text:tracked-changes><text:changed-region><text:deletion>"
        f"{p('DELETED')}</text:deletion></text:changed-region></text:tracked-changes>"
        f"<text:table-of-content><text:index-body>{p('CONTENTS')}</text:index-body>"
        "</text:table-of-content>"
        + p(
            f"Kept<office:annotation>{p('COMMENT')}</office:annotation> and "
            "<text:change-start/>new."
        )
    )
    assert source.text == "Kept and new."


def test_text_boxes_are_read_once_after_their_paragraph() -> None:
    box = "<draw:frame><draw:text-box>{}</draw:text-box></draw:frame>"
    inner = box.format(p("Inside."))
    source = loaded(p(f"Before{box.format(p(f'In the box.{inner}'))} and after.") + p("Next."))
    assert source.text == "Before and after.\n\nIn the box.\n\nInside.\n\nNext."


@pytest.mark.parametrize(
    "hidden",
    [
        p('<text:span text:style-name="Dark">SECRET</text:span>'),
        p("SECRET", "DarkP"),
        p('<text:hidden-text text:string-value="SECRET">SECRET</text:hidden-text>'),
        p('<text:hidden-paragraph text:is-hidden="true"/>SECRET'),
        f'<text:section text:display="none">{p("SECRET")}</text:section>',
        '<text:section text:display="condition" text:is-hidden="true">'
        + p("SECRET")
        + "</text:section>",
    ],
)
def test_hidden_text_is_left_out_and_counted(hidden: str) -> None:
    style = (
        '<style:style style:family="{}" style:name="{}"{}>'
        '<style:text-properties text:display="none"/></style:style>'
    )
    inherits = '<style:style style:family="text" style:name="Dark" style:parent-style-name="Base"/>'
    styles = style.format("text", "Base", "") + inherits + style.format("paragraph", "DarkP", "")
    source = loaded(hidden + p("Seen."), styles=styles)
    assert source.text == "Seen."
    assert source.hidden == 1
    assert source.warnings == ("hidden text was left out: 1 piece",)


def test_what_is_hidden_under_a_condition_that_does_not_hold_stays() -> None:
    source = loaded(
        f'<text:section text:display="condition" text:is-hidden="false">{p("One.")}</text:section>'
        + p('<text:hidden-paragraph text:is-hidden="false"/>Two.')
    )
    assert source.text == "One.\n\nTwo."


def test_raised_digits_stay_raised() -> None:
    style = (
        '<style:style style:family="text" style:name="T1">'
        '<style:text-properties style:text-position="super 58%"/></style:style>'
    )
    words = '10<text:span text:style-name="T1">6</text:span> people'
    assert loaded(p(words), styles=style).text == "10⁶ people"


def test_styles_that_inherit_from_each_other_do_no_harm() -> None:
    one = '<style:style style:family="paragraph" style:name="{}" style:parent-style-name="{}"/>'
    styles = one.format("A", "B") + one.format("B", "A")
    assert loaded(p("Text.", "A"), styles=styles).text == "Text."


def test_what_people_typed_does_not_turn_into_structure() -> None:
    source = loaded(p("# not a heading") + p("1. FC Nord"))
    assert [one.kind for one in source.blocks] == ["paragraph", "paragraph"]


def test_an_encrypted_document_is_refused_as_such() -> None:
    manifest = (
        f"<manifest:manifest {NAMES}><manifest:file-entry><manifest:encryption-data/>"
        "</manifest:file-entry></manifest:manifest>"
    )
    with pytest.raises(SourceError) as caught:
        loaded("", **{"META-INF/manifest.xml": manifest, "content.xml": "\x01\x02"})
    assert caught.value.reason == "encrypted"


@pytest.mark.parametrize(
    "content", ["", "<a", f"<office:document-content {NAMES}/>", "<a>" * 10_000]
)
def test_a_damaged_text_part_makes_the_document_corrupt(content: str) -> None:
    with pytest.raises(SourceError) as caught:
        loaded("", **{"content.xml": content})
    assert caught.value.reason == "corrupt"


def test_an_entity_bomb_is_refused() -> None:
    whole = zipfile.ZipFile(io.BytesIO(odt(p("&e;")))).read("content.xml").decode()
    with pytest.raises(SourceError) as caught:
        loaded("", **{"content.xml": f'<!DOCTYPE a [<!ENTITY e "ha">]>{whole}'})
    assert caught.value.reason == "corrupt"


def test_damaged_values_cost_the_values() -> None:
    source = loaded(p("Text."), **{"meta.xml": "<a"})
    assert source.text == "Text."
    assert source.warnings == ("the part meta.xml was left out: not well-formed XML",)


def test_spans_nested_as_deep_as_the_parser_allows_are_read() -> None:
    depth = 240
    words = "<text:span>" * depth + "Deep." + "</text:span>" * depth
    assert loaded(p(words)).text == "Deep."


def test_a_document_of_more_lines_than_any_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_document, "_MOST_LINES", 100)
    assert loaded(p("Text.") * 50).text.count("Text.") == 50
    with pytest.raises(SourceError) as caught:
        loaded(p("Text.") * 60)
    assert caught.value.reason == "too-large"


def test_a_document_without_a_word_says_so() -> None:
    with pytest.raises(SourceError) as caught:
        loaded(p(""))
    assert caught.value.reason == "no-text"
