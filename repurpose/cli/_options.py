"""Options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["as_json", "configuration", "database", "formats_dir"]

_Decorated = Callable[..., Any]


def _noted(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Keep an option for whoever reads the settings; the command need not hand it on."""
    if value:
        context.find_root().meta[f"repurpose.{parameter.name}"] = value


def configuration(command: _Decorated) -> _Decorated:
    """`--config` and `--no-config`."""
    for option in (
        click.option(
            "--no-config",
            is_flag=True,
            expose_value=False,
            callback=_noted,
            help="No settings file, only flags and environment.",
        ),
        click.option(
            "--config",
            metavar="FILE",
            expose_value=False,
            callback=_noted,
            help="The settings file; else the nearest repurpose.toml.",
        ),
    ):
        command = option(command)
    return command


def database(command: _Decorated) -> _Decorated:
    """`--db`, with the settings file in which a database may be named too."""
    return click.option(
        "--db",
        "database",
        metavar="FILE",
        help="The database; else REPURPOSE_DB, else one in your user data folder.",
    )(configuration(command))


formats_dir = click.option(
    "--formats-dir",
    "formats_dir",
    metavar="FOLDER",
    help="Your own formats: prompts/NAME.md and schemas/NAME.schema.json.",
)

as_json = click.option(
    "--json", "as_json", is_flag=True, help="JSON lines on standard output, for programs."
)
