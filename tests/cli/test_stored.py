"""The commands that read what is stored: list, show, export; and formats, platforms, check."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def lines(text: str) -> list[dict[str, Any]]:
    """JSON lines, each decoded."""
    return [json.loads(line) for line in text.splitlines()]  # noqa: TID251 - our own output


@pytest.fixture
def stored(repurpose: Command, article: Path) -> str:
    """The id of one stored run."""
    repurpose("run", article, "--quiet")
    (run,) = lines(repurpose("list", "--json").stdout)
    return str(run["id"])


def test_list_names_run_status_formats_and_title(repurpose: Command, stored: str) -> None:
    head, line = repurpose("list").stdout.splitlines()
    assert head.startswith("RUN")
    assert line.startswith(stored)
    assert "done" in line
    assert "summary,faq,social,newsletter" in line


def test_an_empty_list_says_how_to_begin(repurpose: Command) -> None:
    done = repurpose("list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "repurpose run" in done.stderr


def test_show_takes_last_and_a_beginning_of_an_id(repurpose: Command, stored: str) -> None:
    whole = repurpose("show", stored).stdout
    assert whole == repurpose("show", "last").stdout == repurpose("show", stored[:8]).stdout
    assert whole.count("\n# ") == 5


def test_show_can_be_narrowed_to_a_format_and_a_variant(repurpose: Command, stored: str) -> None:
    (row,) = lines(
        repurpose("show", stored, "--format", "social", "--variant", "x", "--json").stdout
    )
    assert (row["format"], row["variant"], row["status"]) == ("social", "x", "done")
    assert row["measures"]["length"] <= row["measures"]["max_length"] == 280


def test_show_tells_the_length_against_the_limit(repurpose: Command, stored: str) -> None:
    heading = repurpose("show", stored, "--variant", "x").stdout.splitlines()[0]
    assert " of 280 weighted characters" in heading


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["show", "nothing"], "nothing"),
        (["show", "last", "--format", "podcast"], "summary"),
        (["export", "last", "--to", "docx"], "markdown"),
    ],
)
def test_what_is_not_there_is_exit_2_and_says_what_is(
    repurpose: Command, stored: str, arguments: list[str], word: str
) -> None:
    done = repurpose(*arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_export_gives_the_same_bytes_twice(repurpose: Command, stored: str) -> None:
    markdown = repurpose("export", stored, "--to", "markdown").stdout
    assert markdown == repurpose("export", stored, "--to", "markdown").stdout
    assert "extracted, no model" in markdown
    document = json.loads(repurpose("export", stored, "--to", "json").stdout)  # noqa: TID251 - our own output
    assert [row["variant"] for row in document["rows"]] == [
        "default",
        "default",
        "linkedin",
        "x",
        "instagram",
        "default",
    ]


def test_export_writes_a_file(repurpose: Command, stored: str, tmp_path: Path) -> None:
    target = tmp_path / "run.md"
    done = repurpose("export", stored, "--output", target)
    assert (done.returncode, done.stdout) == (0, "")
    assert target.read_text(encoding="utf-8") == repurpose("export", stored).stdout


def test_formats_and_platforms_are_listed_for_people_and_programs(repurpose: Command) -> None:
    assert [line["name"] for line in lines(repurpose("formats", "--json").stdout)] == [
        "summary",
        "faq",
        "social",
        "newsletter",
    ]
    limits = {
        line["name"]: line["limit"] for line in lines(repurpose("platforms", "--json").stdout)
    }
    assert (limits["linkedin"], limits["x"], limits["instagram"]) == (3000, 280, 2200)
    assert "280" in repurpose("platforms").stdout
    assert "callToAction" in repurpose("formats").stdout


def test_check_finds_nothing_wrong_in_what_is_shipped(repurpose: Command) -> None:
    done = repurpose("check")
    assert done.returncode == 0
    assert all(line.endswith(": ok") for line in done.stdout.splitlines())
    assert len(done.stdout.splitlines()) == 5


def test_check_names_a_database_that_is_none(repurpose: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.db"
    bad.write_text("not a database, but long enough to look like a file of some kind" * 20)
    done = repurpose("check", "--db", bad)
    assert done.returncode == 2
    assert "bad.db" in done.stdout


def test_an_export_that_cannot_be_written_is_one_line_and_exit_2(
    repurpose: Command, stored: str, tmp_path: Path
) -> None:
    done = repurpose("export", stored, "--output", tmp_path / "nowhere" / "run.md")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
