"""A fixed sample of damaged files of every kind, as `tests/fuzz_sources.py` makes them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from fuzz_sources import SECONDS, Case, Outcome, case_of, files_in, judged, outcome_of, outcomes

from pdf_files import pdf_of

COUNT = 150
SMALL = 60_000  # bytes; the script itself takes the large ones, too
TEXT = "The ferry to the island leaves the harbour at six in the morning."
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def packed(parts: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def relation(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{TYPES}/{kind}" '
        f'Target="{target}"/></Relationships>'
    )


def documents() -> dict[str, bytes]:
    """A small file of every kind."""
    item = {"id": "1", "url": "https://example.org/1", "content_text": TEXT, "title": "Boats"}
    said = [{"startTime": 0, "endTime": 2, "speaker": "Ann", "body": TEXT}]
    events = [{"tStartMs": 0, "dDurationMs": 2000, "segs": [{"utf8": TEXT}]}]
    mail = (
        "From: Ann <ann@example.org>\nTo: ben@example.org\nSubject: =?utf-8?q?B=C3=B6ats?=\n"
        "Date: Sat, 14 Mar 2026 08:00:00 +0100\nMIME-Version: 1.0\n"
        'Content-Type: multipart/alternative; boundary="x"\n\n--x\nContent-Type: text/plain\n\n'
        f"{TEXT}\n--x\nContent-Type: text/html; charset=utf-8\n\n<p>{TEXT}</p>\n--x--\n"
    )
    page = f"<html><head><title>Boats</title></head><body><h1>Boats</h1><p>{TEXT}</p></body></html>"
    feed = (
        '<?xml version="1.0"?><rss version="2.0"><channel><title>Boats</title><item><guid>1</guid>'
        f"<link>https://example.org/1</link><description>{TEXT}</description></item></channel></rss>"
    )
    sites = "http://www.sitemaps.org/schemas/sitemap/0.9"
    sitemap = f'<urlset xmlns="{sites}"><url><loc>https://example.org/1</loc></url></urlset>'
    return {
        "a.md": f"---\ntitle: Boats\ntags: [a, b]\n---\n# Boats\n\n{TEXT}\n\n- one\n".encode(),
        "a.txt": f"Größe\n\n{TEXT}\n".encode("cp1252"),
        "a.html": page.encode(),
        "a.pdf": pdf_of([[("Boats", 20), TEXT], [TEXT]], {"Title": "Boats"}),
        "a.rtf": rb"{\rtf1\ansi\ansicpg1252{\info{\title Boats}}\pard " + TEXT.encode() + rb"\par}",
        "a.eml": mail.encode(),
        "a.srt": f"1\n00:00:00,000 --> 00:00:02,000\nAnn: {TEXT}\n\n".encode(),
        "a.vtt": f"WEBVTT\n\n00:00.000 --> 00:02.000\n<v Ann>{TEXT}\n".encode(),
        "a.json": json.dumps({"version": "1.0.0", "segments": said}).encode(),
        "b.json": json.dumps(
            {"version": "https://jsonfeed.org/version/1.1", "title": "Boats", "items": [item]}
        ).encode(),
        "a.json3": json.dumps({"wireMagic": "pb3", "events": events}).encode(),
        "a.xml": feed.encode(),
        "b.xml": sitemap.encode(),
        **office(),
    }


def office() -> dict[str, bytes]:
    """Documents in ZIP containers."""
    mark = "application/vnd.openxmlformats-officedocument"
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Override PartName="/{}" ContentType="{}"/></Types>'
    )
    shown = f"{mark}.presentationml.presentation.main+xml"
    word, slide = "word/document.xml", "ppt/slides/slide1.xml"
    deck = "ppt/presentation.xml"
    chapter = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Boats</h1><p>{TEXT}</p></body></html>'
    return {
        "a.docx": packed({
            "[Content_Types].xml": types.format(word, f"{mark}.wordprocessingml.document.main+xml"),
            "_rels/.rels": relation("officeDocument", word),
            word: f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>{TEXT}</w:t></w:r></w:p>'
            "</w:body></w:document>",
        }),
        "a.pptx": packed({
            "[Content_Types].xml": types.format(deck, shown),
            "_rels/.rels": relation("officeDocument", deck),
            deck: f'<p:presentation xmlns:p="{SLIDES}" xmlns:r="{TYPES}"><p:sldIdLst>'
            '<p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relation("slide", "slides/slide1.xml"),
            slide: f'<p:sld xmlns:p="{SLIDES}" xmlns:a="{DRAWING}"><p:cSld><p:spTree><p:sp>'
            f"<p:txBody><a:p><a:r><a:t>{TEXT}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>",
        }),
        "a.odt": packed({
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f'<o:document-content xmlns:o="{OFFICE}office:1.0" '
            f'xmlns:t="{OFFICE}text:1.0"><o:body><o:text><t:h t:outline-level="1">Boats</t:h>'
            f"<t:p>{TEXT}</t:p></o:text></o:body></o:document-content>",
        }),
        "a.epub": packed({
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:'
            'container"><rootfiles><rootfile full-path="b.opf" '
            'media-type="application/oebps-package+xml"/></rootfiles></container>',
            "b.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Boats</dc:title></metadata>'
            '<manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="c"/></spine></package>',
            "c.xhtml": chapter,
        }),
    }  # fmt: skip


def faults(found: list[tuple[Case, Outcome]]) -> list[str]:
    return [
        f"{one.number} {one.name} {one.damage}: {got.result}" for one, got in found if got.fault
    ]


def test_each_file_loads_before_it_is_damaged() -> None:
    for name, content in documents().items():
        assert outcome_of(Case(0, name, "", "none", content)).result == "text", name


def test_damaged_files_give_text_or_a_typed_refusal(root: Path) -> None:
    files = [*documents().items(), *files_in([root / "fixtures" / "sources"])]
    found = list(outcomes(files, range(COUNT), seed=7))
    assert len(found) == COUNT
    assert faults(found) == []
    assert {"text", "corrupt"} <= {got.result for _, got in found}


@pytest.mark.shared
def test_damaged_files_of_the_corpus_give_text_or_a_typed_refusal(shared: Path) -> None:
    files = [one for one in files_in([shared / "corpus"]) if len(one[1]) < SMALL]
    assert faults(list(outcomes(files, range(COUNT), seed=11))) == []


def test_equal_seeds_make_equal_damage() -> None:
    files = list(documents().items())
    assert case_of(31, 5, files) == case_of(31, 5, files)
    assert len({case_of(17 * at, 5, files).content for at in range(9)}) > 1


def test_an_exception_is_a_fault_and_tells_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz_sources.load_bytes", lambda *_: 1 / 0)
    got = outcome_of(Case(0, "a.txt", "text", "none", b"words"))
    assert got.fault
    assert got.result.startswith("ZeroDivisionError")


def test_too_long_and_too_large_are_faults() -> None:
    assert judged(Outcome("text", SECONDS + 1)).fault
    assert judged(Outcome("text", 1, 600)).fault
    assert not judged(Outcome("corrupt", 1, 60)).fault
