"""`repurpose retry`: what failed in a batch, once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from repurpose.cli.batch import RUN_OPTIONS, finished, read

if TYPE_CHECKING:
    from repurpose.core.item import ItemState

__all__ = ["command"]


@click.command(
    params=[click.Argument(["batch"], default="last", metavar="[BATCH]"), *RUN_OPTIONS],
    epilog="""\b
Examples:
  repurpose retry
  repurpose retry last --only parked --model gpt-4.1
""",
)
@click.option(
    "--only", type=click.Choice(["failed", "parked"]), help="Only these; both by default."
)
@click.option("--report", "report", metavar="FILE", help="Write how it went to this JSON file.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    batch: str,
    only: Literal["failed", "parked"] | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    report: str | None,
    **_: object,
) -> None:
    """Try again what failed in a batch.

    A batch is named by its id, by the beginning of its id, or as `last`, the default. Its formats
    are made again unless --formats names others; model and settings are those of this command,
    the environment and the settings file.
    """
    from repurpose.batch.night import Night
    from repurpose.cli._batching import Telling

    states: tuple[ItemState, ...] = (only,) if only else ("failed", "parked")
    settings, options = read(ctx)
    telling = Telling(as_json=as_json, quiet=quiet)
    with Night(settings, options, force=force) as night:
        telling.plan(night.retried(batch, states, telling.unread), night.engine.model)
        ctx.exit(finished(night, telling, report))
