"""`repurpose diff`: what differs between the revisions of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options, _revising

if TYPE_CHECKING:
    from collections.abc import Iterator

    from repurpose.api.revising import Difference
    from repurpose.config import Settings
    from repurpose.ports import Store

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose diff last
  repurpose diff last --section faq
  repurpose diff last 019a3f2c7b 019a3f9e01
"""
)
@click.argument("run")
@click.argument("rows", nargs=-1, metavar="[ROW1 ROW2]")
@_revising.section
@_options.as_json
@_options.database
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    run: str,
    rows: tuple[str, ...],
    section: str | None,
    as_json: bool,
    database: str | None,
) -> None:
    """Show word by word how texts of a run were changed.

    Of each section with several revisions, the last two are compared; where a new text is proposed
    beside one that a person decided on, both are compared with the text that they come from. Two
    rows are compared as they are named: the first is the older one.
    """
    from repurpose.cli._render import json_line
    from repurpose.cli._settings import settings_of
    from repurpose.cli._stored import opened
    from repurpose.core.compose import section_input

    if len(rows) not in (0, 2):
        raise click.UsageError("give two rows, or none", ctx)
    if rows and section is not None:
        raise click.UsageError("give either two rows or --section", ctx)
    with opened(database) as store:
        found = list(_found(store, settings_of(ctx), run, rows, section))
    for each in found:
        if as_json:
            click.echo(json_line({"section": section_input(each.mine), **each.to_map()}))
        else:
            click.echo(_revising.difference_text(each))
    if not found:
        click.echo("nothing was changed since the run", err=True)


def _found(
    store: Store, settings: Settings, run_id: str, rows: tuple[str, ...], section: str | None
) -> Iterator[Difference]:
    """The differences that are asked for."""
    from repurpose.api.revising import difference, revisions_of, row_of
    from repurpose.errors import UsageError

    run = store.run(run_id)
    if rows:
        for named in rows:
            if store.row(named).run_id != run.id:
                raise UsageError(f"row {named} is not one of run {run.id}")
        yield difference(store, rows[1], rows[0])
        return
    if section is not None:
        yield difference(store, row_of(store, settings, run.id, section).id)
        return
    for row in store.rows(run.id):
        if row.status == "done" and any(
            each.status == "done" and each.id != row.id for each in revisions_of(store, row)
        ):
            yield difference(store, row.id)
