"""`repurpose doctor`: what is wrong, and what to do about it."""

from __future__ import annotations

import click

from repurpose.cli import _options

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose doctor
  repurpose doctor --model gpt-4.1-mini
  repurpose doctor --model llama3.2 --base-url http://localhost:11434/v1
  repurpose doctor --model small --base-url http://localhost:8000/v1 --profile vllm
"""
)
@click.option("--model", help="The model to ask; else REPURPOSE_MODEL.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server to ask it at.")
@click.option("--profile", metavar="NAME", help="How that server is asked: NAME or NAME:KIND.")
@click.option("--timeout", type=float, metavar="S", help="Seconds for one request; default 120.")
@_options.as_json
@_options.database
@click.pass_context
def command(ctx: click.Context, /, *, as_json: bool, **_: object) -> None:
    """Say what is wrong with the installation or a model's server.

    One line each, with what to do about it. Where a model is named, its server is called twice,
    with at most 200 tokens to answer in, to find out how it takes a schema and which profile
    serves it. Exit code 2 where a run would fail.
    """
    from dataclasses import asdict

    from repurpose.api.doctoring import examined
    from repurpose.cli._render import json_line
    from repurpose.cli._settings import settings_of

    faulty = False
    for diagnosis in examined(settings_of(ctx)):
        faulty = faulty or diagnosis.state == "fault"
        if as_json:
            click.echo(json_line(asdict(diagnosis)))
        else:
            advice = f"; {diagnosis.advice}" if diagnosis.advice else ""
            click.echo(f"{diagnosis.state:<5}  {diagnosis.name}: {diagnosis.found}{advice}")
    ctx.exit(2 if faulty else 0)
