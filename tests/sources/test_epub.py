"""Books: chapters in reading order, without what is about the book as an object."""

from __future__ import annotations

import io
import zipfile

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import epub as loader
from repurpose.sources._raw import Raw
from repurpose.sources.epub import load

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>"
)
NAMES = (
    'xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:opf="http://www.idpf.org/2007/opf"'
)
XHTML = "application/xhtml+xml"


def page(body: str, more: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
        f"<head><title>Not this</title></head><body {more}>{body}</body></html>"
    )


def opf(items: str, spine: str, metadata: str = "", guide: str = "") -> str:
    return (
        f"<package {NAMES}><metadata>{metadata}</metadata><manifest>{items}</manifest>"
        f"<spine>{spine}</spine><guide>{guide}</guide></package>"
    )


def packed(parts: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def epub(*chapters: str, metadata: str = "", guide: str = "", **more: str) -> bytes:
    numbers = range(1, len(chapters) + 1)
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml" media-type="{XHTML}"/>' for n in numbers)
    spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": opf(items, spine, metadata, guide),
    }
    parts |= {f"OPS/c{n}.xhtml": one for n, one in enumerate(chapters, 1)}
    return packed(parts | more)


def loaded(*chapters: str, **more: str) -> Source:
    return load(Raw("book.epub", epub(*chapters, **more)))


def test_chapters_are_read_in_the_order_of_the_spine() -> None:
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="{XHTML}"/>' for n in "ab")
    spine = '<itemref idref="b"/><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/>'
    source = load(
        Raw(
            "book.epub",
            packed(
                {
                    "META-INF/container.xml": CONTAINER,
                    "OPS/book.opf": opf(items, spine),
                    "OPS/a.xhtml": page("<h1>Second</h1><p>Two.</p>"),
                    "OPS/b.xhtml": page("<h1>First</h1><p>One.</p>"),
                }
            ),
        )
    )
    assert source.text == "# First\n\nOne.\n\n# Second\n\nTwo."
    assert [(one.headings, one.page) for one in source.blocks] == [
        ((), None),
        (("First",), None),
        ((), None),
        (("Second",), None),
    ]
    assert (source.kind, source.hidden, source.warnings) == ("epub", 0, ())


def test_navigation_and_asides_of_the_spine_are_left_out() -> None:
    items = (
        f'<item id="n" href="nav.xhtml" media-type="{XHTML}" properties="scripted nav"/>'
        f'<item id="x" href="x.xhtml" media-type="{XHTML}"/>'
        f'<item id="c" href="c.xhtml" media-type="{XHTML}"/>'
        '<item id="s" href="s.svg" media-type="image/svg+xml"/>'
    )
    spine = (
        '<itemref idref="n"/><itemref idref="x" linear="no"/><itemref idref="s"/>'
        '<itemref idref="c"/>'
    )
    parts: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": opf(items, spine),
        "OPS/nav.xhtml": page("NAV"),
        "OPS/x.xhtml": page("ANSWERS"),
        "OPS/s.svg": "<svg><text>PICTURE</text></svg>",
        "OPS/c.xhtml": page("<p>Text.</p>"),
    }
    assert load(Raw("book.epub", packed(parts))).text == "Text."


@pytest.mark.parametrize(
    "kind", ["imprint", "copyright-page", "toc", "cover", "backmatter copyright-page"]
)
def test_pages_about_the_book_as_an_object_are_left_out(kind: str) -> None:
    source = loaded(
        page("<p>WHOLE PAGE</p>", f'epub:type="{kind}"'),
        page(f'<section epub:type="{kind}"><p>SECTION</p></section>'),
        page(f'<p>Text.</p><aside epub:type="{kind}">BESIDE</aside><p>More.</p>'),
    )
    assert source.text == "Text.\n\nMore."


def test_page_numbers_of_the_print_are_left_out() -> None:
    source = loaded(page('<p>The fer<span epub:type="pagebreak" id="p7">7</span>ry left.</p>'))
    assert source.text == "The ferry left."


