"""`repurpose serve-callbacks`: takes what endpoints and providers post when they have finished."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  REPURPOSE_CALLBACK_BASE_URL=http://127.0.0.1:8410 repurpose serve-callbacks
  repurpose serve-callbacks --port 9000     # callback_base_url stands in repurpose.toml
"""
)
@click.option("--host", default="127.0.0.1", metavar="HOST", help="The address; 127.0.0.1.")
@click.option("--port", default=8410, metavar="N", type=click.IntRange(0, 65535), help="8410.")
@_options.as_json
@_options.database
@click.pass_context
def command(
    ctx: click.Context, /, *, host: str, port: int, as_json: bool, database: str | None
) -> None:
    """Take what endpoints and providers post when they have finished.

    Whoever waits for it may be another process, with the same database. Posts are taken at
    addresses of callback_base_url that were given to an endpoint, and, where OPENAI_WEBHOOK_SECRET
    is set, at /webhooks/openai from OpenAI. It is for this machine only unless --host says
    otherwise; others are best let in through a proxy that speaks HTTPS. Ctrl-C ends it.
    """
    from repurpose.api.callbacks import serve_callbacks
    from repurpose.cli._settings import settings_of

    def listening(address: str, base_url: str, *, webhooks: bool) -> None:
        if as_json:
            from repurpose.cli._render import json_line

            facts = {"event": "listening", "address": address, "callback_base_url": base_url}
            click.echo(json_line({**facts, "webhooks": webhooks}))
        else:
            also = "with" if webhooks else "without"
            click.echo(f"Taking posts for {base_url} at {address}, {also} OpenAI webhooks")

    serve_callbacks(settings_of(ctx), host=host, port=port, listening=listening)
