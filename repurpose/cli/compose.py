"""`repurpose compose`: a deliverable of named sections, from a source or from a stored run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from repurpose.cli.run import command as run_command

if TYPE_CHECKING:
    from repurpose.config import Settings
    from repurpose.core.compose import Composite

__all__ = ["command"]

_OF_MANY = {"formats", "follow", "limit"}
"""What `run` takes for many sources, or what the composite itself says."""
_OF_BOTH = {"database", "config", "no_config", "formats_dir", "as_json", "quiet"}
"""What makes sense with a stored run, too."""
_RUN_OPTIONS = tuple(
    each
    for each in run_command.params
    if isinstance(each, click.Option) and each.name not in _OF_MANY
)


@click.command(
    params=[
        click.Argument(["composite"]),
        click.Argument(["source"], required=False),
        *_RUN_OPTIONS,
    ],
    epilog="""\b
Examples:
  repurpose compose launch-kit article.md
  repurpose compose launch-kit article.md --model gpt-4.1-mini --to file
  repurpose compose launch-kit --run last --to stdout --renderer html
  repurpose compose ./kit.json article.md --output kit.md
""",
)
@click.option("--run", "run_id", metavar="RUN", help="A stored run in place of SOURCE; no call.")
@click.option(
    "--to",
    "destination",
    type=click.Choice(["store", "stdout", "file"]),
    help="Where it goes, over what the composite says.",
)
@click.option(
    "--renderer",
    type=click.Choice(["markdown", "html", "json"]),
    help="What it is written as, over what the composite says.",
)
@click.option("--output", metavar="FILE", help="The file; else NAME-RUN.md, .html or .json here.")
@click.option("--overwrite", is_flag=True, help="Write over a file that is there.")
@click.option(
    "--events",
    type=click.Choice(["jsonl"]),
    help="Sections as events on standard output, while they are written.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    composite: str,
    source: str | None,
    run_id: str | None,
    destination: str | None,
    renderer: str | None,
    output: str | None,
    overwrite: bool,
    events: str | None,
    force: bool,
    **_: object,
) -> None:
    """Put named sections together from a source, or from a stored run.

    COMPOSITE is one of your settings file, [composites.NAME], or a JSON file. The formats that its
    sections need are run once each, and stored. A section that failed is left out and named, and
    the others are delivered: exit code 1, and 4 where none is left.
    """
    from dataclasses import replace

    from repurpose.cli._composing import Delivery, Origin
    from repurpose.cli.batch import read

    _refuse_contradictions(ctx, events=events is not None, output=output, destination=destination)
    settings, options = read(ctx)
    wanted = _composite(composite, settings)
    if output is not None:
        destination = "file"
    wanted = replace(
        wanted,
        destination=destination or wanted.destination,
        renderer=renderer or wanted.renderer,
    )
    delivery = Delivery(
        wanted,
        settings,
        spelled=composite,
        output=output,
        overwrite=overwrite,
        as_json=ctx.params["as_json"],
        events=events is not None,
        quiet=ctx.params["quiet"],
    )
    if run_id is not None:
        ctx.exit(delivery.of_run(run_id))
    ctx.exit(delivery.of_source(Origin(str(source), options, force=force)))


def _composite(named: str, settings: Settings) -> Composite:
    from repurpose.api._declared_composites import composite_in, composite_named

    return composite_in(named) if named.endswith(".json") else composite_named(named, settings)


def _refuse_contradictions(
    ctx: click.Context, *, events: bool, output: str | None, destination: str | None
) -> None:
    """Raise UsageError for options that have no meaning together."""
    source, run = ctx.params["source"], ctx.params["run_id"]
    if (source is None) == (run is None):
        raise click.UsageError("give a SOURCE, or --run RUN for one that is stored", ctx)
    if events and ctx.params["as_json"]:
        raise click.UsageError("--events and --json write different lines; give one of them", ctx)
    if output is not None and destination not in {None, "file"}:
        raise click.UsageError(f"--output and --to {destination} contradict each other", ctx)
    if run is None:
        return
    for option in _RUN_OPTIONS:
        name = option.name or ""
        if name in _OF_BOTH or ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        raise click.UsageError(f"{option.opts[0]} has no use with --run, which makes no call", ctx)
