"""`repurpose batch`: many sources, night after night."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli.run import command as run_command

if TYPE_CHECKING:
    from repurpose.api.loading import LoadOptions
    from repurpose.batch.night import Night
    from repurpose.cli._batching import Telling
    from repurpose.config import Settings

__all__ = ["RUN_OPTIONS", "command", "finished", "read"]

RUN_OPTIONS = tuple(each for each in run_command.params if isinstance(each, click.Option))
"""The options of `run`; a batch has all of them."""


@click.command(
    params=[click.Argument(["sources"], nargs=-1), *RUN_OPTIONS],
    epilog="""\b
Examples:
  repurpose batch posts/ --dry-run
  repurpose batch https://example.org/feed.xml --limit 50 --model gpt-4.1-mini
  repurpose batch @sources.txt --formats summary,faq --concurrency 32 --report report.json
""",
)
@click.option("--dry-run", is_flag=True, help="Show the plan, item by item, and stop there.")
@click.option("--report", "report", metavar="FILE", help="Write how it went to this JSON file.")
@click.option(
    "--provider-batch",
    is_flag=True,
    help="Have the provider answer within a day, at half price where it has that (OpenAI): fetch"
    " what is answered, submit the rest, and end.",
)
@click.option(
    "--collect",
    is_flag=True,
    help="Fetch the answers to what --provider-batch submitted; without SOURCES, for those of the"
    " last batch.",
)
@click.option("--wait", is_flag=True, help="Wait until the provider has answered everything.")
@click.option(
    "--repair-live",
    is_flag=True,
    help="Ask again for answers that cannot be used at once and at full price, not in a second"
    " provider batch.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    sources: tuple[str, ...],
    force: bool,
    quiet: bool,
    as_json: bool,
    dry_run: bool,
    report: str | None,
    provider_batch: bool,
    collect: bool,
    wait: bool,
    repair_live: bool,
    **_: object,
) -> None:
    """Turn many sources into texts, night after night, and pay for each text once.

    The plan comes first: what is new, changed and done, how many calls that takes and what they
    cost. Then it is worked through, so many calls at once. The same command goes on where it was
    stopped or killed; two of them at once share the work. What fails three times for a reason of
    its own is left out from then on, until it is changed or `repurpose retry` is asked for.
    """
    from repurpose.batch.night import Night
    from repurpose.cli._batching import Telling

    at_provider = provider_batch or collect
    _refuse_contradictions(ctx, at_provider=at_provider)
    settings, options = read(ctx)
    telling = Telling(as_json=as_json, quiet=quiet)
    if at_provider and not dry_run:
        from repurpose.cli._provider_batches import Rounds

        rounds = Rounds(
            settings,
            options,
            telling,
            sources,
            wait=wait,
            repair_live=repair_live,
            as_json=as_json,
            quiet=quiet,
            report=report,
        )
        ctx.exit(rounds.run())
    with Night(settings, options, force=force) as night:
        if dry_run:
            telling.plan(night.foreseen(sources, telling.step), night.engine.model)
            return
        telling.plan(night.planned(sources, telling.unread), night.engine.model)
        ctx.exit(finished(night, telling, report))


def _refuse_contradictions(ctx: click.Context, *, at_provider: bool) -> None:
    """Raise UsageError for options that have no meaning together."""
    given = ctx.params
    if not given["sources"] and not given["collect"]:
        raise click.MissingParameter(ctx=ctx, param=ctx.command.params[0])
    for name in ("wait", "repair_live"):
        if given[name] and not at_provider:
            flag = name.replace("_", "-")
            raise click.UsageError(f"--{flag} goes with --provider-batch or --collect", ctx)
    if at_provider and given["force"]:
        # It would ask anew, each time, for what has just been collected.
        raise click.UsageError("--force and provider batches exclude each other", ctx)


def read(ctx: click.Context) -> tuple[Settings, LoadOptions]:
    """What the options, the environment and the settings file say.

    Raises:
        UsageError: a value that cannot be used.
    """
    from repurpose.api.loading import LoadOptions
    from repurpose.cli._settings import settings_of
    from repurpose.cli._telling import tell_settings
    from repurpose.errors import UsageError

    attempts = ctx.params["max_attempts"]
    if ctx.params["no_repair"] and attempts not in {None, 1}:
        raise UsageError(f"--no-repair and --max-attempts {attempts} contradict each other")
    settings = settings_of(ctx, max_attempts=1 if ctx.params["no_repair"] else attempts)
    if not ctx.params["quiet"]:
        tell_settings()
    options = LoadOptions(
        ctx.params["kind"],
        settings.follow,
        settings.entries,
        settings.allow_private,
        settings.proxy,
    )
    return settings, options


def finished(night: Night, telling: Telling, report: str | None) -> int:
    """Work through the plan, tell how it ended, and give the exit code."""
    from repurpose.batch.night import report_of, write_report
    from repurpose.cli._batching import worked

    outcome = worked(night, telling)
    telling.summary(outcome)
    if report is not None:
        write_report(report, report_of(night.store, outcome.batch, outcome.exit_code))
    return outcome.exit_code
