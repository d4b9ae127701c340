"""`repurpose check`: whether everything a run needs is right, before one is paid for."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command()
@_options.as_json
@_options.database
@click.pass_context
def command(ctx: click.Context, /, *, as_json: bool, database: str | None) -> None:
    """Check formats, prompts, schemas and the database.

    One line each; exit code 2 where one is at fault.
    """
    from repurpose.api.checking import checked
    from repurpose.cli import _render

    faulty = False
    for name, fault in checked(database):
        faulty = faulty or fault is not None
        if as_json:
            click.echo(_render.json_line({"name": name, "ok": fault is None, "fault": fault}))
        else:
            click.echo(f"{name}: {fault or 'ok'}")
    ctx.exit(2 if faulty else 0)
