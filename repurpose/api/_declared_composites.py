"""Composites as settings and files declare them, and what a run must make for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from repurpose.api._needed import with_needed
from repurpose.config import Settings
from repurpose.core.composite import Composite, canonical, composite_from, split_input
from repurpose.core.envelope import Envelope
from repurpose.errors import UsageError
from repurpose.formats import FORMATS, Formats, known_formats
from repurpose.platforms import platform_named
from repurpose.resources import schema_text
from repurpose.schema.intake import IntakeError, decode
from repurpose.schema.validate import Validator, compile_schema

__all__ = [
    "Needs",
    "checked_composite",
    "composite_in",
    "composite_named",
    "declared_fault",
    "formats_of",
    "needs_of",
    "refuse_renamed",
    "unknown_of",
]

_MOST_BYTES = 1_000_000
_MOST_POSTS = 5
"""How many posts a platform can get to choose from."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run has to make, so that a composite can be put together."""

    formats: tuple[str, ...]
    """By name: those of its sections in their order, then those whose results these read."""
    settings: Settings
    """The run's settings, with the platforms that the sections name where nobody says others."""
    plain: tuple[str, ...] = ()
    """Those of the formats whose replies are no JSON."""


def checked_composite(name: str | None, table: object) -> Composite:
    """The composite that a table declares, after the gate of `schemas/composite.schema.json`.

    Raises:
        UsageError: it cannot be used; the message names the composite and the place.
    """
    fields = canonical(name, table)
    findings = _gate().findings(fields)
    if findings:
        more = len(findings) - 1
        called = fields["name"]
        plain = isinstance(called, str) and called.isprintable()
        raise UsageError(
            f"{f'composite {called[:64]}' if plain else 'a composite'}: {findings[0]}",
            hint=f"{more} more: {'; '.join(map(str, findings[1:]))}" if more else None,
        )
    return composite_from(name, table)


def composite_in(path: str | Path) -> Composite:
    """The composite of a JSON file; without a `name` in it, it is called as the file is.

    Raises:
        UsageError: the file cannot be read, is no JSON, or does not declare a composite.
    """
    place = Path(path)
    try:
        if place.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{place}: larger than {_MOST_BYTES:,} bytes, so no composite")
        text = place.read_text(encoding="utf-8")
    except OSError as fault:
        raise UsageError(f"{place} cannot be read: {fault.strerror or 'unknown'}") from fault
    except UnicodeDecodeError as fault:
        raise UsageError(f"{place} is not UTF-8 text") from fault
    try:
        table = decode(text)
    except IntakeError as fault:
        raise UsageError(f"{place}: {str(fault).removeprefix('the reply is ')}") from fault
    if not isinstance(table, Mapping):
        raise UsageError(f"{place}: holds no JSON object")
    return checked_composite(None if "name" in table else place.stem, table)


def composite_named(name: str, settings: Settings) -> Composite:
    """The composite that `settings` declare under this name.

    Raises:
        UsageError: there is none, or it cannot be used.
    """
    if name in settings.composites:
        return checked_composite(name, settings.composites[name])
    known = ", ".join(settings.composites)
    raise UsageError(
        f"no composite {name[:60]!r}",
        hint=f"declared are {known}" if known else "declare it: [composites.NAME] in your settings",
    )


def formats_of(settings: Settings) -> Formats:
    """The formats that can be asked for under these settings.

    Raises:
        UsageError: a folder or a name that cannot be used.
    """
    return known_formats(settings.formats_dir, settings.declared, beside=settings.folder)


def needs_of(composite: Composite, settings: Settings, known: Formats | None = None) -> Needs:
    """What a run has to make for the composite: each format once, whatever number of sections.

    Raises:
        UsageError: a declared format that cannot be used.
    """
    known = formats_of(settings) if known is None else known
    inputs = [split_input(section.input) for section in composite.sections]
    wanted: dict[str, None] = {}
    variants = [variant for format, variant in inputs if format == "social" and variant]
    platforms = _platforms(variants)
    for format, _ in inputs:
        if format in known.names() and (format != "social" or platforms or settings.platforms):
            wanted[format] = None
    own = [known.named(format) for format in wanted if format not in FORMATS]
    needed = with_needed(own, known)
    return Needs(
        tuple(dict.fromkeys((*wanted, *(each.name for each in needed)))),
        replace(
            settings,
            platforms=settings.platforms or platforms,
            variants=max(settings.variants, *map(_number, variants), 1),
        ),
        tuple(each.name for each in needed if not each.structured),
    )


def unknown_of(composite: Composite, known: Formats) -> dict[str, Envelope]:
    """The formats of its sections that nobody knows, with the reason as an envelope."""
    formats = dict.fromkeys(split_input(section.input)[0] for section in composite.sections)
    names = known.names()
    return {
        name: Envelope.failure(f"no format {name}: not known")
        for name in formats
        if name not in names
    }


def declared_fault(composite: Composite, known: Formats) -> str | None:
    """What of a composite could never be put together, or None.

    >>> declared_fault(composite_from("kit", {"sections": [{"name": "a", "input": "news"}]}),
    ...     Formats())
    'sections.0.input: no format news'
    """
    for place, section in enumerate(composite.sections):
        format, variant = split_input(section.input)
        words = None
        if format not in known.names():
            words = f"no format {format}"
        elif format == "social" and variant is None:
            words = "needs a platform, such as social.linkedin"
        elif format == "social" and not _platforms([str(variant)]):
            words = f"no platform {variant}"
        elif format in FORMATS and format != "social" and variant is not None:
            words = f"{format} has no variants"
        if words is not None:
            return f"sections.{place}.input: {words}"
    return None


def refuse_renamed(composite: Composite, kept: tuple[str, ...]) -> None:
    """Raise UsageError where the sections are not those `kept` of this version.

    Names never change within a version, since programs know sections by them; order and labels
    may. `kept` is empty for a version that is new.
    """
    names = composite.section_names
    gone = [name for name in kept if name not in names]
    new = [name for name in names if name not in kept]
    if not kept or not (gone or new):
        return
    words = [f"section {name} is missing" for name in gone]
    words += [f"section {name} is new" for name in new]
    raise UsageError(
        f"composite {composite.name}: {', '.join(words)} under version {composite.version};"
        " names do not change within a version",
        hint=f"raise version to {composite.version + 1}, or name the sections as before",
    )


def _platforms(variants: list[str]) -> tuple[str, ...]:
    """The known platforms for posts among these variants, once each."""
    found: dict[str, None] = {}
    for variant in variants:
        try:
            platform = platform_named(variant.partition(".")[0])
        except UsageError:
            continue
        if platform.post:
            found[platform.name] = None
    return tuple(found)


def _number(variant: str) -> int:
    """Which of several posts a variant is: 2 for `x.2`."""
    number = variant.partition(".")[2]
    return min(int(number), _MOST_POSTS) if number.isascii() and number.isdecimal() else 1


@cache  # it does not change while a process runs
def _gate() -> Validator:
    return compile_schema(decode(schema_text("composite")), "composite")  # type: ignore[arg-type]  # our own file, an object
