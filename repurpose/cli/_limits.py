"""Options that bound how much a command may spend, and how fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["limits"]

_Decorated = Callable[..., Any]


def limits(command: _Decorated) -> _Decorated:
    """`--max-cost`, `--max-calls`, `--max-tokens`, `--rpm` and `--tpm`."""
    for option in (
        click.option(
            "--tpm",
            type=float,
            metavar="N",
            help="The most tokens a minute; else as the server's headers say.",
        ),
        click.option(
            "--rpm",
            type=float,
            metavar="N",
            help="The most requests a minute; else as the server's headers say.",
        ),
        click.option(
            "--max-tokens", type=int, metavar="N", help="The most tokens in all, in and out."
        ),
        click.option("--max-calls", type=int, metavar="N", help="The most calls in all."),
        click.option(
            "--max-cost",
            type=float,
            metavar="X",
            help="The most US dollars in all; no call begins that might cost more than is left.",
        ),
    ):
        command = option(command)
    return command
