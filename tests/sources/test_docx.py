"""Word documents: what a reader of the print sees, and nothing besides."""

from __future__ import annotations

import builtins
import io
import zipfile
from collections.abc import Callable

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import docx as loader
from repurpose.sources._raw import Raw
from repurpose.sources.docx import load

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
NAMES = (
    f'xmlns:w="{W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/">{}</cp:coreProperties>'
)


def packed(parts: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def document(body: str) -> str:
    return f"<w:document {NAMES}><w:body>{body}</w:body></w:document>"


def docx(body: str, *, styles: str = "", core: str = "", **parts: str) -> bytes:
    found: dict[str, str | bytes] = {"word/document.xml": document(body)}
    if styles:
        found["word/styles.xml"] = f"<w:styles {NAMES}>{styles}</w:styles>"
    if core:
        found["docProps/core.xml"] = CORE.format(core)
    for name, content in parts.items():
        found[f"word/{name}.xml"] = f"<w:{name} {NAMES}>{content}</w:{name}>"
    return packed(found)


def loaded(body: str, **more: str) -> Source:
    return load(Raw("a.docx", docx(body, **more)))


def p(text: str, style: str = "", properties: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{r(text)}</w:p>"


def r(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def style(name: str, what: str = "", kind: str = "paragraph", called: str = "") -> str:
    return (
        f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{called or name}"/>'
        f"{what}</w:style>"
    )


def test_paragraphs_and_headings_become_markdown_with_blocks() -> None:
    source = loaded(p("Harbour", "Heading1") + p("The pier opens.") + p("Costs", "Heading2"))
    assert source.text == "# Harbour\n\nThe pier opens.\n\n## Costs"
    assert [(one.kind, one.level, one.headings) for one in source.blocks] == [
        ("heading", 1, ()),
        ("paragraph", 0, ("Harbour",)),
        ("heading", 2, ("Harbour",)),
    ]
    assert source.kind == "docx"
    assert source.hidden == 0
    assert source.warnings == ()


@pytest.mark.parametrize(
    ("styles", "level"),
    [
        (style("berschrift2", called="heading 2"), 2),
        (style("Kapitel", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>'), 3),
        (style("Kapitel", '<w:basedOn w:val="Titre1"/>') + style("Titre1", called="heading 1"), 1),
        (style("Kapitel", '<w:pPr><w:outlineLvl w:val="8"/></w:pPr>'), 6),
    ],
)
def test_headings_are_known_by_what_their_style_means(styles: str, level: int) -> None:
    name = "berschrift2" if "berschrift2" in styles else "Kapitel"
    source = loaded(p("Der Hafen", name) + p("Ein Text."), styles=styles)
    assert source.text == f"{'#' * level} Der Hafen\n\nEin Text."


@pytest.mark.parametrize("name", ["1", "3", "Title", "Heading2", "Contents", "Quote"])
def test_an_id_alone_does_not_make_a_style_a_heading(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    styles = style(name, called="My own text")
    assert loaded(p("Text.", name), styles=styles).text == "Text."
    monkeypatch.setattr(loader, "_MOST_ELEMENTS", 0)
    assert loaded(p("Text.", name), styles=styles).text == "Text."


def test_an_outline_level_of_its_own_makes_a_paragraph_a_heading() -> None:
    source = loaded(p("The pier", properties='<w:outlineLvl w:val="1"/>') + p("Text."))
    assert source.text == "## The pier\n\nText."


def test_a_style_for_body_text_that_is_based_on_a_heading_is_none() -> None:
    styles = style("Heading1", called="heading 1") + style(
        "Lead", '<w:basedOn w:val="Heading1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>'
    )
    assert loaded(p("The lead.", "Lead"), styles=styles).text == "The lead."


def test_styles_that_are_based_on_each_other_do_no_harm() -> None:
    styles = style("A", '<w:basedOn w:val="B"/>') + style("B", '<w:basedOn w:val="A"/>')
    assert loaded(p("Text.", "A"), styles=styles).text == "Text."


def test_a_title_paragraph_is_a_heading_and_the_title_where_none_is_declared() -> None:
    styles = style("Titel", called="Title")
    source = loaded(p("Ferry report", "Titel") + p("Text."), styles=styles)
    assert source.text == "# Ferry report\n\nText."
    assert source.title == "Ferry report"


def test_a_title_paragraph_in_the_middle_is_no_title_of_the_document() -> None:
    source = loaded(p("Summer") + p("Swimming", "Title"), styles=style("Title"))
    assert source.text == "Summer\n\n# Swimming"
    assert source.title is None


def test_declared_values_are_taken_over() -> None:
    core = (
        "<dc:title>Harbour plan</dc:title><dc:creator>Mia Ortiz</dc:creator>"
        "<dc:language>en-GB</dc:language><dcterms:created>2026-03-01T09:00:00Z</dcterms:created>"
        "<dcterms:modified>2026-04-01T09:00:00Z</dcterms:modified>"
    )
    source = loaded(p("The pier opens in May."), core=core)
    assert (source.title, source.author) == ("Harbour plan", "Mia Ortiz")
    assert (source.date, source.language) == ("2026-03-01", "en-GB")


@pytest.mark.parametrize(
    "title",
    ["Document1", "Dokument 2", "Microsoft Word - x.doc", "final_v3.docx", "Untitled", "  "],
)
def test_what_a_program_puts_in_the_place_of_a_title_is_none(title: str) -> None:
    assert loaded(p("Text."), core=f"<dc:title>{title}</dc:title>").title is None


def test_what_a_template_says_of_itself_is_not_said_of_the_document() -> None:
    core = (
        "<dc:creator>python-docx</dc:creator>"
        "<dcterms:created>2013-12-23T23:15:00Z</dcterms:created>"
    )
    source = loaded(p("Text."), core=core)
    assert (source.author, source.date) == (None, None)


def test_insertions_stay_and_deletions_go() -> None:
    source = loaded(
        f"<w:p>{r('The ferry leaves at ')}"
        "<w:del><w:r><w:delText>05:40</w:delText></w:r></w:del>"
        f"<w:ins>{r('06:10')}</w:ins><w:moveFrom>{r(' away')}</w:moveFrom>"
        f"<w:moveTo>{r(' now')}</w:moveTo>{r('.')}</w:p>"
    )
    assert source.text == "The ferry leaves at 06:10 now."


def test_a_paragraph_whose_end_was_deleted_is_continued_by_the_next() -> None:
    mark = "<w:rPr><w:del/></w:rPr>"
    assert loaded(p("One ", properties=mark) + p("line.")).text == "One line."


def test_a_deleted_row_goes() -> None:
    row = "<w:tr><w:trPr>{}</w:trPr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>"
    table = (
        row.format("", p("Crew"), p("1200"))
        + row.format("<w:del/>", p("Fuel"), p("640"))
        + row.format("", p("Ropes"), p("12"))
    )
    text = loaded(f"<w:tbl>{table}</w:tbl>").text
    assert text == "| Crew | 1200 |\n| --- | --- |\n| Ropes | 12 |"


VANISH = "<w:vanish/>"


@pytest.mark.parametrize(
    "hidden",
    [
        "<w:p>" + r("SECRET", VANISH) + "</w:p>",
        "<w:p>" + r("SECRET", '<w:rStyle w:val="Dark"/>') + "</w:p>",
        "<w:p><w:ins>" + r("SECRET", '<w:vanish w:val="true"/>') + "</w:ins></w:p>",
        p("SECRET", "DarkParagraph"),
        p("SECRET", "BasedOnDark"),
        "<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr><w:tc>" + p("SECRET") + "</w:tc></w:tr></w:tbl>",
    ],
)
def test_hidden_text_is_removed_and_counted(hidden: str) -> None:
    vanish = "<w:rPr><w:vanish/></w:rPr>"
    styles = (
        style("Dark", vanish, "character")
        + style("DarkParagraph", vanish)
        + style("BasedOnDark", '<w:basedOn w:val="DarkParagraph"/>')
    )
    source = loaded(hidden + p("Seen."), styles=styles)
    assert source.text == "Seen."
    assert source.hidden == 1
    assert source.warnings == ("hidden text was left out: 1 piece",)


@pytest.mark.parametrize(
    "seen",
    [
        "<w:p>" + r("Words.", '<w:vanish w:val="0"/>') + "</w:p>",
        "<w:p>" + r("Words.", "<w:webHidden/>") + "</w:p>",
        p("Words.", properties="<w:rPr><w:vanish/></w:rPr>"),
        p("", "Dark").replace("</w:p>", r("Words.", '<w:vanish w:val="off"/>') + "</w:p>"),
    ],
)
def test_what_only_seems_hidden_stays(seen: str) -> None:
    source = loaded(seen, styles=style("Dark", "<w:rPr><w:vanish/></w:rPr>"))
    assert source.text == "Words."
    assert source.hidden == 0


def test_hidden_text_in_notes_is_removed_too() -> None:
    note = (
        f'<w:footnote w:id="2"><w:p>{r("SECRET", "<w:vanish/>")}{r("A note.")}</w:p></w:footnote>'
    )
    body = f'<w:p>{r("Text")}<w:r><w:footnoteReference w:id="2"/></w:r>{r(".")}</w:p>'
    source = loaded(body, footnotes=note)
    assert source.text == "Text[1].\n\n1. A note."
    assert source.hidden == 1


def test_footnotes_and_endnotes_stand_at_the_end() -> None:
    body = (
        f'<w:p>{r("One")}<w:r><w:footnoteReference w:id="1"/></w:r>'
        f'{r(" two")}<w:r><w:endnoteReference w:id="1"/></w:r>{r(".")}</w:p>'
    )
    source = loaded(
        body,
        footnotes=f'<w:footnote w:id="1">{p("First.")}</w:footnote>',
        endnotes=f'<w:endnote w:id="1">{p("Second.")}</w:endnote>',
    )
    assert source.text == "One[1] two[2].\n\n1. First.\n2. Second."


def test_a_reference_to_a_note_that_is_not_there_is_dropped() -> None:
    body = f'<w:p>{r("Text")}<w:r><w:footnoteReference w:id="7"/></w:r>{r(".")}</w:p>'
    assert loaded(body).text == "Text."


def test_comments_headers_and_pictures_are_no_text() -> None:
    body = (
        f'<w:p><w:commentRangeStart w:id="0"/>{r("Text.")}<w:commentRangeEnd w:id="0"/>'
        '<w:r><w:commentReference w:id="0"/></w:r><w:r><w:drawing/></w:r></w:p>'
    )
    source = loaded(
        body,
        comments=f'<w:comment w:id="0">{p("COMMENT")}</w:comment>',
        header1=p("HEADER"),
    )
    assert source.text == "Text."


EITHER = (
    "<mc:AlternateContent><mc:Choice>{}</mc:Choice><mc:Fallback>{}</mc:Fallback>"
    "</mc:AlternateContent>"
)


@pytest.mark.parametrize(
    "box",
    [
        "<w:pict><v:shape><v:textbox>{}</v:textbox></v:shape></w:pict>",
        "<w:drawing><w:anything>{}</w:anything></w:drawing>",
        EITHER.format("<w:drawing>{0}</w:drawing>", "<w:pict>{0}</w:pict>"),
        EITHER.format("<w:drawing/>", "<w:pict>{0}</w:pict>"),
    ],
)
def test_a_text_box_is_read_once_after_its_paragraph(box: str) -> None:
    inner = box.format(f"<w:txbxContent>{p('In the box.')}</w:txbxContent>")
    source = loaded(f"<w:p>{r('Before')}<w:r>{inner}</w:r>{r(' and after.')}</w:p>{p('Next.')}")
    assert source.text == "Before and after.\n\nIn the box.\n\nNext."


def test_fields_links_formulas_and_readings_keep_their_words() -> None:
    source = loaded(
        f"<w:p><w:fldSimple>{r('Figure 1')}</w:fldSimple>{r(' shows ')}"
        f"<w:hyperlink>{r('the pier')}</w:hyperlink>{r(', ')}"
        "<m:oMath><m:r><m:t>a=b</m:t></m:r></m:oMath>"
        f"<w:r><w:ruby><w:rt>{r('みなと')}</w:rt><w:rubyBase>{r('港')}</w:rubyBase></w:ruby></w:r>"
        "</w:p>"
    )
    assert source.text == "Figure 1 shows the pier, a=b港"


def test_raised_digits_stay_raised() -> None:
    high = '<w:vertAlign w:val="superscript"/>'
    source = loaded(f"<w:p>{r('10')}{r('6', high)}{r(' people, the 1')}{r('st', high)}</w:p>")
    assert source.text == "10⁶ people, the 1st"


def test_words_that_were_divided_by_edits_are_whole() -> None:
    assert loaded(f"<w:p>{r('fer', '<w:b/>')}{r('ry ')}{r('boat')}</w:p>").text == "ferry boat"


def test_lists_are_lists_with_their_kind_and_depth() -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    item = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'
    styles = style("Listed", f"<w:pPr>{item.format(0)}</w:pPr>")
    source = loaded(
        p("One", properties=item.format(0))
        + p("In it", properties=item.format(1))
        + p("Two", "Listed"),
        numbering=numbering,
        styles=styles,
    )
    assert source.text == "1. One\n   - In it\n2. Two"
    assert {one.kind for one in source.blocks} == {"list"}


def test_a_table_stays_a_table_though_cells_have_paragraphs() -> None:
    cell = "<w:tc>{}</w:tc>"
    rows = [
        cell.format(p("Boat", "Heading1")) + cell.format(p("Seats")),
        cell.format(p("Anna")) + cell.format(p("90") + p("and 12 standing")),
    ]
    source = loaded("<w:tbl>" + "".join(f"<w:tr>{one}</w:tr>" for one in rows) + "</w:tbl>")
    assert source.text == "| Boat | Seats |\n| --- | --- |\n| Anna | 90 and 12 standing |"
    assert [one.kind for one in source.blocks] == ["table"]


def test_a_quotation_is_marked_as_one() -> None:
    source = loaded(p("I like it.", "Zitat"), styles=style("Zitat", called="Quote"))
    assert source.text == "> I like it."


def test_a_table_of_contents_is_left_out() -> None:
    styles = style("Verzeichnis1", called="toc 1")
    body = (
        '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>'
        f"</w:sdtPr><w:sdtContent>{p('Contents')}</w:sdtContent></w:sdt>"
        + p("Costs 3", "Verzeichnis1")
        + f"<w:sdt><w:sdtContent>{p('Kept.')}</w:sdtContent></w:sdt>"
    )
    assert loaded(body, styles=styles).text == "Kept."


def test_what_people_typed_does_not_turn_into_structure() -> None:
    source = loaded(p("# not a heading") + p("1. FC Nord") + p("a * b"))
    assert source.text == "\\# not a heading\n\n1\\. FC Nord\n\na * b"
    assert [one.kind for one in source.blocks] == ["paragraph"] * 3


def test_hidden_characters_are_removed_and_counted() -> None:
    source = loaded(p("ig\u200bnore " * 10))
    assert source.text == " ".join(["ignore"] * 10)
    assert source.hidden == 10
    assert source.warnings == ("10 hidden characters were removed from the text",)


def test_a_strict_document_is_read_like_any_other() -> None:
    body = document(p("Strict text.", "Heading1") + f"<w:p>{r('SECRET', '<w:vanish/>')}</w:p>")
    main = f"{REL}/officeDocument".replace("schemas.openxmlformats.org", "purl.oclc.org/ooxml")
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{main}" Target="/word/main.xml"/></Relationships>'
    )
    content = packed({"_rels/.rels": rels, "word/main.xml": body.replace(W, STRICT)})
    source = load(Raw("a.docx", content))
    assert source.text == "# Strict text."
    assert source.hidden == 1


def test_a_document_without_a_word_says_so() -> None:
    with pytest.raises(SourceError) as caught:
        loaded("<w:p><w:r><w:drawing/></w:r></w:p>")
    assert caught.value.reason == "no-text"


@pytest.mark.parametrize("main", ["", "<w:document", document("<w:p>" * 10_000)])
def test_a_damaged_main_part_makes_the_document_corrupt(main: str) -> None:
    with pytest.raises(SourceError) as caught:
        load(Raw("a.docx", packed({"word/document.xml": main, "word/styles.xml": "<a/>"})))
    assert caught.value.reason == "corrupt"


def test_a_missing_main_part_makes_the_document_corrupt() -> None:
    with pytest.raises(SourceError) as caught:
        load(Raw("a.docx", packed({"word/styles.xml": "<a/>"})))
    assert caught.value.reason == "corrupt"


def test_an_entity_bomb_in_the_text_is_refused() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY e0 "ha">{levels}]>' + document(p("&e11;"))
    with pytest.raises(SourceError) as caught:
        load(Raw("a.docx", packed({"word/document.xml": bomb})))
    assert caught.value.reason == "corrupt"


def test_an_entity_bomb_beside_the_text_costs_that_part() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY e "ha">]><a>&e;</a>'
    content = packed({"word/document.xml": document(p("Text.")), "word/styles.xml": bomb})
    source = load(Raw("a.docx", content))
    assert source.text == "Text."
    assert source.warnings == (
        "the part word/styles.xml was left out: declares entities of its own",
    )


def test_markup_that_mammoth_cannot_read_is_read_without_lists_and_tables() -> None:
    deep = "<w:tbl><w:tr><w:tc>" * 60 + p("In the deep.") + "</w:tc></w:tr></w:tbl>" * 60
    source = loaded(p("Title of it", "Heading2") + deep + p("Text."))
    assert source.text == "## Title of it\n\nIn the deep.\n\nText."
    assert source.warnings == ("damaged: read without its lists and tables",)


@pytest.mark.parametrize(
    "odd",
    [
        '<w:r><w:sym w:font="Wingdings"/></w:r>',
        '<w:r><w:sym w:font="x" w:char="zz"/></w:r>',
        "<w:r><w:footnoteReference/></w:r>",
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
        '<w:hyperlink w:anchor="nowhere" w:history="1"/>',
        '<w:r><w:br w:type="odd"/></w:r>',
    ],
)
def test_odd_markup_costs_nothing_but_itself(odd: str) -> None:
    table = '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="x"/></w:tcPr></w:tc></w:tr></w:tbl>'
    source = loaded(f"<w:p>{r('Text')}{odd}{r('.')}</w:p>{table}")
    assert source.text == "Text."
    assert source.warnings == ()


def test_a_very_long_document_is_read_without_mammoth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "_MOST_ELEMENTS", 50)
    source = loaded(p("Start", "Heading1") + p("Text.") * 30)
    assert source.text.startswith("# Start\n\nText.")
    assert source.warnings == ("very long: read without its lists and tables",)


def test_without_its_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., object] = builtins.__import__

    def without(name: str, *more: object, **named: object) -> object:
        if name == "mammoth":
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SourceError) as caught:
        loaded(p("Text."))
    assert caught.value.reason == "unsupported"
    assert str(caught.value) == (
        'a.docx: Word documents cannot be read without the "office" extra; '
        "install it: pip install 'repurpose-text[office]'"
    )
