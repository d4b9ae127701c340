"""The kinds of text we produce, by name. A format is loaded when it is asked for.

Built-in ones stand in the table. A user's own come from a configuration's tables or from a
folder, and installed packages offer further ones by entry points of the group
`repurpose.formats`. All of them are looked up in a `Formats` value, never in global state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from repurpose.core.table import member
from repurpose.errors import RepurposeError, UsageError
from repurpose.formats._declared import checked_name, declared_format
from repurpose.formats._declared_files import format_from_files, format_from_table, names_in
from repurpose.formats._declared_wording import label_of, meant
from repurpose.formats._dependencies import needed_by, ordered
from repurpose.formats.base import Format

__all__ = [
    "FORMATS",
    "GROUP",
    "Formats",
    "checked_own_name",
    "declared_format",
    "format_from_table",
    "format_named",
    "formats_in",
    "known_formats",
    "label_of",
    "needed_by",
    "ordered",
]

FORMATS: dict[str, str] = {
    "summary": "repurpose.formats.summary:build",
    "faq": "repurpose.formats.faq:build",
    "social": "repurpose.formats.social:build",
    "newsletter": "repurpose.formats.newsletter:build",
}
"""Where each format is built, in the order in which formats are listed and run."""

GROUP = "repurpose.formats"
"""The group of entry points by which a package offers formats: a `Format`, or what returns one."""


@dataclass(frozen=True, slots=True)
class Formats:
    """Every format that can be asked for by name: built in, the user's own, and offered ones."""

    own: Mapping[str, Callable[[], Format]] = field(default_factory=dict)
    """The user's own, each made when it is first asked for, so that a bad one stops only itself."""

    def names(self) -> tuple[str, ...]:
        """All names: the built-in formats, then the user's own, then those that packages offer."""
        return tuple(dict.fromkeys((*FORMATS, *self.own, *_offered())))

    def named(self, name: str, **options: object) -> Format:
        """The format with this name, whatever its case.

        `options` are those of a built-in format's `build`. Packages are looked at only for a
        name that is neither built in nor the user's own.

        Raises:
            UsageError: there is none, and the message names the nearest and lists the known ones;
                or it is declared or offered, but cannot be used.
        """
        wanted = name.strip().casefold()
        if wanted in FORMATS:
            made: Format = member(FORMATS[wanted])(**options)
            return made
        if wanted in self.own:
            return self.own[wanted]()
        offered = _offered()
        if wanted in offered:
            return _loaded(offered[wanted])
        known = self.names()
        advice = f"{meant(wanted, known)} ".lstrip()
        raise UsageError(f'unknown format "{name}"; {advice}known: {", ".join(known)}')


def format_named(name: str, known: Formats | None = None, **options: object) -> Format:
    """The format with this name, whatever its case; `options` are those of its `build`.

    Without `known`, the built-in formats and those that packages offer.

    Raises:
        UsageError: there is none; the message names the nearest and lists the known ones.

    >>> format_named("faq").label
    'FAQ'
    """
    return (known or Formats()).named(name, **options)


def known_formats(
    folder: Path | None = None,
    tables: Mapping[str, Mapping[str, object]] | None = None,
    *,
    beside: Path | None = None,
) -> Formats:
    """The formats that can be asked for, with those of a folder and of a configuration's tables.

    `beside` is where files that the tables name are looked for; the working directory if None.
    Only names are looked at: what is wrong with a declaration is told when the format is asked
    for, so that it stops no other one.

    Raises:
        UsageError: the folder holds no prompts; or a name is declared twice, or is a built-in
            format's, which cannot be replaced.
    """
    own: dict[str, Callable[[], Format]] = {}

    def declare(name: str, make: Callable[[], Format]) -> None:
        if name.casefold() in own:
            raise UsageError(f"format {name} is declared twice", hint="rename one of the two")
        _refuse_built_in(name)
        own[name.casefold()] = cache(make)

    for name, table in (tables or {}).items():
        declare(name, partial(format_from_table, name, table, folder=beside or Path()))
    if folder is not None:
        for name in names_in(folder):
            declare(name, partial(format_from_files, name, folder=folder))
    return Formats(own)


def checked_own_name(name: str) -> None:
    """Return quietly for a name that a format of the user's own may have.

    Raises:
        UsageError: it is no plain name, or one that we use ourselves.
    """
    _refuse_built_in(name)
    checked_name(name)


def formats_in(folder: Path) -> Mapping[str, Format]:
    """The formats that a folder with `prompts` and `schemas` declares, by name.

    Raises:
        UsageError: one of them cannot be used; the message names it.
    """
    return {name: make() for name, make in known_formats(folder).own.items()}


def _refuse_built_in(name: str) -> None:
    if name.casefold() in FORMATS:
        raise UsageError(
            f"format {name} has the name of a built-in format, which cannot be replaced",
            hint="give it another name",
        )


def _offered() -> dict[str, EntryPoint]:
    """What installed packages offer, by name; nothing of them is imported."""
    return {point.name.casefold(): point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Format:
    """The format that an entry point names.

    Raises:
        UsageError: it cannot be imported or is no format; one line, whatever the package raised.
    """
    where = f"format {point.name}, offered by {point.dist.name if point.dist else point.value}"
    try:
        found = point.load()
        made = found() if callable(found) else found
    except RepurposeError as error:
        raise UsageError(f"{where}: {error.message}", hint=error.hint) from error
    except Exception as foreign:
        raise UsageError(f"{where}, cannot be loaded: {type(foreign).__name__}") from foreign
    if not isinstance(made, Format):
        raise UsageError(f"{where}, is a {type(made).__name__}, not a Format")
    if made.name != point.name.casefold():
        raise UsageError(f"{where}, calls itself {made.name[:40]!r}; the names must be equal")
    return made
