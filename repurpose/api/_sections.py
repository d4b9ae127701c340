"""From what is heard of replies, and from results, to section events.

What is always true here: a section is announced once and never withdrawn, its text only grows, and
its end is the row that was stored. What is heard on the way decides nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from repurpose.core.compose import citations_of, section_input, split_input
from repurpose.core.events import SectionCompleted, SectionData, SectionEvent, SectionStarted
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Row
from repurpose.core.result import FormatResult
from repurpose.core.source import Source
from repurpose.ports import Listener
from repurpose.steps.splitting import WHOLE, Splitter

__all__ = ["PlannedSection", "SectionStream", "events_of", "planned_sections"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlannedSection:
    """A section that a run is to fill."""

    name: str
    input: str
    """`FORMAT` or `FORMAT.VARIANT`."""
    label: str | None
    index: int
    total: int
    structured: bool = True
    """Whether the format's replies are JSON; see `repurpose.formats.base.Format.structured`."""


def planned_sections(
    named: Sequence[tuple[str, str, str | None]], plain: Collection[str] = ()
) -> tuple[PlannedSection, ...]:
    """Sections in this order, each from its name, its input and its label.

    `plain` are the formats whose replies are no JSON.

    >>> [(one.name, one.index) for one in planned_sections([("faq", "faq", "FAQ")])]
    [('faq', 0)]
    """
    return tuple(
        PlannedSection(
            name, wanted, label, index, len(named), structured=split_input(wanted)[0] not in plain
        )
        for index, (name, wanted, label) in enumerate(named)
    )


class SectionStream:
    """Tells sections by name while a run fills them; for `arun(listen=..., on_result=...)`.

    `listener` is what `listen` takes, and `ended` what `on_result` does. A section that was heard
    of is told as it grows, and one that was not as started, data and completed in a row.
    """

    def __init__(
        self,
        sections: Sequence[PlannedSection],
        emit: Callable[[SectionEvent], None],
        *,
        source: Source | None = None,
    ) -> None:
        """`source` is asked where in it a citation stands; without it, citations have no label."""
        self._emit = emit
        self._source = source
        self._sections = [_Section(each) for each in sections]

    def listener(self, format: str) -> Listener:
        """What hears the replies of one format; one that no section is made of is heard in vain."""
        beside = {section.format for section in self._sections}
        return _Heard(self._of(format), format, beside, self._emit)

    def ended(self, result: FormatResult) -> None:
        """Tell how the sections of a format ended: as their rows are, whatever was heard.

        One that was announced and has no row is completed with an empty text, and one that was
        neither announced nor has a row is not told of.
        """
        done = {section_input(row): row for row in result.rows if row.status == "done"}
        for section in self._of(result.format):
            self._complete(section, done.get(section.input))

    def close(self) -> None:
        """Tell the end of what was announced and is not to come, where a run was stopped."""
        for section in self._sections:
            self._complete(section, None)

    def _of(self, format: str) -> list[_Section]:
        return [section for section in self._sections if section.format == format]

    def _complete(self, section: _Section, row: Row | None) -> None:
        if section.is_over or (row is None and not section.is_announced):
            return
        if row is None:
            events: Sequence[SectionEvent] = [SectionCompleted(section.planned.name, final_text="")]
        else:
            citations = tuple(citations_of(row, self._source))
            events = _whole(section.planned, row.text or "", row.content, _objects(citations))
            events = events[-1:] if section.is_announced else events
        section.is_announced = section.is_over = True
        for event in events:
            self._emit(event)


def events_of(payload: JsonObject) -> tuple[SectionEvent, ...]:
    """The events of a composite that is put together already, in the order of its declaration.

    Three for each section that it has. A payload that is no composite's has none, and a warning is
    logged.
    """
    sections = payload.get("sections")
    if not isinstance(sections, list | tuple) or not all(map(_is_section, sections)):
        log.warning("a composite cannot be told: its payload has no list of sections")
        return ()
    whole = [section for section in sections if isinstance(section, Mapping)]
    names = [str(section["sectionName"]) for section in whole]
    if len(set(names)) < len(names):
        log.warning("a composite cannot be told: two sections have one name")
        return ()
    return tuple(_told(whole))


