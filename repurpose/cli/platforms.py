"""`repurpose platforms`: what each platform allows, and who says so."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command()
@_options.as_json
def command(*, as_json: bool) -> None:
    """List the platforms and their limits.

    Each with the unit that it counts in, and when and where that was checked.
    """
    from dataclasses import asdict

    from repurpose.cli import _render
    from repurpose.platforms import PLATFORMS

    if as_json:
        for platform in PLATFORMS.values():
            click.echo(_render.json_line(asdict(platform)))
        return
    lines = [
        (
            platform.name,
            f"{platform.limit:,}",
            platform.unit,
            str(platform.max_hashtags or "-"),
            platform.checked,
            platform.source,
        )
        for platform in PLATFORMS.values()
    ]
    head = ("NAME", "LIMIT", "UNIT", "HASHTAGS", "CHECKED", "SOURCE")
    click.echo(_render.table(head, lines))
