"""`repurpose export`: a run as one document."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose export last --to markdown
  repurpose export last --to json --output run.json
"""
)
@click.argument("run")
@click.option("--to", "kind", default="markdown", metavar="KIND", help="markdown or json.")
@click.option(
    "--output", type=click.Path(dir_okay=False, writable=True), help="A file instead of the output."
)
@_options.database
def command(*, run: str, kind: str, output: str | None, database: str | None) -> None:
    """Write a run as Markdown or JSON.

    RUN is a run's id, the beginning of one, or `last`. The same rows give the same bytes.
    """
    from pathlib import Path

    from repurpose.api.adapters import exported
    from repurpose.cli._stored import opened

    with opened(database) as store:
        text = exported(store, run, kind)
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        Path(output).write_text(text, encoding="utf-8")
        click.echo(f"written: {output}", err=True)
