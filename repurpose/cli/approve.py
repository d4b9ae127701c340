"""`repurpose approve`: a person's yes to a text, and taking it back."""

from __future__ import annotations

import click

from repurpose.cli import _options, _revising

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose approve last --section faq
  repurpose approve 019a3f2c7b --by anna
  repurpose approve last --section faq --undo
"""
)
@click.argument("target", metavar="ROW|RUN")
@_revising.section
@click.option("--undo", is_flag=True, help="Let it be replaced again, also where it was edited.")
@_revising.by
@_options.as_json
@_options.database
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    target: str,
    section: str | None,
    undo: bool,
    by: str | None,
    as_json: bool,
    database: str | None,
) -> None:
    """Approve a text, so that nothing replaces it.

    The text is a row by its id, or a section of a run. Regenerating it then only proposes another
    one.
    """
    from repurpose.api.revising import approve, release
    from repurpose.cli._settings import settings_of
    from repurpose.cli._stored import opened

    with opened(database) as store:
        before = _revising.target_row(store, settings_of(ctx), target, section)
        row = (release if undo else approve)(store, before.id, _revising.author(by))
    _revising.tell_row(row, before, as_json=as_json)
