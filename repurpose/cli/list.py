"""`repurpose list`: the stored runs."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose list
  repurpose list --limit 5 --json
"""
)
@click.option("--limit", type=click.IntRange(1), default=20, metavar="N", help="At most N runs.")
@_options.as_json
@_options.database
def command(*, limit: int, as_json: bool, database: str | None) -> None:
    """List the stored runs, newest first."""
    from dataclasses import asdict

    from repurpose.cli import _render
    from repurpose.cli._stored import opened

    with opened(database) as store:
        runs = store.runs(limit)
        titles = {run.id: store.source(run.source_id) for run in runs}
    if as_json:
        for run in runs:
            source = titles[run.id]
            line = {**asdict(run), "title": source.title, "origin": source.origin}
            click.echo(_render.json_line(line))
        return
    if not runs:
        click.echo("no runs yet; start with: repurpose run article.md", err=True)
        return
    lines = [
        (
            run.id,
            run.started_at[:16].replace("T", " "),
            run.status,
            run.model or run.engine,
            ",".join(run.formats),
            titles[run.id].title or titles[run.id].origin,
        )
        for run in runs
    ]
    click.echo(_render.table(("RUN", "STARTED (UTC)", "STATUS", "BY", "FORMATS", "SOURCE"), lines))
