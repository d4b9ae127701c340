"""Makes the parts of the README that a program can know: output, limits and help.

Used by cog: `cog -r README.md` rewrites these parts, `cog --check README.md` compares them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import cog

from repurpose.cli import COMMANDS
from repurpose.platforms import PLATFORMS

ROOT = Path(__file__).resolve().parent.parent


def output(arguments: str) -> None:
    """What a command prints on standard output, as a code block."""
    cog.out(f"\n```text\n{_printed(*arguments.split())}\n```\n\n")


def platforms() -> None:
    """The table of limits."""
    cog.out(
        "\n| platform | `--platforms` | limit | counted in | title | hashtags |"
        "\n| --- | --- | --: | --- | --: | --: |\n"
    )
    for platform in PLATFORMS.values():
        also = f", {platform.also.limit:,} {platform.also.unit}" if platform.also else ""
        cells = (
            platform.label,
            f"`{platform.name}`" if platform.post else "",
            f"{platform.limit:,}" if platform.enforced else f"{platform.limit:,} shown",
            f"{platform.unit}{also}",
            f"{platform.title.limit:,}" if platform.title else "",
            "" if platform.max_hashtags is None else str(platform.max_hashtags),
        )
        cog.out(f"| {' | '.join(cells)} |\n")
    cog.out("\n")


def help() -> None:  # noqa: A001 - named for what it writes
    """The help of every command."""
    cog.out(f"\n```text\n{_printed('--help')}\n```\n")
    for name in COMMANDS:
        cog.out(f"\n```text\n{_printed(name, '--help')}\n```\n")
    cog.out("\n")


def _printed(*arguments: str) -> str:
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-m", "repurpose", *arguments],
            cwd=ROOT,
            env={**os.environ, "HOME": home, "XDG_DATA_HOME": home, "COLUMNS": "100"},
            capture_output=True,
            check=True,
            timeout=60,
        )
    return done.stdout.decode().strip()
