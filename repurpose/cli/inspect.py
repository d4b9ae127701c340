"""`repurpose inspect`: what is loaded from a source, before any of it is sent anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from repurpose.api.inspecting import Inspection
    from repurpose.api.loading import Loaded

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose inspect article.pdf
  repurpose inspect talk.vtt --text
  repurpose inspect posts/ --json
"""
)
@click.argument("sources", nargs=-1, required=True)
@click.option("--text", is_flag=True, help="Print the text that was loaded, too.")
@click.option("--kind", metavar="KIND", help="text, html, srt …, where it cannot be told.")
@click.option("--follow/--no-follow", help="Fetch what a feed in a file points to.")
@click.option("--limit", type=int, metavar="N", help="At most N entries of a feed or sitemap.")
@click.option(
    "--allow-private/--no-allow-private", help="Fetch from your own network too, any port."
)
@click.option("--proxy", metavar="URL", help="Fetch through this proxy, which may reach anything.")
@_options.as_json
@_options.configuration
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    sources: tuple[str, ...],
    text: bool,
    kind: str | None,
    as_json: bool,
    **_: object,
) -> None:
    """Show what is loaded from a source, and what in it looks suspicious.

    Takes the sources that repurpose run takes; calls no model and stores nothing. Suspicious are
    tags, chat tokens, and words that give orders to a model. Tags and tokens are defused before
    a model reads the text, and all of it is marked as data; orders in other words are not found.
    Exit code 3 where a source cannot be read; the others are shown all the same.
    """
    from contextlib import closing

    from repurpose.api.loading import LoadOptions, load_all
    from repurpose.cli._settings import settings_of

    refused = False
    settings = settings_of(ctx)
    options = LoadOptions(
        kind, settings.follow, settings.entries, settings.allow_private, settings.proxy
    )
    with closing(load_all(*sources, options=options)) as found:
        for loaded in found:
            refused = refused or loaded.error is not None
            if as_json:
                _write_json(loaded)
            else:
                _write(loaded, text=text)
    ctx.exit(3 if refused else 0)


def _write_json(loaded: Loaded) -> None:
    from repurpose.api.inspecting import inspect_source
    from repurpose.cli._render import json_line

    if loaded.source is not None:
        facts = inspect_source(loaded.source).to_map() | {"origin": loaded.origin}
    elif loaded.error is not None:
        error = loaded.error
        facts = {"origin": loaded.origin, "error": error.message, "reason": error.reason}
    else:
        facts = {"origin": loaded.origin, "duplicate_of": loaded.duplicate_of}
    click.echo(json_line(facts))


def _write(loaded: Loaded, *, text: bool) -> None:
    from repurpose.api.inspecting import inspect_source
    from repurpose.api.loading import shown_origin
    from repurpose.cli._telling import tell_duplicate, tell_refused

    if loaded.error is not None:
        tell_refused(loaded.error)
    elif loaded.source is None:
        tell_duplicate(loaded)
    else:
        click.echo(shown_origin(loaded.origin))
        for line in _lines(inspect_source(loaded.source)):
            click.echo(f"  {line}")
        if text:
            click.echo(f"\n{loaded.source.text}")
        click.echo()


def _lines(seen: Inspection) -> Iterator[str]:
    """What a person wants to know of a source, one fact a line."""
    source = seen.source
    facts = {
        "kind": source.kind,
        "title": source.title,
        "author": source.author,
        "date": source.date,
        "language": source.language,
        "url": source.url,
    }
    for name, value in facts.items():
        yield f"{name + ':':<12}{value or '-'}"
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in seen.kinds.items())
    blocks = f"{len(source.blocks):,} blocks ({kinds})" if kinds else "no blocks"
    yield f"size:       {len(source.text):,} characters, {seen.words:,} words, {blocks}"
    yield f"hidden:     {source.hidden:,} characters or nodes removed"
    for warning in source.warnings:
        yield f"warning:    {warning}"
    yield f"suspicious: {len(seen.suspicious):,}"
    for one in seen.suspicious:
        place = f"line {one.line:,}" if one.where == "text" else one.where
        yield f"  {place}: {one.found.kind}: {one.found.excerpt}"
