"""What Word and PowerPoint files share: parts that refer to each other, and core properties.

Source: ECMA-376 part 2 (Open Packaging Conventions). The strict and the transitional form name
the same relationships in different namespaces, so only the last word of a type counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from repurpose.sources._archive import Archive, place_of
from repurpose.sources._document import Declared

__all__ = ["Relation", "core_properties", "relations", "target_of"]

_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CREATED = "{http://purl.org/dc/terms/}created"
# What the templates of python-docx and python-pptx say of themselves, in every file made from
# them whose author did not think of it.
_TEMPLATE_DATES = ("2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z")
_TEMPLATE_AUTHORS = ("python-docx", "Steve Canny")


@dataclass(frozen=True, slots=True)
class Relation:
    """What one part refers to in the container."""

    kind: str
    """The last word of its type, such as slide or notesSlide."""
    part: str


def relations(archive: Archive, part: str) -> dict[str, Relation]:
    """What `part` refers to in the container, by relationship id; "" is the container itself."""
    folder, _, name = part.rpartition("/")
    root = archive.xml(f"{folder}/_rels/{name}.rels")
    if root is None:
        return {}
    return {
        one.get("Id", ""): Relation(
            one.get("Type", "").rpartition("/")[2], place_of(one.get("Target", ""), part)
        )
        for one in root.iter(_RELATIONSHIP)
        if one.get("TargetMode") != "External"
    }


def target_of(found: dict[str, Relation], kind: str, otherwise: str) -> str:
    """The part of `kind` among `found`, else the part where programs put it by custom."""
    return next((one.part for one in found.values() if one.kind == kind), otherwise)


def core_properties(archive: Archive) -> Declared:
    """Title, author, date of creation and language as the document declares them."""
    root = archive.xml(target_of(relations(archive, ""), "core-properties", "docProps/core.xml"))
    if root is None:
        return Declared()
    author, date = _text(root, f"{_DC}creator"), _text(root, _CREATED)
    return Declared(
        title=_text(root, f"{_DC}title"),
        author=None if author in _TEMPLATE_AUTHORS else author,
        date=None if date in _TEMPLATE_DATES else date,
        language=_text(root, f"{_DC}language"),
    )


def _text(root: etree._Element, tag: str) -> str | None:
    words = (root.findtext(tag) or "").strip()
    return words or None
