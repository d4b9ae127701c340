"""`repurpose restore`: an earlier or proposed text as the current one."""

from __future__ import annotations

import click

from repurpose.cli import _options, _revising

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose show last --history
  repurpose restore 019a3f2c7b
"""
)
@click.argument("row")
@_revising.by
@_options.as_json
@_options.database
def command(*, row: str, by: str | None, as_json: bool, database: str | None) -> None:
    """Make an earlier or a proposed text the current one.

    ROW is the id of any revision, as `show RUN --history` lists them, or the beginning of one. It
    is stored as a new revision, and nothing replaces it from then on.
    """
    from repurpose.api.revising import current_of, restore
    from repurpose.cli._stored import opened

    with opened(database) as store:
        before = current_of(store, store.row(row))
        restored = restore(store, row, _revising.author(by))
    _revising.tell_row(restored, before, as_json=as_json)
