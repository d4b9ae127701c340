"""`repurpose platforms`, and the flags that choose among them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repurpose.platforms import PLATFORMS

Command = Callable[..., Any]


def test_every_platform_is_a_line_with_all_its_limits(repurpose: Command) -> None:
    done = repurpose("platforms")
    head, *lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(PLATFORMS)
    cells = {line.split()[0]: line for line in lines}
    assert head.split()[:5] == ["NAME", "LIMIT", "UNIT", "ALSO", "TITLE"]
    assert "premium: limit 25,000" in cells["x"]
    assert "3,000 utf8_bytes" in cells["bluesky"]
    assert "300 utf16" in cells["reddit"]
    assert "~50" in cells["newsletter_subject"]
    assert all(each.checked in cells[name] for name, each in PLATFORMS.items())


def test_for_programs_everything_is_told(repurpose: Command) -> None:
    lines = repurpose("platforms", "--json").stdout.splitlines()
    told = {each["name"]: each for each in map(json.loads, lines)}  # noqa: TID251 - our own output
    assert told["x"]["options"] == {"premium": {"limit": 25_000}}
    assert told["bluesky"]["also"] == {"limit": 3000, "unit": "utf8_bytes"}
    assert told["reddit"]["title"] == {"limit": 300, "unit": "utf16"}
    assert all(each["source"] and each["confidence"] for each in told.values())


def test_a_run_writes_for_the_chosen_platforms(repurpose: Command, article: Path) -> None:
    flags = ("--formats", "social", "--platforms", "bluesky,reddit", "--variants", "2")
    done = repurpose("run", article, *flags)
    assert done.returncode == 0, done.stderr
    heads = [line for line in done.stdout.splitlines() if line.startswith("# Social posts: ")]
    assert [head.removeprefix("# Social posts: ").partition(" (")[0] for head in heads] == [
        "Bluesky",
        "Bluesky, variant 2",
        "Reddit",
        "Reddit, variant 2",
    ]


def test_a_run_makes_threads(repurpose: Command, article: Path) -> None:
    flags = ("--formats", "social", "--platforms", "x", "--thread", "--json")
    done = repurpose("run", article, *flags)
    assert done.returncode == 0, done.stderr
    posts = json.loads(done.stdout)["envelope"]["data"]["x"]["posts"]  # noqa: TID251 - our own output
    assert len(posts) > 1
    assert all(post["length"] <= 280 for post in posts)
