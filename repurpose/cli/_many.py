"""One or many sources, each loaded, run, stored and printed before the next one begins."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from repurpose.cli import _telling

if TYPE_CHECKING:
    from repurpose.api.loading import Loaded, LoadOptions
    from repurpose.cli._running import Runs
    from repurpose.core.result import FormatResult, RunResult
    from repurpose.core.source import Source
    from repurpose.errors import SourceError

__all__ = ["Output", "run_all"]


@dataclass(frozen=True, slots=True)
class Output:
    """How much is said, and in which form."""

    as_json: bool
    quiet: bool


def run_all(sources: tuple[str, ...], options: LoadOptions, runs: Runs, output: Output) -> int:
    """Run every source that `sources` lead to; returns the exit code.

    One source that is named itself is done as if there were no others: what is wrong with it is
    raised, and its run's exit code is the command's.

    Raises:
        SourceError: the only source cannot be read.
    """
    from repurpose.api.loading import load_all
    from repurpose.errors import SourceError

    tally = _telling.Tally()
    alone = False
    with closing(load_all(*sources, options=options)) as found:
        for loaded in found:
            alone = len(sources) == 1 and loaded.within is None
            try:
                _count(loaded, tally, runs, output, alone=alone)
            except SourceError as error:
                if output.as_json:
                    _write_refused(loaded, error)
                if alone:
                    raise
                _telling.tell_refused(error)
                tally.refused += 1
            if runs.interrupted or _telling.BUDGET in tally.codes:
                break
    if tally.codes and not output.quiet:
        if not alone:
            click.echo(tally.line(), err=True)
        _telling.tell_model(runs.settings)
    if alone:
        return tally.codes[0]
    return 130 if runs.interrupted else tally.exit_code


def _count(
    loaded: Loaded, tally: _telling.Tally, runs: Runs, output: Output, *, alone: bool
) -> None:
    """Do what one source asks for, and count what it came to.

    Raises:
        SourceError: it cannot be read, or is too long for the model.
    """
    if loaded.error is not None:
        raise loaded.error
    if loaded.source is None:
        tally.duplicates += 1
        if not output.quiet:
            _telling.tell_duplicate(loaded)
    else:
        if not (alone or output.quiet):
            _telling.tell_heading(loaded, tally.sources + 1)
        facts = {} if alone else {"origin": loaded.origin, "entry_id": loaded.entry_id}
        tally.codes.append(_one(loaded.source, runs, output, facts))


def _one(source: Source, runs: Runs, output: Output, facts: dict[str, str | None]) -> int:
    """Run one source and print its texts; returns the run's own exit code."""
    if not output.quiet:
        _telling.tell_source(source)
    if output.as_json:
        lines = _Lines(facts)
        result = runs.run(source, lines.write)
        lines.check()
    else:
        result = runs.run(source)
        _write_texts(result)
    if not output.quiet:
        _telling.tell_end(result)
    if result.stopped_by is not None:
        from repurpose.cli import tell

        tell(result.stopped_by)
    return result.exit_code


class _Lines:
    """JSON lines on standard output, one for each format as it ends.

    A line that cannot be written, since its reader has left, stops no format: what is in work is
    stored first.
    """

    def __init__(self, facts: dict[str, str | None]) -> None:
        self._facts = facts
        self._fault: Exception | None = None

    def write(self, result: FormatResult) -> None:
        """The line of a format, unless an earlier one could not be written."""
        from repurpose.cli._render import json_line, result_object

        if self._fault is not None:
            return
        try:
            click.echo(json_line({**self._facts, **result_object(result)}))
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is raised after the run
            self._fault = fault

    def check(self) -> None:
        """Raise what kept a line from being written."""
        if self._fault is not None:
            raise self._fault


def _write_refused(loaded: Loaded, error: SourceError) -> None:
    """The line of a source that there are no texts for."""
    from repurpose.cli._render import json_line, refused_object

    facts = {"origin": loaded.origin, "entry_id": loaded.entry_id}
    click.echo(json_line({**facts, **refused_object(error)}))


def _write_texts(result: RunResult) -> None:
    """The texts in the order of the formats."""
    from repurpose.cli._render import row_text

    for outcome in result.results.values():
        for row in outcome.rows:
            if row.status == "done":
                click.echo(row_text(row))
