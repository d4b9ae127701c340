"""What the styles of an OpenDocument text mean: titles, hidden and raised text, list numbers.

Source: ODF 1.3 part 3, chapters 16 (styles) and 20 (formatting).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

__all__ = ["STYLE", "TEXT", "Styles", "styles_of"]

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"

_LONGEST_LINE = 50  # styles based on each other; people make five


@dataclass(slots=True)
class Styles:
    """The styles of one document: those of its pages, and those that its text made for itself."""

    _by_name: dict[tuple[str, str], etree._Element] = field(default_factory=dict)
    _numbered: dict[str, frozenset[int]] = field(default_factory=dict)
    _found: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def read(self, root: etree._Element) -> None:
        for one in root.iter(f"{STYLE}style"):
            self._by_name[one.get(f"{STYLE}family", ""), one.get(f"{STYLE}name", "")] = one
        for one in root.iter(f"{TEXT}list-style"):
            levels = one.iterfind(f"{TEXT}list-level-style-number")
            numbers = (level.get(f"{TEXT}level", "") for level in levels)
            self._numbered[one.get(f"{STYLE}name", "")] = frozenset(
                int(number) for number in numbers if number in tuple("123456789")
            )

    def is_numbered(self, list_style: str, level: int) -> bool:
        """Whether items at `level`, counted from 1, have numbers."""
        return level in self._numbered.get(list_style, frozenset())

    def is_title(self, name: str) -> bool:
        """Whether a paragraph in this style is the title of the document."""
        parents = (one.get(f"{STYLE}parent-style-name") for one in self._line("paragraph", name))
        return name == "Title" or "Title" in parents

    def hides(self, family: str, name: str) -> bool:
        return self._value(family, name, f"{TEXT}display") == "none"

    def raises(self, name: str) -> bool:
        """Whether text in this style is superscript."""
        position = self._value("text", name, f"{STYLE}text-position")
        return position.startswith("super") or (position[:1].isdigit() and position[:2] != "0%")

    def _value(self, family: str, name: str, attribute: str) -> str:
        key = (family, name, attribute)
        if key not in self._found:
            properties = (one.find(f"{STYLE}text-properties") for one in self._line(family, name))
            values = (one.get(attribute) for one in properties if one is not None)
            self._found[key] = next((value for value in values if value is not None), "")
        return self._found[key]

    def _line(self, family: str, name: str) -> Iterator[etree._Element]:
        """The style and those it inherits from, nearest first."""
        seen: set[str] = set()  # a style may be its own ancestor
        while (family, name) in self._by_name and name not in seen and len(seen) < _LONGEST_LINE:
            seen.add(name)
            style = self._by_name[family, name]
            yield style
            name = style.get(f"{STYLE}parent-style-name", "")


def styles_of(*roots: etree._Element | None) -> Styles:
    """The styles in the parts `styles.xml` and `content.xml`, as far as these are there."""
    styles = Styles()
    for root in roots:
        if root is not None:
            styles.read(root)
    return styles
