"""Finds the spans of a run in files of OTLP JSON, as the OpenTelemetry collector writes them.

One JSON value a line, each with some spans of some traces, in no particular order.
https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from repurpose.core.declared import Declared
from repurpose.core.endpoint import TraceState
from repurpose.core.exchange import WireError
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.ports.endpoints import TraceSource, Wire
from repurpose.schema.intake import IntakeError, decode
from repurpose.traces._files import Growing, Place
from repurpose.traces._spans import (
    attributes_of,
    begin_of,
    field_of,
    has_ended,
    has_failed,
    is_root,
    objects,
    plain_span,
)

__all__ = ["otlp_traces"]

_ATTRIBUTE = "repurpose.run_id"
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
"""What JSON writes as it is, so that it is found in a line that is not decoded."""
_TRACE_ID = re.compile(rb'"trace_?[iI]d"[ \t]{0,8}:[ \t]{0,8}"([^"\\]{1,64})"')
_MOST_TRACES = 100_000
"""And runs of which the places are remembered; the oldest are forgotten first."""


def otlp_traces(
    source: Mapping[str, JsonValue],
    *,
    wire_for: Callable[[str, Mapping[str, str]], Wire],
) -> TraceSource:
    """The traces in a file, and in those it is rotated into, or in the files of a folder.

    Keys of the table: `path`, which need not be there yet; `attribute`, which some span of the
    trace, or its resource, has with the run's id (by default `repurpose.run_id`); `root`, the name
    of the span that decides, without which it is the one without a parent; `presence`, true where
    spans have no status to go by: any span of the trace says then that the run is done.

    Raises:
        UsageError: a key cannot be used.
    """
    declared = Declared("completion.source", source)
    declared.only(("kind", "path", "attribute", "root", "presence"))
    attribute = declared.line("attribute", _ATTRIBUTE)
    if not _NAME.fullmatch(attribute):
        raise declared.wrong("attribute", "a name of letters, digits and _ . : -")
    root = declared.line("root") if "root" in source else None
    path = Path(declared.line("path")).expanduser()
    return _Otlp(Growing(path), attribute, root, presence=declared.flag("presence"))


@dataclass(slots=True)
class _Otlp:
    """A `ports.TraceSource`. It may be asked about several runs at once."""

    growing: Growing
    attribute: str
    root: str | None
    presence: bool
    runs: dict[str, set[str]] = field(default_factory=dict)
    """By run, the ids of its traces."""
    places: dict[str, list[Place]] = field(default_factory=dict)
    """By trace, the lines in which spans of it may stand."""
    unread: int = 0
    """Lines that are no JSON, or not such as can be kept."""
    lock: Lock = field(default_factory=Lock, repr=False)

    async def state(self, key: str) -> TraceState:
        """Whether the trace of this run has ended."""
        return await asyncio.to_thread(self._state, key)

    async def record(self, key: str) -> JsonValue:
        """Of the span that decides `name`, `attributes`, `events` and `status`, and all `spans`."""
        return await asyncio.to_thread(self._record, key)

    def _state(self, key: str) -> TraceState:
        spans = self._spans(key)
        if not spans:
            return TraceState("absent", self._absence())
        if self.presence:
            return TraceState("done")
        decides = self._deciding(spans)
        if decides is None or not has_ended(decides):
            what = f'its span "{self.root}"' if self.root else "its root span"
            return TraceState("running", f"the trace has begun; {what} has not ended")
        return TraceState("failed" if has_failed(decides) else "done")

    def _record(self, key: str) -> JsonValue:
        spans = self._spans(key)
        decides = self._deciding(spans)
        if decides is None and self.presence and spans:
            decides = max(spans, key=begin_of)
        if decides is None:
            return None
        shown = plain_span(decides)
        taken = {name: shown[name] for name in ("name", "status", "attributes", "events")}
        return {**taken, "spans": [plain_span(span) for span in sorted(spans, key=begin_of)]}

    def _absence(self) -> str:
        if not self.growing.path.exists():
            return "there is no file with traces yet"
        said = f"no span with {self.attribute} of this run yet"
        return f"{said}; {self.unread} lines were no JSON" if self.unread else said

    def _deciding(self, spans: list[JsonObject]) -> JsonObject | None:
        """The span that tells of the whole run; of several, the one that began last."""
        fits = [span for span in spans if self._decides(span)]
        return max(fits, key=begin_of) if fits else None

    def _decides(self, span: JsonObject) -> bool:
        return is_root(span) if self.root is None else span.get("name") == self.root

    def _spans(self, key: str) -> list[JsonObject]:
        """All spans of a run as they stand now, each once."""
        with self.lock:
            try:
                for place, line in self.growing.lines():
                    self._take_in(place, line)
            except OSError as error:
                raise WireError(f"the traces cannot be read: {error.strerror}") from None
            wanted = self.runs.get(key, set())
            places = dict.fromkeys(place for each in wanted for place in self.places.get(each, ()))
            lines = [self.growing.line(place) for place in places]
        found: dict[JsonValue, JsonObject] = {}
        for line in lines:
            for resource, span in _spans_of(_decoded(line)):
                ours = self._run_of(span, resource) in (key, None)  # runs may share a trace
                if ours and field_of(span, "trace_id") in wanted:
                    _keep(found, span)
        return list(found.values())

    def _take_in(self, place: Place, line: bytes) -> None:
        """Remember which traces have spans in a line, and which of them are of which run."""
        for each in set(_TRACE_ID.findall(line)):
            places = self.places.setdefault(each.decode(errors="replace"), [])
            if place not in places[-1:]:
                places.append(place)
        _forget_oldest(self.places)
        _forget_oldest(self.runs)
        if f'"{self.attribute}"'.encode() in line:
            self._note_runs(_decoded(line))
        elif line.strip() and not line.lstrip().startswith(b"{"):
            self.unread += 1

    def _note_runs(self, value: JsonValue) -> None:
        if value is None:
            self.unread += 1
        for resource, span in _spans_of(value):
            trace_id, run = field_of(span, "trace_id"), self._run_of(span, resource)
            if run is not None and isinstance(trace_id, str):
                self.runs.setdefault(run, set()).add(trace_id)

    def _run_of(self, span: JsonObject, resource: JsonObject) -> str | None:
        """The run that a span names, or its resource for all of its spans."""
        for holder in (span, resource):
            run = attributes_of(holder.get("attributes")).get(self.attribute)
            if isinstance(run, str | int) and not isinstance(run, bool):
                return str(run)
        return None


def _spans_of(value: JsonValue) -> Iterator[tuple[JsonObject, JsonObject]]:
    """Each span of a line with its resource."""
    if not isinstance(value, Mapping):
        return
    for of_resource in objects(field_of(value, "resource_spans")):
        resource = of_resource.get("resource")
        for of_scope in objects(field_of(of_resource, "scope_spans")):
            for span in objects(of_scope.get("spans")):
                yield (resource if isinstance(resource, Mapping) else {}), span


def _keep(found: dict[JsonValue, JsonObject], span: JsonObject) -> None:
    """Add a span; of two states of the same one, the later, and one that has ended over others."""
    span_id = field_of(span, "span_id")
    known = found.get(span_id) if isinstance(span_id, str) else None
    if isinstance(span_id, str) and (known is None or has_ended(span) or not has_ended(known)):
        found[span_id] = span


def _forget_oldest(remembered: dict[str, Any]) -> None:
    while len(remembered) > _MOST_TRACES:
        del remembered[next(iter(remembered))]


def _decoded(line: bytes) -> JsonValue:
    """The line as JSON; None where it is none, or holds what nothing of ours can store."""
    try:
        return decode(line.decode(errors="replace"))
    except IntakeError:
        return None