def test_pages_that_an_older_book_names_in_its_guide_are_left_out() -> None:
    guide = '<reference type="copyright-page" href="c1.xhtml#top"/>'
    assert loaded(page("<p>RIGHTS</p>"), page("<p>Text.</p>"), guide=guide).text == "Text."


def test_references_may_hold_escapes_fragments_and_steps_up() -> None:
    items = f'<item id="a" href="../text/part%20one/a.xhtml#start" media-type="{XHTML}"/>'
    parts: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": opf(items, '<itemref idref="a"/>'),
        "text/part one/a.xhtml": page("<p>Found.</p>"),
    }
    assert load(Raw("book.epub", packed(parts))).text == "Found."


def test_declared_values_are_taken_over() -> None:
    source = loaded(
        page("<p>The pier opens in May.</p>"),
        metadata="<dc:title>Harbours</dc:title><dc:creator>Mia Ortiz</dc:creator>"
        "<dc:creator>Lea Kim</dc:creator><dc:language>en-GB</dc:language>"
        "<dc:date>2026-03-01T00:00:00Z</dc:date>",
    )
    assert (source.title, source.author) == ("Harbours", "Mia Ortiz, Lea Kim")
    assert (source.date, source.language) == ("2026-03-01", "en-GB")


def test_of_several_titles_and_roles_the_main_ones_count() -> None:
    source = loaded(
        page("<p>Text.</p>"),
        metadata='<dc:title id="s">A subtitle</dc:title><dc:title id="t">Harbours</dc:title>'
        '<meta refines="#s" property="title-type">subtitle</meta>'
        '<meta refines="#t" property="title-type">main</meta>'
        '<dc:creator id="i">Ann Ink</dc:creator><meta refines="#i" property="role">ill</meta>'
        '<dc:creator opf:role="aut">Mia Ortiz</dc:creator>'
        '<dc:date opf:event="modification">2026-05-05</dc:date>'
        '<dc:date opf:event="publication">2020-01-02</dc:date>',
    )
    assert (source.title, source.author, source.date) == ("Harbours", "Mia Ortiz", "2020-01-02")


def test_what_a_program_writes_for_unknown_values_is_none() -> None:
    source = loaded(
        page("<p>Text.</p>"),
        metadata="<dc:title>Unknown</dc:title><dc:creator>Unknown</dc:creator>"
        "<dc:language>und</dc:language><dc:date>0101-01-01T00:00:00+00:00</dc:date>",
    )
    assert (source.title, source.author, source.date) == (None, None, None)


def test_hidden_parts_are_removed_and_counted() -> None:
    source = loaded(page('<p>Seen.</p><p hidden="hidden">SECRET</p><p style="display:none">S</p>'))
    assert source.text == "Seen."
    assert source.hidden == 2
    assert source.warnings == ("hidden text was left out: 2 pieces",)


def test_tags_that_are_empty_in_xml_do_not_swallow_the_text() -> None:
    source = loaded(
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/></head>'
        '<body><p>One<a id="x"/><br/>two.</p><div class="rule" /><p>Three.</p></body></html>'
    )
    assert source.text == "One\ntwo.\n\nThree."


def test_chapters_in_other_character_sets_are_read() -> None:
    chapter = page("<p>Größe und Maß, señor</p>").replace('encoding="utf-8"', 'encoding="{}"')
    parts = {
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": opf(
            "".join(f'<item id="{n}" href="{n}" media-type="{XHTML}"/>' for n in "ab"),
            '<itemref idref="a"/><itemref idref="b"/>',
        ),
        "OPS/a": chapter.format("utf-16").encode("utf-16"),
        "OPS/b": chapter.format("iso-8859-1").encode("latin-1"),
    }
    source = load(Raw("book.epub", packed(parts)))
    assert source.text == "Größe und Maß, señor\n\nGröße und Maß, señor"


def test_markup_that_is_no_xml_is_read_all_the_same() -> None:
    assert loaded("<html><body><p>One &amp; two&nbsp;<b>three<p>Four").text == (
        "One & two three\n\nFour"
    )


