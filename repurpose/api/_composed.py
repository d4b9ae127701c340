"""What a composite is of stored rows: put together, written, and kept; nothing is called."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repurpose.api._declared_composites import refuse_renamed, unknown_of
from repurpose.api.adapters import SystemClock
from repurpose.asking import iso
from repurpose.core.compose import Composed, Composite, compose
from repurpose.core.composed import ComposedRecord
from repurpose.core.envelope import Envelope
from repurpose.core.json_types import JsonObject
from repurpose.core.record import Row, Run
from repurpose.core.result import RunResult, outputs_of
from repurpose.core.source import Source
from repurpose.core.table import member
from repurpose.errors import UsageError
from repurpose.exports import RENDERERS
from repurpose.exports._composites import CompositeFacts, Renderer, facts_of
from repurpose.formats import Formats
from repurpose.ports import Store

__all__ = ["Deliverable", "composed_from", "composed_without_run", "keep", "rendered"]


@dataclass(frozen=True, slots=True)
class Deliverable:
    """A composite with what it was put together from."""

    composite: Composite
    composed: Composed
    source: Source
    run: Run | None = None
    """None where no format was needed, or none that can be made."""
    rows: tuple[Row, ...] = ()
    """The run's current rows, of all its formats."""
    result: RunResult | None = None
    """The run, where it was made for this; None where its rows were stored before."""

    @property
    def payload(self) -> JsonObject:
        """`{destination, widgetType, sections, dropped}`."""
        return self.composed.payload

    @property
    def envelope(self) -> Envelope:
        """200, or 400 where a section was dropped."""
        return self.composed.envelope

    @property
    def facts(self) -> CompositeFacts:
        """What a document tells beside the sections."""
        return facts_of(self.composite.name, self.source, self.run, self.rows)

    def text(self, renderer: str | None = None) -> str:
        """The document, written by this renderer; by the composite's own one if None.

        Raises:
            UsageError: no such renderer.
        """
        return rendered(self.payload, self.facts, renderer or self.composite.renderer)


def composed_from(
    composite: Composite, store: Store, run_id: str, known: Formats | None = None
) -> Deliverable:
    """The composite of a stored run; nothing is called, and nothing is kept.

    Raises:
        UsageError: no such run, or sections that were renamed under a known version.
    """
    refuse_renamed(composite, store.section_names(composite.name, composite.version))
    run = store.run(run_id)
    source, rows = store.source(run.source_id), store.rows(run.id)
    outputs = {**unknown_of(composite, known or Formats()), **outputs_of(run, rows)}
    composed = compose(composite, rows, source, outputs)
    return Deliverable(composite, composed, source, run, rows)


def composed_without_run(composite: Composite, source: Source, known: Formats) -> Deliverable:
    """The composite of a source where no format is to be made: one without sections, mostly."""
    composed = compose(composite, (), source, unknown_of(composite, known))
    return Deliverable(composite, composed, source)


def keep(deliverable: Deliverable, store: Store) -> None:
    """Keep a composite and the names of its sections, unless it is kept already.

    Where it went and how it was written does not make it another one.

    Raises:
        UsageError: its sections were renamed under a known version meanwhile.
    """
    composite, composed, run = deliverable.composite, deliverable.composed, deliverable.run
    if run is None:
        return
    if composite.sections:
        names = composite.section_names
        refuse_renamed(composite, store.section_names(composite.name, composite.version, names))
    record = ComposedRecord(
        run_id=run.id,
        name=composite.name,
        version=composite.version,
        status=composed.envelope.status,
        message=composed.envelope.message,
        payload=composed.payload,
        created_at=iso(SystemClock().now()),
    )
    if not any(_same(record, kept) for kept in store.composites(run.id)):
        store.keep_composite(record)


def rendered(payload: JsonObject, facts: CompositeFacts, renderer: str) -> str:
    """A composite as one document; equal values give equal bytes.

    Raises:
        UsageError: no such renderer.
    """
    where = RENDERERS.get(renderer)
    if where is None:
        raise UsageError(
            f"no renderer {renderer[:40]!r}", hint=f"choose from {', '.join(RENDERERS)}"
        )
    write: Renderer = member(where)
    return write(payload, facts)


def _same(record: ComposedRecord, kept: ComposedRecord) -> bool:
    """Whether both say the same of a run."""
    beside = {"destination": None, "widgetType": None}
    return replace(record, created_at="", payload={**record.payload, **beside}) == replace(
        kept, created_at="", payload={**kept.payload, **beside}
    )
