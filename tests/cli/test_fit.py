"""`repurpose fit`: any text, counted and cut for platforms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

FERRY = "The night ferry leaves Port Ellis at ten and carries no cars at all. "  # 69 characters


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A text of nine sentences."""
    file = tmp_path / "ferry.txt"
    file.write_text("\ufeff" + FERRY * 9, encoding="utf-8")
    return file


def objects(stdout: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines()]  # noqa: TID251 - our own output


def test_the_text_goes_to_the_output_and_the_facts_beside_it(
    repurpose: Command, text: Path
) -> None:
    done = repurpose("fit", text, "--platform", "x", "--hashtags", "ferry,night")
    assert done.returncode == 0
    assert done.stdout == (FERRY * 3).strip() + " #ferry #night\n"
    assert done.stderr == "X: 220 of 280 weighted characters, shortened at a sentence end\n"


def test_standard_input_is_a_source(repurpose: Command) -> None:
    done = repurpose("fit", "-", "--platform", "x=20", stdin="Why? Because! And more text here.")
    assert done.stdout == "Why? Because!\n"


def test_several_platforms_stand_under_their_names(repurpose: Command, text: Path) -> None:
    done = repurpose("fit", text, "--platform", "x, reddit", "--title", "No cars")
    first, second = done.stdout.split("\n\n# Reddit\n\n")
    assert first == "# X\n\n" + (FERRY * 4).strip()
    assert second == f"No cars\n\n{(FERRY * 9).strip()}\n"
    assert "X: has no title; the one given was left out\n" in done.stderr
    assert "Reddit: title: 7 of 300 characters\n" in done.stderr


def test_link_and_disclosure_are_never_cut(repurpose: Command, text: Path) -> None:
    done = repurpose(
        "fit", text, "--platform", "x", "--link", "https://example.com/", "--disclosure", "Ad"
    )
    assert done.stdout.endswith("at all. https://example.com/\nAd\n")


def test_a_thread_is_written_with_lines_between_its_posts(repurpose: Command, text: Path) -> None:
    done = repurpose("fit", text, "--platform", "x", "--thread")
    posts = done.stdout.rstrip("\n").split("\n\n* * *\n\n")
    assert [post.rpartition("\n\n")[2] for post in posts] == ["1/3", "2/3", "3/3"]
    assert done.stderr.splitlines()[0] == "X 1/3: 280 of 280 weighted characters"


def test_platforms_without_threads_get_a_post_beside_those_with(
    repurpose: Command, text: Path
) -> None:
    done = repurpose("fit", text, "--platform", "x,linkedin", "--thread", "--json")
    thread, post = objects(done.stdout)
    assert len(thread["posts"]) == 3
    assert post["text"] == (FERRY * 9).strip()
    alone = repurpose("fit", text, "--platform", "linkedin", "--thread")
    assert alone.returncode == 2
    assert "LinkedIn has no threads" in alone.stderr


def test_for_programs_there_is_one_object_a_platform(repurpose: Command, text: Path) -> None:
    done = repurpose("fit", text, "--platform", "x,reddit", "--title", "No cars", "--json")
    x, reddit = objects(done.stdout)
    assert (x["platform"], x["length"], x["max_length"], x["unit"]) == ("x", 275, 280, "x_weighted")
    assert (x["shortened"], x["cut_mode"], x["fits"], x["title"]) == (True, "sentence", True, None)
    assert reddit["title"] == "No cars"
    assert reddit["title_measures"]["max_length"] == 300
    assert done.stderr == ""


def test_what_is_only_advice_is_counted_and_cut_on_demand(repurpose: Command) -> None:
    subject = "A subject line that goes on for longer than anybody will ever see of it"
    told = repurpose("fit", "-", "--platform", "newsletter_subject", stdin=subject)
    assert told.stdout == subject + "\n"
    assert "71 long, of which about 50 show" in told.stderr
    cut = repurpose("fit", "-", "--platform", "newsletter_subject", "--cut", stdin=subject)
    assert cut.stdout == "A subject line that goes on for longer than…\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["missing.txt", "--platform", "x"], 3, "missing.txt does not exist"),
        ([".", "--platform", "x"], 3, "cannot be read"),
        (["-", "--platform", "telegraph"], 2, "unknown platform"),
        (["-", "--platform", "x=gold"], 2, "no option"),
        (["-", "--platform", ","], 2, "no platform is named"),
        (["-"], 2, "--platform"),
    ],
)
def test_what_is_wrong_is_one_line_and_its_exit_code(
    arguments: list[str], code: int, said: str, repurpose: Command
) -> None:
    done = repurpose("fit", *arguments, stdin="One.")
    assert done.returncode == code
    assert said in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_no_text_is_refused(repurpose: Command, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    done = repurpose("fit", "picture.png", "--platform", "x")
    assert (done.returncode, done.stdout) == (3, "")
    assert "no text in UTF-8" in done.stderr