def test_a_missing_or_damaged_chapter_costs_that_chapter() -> None:
    content = epub(page("<p>One.</p>"), "\x00\x01\x02" * 500, page("<p>Three.</p>"))
    source = load(Raw("book.epub", content))
    assert source.text == "One.\n\nThree."
    assert source.warnings == ("the part OPS/c2.xhtml was left out: not text",)

    broken = content.replace(b"OPS/c3.xhtml", b"OPS/cX.xhtml")
    source = load(Raw("book.epub", broken))
    assert source.text == "One."
    assert "the part OPS/c3.xhtml was left out: missing" in source.warnings


def test_a_chapter_of_nested_tags_is_read_and_harms_nothing() -> None:
    source = loaded(page("<div>" * 10_000 + "DEEP"), page("<p>Text.</p>"))
    assert source.text.endswith("Text.")


@pytest.mark.parametrize(("limit", "most"), [("_MOST_TAGS", 300), ("MAX_BYTES", 5_000)])
def test_a_book_with_more_text_than_is_ever_read_is_too_large(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapters = [page("<p>Text.</p>" * 100)] * 5
    assert loaded(*chapters).text.count("Text.") == 500
    monkeypatch.setattr(loader, limit, most)
    with pytest.raises(SourceError) as caught:
        loaded(*chapters)
    assert caught.value.reason == "too-large"


ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
    '<e:EncryptionMethod Algorithm="{}"/><e:CipherData><e:CipherReference URI="{}"/>'
    "</e:CipherData></e:EncryptedData></encryption>"
)
AES = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"


def test_a_book_whose_chapters_are_encrypted_is_refused_as_such() -> None:
    locked = {"META-INF/encryption.xml": ENCRYPTION.format(AES, "OPS/c1.xhtml")}
    with pytest.raises(SourceError) as caught:
        loaded(page("<p>Text.</p>"), **locked)
    assert caught.value.reason == "encrypted"


@pytest.mark.parametrize(
    ("method", "part"),
    [
        ("http://www.idpf.org/2008/embedding", "OPS/font.otf"),
        ("http://ns.adobe.com/pdf/enc#RC", "OPS/font.otf"),
        (AES, "OPS/cover.jpg"),
    ],
)
def test_scrambled_fonts_and_pictures_do_not_matter(method: str, part: str) -> None:
    locked = {"META-INF/encryption.xml": ENCRYPTION.format(method, part)}
    assert loaded(page("<p>Text.</p>"), **locked).text == "Text."


def test_a_missing_container_file_costs_nothing() -> None:
    source = loaded(page("<p>Text.</p>"), **{"META-INF/container.xml": "<a"})
    assert source.text == "Text."
    assert len(source.warnings) == 1


def test_where_the_list_of_chapters_is_lost_the_order_of_the_file_counts() -> None:
    source = loaded(page("<p>One.</p>"), page("<p>Two.</p>"), **{"OPS/book.opf": "<package"})
    assert source.text == "One.\n\nTwo."
    assert (
        source.warnings[-1] == "the list of chapters is damaged; they are in the order of the file"
    )


def test_an_entity_bomb_in_the_list_of_chapters_is_not_expanded() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY e "ha">]>' + opf("", "", "<dc:title>&e;</dc:title>")
    source = loaded(page("<p>One.</p>"), **{"OPS/book.opf": bomb})
    assert (source.text, source.title) == ("One.", None)
    assert "entities" in source.warnings[0]


def test_a_book_without_a_chapter_is_corrupt() -> None:
    with pytest.raises(SourceError) as caught:
        load(Raw("book.epub", packed({"META-INF/container.xml": CONTAINER})))
    assert caught.value.reason == "corrupt"


def test_a_book_without_a_word_says_so() -> None:
    with pytest.raises(SourceError) as caught:
        loaded(page('<img src="one.jpg" alt="One"/>'))
    assert caught.value.reason == "no-text"
