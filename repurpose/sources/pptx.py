"""Presentations (.pptx, .pptm): slide by slide, with what the speaker's notes say.

Source: ECMA-376 part 1, chapters 19 (PresentationML) and 21 (DrawingML).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from repurpose.core.source import Source
from repurpose.sources._archive import Archive
from repurpose.sources._document import Piece, add, counted, raised, source_of, title_of
from repurpose.sources._markup import markdown_of
from repurpose.sources._opc import Relation, core_properties, relations, target_of
from repurpose.sources.base import Raw, one_line

__all__ = ["load"]

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
# ISO/IEC 29500 strict documents are the same in other namespaces.
_STRICT = {
    b"http://purl.oclc.org/ooxml/drawingml/": b"http://schemas.openxmlformats.org/drawingml/2006/",
    b"http://purl.oclc.org/ooxml/presentationml/main": _P[1:-1].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": _R[1:-1].encode(),
}
_MAIN_PART = "ppt/presentation.xml"
_SLIDE = re.compile(r"ppt/slides/slide(\d{1,6})\.xml", re.IGNORECASE)
_TITLES = ("title", "ctrTitle")
_ASIDE = ("dt", "ftr", "hdr", "sldNum", "sldImg")  # placeholders that repeat on every slide
_ASIDE_FIELDS = re.compile("slidenum|datetime.*")
_BODIES = ("body", "obj")  # placeholders whose paragraphs have bullets by default
_DEEPEST = 8  # levels of bullets (21.1.2.2.7)


@dataclass(slots=True)
class _Slide:
    """One slide as it is read."""

    page: HtmlElement
    relations: dict[str, Relation]
    title: str | None = None
    is_cover: bool = False
    """Whether the title is that of a whole presentation."""
    hidden: int = 0
    _lists: list[HtmlElement] = field(default_factory=list)

    def shapes(self, tree: etree._Element, archive: Archive) -> None:
        """Read what stands in `tree`, the title first."""
        shapes = list(_shapes(tree))
        shapes.sort(key=lambda one: _placeholder(one) not in _TITLES)
        for shape in shapes:
            if _is_hidden(shape):
                self.hidden += any(text.strip() for text in shape.itertext(f"{_A}t"))
            elif shape.tag == f"{_P}graphicFrame":
                self._frame(shape, archive)
            elif _placeholder(shape) not in _ASIDE:
                self._text(shape)

    def _text(self, shape: etree._Element) -> None:
        kind = _placeholder(shape)
        paragraphs = list(shape.iterfind(f"{_P}txBody/{_A}p"))
        if kind in _TITLES:
            words = one_line(" ".join(_words(one) for one in paragraphs))
            if words and self.title is None:
                self.title, self.is_cover = words, kind == "ctrTitle"
                add(self.page, "h2", words)
            elif words:
                add(self.page, "p", words)
            return
        several = kind in _BODIES and sum(1 for one in paragraphs if _words(one).strip()) > 1
        for paragraph in paragraphs:
            self._paragraph(paragraph, bullets=several)
        self._lists.clear()

    def _paragraph(self, paragraph: etree._Element, *, bullets: bool) -> None:
        words = _words(paragraph)
        properties = paragraph.find(f"{_A}pPr")
        level = 0
        if properties is not None:
            marked = any(properties.find(f"{_A}{one}") is not None for one in ("buChar", "buBlip"))
            numbered = properties.find(f"{_A}buAutoNum") is not None
            plain = properties.find(f"{_A}buNone") is not None
            bullets = marked or numbered or (bullets and not plain)
            found = re.fullmatch("[0-8]", properties.get("lvl", "0"))
            level = int(found[0]) if found else 0
        else:
            numbered = False
        if not words.strip():
            return
        if bullets:
            self._item(words, level, "ol" if numbered else "ul")
        else:
            self._lists.clear()
            add(self.page, "p", words)

    def _item(self, words: str, level: int, tag: str) -> None:
        del self._lists[level + 1 :]
        if len(self._lists) == level + 1 and self._lists[-1].tag != tag:
            self._lists.pop()
        while len(self._lists) <= level:
            owner = self.page
            if self._lists:
                items = self._lists[-1].findall("li")
                owner = items[-1] if items else add(self._lists[-1], "li")
            self._lists.append(add(owner, tag))
        add(self._lists[-1], "li", words)

    def _frame(self, frame: etree._Element, archive: Archive) -> None:
        for table in frame.iter(f"{_A}tbl"):
            made = add(self.page, "table")
            for row in table.iterfind(f"{_A}tr"):
                line = add(made, "tr")
                for cell in row.iterfind(f"{_A}tc"):
                    lines = (_words(one) for one in cell.iterfind(f"{_A}txBody/{_A}p"))
                    add(line, "td", "\n".join(lines))
        for diagram in frame.iter(f"{_DGM}relIds"):
            relation = self.relations.get(diagram.get(f"{_R}dm", ""))
            root = None if relation is None else archive.xml(relation.part, _STRICT)
            for point in () if root is None else root.iter(f"{_DGM}pt"):
                words = " ".join(_words(one) for one in point.iter(f"{_A}p"))
                if words.strip():
                    self._item(words, 0, "ul")
            self._lists.clear()


def load(raw: Raw) -> Source:
    """A source from a presentation of 2007 or later; each block knows its slide.

    Titles of slides are headings of the second level. Notes follow their slide, each paragraph
    with `Notes: ` before it. Hidden slides and shapes are left out and counted; slides keep
    their numbers. A slide that cannot be read costs that slide.

    Raises:
        SourceError: `corrupt`, `encrypted`, `no-text` or `too-large`.
    """
    archive = Archive(raw)
    pieces: list[Piece] = []
    hidden_slides = hidden_shapes = 0
    title: str | None = None
    for number, part in enumerate(_slide_parts(archive), 1):
        root = archive.xml(part, _STRICT)
        if root is None:
            if part not in archive:
                archive.lost(part, "missing")
            continue
        if root.get("show") in ("0", "false"):
            hidden_slides += 1
            continue
        slide = _read(root, part, archive)
        hidden_shapes += slide.hidden
        pieces.append(Piece(markdown_of(slide.page), number))
        if number == 1 and slide.is_cover:
            title = slide.title
    if not pieces and not hidden_slides:
        raise archive.corrupt("no slide in it can be read")
    declared = core_properties(archive)
    warnings = list(archive.warnings)
    if hidden_slides:
        warnings.append(f"hidden slides were left out: {counted(hidden_slides, 'slide')}")
    return source_of(
        raw,
        "pptx",
        pieces,
        replace(declared, title=title_of(declared.title) or title),
        hidden=hidden_slides + hidden_shapes,
        warnings=warnings,
    )


def _slide_parts(archive: Archive) -> list[str]:
    """The slides in the order they are shown; by their numbers where that order is lost."""
    main = target_of(relations(archive, ""), "officeDocument", _MAIN_PART)
    root = archive.xml(main, _STRICT)
    found = relations(archive, main)
    ids = [] if root is None else [one.get(f"{_R}id", "") for one in root.iter(f"{_P}sldId")]
    parts = [found[one].part for one in ids if one in found]
    if not parts:
        numbered = ((_SLIDE.fullmatch(name), name) for name in archive.names)
        parts = [name for _, name in sorted((int(one[1]), name) for one, name in numbered if one)]
    return list(dict.fromkeys(parts))


def _read(root: etree._Element, part: str, archive: Archive) -> _Slide:
    beside = relations(archive, part)
    slide = _Slide(lxml.html.Element("div"), beside)
    tree = root.find(f"{_P}cSld/{_P}spTree")
    if tree is not None:
        slide.shapes(tree, archive)
    notes = target_of(beside, "notesSlide", "")
    spoken = archive.xml(notes, _STRICT) if notes else None
    for shape in () if spoken is None else spoken.iter(f"{_P}sp"):
        if _placeholder(shape) == "body":
            for paragraph in shape.iterfind(f"{_P}txBody/{_A}p"):
                words = _words(paragraph)
                if words.strip():
                    add(slide.page, "p", f"Notes: {words.strip()}")
    return slide


def _shapes(tree: etree._Element) -> Iterator[etree._Element]:
    """Shapes and frames in the order they were drawn, groups opened."""
    for one in tree:
        if one.tag in (f"{_P}sp", f"{_P}graphicFrame", f"{_P}cxnSp"):
            yield one
        elif one.tag == f"{_P}grpSp":
            yield from (one,) if _is_hidden(one) else _shapes(one)
        elif one.tag == f"{_MC}AlternateContent":
            chosen = one.find(f"{_MC}Choice")
            if chosen is None:
                chosen = one.find(f"{_MC}Fallback")
            yield from () if chosen is None else _shapes(chosen)


def _is_hidden(shape: etree._Element) -> bool:
    names = shape.find(f"./*/{_P}cNvPr")
    return names is not None and names.get("hidden") in ("1", "true")


def _placeholder(shape: etree._Element) -> str | None:
    """The type of the placeholder that a shape fills; obj where it names none (19.3.1.36)."""
    found = shape.find(f"./*/{_P}nvPr/{_P}ph")
    return None if found is None else found.get("type", "obj")


def _words(paragraph: etree._Element) -> str:
    parts: list[str] = []
    for one in paragraph:
        if one.tag == f"{_A}br":
            parts.append("\n")
        elif one.tag == f"{_A}r" or (
            one.tag == f"{_A}fld" and not _ASIDE_FIELDS.fullmatch(one.get("type", ""))
        ):
            words = one.findtext(f"{_A}t") or ""
            properties = one.find(f"{_A}rPr")
            high = properties is not None and re.fullmatch(
                "[1-9][0-9]{0,6}%?", properties.get("baseline", "")
            )
            parts.append(raised(words) if high else words)
    # A vertical tab is how titles break their lines.
    return "".join(parts).replace("\v", "\n").replace("_x000B_", "\n")
