"""`repurpose run`: the main job, from one source to stored texts."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from repurpose.api.runs import RunOptions
    from repurpose.config import Settings
    from repurpose.core.result import RunResult
    from repurpose.core.source import Source

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose run article.md
  repurpose run article.md --formats faq,social
  cat notes.md | repurpose run - --formats summary --language de --audience "CFOs"
  repurpose run article.md --model gpt-4.1-mini
  repurpose run article.md --model llama3.2 --base-url http://localhost:11434/v1
"""
)
@click.argument("source")
@click.option("--formats", metavar="A,B", help="Which formats, by name; all of them by default.")
@click.option("--model", help="gpt-4.1-mini, anthropic/NAME, local:PATH.gguf; none by default.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server to use instead.")
@click.option("--profile", metavar="NAME", help="How that server is asked; see repurpose doctor.")
@click.option("--engine", metavar="NAME", help="extractive, openai, instructor or local.")
@click.option("--language", metavar="CODE", help="Language to write in; the source's by default.")
@click.option("--audience", metavar="TEXT", help='Who reads it, such as "CFOs".')
@click.option("--tone", metavar="TEXT", help='How it sounds, such as "dry, exact".')
@click.option("--kind", metavar="KIND", help="markdown, text or html, where it cannot be told.")
@click.option("--max-attempts", type=int, metavar="N", help="Calls per format, 1 to 5; default 2.")
@click.option("--no-repair", is_flag=True, help="Never ask again: the same as --max-attempts 1.")
@click.option(
    "--max-output-tokens",
    "output_tokens",
    type=int,
    metavar="N",
    help="Budget of one reply; a reply cut there is asked for once more with twice as much.",
)
@click.option("--temperature", type=float, metavar="X", help="The model's temperature.")
@click.option("--timeout", type=float, metavar="S", help="Seconds for one request; default 120.")
@click.option(
    "--context-tokens", type=int, metavar="N", help="Context of a local: model; default 8192."
)
@click.option("--segmenter", metavar="NAME", help="sentencex, nltk, or nltk:PATH of your model.")
@click.option("--concurrency", type=int, metavar="N", help="Formats in work at once; default 4.")
@click.option("--force", is_flag=True, help="Call even where the same result is stored.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
@_options.as_json
@_options.database
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    source: str,
    formats: str | None,
    kind: str | None,
    max_attempts: int | None,
    no_repair: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
    **flags: object,
) -> None:
    """Turn one source into texts, and store them.

    SOURCE is a Markdown, text or HTML file, or - for standard input. Texts go to standard
    output, progress and notes to standard error. The same source with the same settings is
    never paid for twice: what is stored is used again.
    """
    from repurpose.api.adapters import load
    from repurpose.config import from_environment
    from repurpose.errors import UsageError
    from repurpose.formats import FORMATS

    if no_repair and max_attempts not in {None, 1}:
        raise UsageError(f"--no-repair and --max-attempts {max_attempts} contradict each other")
    attempts = 1 if no_repair else max_attempts
    settings = from_environment(os.environ, max_attempts=attempts, **flags)
    names = _names(formats) if formats is not None else tuple(FORMATS)
    loaded = load(source, kind=kind)
    if not quiet:
        _tell_source(loaded)
    result = asyncio.run(_run(loaded, names, settings, force=force, quiet=quiet))
    _write(result, as_json=as_json)
    if not quiet:
        _tell_end(result, settings)
    ctx.exit(result.exit_code)


def _names(formats: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in formats.split(",") if name.strip())


async def _run(
    source: Source, names: tuple[str, ...], settings: Settings, *, force: bool, quiet: bool
) -> RunResult:
    """The run, with its progress shown and Ctrl-C heard."""
    from repurpose.api.runs import arun
    from repurpose.cli._progress import shown

    interrupts = _Interrupts()
    with shown(quiet=quiet) as report:
        options: RunOptions = {
            "settings": settings,
            "force": force,
            "report": report,
            "stopping": interrupts.asked,
        }
        work = asyncio.ensure_future(arun(source, names, **options))
        with interrupts.heard(work):
            try:
                return await work
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None


class _Interrupts:
    """Ctrl-C once: finish what is in flight and stop. Twice: stop now."""

    def __init__(self) -> None:
        self._count = 0

    def asked(self) -> bool:
        """Whether the user asked to stop."""
        return self._count > 0

    @contextmanager
    def heard(self, work: asyncio.Future[RunResult]) -> Iterator[None]:
        """Count interrupts while in this context; the second one cancels `work`."""
        loop = asyncio.get_running_loop()
        try:
            # Wakes the loop whichever thread the signal comes to; a plain handler might not.
            loop.add_signal_handler(signal.SIGINT, self._hear, work)
        except NotImplementedError:  # Windows
            signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(self._hear, work))
        try:
            yield
        finally:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(signal.SIGINT)

    def _hear(self, work: asyncio.Future[RunResult]) -> None:
        self._count += 1
        if self._count == 1:
            click.echo("stopping after what is in flight; Ctrl-C again stops now", err=True)
        else:
            work.cancel()


def _write(result: RunResult, *, as_json: bool) -> None:
    """The texts in the order of the formats; with JSON, failures too."""
    from repurpose.cli._render import json_line, result_object, row_text

    for outcome in result.results.values():
        if as_json:
            click.echo(json_line(result_object(outcome)))
        else:
            for row in outcome.rows:
                if row.status == "done":
                    click.echo(row_text(row))


def _tell_source(source: Source) -> None:
    """What was loaded, and what a user should know about it."""
    name = source.title or source.origin
    language = source.language or "unknown language"
    click.echo(f"{name}: {source.kind}, {language}, {len(source.text):,} characters", err=True)
    if source.hidden:
        click.echo(f"Note: {source.hidden} hidden characters or nodes were removed", err=True)
    for warning in source.warnings:
        click.echo(f"Note: {warning}", err=True)


def _tell_end(result: RunResult, settings: Settings) -> None:
    """What was changed, what it took, where it is stored, and how to use a model."""
    from repurpose.cli._render import usage_phrase

    for outcome in result.results.values():
        for note in outcome.meta.notes:
            click.echo(f"Note: {outcome.label}: {note}", err=True)
        if outcome.meta.reused_from:
            click.echo(
                f"Note: {outcome.label}: reused from run {outcome.meta.reused_from};"
                " --force calls again",
                err=True,
            )
    done = sum(outcome.done for outcome in result.results.values())
    click.echo(
        f"run {result.run.id} {result.run.status}: {done} of {len(result.run.formats)} formats,"
        f" {usage_phrase(result.usage)}; see: repurpose show {result.run.id}",
        err=True,
    )
    if settings.chosen_engine == "extractive":
        if settings.language or settings.audience or settings.tone:
            click.echo(
                "Note: without a model, language, audience and tone change nothing", err=True
            )
        click.echo(
            "No model was used: these are the source's own sentences. To have them written, set"
            " OPENAI_API_KEY and add --model gpt-4.1-mini, or --base-url of a server of yours.",
            err=True,
        )
