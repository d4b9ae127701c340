"""`repurpose check`: whether everything a run needs is right, before one is paid for."""

from __future__ import annotations

from collections.abc import Iterator

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command()
@_options.formats_dir
@_options.as_json
@_options.database
@click.pass_context
def command(
    ctx: click.Context, /, *, formats_dir: str | None, as_json: bool, database: str | None
) -> None:
    """Check formats, prompts, schemas, the settings file and the database.

    One line each, your own formats, composites and endpoints included; exit code 2 where one is
    at fault.
    """
    from repurpose.api.checking import checked
    from repurpose.cli import _render
    from repurpose.cli._settings import database_path, faults_of_file, formats_of, settings_of

    def found() -> Iterator[tuple[str, str | None]]:
        faults = faults_of_file()
        yield from faults
        if all(fault is None for _, fault in faults):
            settings = settings_of(ctx)
            place = database_path(database)
            yield from checked(place, formats_of(settings), settings)

    faulty = False
    for name, fault in found():
        faulty = faulty or fault is not None
        if as_json:
            click.echo(_render.json_line({"name": name, "ok": fault is None, "fault": fault}))
        else:
            click.echo(f"{name}: {fault or 'ok'}")
    ctx.exit(2 if faulty else 0)
