"""What the styles of a Word document mean: headings, quotations, lists, hidden text.

Word keeps the English names of its own styles in every language, ids are translated, and
people's own styles are known by what they are based on. Source: ECMA-376 part 1, 17.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

__all__ = ["Styles", "W", "is_on", "styles_of"]

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VAL = f"{W}val"
_DEEPEST = 6  # levels of headings in HTML and Markdown; Word has nine
_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_ROLES = {"title": "Title", "quote": "Quote", "intense quote": "Quote"}

_LONGEST_LINE = 50  # styles based on each other; people make five


@dataclass(frozen=True, slots=True)
class Styles:
    """The styles of one document, by id."""

    _by_id: dict[str, etree._Element] = field(default_factory=dict)
    _roles: dict[str, str | None] = field(default_factory=dict)
    _hidden: dict[str, bool] = field(default_factory=dict)

    def role_of(self, style: str) -> str | None:
        """`Title`, `Quote`, `Contents`, or `Heading1` to `Heading6`; None for any other text."""
        if style not in self._roles:
            self._roles[style] = self._found_role(style)
        return self._roles[style]

    def hides(self, style: str) -> bool:
        """Whether text in this style is hidden, unless the text itself says otherwise."""
        if style not in self._hidden:
            marks = (one.find(f"{W}rPr/{W}vanish") for one in self._line(style))
            first = next((one for one in marks if one is not None), None)
            self._hidden[style] = first is not None and is_on(first)
        return self._hidden[style]

    def numbering_of(self, style: str) -> etree._Element | None:
        """The list that text in this style belongs to (`w:numPr`)."""
        found = (one.find(f"{W}pPr/{W}numPr") for one in self._line(style))
        return next((one for one in found if one is not None), None)

    def _found_role(self, style: str) -> str | None:
        if style not in self._by_id:
            return heading_of(style)
        for one in self._line(style):
            level = one.find(f"{W}pPr/{W}outlineLvl")
            if level is not None:
                return heading_at(level.get(_VAL))
            found = _role_named(one)
            if found is not None:
                return found
        return None

    def _line(self, style: str) -> Iterator[etree._Element]:
        """The style and those it is based on, nearest first."""
        seen: set[str] = set()  # a style may be its own ancestor
        while style in self._by_id and style not in seen and len(seen) < _LONGEST_LINE:
            seen.add(style)
            yield self._by_id[style]
            parent = self._by_id[style].find(f"{W}basedOn")
            style = "" if parent is None else parent.get(_VAL, "")


def styles_of(root: etree._Element | None) -> Styles:
    """The styles in the part `styles.xml`; none where it is missing."""
    if root is None:
        return Styles()
    return Styles({one.get(f"{W}styleId", ""): one for one in root.iter(f"{W}style")})


def is_on(mark: etree._Element) -> bool:
    """The value of a property that is on when it is there (17.17.4, ST_OnOff)."""
    return mark.get(_VAL, "1") not in ("0", "false", "off")


def heading_at(level: str | None) -> str | None:
    """The role of an outline level: 0 is the first, 9 is none."""
    if level is None or not re.fullmatch("[0-8]", level):
        return None
    return f"Heading{min(int(level) + 1, _DEEPEST)}"


def heading_of(name: str) -> str | None:
    """The role of a style that is called a heading."""
    found = _HEADING.fullmatch(name)
    return heading_at(str(int(found[1]) - 1)) if found else None


def _role_named(style: etree._Element) -> str | None:
    name = style.find(f"{W}name")
    words = "" if name is None else name.get(_VAL, "").strip().lower()
    if re.fullmatch(r"toc [1-9]|table of figures", words):
        return "Contents"
    return _ROLES.get(words) or heading_of(words)
