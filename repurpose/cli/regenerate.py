"""`repurpose regenerate`: one section of a run, made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli._revising import by as by_option
from repurpose.cli.batch import RUN_OPTIONS

if TYPE_CHECKING:
    from repurpose.api.revising import Regenerated
    from repurpose.config import Settings
    from repurpose.ports import Store

__all__ = ["command"]

_TAKEN = frozenset(
    {
        "formats_dir",
        "model",
        "base_url",
        "profile",
        "engine",
        "background",
        "voice",
        "max_attempts",
        "no_repair",
        "output_tokens",
        "temperature",
        "timeout",
        "context_tokens",
        "brief",
        "segmenter",
        "max_cost",
        "max_calls",
        "max_tokens",
        "rpm",
        "tpm",
        "quiet",
        "as_json",
        "database",
        "config",
        "no_config",
    }
)
"""The options of `run` that do not ask for another text than the run's."""


@click.command(
    params=[
        click.Argument(["run"]),
        *(option for option in RUN_OPTIONS if option.name in _TAKEN),
    ],
    epilog="""\b
Examples:
  repurpose regenerate last --section faq
  repurpose regenerate 019a3 --section social.linkedin --instruction "shorter, no jargon"
  repurpose regenerate last --section summary --model gpt-4.1 --by anna
""",
)
@click.option(
    "--section", required=True, metavar="NAME", help="A format, or one post: social.linkedin."
)
@click.option("--instruction", metavar="TEXT", help='What should be better: "shorter, no jargon".')
@click.option("--all-variants", is_flag=True, help="Store all posts of the call, not just the one.")
@by_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    run: str,
    section: str,
    instruction: str | None,
    all_variants: bool,
    by: str | None,
    max_attempts: int | None,
    no_repair: bool,
    quiet: bool,
    as_json: bool,
    database: str | None,
    **_: object,
) -> None:
    """Make one section of a run again, and leave all others as they are.

    Takes one call for the section's format, with the run's own source, language, audience, tone
    and platforms; and its model, unless another one is named. The text before stays in the
    history. A text that a person edited or approved is kept: the new one is stored beside it, and
    what differs is shown. Exit codes: 0 made, 2 no such section, 4 it failed, and the old text
    stays, 5 the budget is reached.
    """
    from repurpose.cli._revising import author
    from repurpose.cli._settings import settings_of
    from repurpose.cli._stored import opened
    from repurpose.cli._telling import tell_settings
    from repurpose.errors import UsageError

    if no_repair and max_attempts not in {None, 1}:
        raise UsageError(f"--no-repair and --max-attempts {max_attempts} contradict each other")
    settings = settings_of(ctx, max_attempts=1 if no_repair else max_attempts)
    if not quiet:
        tell_settings()
    wish: dict[str, str | bool | None] = {
        "run_id": run,
        "section": section,
        "instruction": instruction,
        "all_variants": all_variants,
        "by": author(by),
    }
    with opened(database) as store:
        made = _made(store, settings, wish, quiet=quiet)
        _show(store, made, as_json=as_json)
        if not quiet:
            _tell(made, instruction)
    if made.stopped_by is not None:
        raise made.stopped_by
    ctx.exit(made.exit_code)


def _made(
    store: Store, settings: Settings, wish: dict[str, str | bool | None], *, quiet: bool
) -> Regenerated:
    """The section made again, with its progress shown and Ctrl-C heard."""
    import asyncio

    from repurpose.api.revising import aregenerate
    from repurpose.cli._progress import shown
    from repurpose.cli._running import Interrupts

    interrupts = Interrupts()

    async def made() -> Regenerated:
        with shown(quiet=quiet) as report:
            work = asyncio.ensure_future(
                aregenerate(
                    **wish,  # type: ignore[arg-type]  # its arguments by name
                    settings=settings,
                    store=store,
                    report=report,
                    stopping=interrupts.asked,
                )
            )
            with interrupts.heard(work):
                try:
                    return await work
                except asyncio.CancelledError:
                    raise KeyboardInterrupt from None

    return asyncio.run(made())


def _show(store: Store, made: Regenerated, *, as_json: bool) -> None:
    """The new text, or where it is only proposed, how it differs."""
    from repurpose.api.revising import current_of, difference
    from repurpose.cli import _render
    from repurpose.cli._revising import difference_text

    if as_json and made.result is not None:
        click.echo(_render.json_line(_render.result_object(made.result)))
        return
    proposed = {row.id for row in made.proposed}
    for row in made.rows:
        if row.id in proposed:
            click.echo(difference_text(difference(store, current_of(store, row).id, row.id)))
        else:
            click.echo(_render.row_text(row))


def _tell(made: Regenerated, instruction: str | None) -> None:
    """What was changed, what is only proposed, what it took, and where the history is."""
    from repurpose.cli._render import usage_phrase
    from repurpose.core.compose import section_input

    for note in made.result.meta.notes if made.result else ():
        click.echo(f"Note: {note}", err=True)
    if instruction and any(row.engine == "extractive" for row in made.rows):
        click.echo("Note: without a model, an instruction changes nothing", err=True)
    for row in made.proposed:
        click.echo(
            f"Note: {section_input(row)} was decided on by a person, so it stays; to take the new"
            f" text: repurpose restore {row.id}",
            err=True,
        )
    kept = made.result is not None and not made.result.done
    click.echo(
        f"run {made.run.id} {made.run.status}: {usage_phrase(made.usage)}"
        f"{'; the text before stays' if kept else ''}; see: repurpose show {made.run.id} --history",
        err=True,
    )