def _told(sections: Sequence[JsonObject]) -> Iterator[SectionEvent]:
    for index, section in enumerate(sections):
        label, citations = section.get("displayLabel"), section.get("citations")
        planned = PlannedSection(
            name=str(section["sectionName"]),
            input="",
            label=label if isinstance(label, str) else None,
            index=index,
            total=len(sections),
        )
        found = citations if isinstance(citations, list | tuple) else ()
        text = str(section["textContent"])
        yield from _whole(planned, text, section.get("structuredData"), _objects(found))


def _is_section(section: JsonValue) -> bool:
    if not isinstance(section, Mapping):
        return False
    name, text = section.get("sectionName"), section.get("textContent")
    return isinstance(name, str) and bool(name.strip()) and isinstance(text, str)


def _objects(values: Sequence[JsonValue]) -> tuple[JsonObject, ...]:
    return tuple(each for each in values if isinstance(each, Mapping))


def _whole(
    planned: PlannedSection, text: str, structured: JsonValue, citations: tuple[JsonObject, ...]
) -> tuple[SectionEvent, SectionEvent, SectionEvent]:
    """A section that is complete already."""
    return (
        _start(planned),
        SectionData(planned.name, text_delta=text or None, structured_data=structured),
        SectionCompleted(planned.name, text, structured, citations),
    )


def _start(planned: PlannedSection) -> SectionStarted:
    return SectionStarted(planned.name, planned.index, planned.total, planned.label)


class _Section:
    """A section, and what was told of it."""

    def __init__(self, planned: PlannedSection) -> None:
        self.planned = planned
        self.format, variant = split_input(planned.input)
        self.variant = variant or WHOLE
        self.input = self.format if variant is None else f"{self.format}.{variant}"
        self.is_announced = False
        self.is_over = False
        self._parts: list[str] = []
        """What was told, in order."""
        self._told = ""
        """What was told of earlier replies, which the present one has to repeat first."""
        self._repeated = 0
        """How much of it the present one has repeated."""
        self._agrees = True

    def again(self) -> None:
        """Another reply begins; what was told stays."""
        self._told = "".join(self._parts)
        self._parts = [self._told]
        self._repeated = 0
        self._agrees = True

    def added(self, delta: str) -> str:
        """The part of `delta` that may be told: none before the reply agrees and says more."""
        if not self._agrees:
            return ""
        known = self._told[self._repeated : self._repeated + len(delta)]
        if not delta.startswith(known):
            self._agrees = False
            return ""
        self._repeated += len(known)
        more = delta[len(known) :]
        if more:
            self._parts.append(more)
        return more


class _Heard:
    """Hears the replies of one format, and tells its sections what they may be told."""

    def __init__(
        self,
        sections: Sequence[_Section],
        format: str,
        beside: Collection[str],
        emit: Callable[[SectionEvent], None],
    ) -> None:
        self._sections = sections
        self._format = format
        self._beside = beside
        self._emit = emit
        self._splitter = self._fresh()

    def began(self) -> None:
        """Another request, so the reply begins anew."""
        self._splitter = self._fresh()
        for section in self._sections:
            section.again()

    def heard(self, text: str) -> None:
        """Tell each section what it grew by: one event for a piece, not one for a character."""
        if not self._sections:
            return
        for variant, delta in self._splitter.feed(text):
            for section in self._sections:
                if section.variant == variant and not section.is_over:
                    self._tell(section, delta)

    def _tell(self, section: _Section, delta: str) -> None:
        more = section.added(delta)
        if not more:
            return
        if not section.is_announced:
            section.is_announced = True
            self._emit(_start(section.planned))
        self._emit(SectionData(section.planned.name, text_delta=more))

    def _fresh(self) -> Splitter:
        return Splitter(
            self._format,
            variants=[section.variant for section in self._sections],
            beside=self._beside,
            structured=all(section.planned.structured for section in self._sections),
        )
