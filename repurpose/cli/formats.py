"""`repurpose formats`: what can be made."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command()
@_options.formats_dir
@_options.configuration
@_options.as_json
@click.pass_context
def command(ctx: click.Context, /, *, formats_dir: str | None, as_json: bool) -> None:
    """List the formats that can be made.

    One that cannot be used is told on standard error and left out.
    """
    from repurpose.cli import _render
    from repurpose.cli._settings import formats_of, settings_of
    from repurpose.errors import UsageError

    known = formats_of(settings_of(ctx))
    formats = []
    for name in known.names():
        try:
            formats.append(known.named(name))
        except UsageError as fault:
            click.echo(f"Warning: {fault.message}", err=True)
    if as_json:
        for format in formats:
            line = {"name": format.name, "label": format.label, "fields": list(format.declared)}
            click.echo(_render.json_line(line))
        return
    lines = [(format.name, format.label, ", ".join(format.declared)) for format in formats]
    click.echo(_render.table(("NAME", "LABEL", "FIELDS"), lines))
