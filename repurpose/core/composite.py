"""What a composite is: named sections, each put together from one row, and where it goes.

Two spellings of a declaration mean the same: `name`, `input`, `label` and `renderer`, or the long
ones `sectionName`, `inputNodeId`, `displayLabel` and `widgetType`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from repurpose.errors import UsageError

__all__ = [
    "DESTINATIONS",
    "RENDERERS",
    "Composite",
    "Section",
    "canonical",
    "composite_from",
    "split_input",
]

DESTINATIONS = ("store", "stdout", "file")
"""Where a composite can go. Stored with it, so one is only ever added, and none renamed."""
RENDERERS = ("markdown", "html", "json")
"""What a composite can be written as; likewise."""

_OF_COMPOSITE: Mapping[str, str] = MappingProxyType({"widgetType": "renderer"})
_OF_SECTION: Mapping[str, str] = MappingProxyType(
    {"sectionName": "name", "displayLabel": "label", "inputNodeId": "input"}
)
"""Long spellings, and what they are here."""
_KEYS = ("name", "version", "destination", "renderer", "sections")
_SECTION_KEYS = ("name", "input", "label")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""A composite's: it becomes part of file names and addresses."""
_INPUT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}(?:\.[a-z0-9][a-z0-9_.-]{0,63})?")
_LONGEST = 100
"""Characters of a section's name or label; what is longer is no heading."""


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of a composite. It is checked by the composite that it stands in."""

    name: str
    """What programs know it by; it stays while the version of the composite does."""
    input: str
    """`FORMAT`, or `FORMAT.VARIANT` where a format yields several: `social.linkedin`."""
    label: str | None = None
    """What a reader sees; None shows the name. It may change at any time."""


@dataclass(frozen=True, slots=True)
class Composite:
    """A deliverable that is put together from rows, by the names of its sections.

    One without sections is valid. Names are compared without regard to case, and what is around
    a text, as in `" STDOUT "`, does not count.

    Raises:
        UsageError: a value that cannot be used; the message says where it stands.

    >>> Composite("kit", (Section("summary", "summary"),), destination=" STDOUT ").destination
    'stdout'
    """

    name: str
    sections: Sequence[Section] = ()
    version: int = 1
    """Raised when a section gets another name; order and labels may change within one."""
    destination: str = "store"
    """One of `DESTINATIONS`."""
    renderer: str = "markdown"
    """One of `RENDERERS`."""

    def __post_init__(self) -> None:
        name = _own_name(self.name)
        version: object = self.version
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise _fault(name, "version", "must be a whole number from 1 up")
        checked = {
            "name": name,
            "sections": tuple(_sections(name, self.sections)),
            "destination": _choice(name, "destination", self.destination, DESTINATIONS),
            "renderer": _choice(name, "renderer", self.renderer, RENDERERS),
        }
        for field, value in checked.items():
            object.__setattr__(self, field, value)
        _refuse_equal_names(name, self.section_names)

    @property
    def section_names(self) -> tuple[str, ...]:
        """The names of its sections, in order."""
        return tuple(section.name for section in self.sections)


def composite_from(name: str | None, table: object) -> Composite:
    """The composite that a table declares, in TOML, JSON or Python; None is one without sections.

    `name` is given where the table stands under it; else the table has a `name` of its own.

    Raises:
        UsageError: it cannot be used; the message names the composite, the place and the key.

    >>> composite_from("kit", {"sections": [{"sectionName": "faq", "input": "faq"}]}).sections
    (Section(name='faq', input='faq', label=None),)
    """
    fields: dict[str, Any] = canonical(name, table)
    shown = str(fields["name"])
    sections = fields.pop("sections", ())
    if not isinstance(sections, list | tuple):
        raise _fault(shown, "sections", "must be a list")
    made = []
    for place, section in enumerate(sections):
        where = f"sections.{place}"
        if not isinstance(section, Mapping):
            raise _fault(shown, where, "must be a table with name and input")
        for key in ("name", "input"):
            if key not in section:
                raise _fault(shown, f"{where}.{key}", "is missing")
        made.append(Section(**section))
    return Composite(sections=made, **fields)


def canonical(name: str | None, table: object) -> dict[str, Any]:
    """A declaration in its short spelling, with its `name`, and without keys that hold nothing.

    Destination and renderer are in lower case without spaces around them. A value of the wrong
    type stays as it is.

    Raises:
        UsageError: it is no table, has a key that is not known, or says the same in two spellings
            or under two names.
    """
    table = {} if table is None else table
    if not isinstance(table, Mapping):
        raise _fault(name or "", "", "must be a table")
    fields: dict[str, Any] = dict(_short(name or "", "", table, _OF_COMPOSITE))
    _refuse_unknown(name or "", "", fields, _KEYS)
    own = fields.get("name", name)
    if name is not None and own != name:
        raise _fault(name, "name", "differs from the name that it is declared under")
    if own is None:
        raise UsageError("a composite needs a name", hint='such as "name": "launch-kit"')
    fields["name"] = own
    for key in ("destination", "renderer"):
        value = fields.get(key)
        if isinstance(value, str):
            fields[key] = value.strip().casefold()
    sections = fields.get("sections")
    if isinstance(sections, list | tuple):
        fields["sections"] = [
            _short_section(str(own), f"sections.{place}.", each)
            for place, each in enumerate(sections)
        ]
    return fields


def split_input(text: str) -> tuple[str, str | None]:
    """The format and the variant of an input; None for the variant `default`.

    >>> split_input("social.x.2"), split_input("faq")
    (('social', 'x.2'), ('faq', None))
    """
    format, _, variant = text.partition(".")
    return format, None if variant in ("", "default") else variant


def _short(
    name: str, where: str, table: Mapping[str, object], spellings: Mapping[str, str]
) -> Iterator[tuple[str, object]]:
    """The entries in their short spelling, those that are null left out."""
    for key, value in table.items():
        short = spellings.get(key, key)
        if short != key and short in table:
            raise _fault(name, f"{where}{key}", f"means the same as {short}; give one of them")
        if value is not None:
            yield short, value


def _short_section(name: str, where: str, section: object) -> object:
    if not isinstance(section, Mapping):
        return section
    short = dict(_short(name, where, section, _OF_SECTION))
    _refuse_unknown(name, where, short, _SECTION_KEYS)
    return short


def _sections(name: str, sections: Sequence[Section]) -> Iterator[Section]:
    for place, section in enumerate(sections):
        where = f"sections.{place}"
        if not isinstance(section, Section):
            raise _fault(name, where, "must be a Section")
        label = _line(name, f"{where}.label", section.label or "")
        own = _line(name, f"{where}.name", section.name)
        if not own:
            raise _fault(name, f"{where}.name", "is blank")
        yield Section(own, _input(name, f"{where}.input", section.input), label or None)


def _input(name: str, where: str, given: object) -> str:
    if not isinstance(given, str):
        raise _fault(name, where, "must be a text")
    plain = given.strip().casefold()
    if not plain:
        raise _fault(name, where, "is blank")
    if not _INPUT.fullmatch(plain):
        raise _fault(name, where, "must be FORMAT or FORMAT.VARIANT, such as faq or social.x")
    return plain.removesuffix(".default")


def _line(name: str, where: str, given: object) -> str:
    if not isinstance(given, str):
        raise _fault(name, where, "must be a text")
    line = given.strip()
    if len(line) > _LONGEST:
        raise _fault(name, where, f"has more than {_LONGEST} characters")
    if not line.isprintable():
        raise _fault(name, where, "must be one line without control characters")
    return line


def _choice(name: str, key: str, given: object, choices: Sequence[str]) -> str:
    plain = given.strip().casefold() if isinstance(given, str) else None
    if plain not in choices:
        *others, last = choices
        raise _fault(name, key, f"must be {', '.join(others)} or {last}")
    return str(plain)


def _refuse_unknown(
    name: str, where: str, table: Mapping[str, object], known: Sequence[str]
) -> None:
    if any(key not in known for key in table):
        unknown = next(str(key) for key in table if key not in known)
        shown = unknown[:_LONGEST] if unknown.isprintable() else "a key"
        raise _fault(name, f"{where}{shown}", f"is not known; known are {', '.join(known)}")


def _refuse_equal_names(name: str, names: Sequence[str]) -> None:
    places: dict[str, int] = {}
    for place, each in enumerate(names):
        first = places.setdefault(each.casefold(), place)
        if first != place:
            both = f"sections.{first}.name and sections.{place}.name"
            raise _fault(name, both, f"are the same: {each}")


def _own_name(given: object) -> str:
    name = given.strip() if isinstance(given, str) else ""
    if not _NAME.fullmatch(name):
        raise UsageError(
            "the name of a composite has letters, digits, - and _ only, at most 64, and begins with"
            " one of the first two"
        )
    return name


def _fault(name: str, where: str, words: str) -> UsageError:
    shown = name.strip()[:_LONGEST] if name.isprintable() else ""
    of = f"composite {shown}" if shown else "a composite"
    return UsageError(f"{of}: {where} {words}" if where else f"{of} {words}")
