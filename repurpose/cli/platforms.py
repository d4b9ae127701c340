"""`repurpose platforms`: what each platform allows, and who says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from repurpose.platforms import Limit, Platform

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose platforms
  repurpose platforms --json
  repurpose run article.md --platforms x=premium,bluesky,mastodon=1000
"""
)
@_options.as_json
def command(*, as_json: bool) -> None:
    """List the platforms and their limits.

    Each with the unit that it counts in, and when and where that was checked. A limit after ~ is
    what readers see, not what is refused. OPTIONS are other limits to choose by name.
    """
    from dataclasses import asdict

    from repurpose.cli import _render
    from repurpose.platforms import PLATFORMS

    if as_json:
        for platform in PLATFORMS.values():
            click.echo(_render.json_line(asdict(platform)))
        return
    head = ("NAME", "LIMIT", "UNIT", "ALSO", "TITLE", "TAGS", "MENTIONS", "LINKS", "THREAD")
    lines = [_cells(platform) for platform in PLATFORMS.values()]
    click.echo(_render.table((*head, "OPTIONS", "CHECKED", "SOURCE"), lines))


def _cells(platform: Platform) -> tuple[str, ...]:
    return (
        platform.name,
        f"{'' if platform.enforced else '~'}{platform.limit:,}",
        platform.unit,
        _limit(platform.also),
        _limit(platform.title),
        _most(platform.max_hashtags),
        _most(platform.max_mentions),
        _most(platform.max_links),
        "yes" if platform.thread else "-",
        ", ".join(_option(name, rules) for name, rules in platform.options.items()) or "-",
        platform.checked,
        platform.source,
    )


def _limit(limit: Limit | None) -> str:
    return f"{limit.limit:,} {limit.unit}" if limit else "-"


def _most(most: int | None) -> str:
    return "-" if most is None else str(most)


def _option(name: str, rules: object) -> str:
    told = [f"{rule} {number:,}" for rule, number in dict(rules).items()]  # type: ignore[call-overload]  # rules of the table
    return f"{name}: {', '.join(told)}"
