"""The sections of a composite as JSON lines on standard output, while they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.api._sections import SectionStream, events_of, planned_sections
from repurpose.cli._render import json_line
from repurpose.core.events import SectionEvent, line_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from repurpose.core.compose import Composite
    from repurpose.core.envelope import Envelope
    from repurpose.core.json_types import JsonObject
    from repurpose.core.result import FormatResult
    from repurpose.core.source import Source
    from repurpose.ports import Listener

__all__ = ["SectionLines"]


class SectionLines:
    """Writes one line for each event; the stream is called as the composite is.

    A line that cannot be written, since its reader has left, stops no format: what is in work is
    stored first.
    """

    def __init__(
        self, composite: Composite, source: Source | None = None, plain: Collection[str] = ()
    ) -> None:
        """`source` is what the citations are of; `plain` are formats whose replies are no JSON."""
        self._name = composite.name
        self._fault: Exception | None = None
        named = [(each.name, each.input, each.label) for each in composite.sections]
        self._stream = SectionStream(planned_sections(named, plain), self._tell, source=source)

    def listener(self, format: str) -> Listener:
        """What hears the reply to a format."""
        return self._stream.listener(format)

    def ended(self, result: FormatResult) -> None:
        """Tell the end of a format's sections."""
        self._stream.ended(result)

    def close(self) -> None:
        """Tell the end of what was announced and is not to come."""
        self._stream.close()
        self.check()

    def tell_all(self, payload: JsonObject) -> None:
        """Tell the sections of a stored composite, one after the other."""
        for event in events_of(payload):
            self._tell(event)
        self.check()

    def completed(self, composite: Composite, envelope: Envelope, run: str | None) -> None:
        """Tell how the composite ended, which is the last line, also of one without sections."""
        self._write(
            {
                "type": "composite_completed",
                "stream": self._name,
                "payload": {
                    "name": composite.name,
                    "version": composite.version,
                    "status": envelope.status,
                    "message": envelope.message,
                    "dropped": envelope.data.get("dropped", []),
                    "run": run,
                },
            }
        )
        self.check()

    def check(self) -> None:
        """Raise what kept a line from being written."""
        if self._fault is not None:
            raise self._fault

    def _tell(self, event: SectionEvent) -> None:
        self._write(line_of(event, self._name))

    def _write(self, line: JsonObject) -> None:
        if self._fault is not None:
            return
        try:
            click.echo(json_line(line))
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is raised after the run
            self._fault = fault
