"""What a reader of RTF keeps in mind: the state of a group, and the styles of the document."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["State", "Style"]

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)


@dataclass(slots=True)
class State:
    """What holds until the group ends; copied where one begins."""

    place: str = "body"
    """Where text goes: body, marker, aside, fonts, styles, info, title, author, created. `maybe`
    is a group for readers that know its word."""
    hidden: bool = False
    font: int = -1
    skip: int = 1
    """How many characters stand in for one that is given by its number (`\\uc`)."""
    style: int = -1
    level: int = 0
    in_table: bool = False
    listed: bool = False
    note: int = 0
    """The number of the footnote that the text is in; 0 outside of footnotes."""


@dataclass(slots=True)
class Style:
    name: list[str] = field(default_factory=list)
    level: int = 0

    @property
    def heading(self) -> int:
        """The level of headings in this style; 0 for other styles."""
        name = "".join(self.name).strip().rstrip(";").strip()
        found = _HEADING.match(name)
        if found is not None:
            return int(found[1])
        return self.level or (1 if name.lower() == "title" else 0)
