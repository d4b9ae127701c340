"""Processor time of short commands beside `python -c "import click"`, in one run.

    python tests/bench/commands.py [ROUNDS]

Each round runs every command once, so that whatever else the machine does hits all alike.
Prints the median of each in milliseconds, and its ratio to the first. Goals: `--help` at most
2.0; `list`, `show` and `export` at most 200 ms.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPURPOSE = ["-m", "repurpose"]
COMMANDS = {
    "import click": ["-c", "import click"],
    "--help": [*REPURPOSE, "--help"],
    "run --help": [*REPURPOSE, "run", "--help"],
    "list": [*REPURPOSE, "list"],
    "show last": [*REPURPOSE, "show", "last"],
    "export last": [*REPURPOSE, "export", "last"],
    "run (no model)": [*REPURPOSE, "run", "fixtures/sources/article.md", "--force"],
}


def processor_ms(arguments: list[str], home: str) -> float:
    """User and system time of one process, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "HOME": home, "XDG_DATA_HOME": home},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main(rounds: int) -> None:
    """Run the rounds and print the table."""
    with tempfile.TemporaryDirectory() as home:
        processor_ms(COMMANDS["run (no model)"], home)
        taken = {name: [processor_ms(args, home)] for name, args in COMMANDS.items()}
        for _ in range(rounds - 1):
            for name, arguments in COMMANDS.items():
                taken[name].append(processor_ms(arguments, home))
    base = statistics.median(taken["import click"])
    for name, values in taken.items():
        median = statistics.median(values)
        print(f"{name:16} {median:7.0f} ms  {median / base:5.2f}")  # noqa: T201 - its output


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
