"""How a composite is made and where it goes, as the command line has it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repurpose.cli import _telling
from repurpose.cli._render import json_line
from repurpose.core.envelope import Envelope
from repurpose.errors import SourceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from repurpose.api._composed import Deliverable
    from repurpose.api.loading import LoadOptions
    from repurpose.cli._section_lines import SectionLines
    from repurpose.config import Settings
    from repurpose.core.compose import Composite
    from repurpose.core.result import RunResult
    from repurpose.core.source import Source
    from repurpose.formats import Formats

__all__ = ["Delivery", "Origin"]

_SUFFIXES: Mapping[str, str] = {"markdown": ".md", "html": ".html", "json": ".json"}
_ALL_FAILED = 4


@dataclass(frozen=True, slots=True)
class Origin:
    """The one source of a composite, and how it is loaded and run."""

    place: str
    options: LoadOptions
    force: bool = False


@dataclass(slots=True)
class Delivery:
    """One composite, put together and brought where it is to go."""

    composite: Composite
    settings: Settings
    spelled: str
    """The composite as the user named it."""
    output: str | None = None
    overwrite: bool = False
    as_json: bool = False
    events: bool = False
    quiet: bool = False
    _files: list[str] = field(default_factory=list)

    def of_run(self, run_id: str) -> int:
        """Put it together from stored rows and deliver it; returns the exit code.

        Raises:
            UsageError: no such run, renamed sections, or a file that is there already.
        """
        from repurpose.api._composed import composed_from, keep
        from repurpose.api._declared_composites import formats_of
        from repurpose.api.adapters import open_store

        store = open_store(self.settings.database)
        try:
            made = composed_from(self.composite, store, run_id, formats_of(self.settings))
            keep(made, store)
        finally:
            store.close()
        lines = self._lines(made.source)
        if lines is not None:
            lines.tell_all(made.payload)
        return self._deliver(made, lines)

    def of_source(self, origin: Origin) -> int:
        """Run what it needs, put it together and deliver it; returns the exit code.

        Raises:
            SourceError: the source cannot be read.
            UsageError: a source that lists several, renamed sections, or a file that is there.
        """
        from repurpose.api.composing import formats_of, needs_of

        if self.output is not None and not self.overwrite:
            from repurpose.api._documents import refuse_taken

            refuse_taken(Path(self.output))
        known = formats_of(self.settings)
        needs = needs_of(self.composite, self.settings, known)
        self._refuse_renamed()
        source = self._loaded(origin)
        lines = self._lines(source, needs.plain)
        if not needs.formats:
            from repurpose.api.composing import composed_without_run

            return self._deliver(composed_without_run(self.composite, source, known), lines)
        result = self._run(source, needs.formats, needs.settings, lines, force=origin.force)
        return self._after(result, known, lines)

    def _run(
        self,
        source: Source,
        formats: tuple[str, ...],
        settings: Settings,
        lines: SectionLines | None,
        *,
        force: bool,
    ) -> RunResult:
        from repurpose.cli._running import Runs

        with Runs(formats, settings, force=force, quiet=self.quiet) as runs:
            if lines is None:
                result = runs.run(source)
            else:
                result = runs.run(source, lines.ended, lines.listener)
                lines.close()
        if not self.quiet:
            _telling.tell_end(result)
            _telling.tell_model(settings)
        return result

    def _after(self, result: RunResult, known: Formats, lines: SectionLines | None) -> int:
        """What becomes of the composite once its run has ended."""
        from dataclasses import replace

        from repurpose.api.adapters import open_store
        from repurpose.api.composing import composed_from, keep, stopping_failure
        from repurpose.cli import tell

        if result.run.status == "interrupted" and result.stopped_by is None:
            later = f"what is stored can be: repurpose compose {self.spelled} --run {result.run.id}"
            self._give_up(f"it was interrupted; {later}", result, lines)
            return result.exit_code
        reason = stopping_failure(result, self.settings.on_failure)
        if reason is not None:
            self._give_up(reason, result, lines)
            return _ALL_FAILED
        store = open_store(self.settings.database)
        try:
            made = composed_from(self.composite, store, result.run.id, known)
            keep(made, store)
        finally:
            store.close()
        code = self._deliver(replace(made, result=result), lines)
        if result.stopped_by is None:
            return code
        tell(result.stopped_by)
        return result.stopped_by.exit_code

    def _deliver(self, made: Deliverable, lines: SectionLines | None) -> int:
        """Bring it where it is to go, and say so."""
        document = made.text()
        if self.composite.destination == "file":
            self._write(document, made)
        run_id = made.run.id if made.run else None
        if lines is not None:
            lines.completed(self.composite, made.envelope, run_id)
        elif self.as_json:
            self._write_line(made.envelope, run_id, made.result, made.composed.warnings)
        elif self.composite.destination == "stdout":
            click.echo(document, nl=False)
        for warning in made.composed.warnings:
            click.echo(f"Note: {warning}", err=True)
        self._tell(made)
        return made.composed.exit_code

    def _write(self, document: str, made: Deliverable) -> None:
        from repurpose.api._documents import write_document

        run = f"-{made.run.id}" if made.run else ""
        suffix = _SUFFIXES[self.composite.renderer]
        path = Path(self.output or f"{self.composite.name}{run}{suffix}")
        write_document(path, document, overwrite=self.overwrite)
        self._files.append(str(path))

    def _tell(self, made: Deliverable) -> None:
        """What was left out, always; where it is, unless it need not be told."""
        if made.composed.dropped or not self.quiet:
            click.echo(made.envelope.message, err=True)
        if self.quiet:
            return
        for file in self._files:
            click.echo(f"written: {file}", err=True)
        if self.composite.destination == "store" and made.run is not None:
            see = f"repurpose compose {self.spelled} --run {made.run.id} --to stdout"
            click.echo(f"stored with run {made.run.id}; to see it: {see}", err=True)

    def _give_up(self, why: str, result: RunResult, lines: SectionLines | None) -> None:
        reason = f"{self.composite.name} was not put together: {why}"
        failure = Envelope.failure(reason)
        if lines is not None:
            lines.completed(self.composite, failure, result.run.id)
        elif self.as_json:
            self._write_line(failure, result.run.id, result)
        click.echo(f"Error: {reason}", err=True)

    def _write_line(
        self,
        envelope: Envelope,
        run_id: str | None = None,
        result: RunResult | None = None,
        warnings: Sequence[str] = (),
    ) -> None:
        line = {
            "composite": self.composite.name,
            "version": self.composite.version,
            "envelope": envelope.to_map(),
            "meta": {
                "run_id": run_id,
                "files": self._files,
                "warnings": warnings,
                "usage": asdict(result.usage) if result else None,
            },
        }
        click.echo(json_line(line))

    def _loaded(self, origin: Origin) -> Source:
        """The one source; what names several is refused."""
        from contextlib import closing

        from repurpose.api.loading import load_all
        from repurpose.core.outputs import source_envelope

        with closing(load_all(origin.place, options=origin.options)) as found:
            loaded = next(found, None)
        if loaded is not None and loaded.within is not None:
            raise UsageError(
                f"{origin.place} lists several sources, and a composite is made of one",
                hint="name one of them; repurpose inspect shows them",
            )
        if loaded is None or loaded.source is None:
            nothing = SourceError("empty", f"{origin.place}: it names no source")
            error = loaded.error if loaded and loaded.error else nothing
            if self.as_json:
                self._write_line(source_envelope(error))
            raise error
        if not self.quiet:
            _telling.tell_source(loaded.source)
        return loaded.source

    def _refuse_renamed(self) -> None:
        """Raise UsageError, before anything is called, where sections were renamed."""
        from repurpose.api._declared_composites import refuse_renamed
        from repurpose.api.adapters import open_store

        store = open_store(self.settings.database)
        try:
            kept = store.section_names(self.composite.name, self.composite.version)
        finally:
            store.close()
        refuse_renamed(self.composite, kept)

    def _lines(self, source: Source, plain: Collection[str] = ()) -> SectionLines | None:
        if not self.events:
            return None
        from repurpose.cli._section_lines import SectionLines

        return SectionLines(self.composite, source, plain)
