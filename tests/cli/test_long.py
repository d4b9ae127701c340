"""A source longer than the model takes, from the command line, with a server on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mock_server import MockServer
from repurpose.cli._progress import line_for
from repurpose.core.progress import BriefPlanned, ContextUnknown

Command = Callable[..., Any]

SENTENCE = "Kestrels hover over the ring road and look for voles in the grass. "


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """About 5,000 tokens."""
    file = tmp_path / "long.md"
    chapters = (f"## Chapter {number}\n\n{SENTENCE * 28}" for number in range(1, 13))
    file.write_text("# Birds of the town\n\n" + "\n\n".join(chapters), encoding="utf-8")
    return file


@pytest.fixture
def with_model(repurpose: Command, mock_server: MockServer, golden: Any) -> Command:
    """Run with a model that notes one point for each part."""
    point = {
        "text": "Kestrels hover over the ring road.",
        "kind": "main",
        "heading": "Chapter 2",
        "names": [],
        "numbers": [],
        "quotes": ["look for voles in the grass"],
    }
    mock_server.answers["brief"] = {"points": [point]}
    mock_server.answers["summary"] = golden("summary")

    def run(*arguments: object) -> Any:
        options = ("--model", "mock", "--base-url", mock_server.url, "--formats", "summary")
        return repurpose("run", *arguments, *options)

    return run


def formats_asked(server: MockServer) -> list[str]:
    return [each.body["response_format"]["json_schema"]["name"] for each in server.requests]


def test_the_plan_is_one_line_before_the_first_call_and_the_calls_are_listed(
    with_model: Command, repurpose: Command, long: Path, mock_server: MockServer
) -> None:
    done = with_model(long, "--context-tokens", 4096)
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    plan = next(line for line in told if "parts are read first" in line)
    found = re.fullmatch(
        r"Source: about (\d,\d+) tokens, the model takes 4,096:"
        r" (\d) parts are read first \((\d) calls, about (\d+,\d+) tokens\)",
        plan,
    )
    assert found
    assert told.index(plan) < next(n for n, line in enumerate(told) if "reading" in line)
    asked = formats_asked(mock_server)
    assert asked[-1] == "summary"
    assert set(asked[:-1]) == {"brief"}
    assert "from a brief of " in done.stdout
    calls = repurpose("show", "last", "--calls").stdout
    assert calls.count(" brief ") == len(asked) - 1
    assert f"{len(asked)} calls" in calls


def test_briefs_are_no_deliverables(with_model: Command, repurpose: Command, long: Path) -> None:
    with_model(long, "--context-tokens", 4096)
    shown = repurpose("show", "last")
    assert shown.returncode == 0
    assert [line[:9] for line in shown.stdout.splitlines() if line.startswith("# ")] == [
        "# Summary"
    ]
    listed = json.loads(repurpose("list", "--json").stdout)  # noqa: TID251 - our own output
    assert listed["formats"] == ["summary"]
    exported = repurpose("export", "last", "--to", "json").stdout
    assert "hover over the ring road" not in exported


def test_the_same_again_makes_no_call(
    with_model: Command, long: Path, mock_server: MockServer
) -> None:
    with_model(long, "--context-tokens", 4096)
    asked = len(mock_server.requests)
    again = with_model(long, "--context-tokens", 4096)
    assert len(mock_server.requests) == asked
    assert "parts are read already" in again.stderr


def test_no_brief_refuses_in_one_line_with_exit_code_3(
    with_model: Command, long: Path, mock_server: MockServer
) -> None:
    done = with_model(long, "--context-tokens", 4096, "--no-brief", "--quiet")
    assert done.returncode == 3
    assert done.stdout == ""
    assert "takes 4,096" in done.stderr
    assert "--no-brief" in done.stderr
    assert not mock_server.requests


def test_lines_for_what_is_long() -> None:
    plan = BriefPlanned(310_123, 128_000, 4, 0, 5, 330_456)
    assert line_for(plan).text == (
        "about 310,000 tokens, the model takes 128,000: 4 parts are read first"
        " (5 calls, about 330,000 tokens)"
    )
    some = BriefPlanned(310_123, 128_000, 4, 3, 2, 80_456)
    assert "4 parts are read first, 3 of them already (2 calls, about 80,500" in line_for(some).text
    assert "140,000 tokens" in line_for(ContextUnknown(140_321)).text
