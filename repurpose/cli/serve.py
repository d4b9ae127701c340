"""`repurpose serve`: the page for editors, and its interface for programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from repurpose.cli.batch import RUN_OPTIONS

if TYPE_CHECKING:
    from repurpose.config import Settings

__all__ = ["command"]

_NOT_TAKEN = frozenset(
    {"kind", "follow", "entries", "limit", "force", "quiet", "as_json", "no_repair"}
)
"""The options of `run` that speak of one source or of what is printed."""
_TOKEN = "REPURPOSE_WEB_TOKEN"  # noqa: S105 - the name of a variable
_PACKAGES = frozenset({"jinja2", "markupsafe", "multipart", "python_multipart", "starlette"})


@click.command(
    params=[option for option in RUN_OPTIONS if option.name not in _NOT_TAKEN],
    epilog="""\b
Examples:
  repurpose serve
  repurpose serve --model gpt-4.1-mini --max-cost 5
  REPURPOSE_WEB_TOKEN=… repurpose serve --host 0.0.0.0 --allowed-host tools.example.org
""",
)
@click.option("--host", default="127.0.0.1", metavar="HOST", help="The address; 127.0.0.1.")
@click.option("--port", default=8400, metavar="N", type=click.IntRange(0, 65535), help="8400.")
@click.option(
    "--token", metavar="TEXT", help=f"What visitors must have; else {_TOKEN}, which no list shows."
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Another name under which browsers may ask, such as a proxy's.",
)
@click.option(
    "--runs-at-once", type=click.IntRange(1, 16), default=2, metavar="N", help="The others wait; 2."
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    host: str,
    port: int,
    token: str | None,
    allowed_hosts: tuple[str, ...],
    runs_at_once: int,
    **_: object,
) -> None:
    """Open a page where an editor watches, corrects and takes the texts.

    It is for this machine only, unless --host says otherwise; then a token is needed. Whoever is
    let in chooses sources, formats, platforms, voice, language and model; keys, addresses and
    caps are those given here. Caps are for all runs together. Ctrl-C finishes what is in flight.
    """
    from repurpose.cli._settings import file_used, given, settings_of
    from repurpose.cli._telling import tell_settings
    from repurpose.config import from_environment
    from repurpose.core.table import member
    from repurpose.errors import UsageError

    settings = settings_of(ctx)
    file, flags = file_used(), given(ctx)

    def resolve(chosen: Mapping[str, Any]) -> Settings:
        return from_environment(os.environ, file=file, **{**flags, **chosen})

    try:
        serve = member("repurpose.web.serving:serve")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in {*_PACKAGES, "uvicorn"}:
            raise
        raise UsageError(
            'the page needs further packages: pip install "repurpose-text[web]"'
        ) from missing
    tell_settings()
    serve(
        settings,
        host=host,
        port=port,
        token=_checked(token or os.environ.get(_TOKEN) or None),
        tell=click.echo,
        resolve=resolve,
        voices=tuple(file.tables.get("voices", {})) if file else (),
        allowed_hosts=allowed_hosts,
        author=_login(),
        at_once=runs_at_once,
    )


def _checked(token: str | None) -> str | None:
    """The token, which an address and a header can hold."""
    from repurpose.errors import UsageError

    if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError("--token holds letters, digits and signs of ASCII, without spaces")
    return token


def _login() -> str | None:
    """Whoever is logged in here, where the system says who that is."""
    from repurpose.cli._revising import author
    from repurpose.errors import UsageError

    try:
        return author(None)
    except UsageError:
        return None
