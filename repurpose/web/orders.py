"""What is to be made of which source, checked and ready to be run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repurpose.api._declared_composites import composite_named, needs_of, refuse_renamed
from repurpose.api._sections import PlannedSection, planned_sections
from repurpose.api.runs import platforms_for
from repurpose.batch.making import Making
from repurpose.config import Settings
from repurpose.core.composite import Composite
from repurpose.core.source import Source
from repurpose.errors import UsageError
from repurpose.formats.base import Format
from repurpose.platforms import variant_label
from repurpose.ports import Store
from repurpose.web.bodies import Wish
from repurpose.web.choices import Choices
from repurpose.web.engines import Engines

__all__ = ["Order", "order_for"]


@dataclass(frozen=True, slots=True)
class Order:
    """A run that could begin now."""

    source: Source
    settings: Settings
    making: Making
    names: tuple[str, ...]
    """Of the formats."""
    sections: tuple[PlannedSection, ...]
    """Named as their inputs: `faq`, `social.linkedin`."""
    composite: Composite | None = None
    """What is put together at the end."""
    upload: str | None = None
    """The file that the source came from."""


def order_for(
    wish: Wish, source: Source, choices: Choices, engines: Engines, store: Store
) -> Order:
    """The order that a wish comes to; nothing is called.

    Raises:
        UsageError: something in it cannot be used.
        SourceError: the source does not fit, and must not be read in parts.
    """
    settings = choices.settings_for(wish)
    composite, names = None, settings.formats or ()
    if wish.composite is not None:
        composite = composite_named(wish.composite, settings)
        refuse_renamed(composite, store.section_names(composite.name, composite.version))
        needs = needs_of(composite, settings)
        names, settings = needs.formats, needs.settings
        if not names:
            raise UsageError(f"composite {composite.name} has no section that can be made")
    making = Making.of(engines.chosen(settings), settings, names)
    names = tuple(making.prints)
    making.prepared(source, names, lambda _: None)
    formats = [probe.format for probe in making.probes]
    return Order(
        source=source,
        settings=settings,
        making=making,
        names=names,
        sections=_sections(formats, settings, composite),
        composite=composite,
        upload=wish.upload,
    )


def _sections(
    formats: Sequence[Format], settings: Settings, composite: Composite | None
) -> tuple[PlannedSection, ...]:
    """The sections that these formats fill, under a composite's labels where it has some."""
    given = (
        {part.input: part.label for part in composite.sections if part.label} if composite else {}
    )
    inputs = [found for format in formats for found in _inputs(format, settings)]
    plain = [format.name for format in formats if not format.structured]
    return planned_sections([(name, name, given.get(name, label)) for name, label in inputs], plain)


def _inputs(format: Format, settings: Settings) -> Iterator[tuple[str, str]]:
    """The name and the label of each section that a format fills."""
    if format.name != "social":
        yield format.name, format.label
        return
    for platform in platforms_for(settings):
        for number in range(1, settings.variants + 1):
            variant = platform if number == 1 else f"{platform}.{number}"
            yield f"social.{variant}", variant_label(variant)
