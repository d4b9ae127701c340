"""`repurpose formats`: what can be made."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command()
@_options.as_json
def command(*, as_json: bool) -> None:
    """List the formats that can be made."""
    from repurpose.cli import _render
    from repurpose.formats import FORMATS, format_named

    formats = [format_named(name) for name in FORMATS]
    if as_json:
        for format in formats:
            line = {"name": format.name, "label": format.label, "fields": list(format.declared)}
            click.echo(_render.json_line(line))
        return
    lines = [(format.name, format.label, ", ".join(format.declared)) for format in formats]
    click.echo(_render.table(("NAME", "LABEL", "FIELDS"), lines))
