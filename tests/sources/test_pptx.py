"""Presentations: slide by slide, in the order they are shown."""

from __future__ import annotations

import io
import zipfile

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._raw import Raw
from repurpose.sources.pptx import load

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMES = (
    f'xmlns:a="{A}" xmlns:p="{P}" xmlns:r="{REL}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
)
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def rels(*targets: tuple[str, str, str]) -> str:
    lines = (
        f'<Relationship Id="{name}" Type="{REL}/{kind}" Target="{target}"/>'
        for name, kind, target in targets
    )
    return f'<Relationships xmlns="{RELATIONS}">{"".join(lines)}</Relationships>'


def pptx(*slides: str, order: str = "", **more: str) -> bytes:
    """A presentation; `order` holds the numbers of slides as they are shown."""
    numbers = [int(one) for one in order] or range(1, len(slides) + 1)
    entries = "".join(f'<p:sldId r:id="r{number}"/>' for number in numbers)
    parts = {
        "ppt/presentation.xml": (
            f"<p:presentation {NAMES}><p:sldIdLst>{entries}</p:sldIdLst></p:presentation>"
        ),
        "ppt/_rels/presentation.xml.rels": rels(
            *((f"r{n}", "slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1))
        ),
    }
    parts |= {f"ppt/slides/slide{n}.xml": one for n, one in enumerate(slides, 1)}
    parts |= more
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def loaded(*slides: str, **more: str) -> Source:
    return load(Raw("talk.pptx", pptx(*slides, **more)))


def slide(*shapes: str, more: str = "") -> str:
    return f"<p:sld {NAMES} {more}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def shape(*paragraphs: str, fills: str = "", hidden: bool = False) -> str:
    """A shape; `fills` is the type of the placeholder it fills."""
    place = f'<p:ph type="{fills}"/>' if fills else ""
    mark = ' hidden="1"' if hidden else ""
    lines = "".join(one if one.startswith("<") else para(one) for one in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"{mark}/><p:cNvSpPr/><p:nvPr>{place}</p:nvPr>'
        f"</p:nvSpPr><p:txBody><a:bodyPr/>{lines}</p:txBody></p:sp>"
    )


def para(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:rPr/><a:t>{text}</a:t></a:r></a:p>"


def notes(*paragraphs: str) -> dict[str, str]:
    """The parts of the notes to slide 1."""
    body = shape(*paragraphs, fills="body") + shape("7", fills="sldNum")
    return {
        "ppt/slides/_rels/slide1.xml.rels": rels(("n", "notesSlide", "../notesSlides/n1.xml")),
        "ppt/notesSlides/n1.xml": (
            f"<p:notes {NAMES}><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:notes>"
        ),
    }


def test_slides_follow_the_order_of_the_presentation_not_of_their_numbers() -> None:
    source = loaded(
        slide(shape("Second", fills="title")), slide(shape("First", fills="title")), order="21"
    )
    assert source.text == "## First\n\n## Second"
    assert [(one.page, one.level) for one in source.blocks] == [(1, 2), (2, 2)]
    assert source.kind == "pptx"


def test_the_title_comes_first_wherever_it_was_drawn() -> None:
    source = loaded(slide(shape("A note at the side."), shape("Ferries", fills="title")))
    assert source.text == "## Ferries\n\nA note at the side."


def test_blocks_cover_the_text_and_know_their_slide() -> None:
    source = loaded(
        slide(shape("Ferries", fills="title"), shape("One.", "Two.")), slide(shape("Three."))
    )
    found = [(source.text[one.start : one.end], one.page, one.headings) for one in source.blocks]
    assert found == [
        ("## Ferries", 1, ()),
        ("One.", 1, ("Ferries",)),
        ("Two.", 1, ("Ferries",)),
        ("Three.", 2, ()),
    ]


def test_several_paragraphs_of_a_body_are_a_list_with_levels() -> None:
    body = shape("Boats", para("Anna", '<a:pPr lvl="1"/>'), "Piers", fills="body")
    assert loaded(slide(body)).text == "- Boats\n  - Anna\n- Piers"


def test_bullets_and_numbers_of_their_own_make_lists_in_any_shape() -> None:
    number, bullet = "<a:pPr><a:buAutoNum/></a:pPr>", '<a:pPr><a:buChar char="•"/></a:pPr>'
    source = loaded(
        slide(shape(para("One", number), para("Two", number)), shape(para("Dot", bullet), "Plain"))
    )
    assert source.text == "1. One\n2. Two\n\n- Dot\n\nPlain"


def test_a_body_without_bullets_is_paragraphs() -> None:
    plain = "<a:pPr><a:buNone/></a:pPr>"
    source = loaded(slide(shape(para("One.", plain), para("Two.", plain), fills="body")))
    assert source.text == "One.\n\nTwo."


def test_line_breaks_stay_and_raised_digits_stay_raised() -> None:
    words = '<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r>'
    source = loaded(slide(shape(f"{words}<a:br/><a:r><a:t>people</a:t></a:r></a:p>")))
    assert source.text == "10⁶\npeople"


def test_dates_footers_and_slide_numbers_are_no_text() -> None:
    aside = [shape("ASIDE", fills=one) for one in ("dt", "ftr", "sldNum", "hdr")]
    number = '<a:p><a:fld type="slidenum"><a:t>7</a:t></a:fld><a:r><a:t>Text.</a:t></a:r></a:p>'
    assert loaded(slide(*aside, shape(number))).text == "Text."


def test_tables_are_tables() -> None:
    def row(*cells: str) -> str:
        filled = "".join(
            f"<a:tc><a:txBody>{''.join(para(line) for line in one.split('/'))}</a:txBody></a:tc>"
            for one in cells
        )
        return f"<a:tr>{filled}</a:tr>"

    frame = (
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl>"
        f"{row('Boat', 'Seats')}{row('Anna', '90/and 12')}"
        "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
    source = loaded(slide(frame))
    assert source.text == "| Boat | Seats |\n| --- | --- |\n| Anna | 90 and 12 |"


def test_groups_and_alternatives_are_opened_once() -> None:
    group = f"<p:grpSp><p:nvGrpSpPr><p:cNvPr/></p:nvGrpSpPr>{shape('In a group.')}</p:grpSp>"
    either = (
        f"<mc:AlternateContent><mc:Choice>{shape('New.')}</mc:Choice>"
        f"<mc:Fallback>{shape('Old.')}</mc:Fallback></mc:AlternateContent>"
    )
    assert loaded(slide(group, either)).text == "In a group.\n\nNew."


def test_the_words_of_a_diagram_are_read() -> None:
    frame = (
        '<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="d"/></a:graphicData>'
        "</a:graphic></p:graphicFrame>"
    )
    points = "".join(f"<dgm:pt><dgm:t>{para(one)}</dgm:t></dgm:pt>" for one in ("Plan", "Build"))
    more = {
        "ppt/slides/_rels/slide1.xml.rels": rels(("d", "diagramData", "../diagrams/data1.xml")),
        "ppt/diagrams/data1.xml": f"<dgm:dataModel {NAMES}>{points}</dgm:dataModel>",
    }
    assert loaded(slide(frame), **more).text == "- Plan\n- Build"


def test_speaker_notes_are_marked_as_such() -> None:
    source = loaded(slide(shape("Ferries", fills="title")), **notes("Say hello.", "Smile."))
    assert source.text == "## Ferries\n\nNotes: Say hello.\n\nNotes: Smile."
    assert {one.page for one in source.blocks} == {1}


def test_hidden_slides_and_shapes_are_left_out_and_counted() -> None:
    source = loaded(
        slide(shape("Seen."), shape("SECRET", hidden=True)),
        slide(shape("SECRET"), more='show="0"'),
        slide(shape("Last.")),
    )
    assert source.text == "Seen.\n\nLast."
    assert [one.page for one in source.blocks] == [1, 3]
    assert source.hidden == 2
    assert source.warnings == ("hidden slides were left out: 1 slide",)


def test_the_title_of_the_cover_is_the_title_where_none_is_declared() -> None:
    cover = slide(shape("Ferries of the north", fills="ctrTitle"))
    assert loaded(cover).title == "Ferries of the north"
    assert loaded(slide(shape("Ferries", fills="title"))).title is None


@pytest.mark.parametrize(
    ("declared", "title"),
    [("Harbour plan", "Harbour plan"), ("PowerPoint Presentation", None), ("Présentation1", None)],
)
def test_a_declared_title_counts_unless_it_is_a_programs_own(
    declared: str, title: str | None
) -> None:
    core = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
        f'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{declared}'
        "</dc:title></cp:coreProperties>"
    )
    assert loaded(slide(shape("Text.")), **{"docProps/core.xml": core}).title == title


def test_a_damaged_slide_costs_that_slide() -> None:
    source = loaded(slide(shape("One.")), "<p:sld", slide(shape("Three.")))
    assert [(source.text[one.start : one.end], one.page) for one in source.blocks] == [
        ("One.", 1),
        ("Three.", 3),
    ]
    assert source.warnings == ("the part ppt/slides/slide2.xml was left out: not well-formed XML",)


def test_damaged_notes_cost_the_notes() -> None:
    more = notes("SAID") | {"ppt/notesSlides/n1.xml": "<p:notes"}
    source = loaded(slide(shape("One.")), **more)
    assert source.text == "One."
    assert len(source.warnings) == 1


def test_a_slide_that_is_listed_and_missing_is_told() -> None:
    source = load(Raw("a.pptx", pptx(slide(shape("One.")), slide(shape("Two.")), order="12")))
    assert source.warnings == ()
    more = {
        "ppt/_rels/presentation.xml.rels": rels(
            ("r1", "slide", "slides/slide1.xml"), ("r2", "slide", "../../gone.xml")
        )
    }
    source = loaded(slide(shape("One.")), slide(shape("Two.")), **more)
    assert source.text == "One."
    assert source.warnings == ("the part gone.xml was left out: missing",)


def test_where_the_order_is_lost_slides_follow_their_numbers() -> None:
    slides = [slide(shape(f"Slide {n}.")) for n in range(1, 12)]
    source = loaded(*slides, **{"ppt/presentation.xml": "<p:presentation"})
    assert source.text.split("\n\n") == [f"Slide {n}." for n in range(1, 12)]


def test_a_slide_named_twice_is_read_once() -> None:
    assert loaded(slide(shape("Once.")), order="111").text == "Once."


def test_a_strict_presentation_is_read_like_any_other() -> None:
    def strict(part: str) -> str:
        return part.replace(A, "http://purl.oclc.org/ooxml/drawingml/main").replace(
            P, "http://purl.oclc.org/ooxml/presentationml/main"
        )

    assert loaded(strict(slide(shape("Strict.")))).text == "Strict."


@pytest.mark.parametrize("damaged", ["", "<p:sld", f"<p:sld {NAMES}>" + "<p:x>" * 10_000])
def test_a_presentation_without_a_readable_slide_is_corrupt(damaged: str) -> None:
    with pytest.raises(SourceError) as caught:
        loaded(damaged)
    assert caught.value.reason == "corrupt"


@pytest.mark.parametrize("empty", [slide(), slide(shape("SECRET"), more='show="0"')])
def test_a_presentation_without_a_word_says_so(empty: str) -> None:
    with pytest.raises(SourceError) as caught:
        loaded(empty)
    assert caught.value.reason == "no-text"
