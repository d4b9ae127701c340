"""Word documents (.docx, .docm): body, notes and text boxes, as a reader of the print sees them.

Mammoth turns the text into HTML. It is given a package of our own making, with hidden text,
pictures and formatting taken out, and never sees the XML of the file itself.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, replace

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._archive import Archive
from repurpose.sources._document import Piece, add, counted, flatten, source_of, title_of
from repurpose.sources._markup import markdown_of, parsed
from repurpose.sources._opc import core_properties, relations, target_of
from repurpose.sources._word import M, opening_title, reduce_to_text, role_of, words_of
from repurpose.sources._word_styles import W, styles_of
from repurpose.sources.base import Raw, shown

__all__ = ["load"]

_NOTES = {"footnotes": "footnote", "endnotes": "endnote"}
# ISO/IEC 29500 strict documents are the same in other namespaces.
_STRICT = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": W[1:-1].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/math": M[1:-1].encode(),
}
_MAIN_PART = "word/document.xml"
# Every mapping is tried for every paragraph, so these stand in the place of mammoth's own fifty.
_STYLE_MAP = "\n".join([
    "p.Title => h1:fresh",
    "p.Quote => blockquote > p:fresh",
    *(f"p.Heading{level} => h{level}:fresh" for level in range(1, 7)),
    *(
        f"p:{kind}ordered-list({level + 1}) => {'ul|ol > li > ' * level}{tag} > li:fresh"
        for level in range(5)
        for kind, tag in (("un", "ul"), ("", "ol"))
    ),
])  # fmt: skip
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MOST_ELEMENTS = 100_000  # mammoth takes 60 µs and 1.3 KB for each
_LOOKS = tuple(f"{W}{one}" for one in ("rPr", "pPr", "lvlText", "lvlJc", "suff", "isLgl"))


@dataclass(frozen=True, slots=True)
class _Body:
    """The parts of one document that hold text or say how it is numbered."""

    document: etree._Element
    notes: dict[str, etree._Element]
    numbering: etree._Element | None
    styles: etree._Element | None


def load(raw: Raw) -> Source:
    """A source from a Word document of 2007 or later.

    Insertions are text; deletions, comments, headers and pictures are not. Footnotes and
    endnotes stand at the end, their numbers in brackets. A paragraph in the style Title is a
    heading of the first level, and the title where it opens a document that declares none.

    Raises:
        SourceError: `corrupt`, `encrypted`, `no-text`, `too-large`, or `unsupported` where the
            "office" extra is not installed.
    """
    archive = Archive(raw)
    body = _body_of(archive)
    styles = styles_of(body.styles)
    ids = frozenset(
        f"{kind}Reference {note.get(f'{W}id')}"
        for name, kind in _NOTES.items()
        if name in body.notes
        for note in body.notes[name].iter(f"{W}{kind}")
    )
    roots = (body.document, *body.notes.values())
    hidden = sum(reduce_to_text(root, styles, ids) for root in roots)
    tree, doubts = _page_of(body, raw)
    declared = core_properties(archive)
    warnings = [*archive.warnings, *doubts]
    if hidden:
        warnings.append(f"hidden text was left out: {counted(hidden, 'piece')}")
    markdown = "" if tree is None else markdown_of(tree)
    return source_of(
        raw,
        "docx",
        [Piece(markdown)],
        replace(declared, title=title_of(declared.title) or opening_title(body.document)),
        hidden=hidden,
        warnings=warnings,
    )


def _body_of(archive: Archive) -> _Body:
    main = target_of(relations(archive, ""), "officeDocument", _MAIN_PART)
    document = archive.xml(main if main in archive else _MAIN_PART, _STRICT)
    if document is None:
        raise archive.corrupt("the part that holds its text is missing or damaged")
    beside = relations(archive, main)

    def part(kind: str) -> etree._Element | None:
        return archive.xml(target_of(beside, kind, f"word/{kind}.xml"), _STRICT)

    notes = {name: root for name in _NOTES if (root := part(name)) is not None}
    return _Body(document, notes, part("numbering"), part("styles"))


def _page_of(body: _Body, raw: Raw) -> tuple[HtmlElement | None, tuple[str, ...]]:
    """The text as a page, and a warning where it lost its lists and tables."""
    count = sum(1 for root in (body.document, *body.notes.values()) for _ in root.iter())
    if count > _MOST_ELEMENTS:
        return _plain(body), ("very long: read without its lists and tables",)
    markup = _converted(_package(body), raw)
    if markup is None:
        return _plain(body), ("damaged: read without its lists and tables",)
    tree = parsed(markup)
    if tree is not None:
        _drop_links_back(tree)
        for cell in tree.iter("td", "th"):
            flatten(cell)
    return tree, ()


def _converted(package: io.BytesIO, raw: Raw) -> str | None:
    """Mammoth's HTML, or None where it fails on what the file holds."""
    try:
        # An optional package: without it, all other kinds can still be read.
        import mammoth  # noqa: PLC0415 - see above
    except ImportError:
        raise SourceError(
            "unsupported",
            f'{shown(raw.origin)}: Word documents cannot be read without the "office" extra; '
            "install it: pip install 'repurpose-text[office]'",
        ) from None
    try:
        result = mammoth.convert_to_html(
            package,
            style_map=_STYLE_MAP,
            include_default_style_map=False,
            include_embedded_style_map=False,
        )
    except Exception:  # noqa: BLE001 - it raises whatever a damaged document leads it to
        return None
    return str(result.value)


def _package(body: _Body) -> io.BytesIO:
    """The least that mammoth needs, with the names that it looks for without being told."""
    parts = {"document": body.document, **body.notes}
    if body.numbering is not None:
        etree.strip_elements(body.numbering, *_LOOKS)
        parts["numbering"] = body.numbering
    if body.styles is not None:
        # Of the styles only those of lists are still needed.
        for style in list(body.styles):
            if style.get(f"{W}type") != "numbering":
                body.styles.remove(style)
        parts["styles"] = body.styles
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, root in parts.items():
            package.writestr(f"word/{name}.xml", etree.tostring(root, encoding="utf-8"))
    buffer.seek(0)
    return buffer


def _plain(body: _Body) -> HtmlElement:
    """Headings and paragraphs, one after another."""
    page = lxml.html.Element("div")
    for root in (body.document, *body.notes.values()):
        for paragraph in root.iter(f"{W}p"):
            role = role_of(paragraph)
            tag = "h1" if role == "Title" else role.lower().replace("heading", "h")
            add(page, tag if tag in _HEADINGS else "p", words_of(paragraph))
    return page


def _drop_links_back(tree: HtmlElement) -> None:
    """The arrow behind a note leads back to the text; it is none of the note's words."""
    for link in list(tree.iter("a")):
        if (link.get("href") or "").startswith(("#footnote-ref-", "#endnote-ref-")):
            link.drop_tree()
