"""What the package document of an EPUB says: the book's own words about itself, and its order.

Source: EPUB 3.3, chapter 5 (package document), and OPF 2.0.1 for older books.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from repurpose.sources._archive import Archive, place_of
from repurpose.sources._document import Declared, author_of

__all__ = ["Package", "package_in"]

_CONTAINER = "META-INF/container.xml"
_PACKAGE_TYPE = "application/oebps-package+xml"
_TEXT_TYPES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_NO_PUBLICATION = ("conversion", "creation", "modification")  # events of OPF 2.0.1, 2.2.7


@dataclass(frozen=True, slots=True)
class Package:
    """A book's package document."""

    chapters: tuple[str, ...]
    """The parts to be read, in reading order, without navigation and asides."""
    declared: Declared
    roles: dict[str, str]
    """What older books say a part is (`guide`), such as toc or copyright-page."""


def package_in(archive: Archive) -> Package | None:
    """The package of the book, or None where it has none that can be read."""
    for place in _places(archive):
        root = archive.xml(place)
        if root is not None and root.find(f"{_OPF}spine") is not None:
            return Package(
                tuple(dict.fromkeys(_chapters(root, place))),
                _declared(root),
                {
                    place_of(one.get("href", ""), place): one.get("type", "")
                    for one in root.iterfind(f"{_OPF}guide/{_OPF}reference")
                },
            )
    return None


def _places(archive: Archive) -> Iterator[str]:
    """Where the package may be: where the container says, else any part of that kind."""
    container = archive.xml(_CONTAINER)
    for one in () if container is None else container.iter(_ROOTFILE):
        if one.get("media-type", _PACKAGE_TYPE) == _PACKAGE_TYPE:
            yield place_of(one.get("full-path", ""), "")
    yield from (name for name in archive.names if name.lower().endswith(".opf"))


def _chapters(root: etree._Element, place: str) -> Iterator[str]:
    items = {one.get("id", ""): one for one in root.iterfind(f"{_OPF}manifest/{_OPF}item")}
    for entry in root.iterfind(f"{_OPF}spine/{_OPF}itemref"):
        item = items.get(entry.get("idref", ""))
        if item is None or entry.get("linear", "yes") == "no":
            continue
        is_navigation = "nav" in item.get("properties", "").split()
        if item.get("media-type") in _TEXT_TYPES and not is_navigation:
            yield place_of(item.get("href", ""), place)


def _declared(root: etree._Element) -> Declared:
    # Books of 2005 keep the Dublin Core in an element of its own.
    metadata = root.find(f"{_OPF}metadata")
    if metadata is None:
        return Declared()
    refined: dict[tuple[str, str], str] = {}
    for meta in metadata.iter(f"{_OPF}meta"):
        about, what = meta.get("refines", "").removeprefix("#"), meta.get("property", "")
        if about and what:
            refined[about, what] = (meta.text or "").strip()
    languages = (_words(one) for one in metadata.iter(f"{_DC}language"))
    return Declared(
        title=_title(metadata, refined),
        author=_author(metadata, refined),
        date=_date(metadata),
        # RFC 5646: "und" stands for an undetermined language.
        language=next((code for code in languages if code.lower() not in ("", "und")), None),
    )


def _words(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _title(metadata: etree._Element, refined: dict[tuple[str, str], str]) -> str | None:
    """The main title where several are told apart, else the first."""
    titles = [one for one in metadata.iter(f"{_DC}title") if _words(one)]
    titles.sort(key=lambda one: refined.get((one.get("id", ""), "title-type")) != "main")
    return _words(titles[0]) if titles else None


def _author(metadata: etree._Element, refined: dict[tuple[str, str], str]) -> str | None:
    """All creators, without those whose role is another than author."""
    names = []
    for one in metadata.iter(f"{_DC}creator"):
        role = one.get(f"{_OPF}role") or refined.get((one.get("id", ""), "role")) or "aut"
        if role == "aut":
            names.append(author_of(_words(one)))
    return ", ".join(dict.fromkeys(name for name in names if name)) or None


def _date(metadata: etree._Element) -> str | None:
    """The date of publication; an older book may give several, each with its event."""
    dates = [one for one in metadata.iter(f"{_DC}date") if _words(one)]
    dates = [one for one in dates if one.get(f"{_OPF}event") not in _NO_PUBLICATION]
    dates.sort(key=lambda one: one.get(f"{_OPF}event") != "publication")
    return _words(dates[0]) if dates else None
