"""`repurpose show`: what a run made."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose show last
  repurpose show 019a3 --format social
  repurpose show last --format social --variant x --json
"""
)
@click.argument("run")
@click.option("--format", "format_name", metavar="NAME", help="Only this format.")
@click.option("--variant", metavar="NAME", help="Only this variant, such as x.")
@_options.as_json
@_options.database
def command(
    *,
    run: str,
    format_name: str | None,
    variant: str | None,
    as_json: bool,
    database: str | None,
) -> None:
    """Show what a run made.

    With lengths against limits, and the reasons of failures. RUN is a run's id, the beginning of
    one, or `last`.
    """
    from repurpose.cli import _render
    from repurpose.cli._stored import opened
    from repurpose.errors import UsageError

    with opened(database) as store:
        found = store.run(run)
        rows = sorted(store.rows(found.id), key=lambda row: found.formats.index(row.format))
    wanted = [
        row for row in rows if format_name in {None, row.format} and variant in {None, row.variant}
    ]
    if not wanted:
        held = dict.fromkeys(
            row.format if row.variant == "default" else f"{row.format} {row.variant}"
            for row in rows
        )
        raise UsageError(
            f"run {found.id} has no such row", hint=f"it has: {', '.join(held) or 'none yet'}"
        )
    for row in wanted:
        click.echo(_render.json_line(_render.row_object(row)) if as_json else _render.row_text(row))
