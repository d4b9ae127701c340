"""`repurpose show`: what a run made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repurpose.core.record import CallRecord, Run

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose show last
  repurpose show 019a3 --format social
  repurpose show last --format social --variant x --json
  repurpose show last --calls
"""
)
@click.argument("run")
@click.option("--format", "format_name", metavar="NAME", help="Only this format.")
@click.option("--variant", metavar="NAME", help="Only this variant, such as x.")
@click.option("--calls", is_flag=True, help="The calls instead: tokens, cost, time; no texts.")
@click.option("--prompts", is_flag=True, help="With --calls: prompts and replies, word for word.")
@_options.as_json
@_options.database
def command(
    *,
    run: str,
    format_name: str | None,
    variant: str | None,
    calls: bool,
    prompts: bool,
    as_json: bool,
    database: str | None,
) -> None:
    """Show what a run made.

    With lengths against limits, and the reasons of failures. RUN is a run's id, the beginning of
    one, or `last`. With --calls, one line for each call and what they took together; with --json
    as well, the last line holds those totals. A cost is by list price, and - where it is not
    known.
    """
    from repurpose.cli import _render
    from repurpose.cli._stored import opened
    from repurpose.errors import UsageError

    if prompts and not calls:
        raise UsageError("--prompts shows what calls sent", hint="add --calls")
    if calls and variant is not None:
        raise UsageError("a call serves all variants of its format", hint="leave out --variant")
    with opened(database) as store:
        found = store.run(run)
        if calls:
            _show_calls(store.calls(found.id), found, format_name, as_json=as_json, prompts=prompts)
            return
        rows = sorted(store.rows(found.id), key=lambda row: found.formats.index(row.format))
    wanted = [
        row for row in rows if format_name in {None, row.format} and variant in {None, row.variant}
    ]
    if not wanted:
        held = dict.fromkeys(
            row.format if row.variant == "default" else f"{row.format} {row.variant}"
            for row in rows
        )
        raise UsageError(
            f"run {found.id} has no such row", hint=f"it has: {', '.join(held) or 'none yet'}"
        )
    for row in wanted:
        click.echo(_render.json_line(_render.row_object(row)) if as_json else _render.row_text(row))


def _show_calls(
    records: Sequence[CallRecord],
    run: Run,
    format_name: str | None,
    *,
    as_json: bool,
    prompts: bool,
) -> None:
    """The run's calls, then what they took together."""
    from dataclasses import asdict

    from repurpose.cli import _render
    from repurpose.core.result import total_usage
    from repurpose.errors import UsageError

    if format_name not in {None, *run.formats}:
        raise UsageError(
            f"run {run.id} has no format {format_name!r}", hint=f"it has: {', '.join(run.formats)}"
        )
    shown = [record for record in records if format_name in {None, record.call.format}]
    usage = total_usage(shown)
    if as_json:
        for record in shown:
            click.echo(_render.json_line(_render.call_object(record, prompts=prompts)))
        click.echo(_render.json_line({"run": run.id, "usage": asdict(usage)}))
        return
    if shown:
        click.echo(_render.calls_table(shown))
    if prompts:
        for record in shown:
            click.echo(f"\n{_render.prompts_text(record)}")
    click.echo(f"run {run.id}: {_render.usage_phrase(usage)}")
