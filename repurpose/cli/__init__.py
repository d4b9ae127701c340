"""The command line: one file a command, each imported when it is used.

`repurpose --help` loads nothing but click and this file, so the table below holds each
command's short help as well; a test compares it with the command's own.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from typing import NoReturn

import click

from repurpose import __version__
from repurpose.errors import RepurposeError, UsageError

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("repurpose.cli.run", "Turn sources into texts, and store them."),
    "batch": (
        "repurpose.cli.batch",
        "Turn many sources into texts, night after night, and pay for each text once.",
    ),
    "status": ("repurpose.cli.status", "Show how a batch is going, or how it went."),
    "retry": ("repurpose.cli.retry", "Try again what failed in a batch."),
    "inspect": (
        "repurpose.cli.inspect",
        "Show what is loaded from a source, and what in it looks suspicious.",
    ),
    "list": ("repurpose.cli.list", "List the stored runs, newest first."),
    "show": ("repurpose.cli.show", "Show what a run made."),
    "regenerate": (
        "repurpose.cli.regenerate",
        "Make one section of a run again, and leave all others as they are.",
    ),
    "edit": ("repurpose.cli.edit", "Change a stored text by hand, in $EDITOR or from a file."),
    "approve": ("repurpose.cli.approve", "Approve a text, so that nothing replaces it."),
    "restore": (
        "repurpose.cli.restore",
        "Make an earlier or a proposed text the current one.",
    ),
    "diff": ("repurpose.cli.diff", "Show word by word how texts of a run were changed."),
    "replay": (
        "repurpose.cli.replay",
        "Check a stored reply again by today's rules, without a call.",
    ),
    "stats": (
        "repurpose.cli.stats",
        "Show what calls took: tokens, cost, cache hits, repairs, failures.",
    ),
    "compose": (
        "repurpose.cli.compose",
        "Put named sections together from a source, or from a stored run.",
    ),
    "export": ("repurpose.cli.export", "Write a run as Markdown or JSON."),
    "serve": (
        "repurpose.cli.serve",
        "Open a page where an editor watches, corrects and takes the texts.",
    ),
    "serve-callbacks": (
        "repurpose.cli.serve_callbacks",
        "Take what endpoints and providers post when they have finished.",
    ),
    "formats": ("repurpose.cli.formats", "List the formats that can be made."),
    "new-format": ("repurpose.cli.new_format", "Write an example of a format of your own."),
    "platforms": ("repurpose.cli.platforms", "List the platforms and their limits."),
    "fit": ("repurpose.cli.fit", "Count and cut a text of yours for a platform."),
    "check": (
        "repurpose.cli.check",
        "Check formats, prompts, schemas, the settings file and the database.",
    ),
    "config": (
        "repurpose.cli.config",
        "Show the settings in force, and where each comes from.",
    ),
    "doctor": (
        "repurpose.cli.doctor",
        "Say what is wrong with the installation or a model's server.",
    ),
}
"""Name to module (its `command`) and short help."""


class _LazyGroup(click.Group):
    """A group that imports a command when it is called, and none for its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the table, which is the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or a usage error that names the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(_unknown_command(args[0]))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table's short helps, so that no command is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: repurpose run article.md --formats summary,faq",
)
@click.version_option(__version__, prog_name="repurpose")
def cli() -> None:
    """Turn one long text into an executive summary, an FAQ, social posts and a newsletter.

    Without a model, the texts are made of the article's own sentences. Exit codes: 0 all done,
    1 some formats or sources failed, 2 usage or configuration, 3 no source can be read, 4 every
    format failed, 5 the budget is reached, 130 interrupted.
    """


def main() -> NoReturn:
    """Run the command line and exit with its documented code."""
    _speak_utf8()
    _collect_seldom()
    try:
        code = cli.main(standalone_mode=False, prog_name="repurpose")
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        code = 130
    except BrokenPipeError:
        _forget_stdout()
        code = 0
    except OSError as fault:  # a file or a terminal that cannot be written to
        where = fault.filename or "the output"
        click.echo(f"Error: {where} cannot be written: {fault.strerror or 'unknown'}", err=True)
        code = UsageError.exit_code
    except RepurposeError as error:
        tell(error)
        code = error.exit_code
    sys.exit(code if isinstance(code, int) else 0)


def tell(error: RepurposeError) -> None:
    """The error and what to do about it, on standard error."""
    click.echo(f"Error: {error.message}", err=True)
    if error.hint:
        click.echo(f"Hint: {error.hint}", err=True)


def _unknown_command(name: str) -> str:
    """What is wrong with a command's name, and the nearest right one."""
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    if near:
        return f"no command {name!r}; did you mean {near[0]!r}?"
    if os.path.exists(name):  # noqa: PTH110 - pathlib costs a quarter of the help's whole time
        return f"no command {name!r}; to use that file: repurpose run {name}"
    return f"no command {name!r}; see repurpose --help"


def _collect_seldom() -> None:
    """Few garbage collections, and none at the end.

    What a command imports stays. To look through it after every 700 further objects, and once
    more before the process is gone anyway, is up to a tenth of a short command's time.
    """
    gc.set_threshold(50_000, 20, 20)
    atexit.register(gc.freeze)


def _speak_utf8() -> None:
    """UTF-8 on every platform; what a terminal cannot show is replaced, never fatal."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def _forget_stdout() -> None:
    """Keep the interpreter from writing to a pipe whose reader has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
