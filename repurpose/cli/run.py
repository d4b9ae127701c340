"""`repurpose run`: the main job, from sources to stored texts."""

from __future__ import annotations

import click

from repurpose.cli import _limits, _options

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose run article.md
  repurpose run https://example.org/article --formats faq,social
  repurpose run posts/ talk.vtt "notes/**/*.md" @more.txt
  repurpose run https://example.org/feed.xml --limit 3
  cat notes.md | repurpose run - --formats summary --language de --audience "CFOs"
  repurpose run article.md --model gpt-4.1-mini
  repurpose run article.md --model llama3.2 --base-url http://localhost:11434/v1
"""
)
@click.argument("sources", nargs=-1, required=True)
@click.option("--formats", metavar="A,B", help="Which formats, by name; all of them by default.")
@_options.formats_dir
@click.option("--platforms", metavar="A,B", help="Where posts are for: x=premium,mastodon=1000.")
@click.option("--thread/--no-thread", help="Threads for X, Bluesky, Mastodon and Threads.")
@click.option("--variants", type=int, metavar="N", help="Posts to choose from, 1 to 5 a platform.")
@click.option("--model", help="gpt-4.1-mini, anthropic/NAME, local:PATH.gguf; none by default.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server to use instead.")
@click.option("--profile", metavar="NAME", help="How that server is asked; see repurpose doctor.")
@click.option(
    "--engine",
    metavar="NAME",
    help="extractive, openai, responses, instructor, local or endpoint:NAME.",
)
@click.option(
    "--background",
    type=click.Choice(["poll", "webhook"]),
    default="poll",
    help="How the engine responses learns of the end.",
)
@click.option("--language", metavar="CODE", help="Language to write in; the source's by default.")
@click.option("--voice", metavar="NAME", help="A voice of your settings file: [voices.NAME].")
@click.option("--audience", metavar="TEXT", help='Who reads it, such as "CFOs".')
@click.option("--tone", metavar="TEXT", help='How it sounds, such as "dry, exact".')
@click.option("--kind", metavar="KIND", help="text, html, srt …, where it cannot be told.")
@click.option("--follow/--no-follow", help="Fetch what a feed in a file points to.")
@click.option("--limit", type=int, metavar="N", help="At most N entries of a feed or sitemap.")
@click.option(
    "--allow-private/--no-allow-private", help="Fetch from your own network too, any port."
)
@click.option("--proxy", metavar="URL", help="Fetch through this proxy, which may reach anything.")
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
    "--context-tokens", type=int, metavar="N", help="What the model takes, prompt and reply."
)
@click.option(
    "--brief/--no-brief",
    default=True,
    help="Read what does not fit in parts, which is the default, or refuse it.",
)
@click.option("--segmenter", metavar="NAME", help="sentencex, nltk, or nltk:PATH of your model.")
@click.option(
    "--cache",
    type=click.Choice(["auto", "off", "on"]),
    default="auto",
    help="Let calls for one source begin alike, for a server's prompt cache.",
)
@click.option("--concurrency", type=int, metavar="N", help="Calls in work at once; default 4.")
@_limits.limits
@click.option(
    "--on-failure",
    type=click.Choice(["skip", "abort"]),
    default="skip",
    help="After a failed format, go on, or begin no other one of that source.",
)
@click.option("--force", is_flag=True, help="Call even where the same result is stored.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes; only what failed.")
@_options.as_json
@_options.database
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    sources: tuple[str, ...],
    kind: str | None,
    max_attempts: int | None,
    no_repair: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
    **_: object,
) -> None:
    """Turn sources into texts, and store them.

    A source is a file, an address, - for standard input, a folder, a pattern in quotes, a feed,
    a sitemap, or @FILE with a source on each line. Many are done one after the other, and one
    that cannot be read is told and left out. Texts go to standard output, progress and notes to
    standard error. The same source with the same settings is never paid for twice: what is
    stored is used again.
    """
    from repurpose.api.loading import LoadOptions
    from repurpose.cli._many import Output, run_all
    from repurpose.cli._running import Runs
    from repurpose.cli._settings import settings_of
    from repurpose.cli._telling import tell_settings
    from repurpose.errors import UsageError
    from repurpose.formats import FORMATS

    if no_repair and max_attempts not in {None, 1}:
        raise UsageError(f"--no-repair and --max-attempts {max_attempts} contradict each other")
    settings = settings_of(ctx, max_attempts=1 if no_repair else max_attempts)
    if not quiet:
        tell_settings()
    options = LoadOptions(
        kind, settings.follow, settings.entries, settings.allow_private, settings.proxy
    )
    names = tuple(FORMATS) if settings.formats is None else settings.formats
    with Runs(names, settings, force=force, quiet=quiet) as runs:
        ctx.exit(run_all(sources, options, runs, Output(as_json, quiet)))
