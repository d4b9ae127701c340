"""`repurpose stats`: what calls took over time, and how often they had to be repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repurpose.core.result import Total
    from repurpose.core.statistics import Tally

__all__ = ["command"]

_ALL = "all"


@click.command(
    epilog="""\b
Examples:
  repurpose stats
  repurpose stats --since 2026-12-01 --by model
  repurpose stats --by day --json
"""
)
@click.option("--since", metavar="DATE", help="From this day on, UTC: 2026-12-01.")
@click.option(
    "--by",
    type=click.Choice(["format", "model", "day"]),
    default="format",
    help="What is counted together; format by default.",
)
@_options.as_json
@_options.database
def command(*, since: str | None, by: str, as_json: bool, database: str | None) -> None:
    """Show what calls took: tokens, cost, cache hits, repairs, failures.

    CACHED is the share of prompt tokens that came from a provider's cache, of those calls that
    told; AGAIN the share of formats that were asked for a second time. Costs are by list price. -
    means that nothing is known, and + that some calls did not tell, so that it is more.
    """
    from repurpose.cli import _render
    from repurpose.cli._stored import opened
    from repurpose.core.statistics import GROUPINGS, together

    grouping = GROUPINGS[[str(each) for each in GROUPINGS].index(by)]
    start = _day(since)
    with opened(database) as store:
        tallies = store.statistics(grouping, start)
    whole = together(tallies, _ALL)
    if as_json:
        for tally in tallies:
            click.echo(_render.json_line({"by": by, by: tally.name, **_facts(tally)}))
        click.echo(_render.json_line({"by": by, by: None, **_facts(whole)}))
    elif not tallies:
        click.echo(f"no calls{f' since {start}' if start else ' yet'}", err=True)
    else:
        _show(by, tallies, whole)


def _day(since: str | None) -> str:
    """The day as the store compares it; empty for none."""
    from datetime import date

    from repurpose.errors import UsageError

    if since is None:
        return ""
    try:
        return date.fromisoformat(since).isoformat()
    except ValueError:
        raise UsageError(
            f"--since {since[:40]!r} is no date", hint="write it like 2026-12-01"
        ) from None


def _show(by: str, tallies: Sequence[Tally], whole: Tally) -> None:
    """A line for each group and one for all of them, then what is not in the table."""
    from repurpose.cli import _render

    head = (by.upper(), "CALLS", "AGAIN", "FAILED", "IN", "CACHED", "OUT", "REASONING", "US$")
    lines = [_cells(tally) for tally in (*tallies, whole)]
    click.echo(_render.table((*head, "SECONDS"), lines))
    if whole.failures:
        kinds = sorted(whole.failures.items(), key=lambda each: (-each[1], each[0]))
        click.echo("failed: " + ", ".join(f"{kind} {count:,}" for kind, count in kinds))
    if whole.unanswered:
        click.echo(f"no reply came to {whole.unanswered:,} of {whole.calls:,} calls")
    if whole.cost.unknown:
        have = "has" if whole.cost.unknown == 1 else "have"
        unpriced = f"{whole.cost.unknown:,} of {whole.calls:,} calls {have} no price"
        click.echo(f"cost unknown: {unpriced}")


def _cells(tally: Tally) -> list[str]:
    from repurpose.cli import _render

    seconds = tally.mean_seconds
    return [
        tally.name,
        f"{tally.calls:,}",
        _percent(tally.repair_rate),
        f"{tally.failed:,}",
        _tokens(tally.prompt_tokens, tally.calls),
        _percent(tally.hit_rate),
        _tokens(tally.completion_tokens, tally.calls),
        _tokens(tally.reasoning_tokens, tally.calls),
        _known(_render.dollars(tally.cost.known), tally.cost, tally.calls),
        "-" if seconds is None else f"{seconds:.1f}",
    ]


def _tokens(total: Total, calls: int) -> str:
    return _known(f"{total.known:,.0f}", total, calls)


def _known(shown: str, total: Total, calls: int) -> str:
    """A sum with a mark where it is not the whole one; `-` where no call told its part."""
    if total.unknown == 0:
        return shown
    return "-" if total.unknown >= calls else f"{shown}+"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _facts(tally: Tally) -> dict[str, object]:
    """Everything about a group but its name."""
    from dataclasses import asdict

    facts = asdict(tally)
    del facts["name"]
    return {
        **facts,
        "failed": tally.failed,
        "hit_rate": tally.hit_rate,
        "repair_rate": tally.repair_rate,
        "mean_seconds": tally.mean_seconds,
    }
