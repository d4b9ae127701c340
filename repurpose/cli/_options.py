"""Options that several commands share, each defined once."""

from __future__ import annotations

import click

__all__ = ["as_json", "database"]

database = click.option(
    "--db",
    "database",
    metavar="FILE",
    help="The database; else REPURPOSE_DB, else one in your user data folder.",
)

as_json = click.option(
    "--json", "as_json", is_flag=True, help="JSON lines on standard output, for programs."
)
