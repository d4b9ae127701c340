"""Books (.epub), chapter by chapter in reading order.

What belongs to the book as an object is left out: cover, imprint, copyright page, tables of
contents, page numbers. A colophon is prose about the edition, and stays. Source: EPUB 3.3 and
its Structural Semantics Vocabulary 1.1.
"""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._archive import Archive, place_of
from repurpose.sources._document import Declared, Piece, counted, source_of
from repurpose.sources._hidden import remove_hidden
from repurpose.sources._markup import markdown_of, parsed
from repurpose.sources._opf import Package, package_in
from repurpose.sources.base import MAX_BYTES, Raw, decode

__all__ = ["load"]

_ENCRYPTION = "META-INF/encryption.xml"
_XMLENC = "{http://www.w3.org/2001/04/xmlenc#}"
# EPUB 3.3, 4.2.6.3.4 and Adobe's older way: these scramble fonts only, and hide no text.
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_NOT_TEXT = frozenset({
    "copyright-page", "cover", "imprint", "landmarks", "loi", "lot", "page-list", "pagebreak",
    "toc"
})  # fmt: skip
_PAGE_ENDINGS = (".xhtml", ".html", ".htm")
_MOST_TAGS = 600_000  # the markup of a book of a thousand pages has a tenth of it
_DECLARED = re.compile(rb"""<\?xml[^>]{0,80}?encoding=["']([\w.:-]{1,40})""")
_EMPTY_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9]{0,15})((?:\s[^<>]{0,2000})?)/>")
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
    "source", "track", "wbr"
})  # fmt: skip


def load(raw: Raw) -> Source:
    """A source from a book without copy protection.

    A chapter that cannot be read costs that chapter, with a warning.

    Raises:
        SourceError: `corrupt`, `encrypted`, `no-text` or `too-large`.
    """
    archive = Archive(raw)
    package = package_in(archive) or _unlisted(archive)
    _refuse_encrypted(archive, package)
    pieces: list[Piece] = []
    hidden = tags = 0
    for place in package.chapters:
        if package.roles.get(place) in _NOT_TEXT:
            continue
        markup = _markup_of(archive, place) or ""
        tags += markup.count("<")
        if archive.unpacked > MAX_BYTES or tags > _MOST_TAGS:
            raise archive.too_large("holds more text than any book")
        tree = parsed(_EMPTY_TAG.sub(_opened, markup))
        if tree is not None:
            hidden += remove_hidden(tree)
            _drop_matter(tree)
            pieces.append(Piece(markdown_of(tree)))
    if not pieces and archive.warnings:
        raise archive.corrupt("no chapter in it can be read")
    warnings = list(archive.warnings)
    if hidden:
        warnings.append(f"hidden text was left out: {counted(hidden, 'piece')}")
    return source_of(raw, "epub", pieces, package.declared, hidden=hidden, warnings=warnings)


def _unlisted(archive: Archive) -> Package:
    """The chapters of a book whose own list of them is lost, in the order of the file."""
    pages = tuple(one for one in archive.names if one.lower().endswith(_PAGE_ENDINGS))
    if not pages:
        raise archive.corrupt("its list of chapters is missing or damaged")
    archive.warn("the list of chapters is damaged; they are in the order of the file")
    return Package(pages, Declared(), {})


def _refuse_encrypted(archive: Archive, package: Package) -> None:
    """Refuse a book whose chapters are encrypted; scrambled fonts and pictures do not matter."""
    root = archive.xml(_ENCRYPTION)
    chapters = frozenset(package.chapters)
    for one in () if root is None else root.iter(f"{_XMLENC}EncryptedData"):
        method = one.find(f"{_XMLENC}EncryptionMethod")
        if method is not None and method.get("Algorithm") in _FONTS_ONLY:
            continue
        references = one.iter(f"{_XMLENC}CipherReference")
        if any(place_of(ref.get("URI", ""), "") in chapters for ref in references):
            raise archive.encrypted()


def _markup_of(archive: Archive, place: str) -> str | None:
    """The text of a chapter, markup included; None, with a warning, where it cannot be read."""
    content = archive.read(place)
    if content is None:
        if place not in archive:
            archive.lost(place, "missing")
        return None
    declared = _DECLARED.match(content)
    charset = declared[1].decode("ascii", "replace") if declared else None
    try:
        text, _ = decode(Raw(place, content), charset)
    except SourceError as fault:
        archive.lost(place, "too large" if fault.reason == "too-large" else "not text")
        return None
    return text


def _opened(tag: re.Match[str]) -> str:
    """`<title/>` as `<title></title>`: to a parser of HTML it would open and never close."""
    if tag[1].lower() in _VOID:
        return tag[0]
    return f"<{tag[1]}{tag[2]}></{tag[1]}>"


def _drop_matter(tree: HtmlElement) -> None:
    """Take out the parts that are about the book as an object, as their `epub:type` says."""
    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or element.getparent() is None:
            continue
        types = (element.get("epub:type") or "").lower().split()
        if _NOT_TEXT.isdisjoint(types):
            continue
        if element.tag == "body":
            element.clear()
        else:
            element.drop_tree()
