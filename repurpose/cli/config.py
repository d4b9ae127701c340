"""`repurpose config`: which settings are in force, and who says so."""

from __future__ import annotations

from pathlib import Path

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose config
  repurpose config --example > repurpose.toml
  repurpose config --config team/repurpose.toml --json
"""
)
@click.option("--example", is_flag=True, help="A whole settings file instead, with all defaults.")
@_options.as_json
@_options.database
@click.pass_context
def command(ctx: click.Context, /, *, example: bool, as_json: bool, database: str | None) -> None:
    """Show the settings in force, and where each comes from.

    From the nearest repurpose.toml upwards from here, the environment (REPURPOSE_NAME) over it, and
    flags over both. Of a key, only whether there is one, and in which variable it is looked for.
    """
    from dataclasses import asdict

    from repurpose.cli import _render
    from repurpose.cli._settings import file_used, origins
    from repurpose.config._example import example_text

    del database  # read with the other flags
    if example:
        click.echo(example_text(), nl=False)
        return
    found = origins(ctx)
    if as_json:
        for origin in found:
            click.echo(_render.json_line(asdict(origin) | {"value": _plain(origin.value)}))
        return
    file = file_used()
    click.echo(f"file: {file.path if file else 'none'}", err=True)
    lines = [
        (origin.key, _spoken(origin.value), " ".join(filter(None, (origin.layer, origin.where))))
        for origin in found
    ]
    click.echo(_render.table(("SETTING", "VALUE", "FROM"), lines))


def _plain(value: object) -> object:
    """A value for JSON; of an address, without user and password."""
    from repurpose.fetching.showing import without_credentials

    match value:
        case Path():
            return str(value)
        case str() if "://" in value:
            return without_credentials(value)
        case _:
            return value


def _spoken(value: object) -> str:
    """A value for a person."""
    plain = _plain(value)
    match plain:
        case None | () | "":
            return "-"
        case bool():
            return "true" if plain else "false"
        case tuple():
            return ", ".join(map(str, plain))
        case _:
            return " ".join(str(plain).split())
