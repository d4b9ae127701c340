"""`repurpose replay`: a stored reply through today's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from repurpose.api.replaying import Replayed

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose show last --calls
  repurpose replay 019a3f2c7b
  repurpose replay 019a3f2c7b --json
"""
)
@click.argument("call")
@click.option("--segmenter", metavar="NAME", help="The run's, where it was not the default.")
@click.option("--voice", metavar="NAME", help="The run's voice, where it had one.")
@_options.formats_dir
@_options.as_json
@_options.database
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    call: str,
    as_json: bool,
    database: str | None,
    **_: object,
) -> None:
    """Check a stored reply again by today's rules, without a call.

    CALL is a call's id or the beginning of one, as `show RUN --calls` lists them. Shows the texts
    that come out, or everything that is wrong, and whether that differs from the rows of the
    call's run. Stores nothing. Exit codes: 0 usable, 1 not, 2 no such call.
    """
    from repurpose.api.replaying import replay
    from repurpose.cli._render import json_line
    from repurpose.cli._settings import formats_of, settings_of
    from repurpose.cli._stored import opened

    settings = settings_of(ctx)
    with opened(database) as store:
        outcome = replay(store, call, settings=settings, known=formats_of(settings))
    if as_json:
        click.echo(json_line(_outcome_object(outcome)))
    else:
        _tell(outcome)
    ctx.exit(0 if outcome.usable else 1)


def _outcome_object(outcome: Replayed) -> dict[str, object]:
    """A replay for programs; `same` is null where there is nothing to compare with."""
    from dataclasses import asdict

    made = ("variant", "status", "kind", "message", "text", "content")
    return {
        "call": outcome.call.id,
        "run": outcome.call.run_id,
        "format": outcome.call.call.format,
        "attempt": outcome.call.call.attempt,
        "usable": outcome.usable,
        "rows": [
            {name: getattr(row, name) for name in made}
            | {
                "measures": asdict(row.measures) if row.measures else None,
                "coerced": row.coerced,
                "dropped": row.dropped,
                "notes": row.notes,
            }
            for row in outcome.rows
        ],
        "findings": [asdict(finding) for finding in outcome.findings],
        "same": not outcome.differences if outcome.stored else None,
        "differences": outcome.differences,
        "remarks": outcome.remarks,
    }


def _tell(outcome: Replayed) -> None:
    """The texts on standard output, everything about them on standard error."""
    from repurpose.cli._render import row_text

    for row in outcome.rows:
        click.echo(row_text(row))
    for finding in outcome.findings:
        click.echo(f"Finding: {finding}", err=True)
    first = outcome.rows[0]
    notes = [f"{path} became a number" for path in first.coerced]
    notes += [f"{path} is not declared and was left out" for path in first.dropped]
    for note in (*notes, *first.notes, *outcome.remarks):
        click.echo(f"Note: {note}", err=True)
    for difference in outcome.differences:
        click.echo(f"Differs: {difference}", err=True)
    if outcome.stored and not outcome.differences:
        click.echo(f"The same as the rows of run {outcome.call.run_id}", err=True)
