"""The table of formats, and that everything a format needs is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from repurpose.core.template import places_in
from repurpose.errors import UsageError
from repurpose.formats import FORMATS, format_named
from repurpose.resources import prompt_text, schema_names

every_format = pytest.mark.parametrize("name", FORMATS)


def test_formats_are_listed_in_their_order() -> None:
    assert list(FORMATS) == ["summary", "faq", "social", "newsletter"]


def test_the_table_names_every_member_of_the_family(root: Path) -> None:
    files = (root / "repurpose" / "formats").glob("[!_]*.py")
    assert {file.stem for file in files} - {"base"} == set(FORMATS)


@every_format
def test_each_format_has_its_prompt_schema_and_replies(name: str, root: Path) -> None:
    assert prompt_text(name).strip()
    assert name in schema_names()
    replies = root / "fixtures" / "replies" / name
    assert {"golden.json", "missing_key.json", "wrong_type.json", "extra_key.json"} <= {
        file.name for file in replies.iterdir()
    }


@every_format
def test_a_format_is_found_by_its_name(name: str) -> None:
    assert format_named(name.upper()).name == name


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("summary", "Summary"),
        ("faq", "FAQ"),
        ("social", "Social posts"),
        ("newsletter", "Newsletter"),
    ],
)
def test_labels_are_what_a_person_reads(name: str, label: str) -> None:
    assert format_named(name).label == label


def test_options_reach_the_format() -> None:
    assert format_named("social", platforms=["x"]).declared == ("x",)


def test_an_unknown_format_is_answered_with_the_nearest_and_the_list() -> None:
    with pytest.raises(UsageError) as caught:
        format_named("newletter")
    assert caught.value.message == (
        'unknown format "newletter"; did you mean newsletter?'
        " known: summary, faq, social, newsletter"
    )


def test_listing_formats_loads_none_of_them(root: Path) -> None:
    script = "import sys, repurpose.formats; assert 'pydantic' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=root)


@every_format
def test_a_task_has_no_place_left_to_fill(name: str) -> None:
    assert places_in(format_named(name).task) == ()


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("summary", ["5 to 8 sentences", "write fewer"]),
        ("faq", ["5 to 10 pairs", "write fewer"]),
        (
            "social",
            ["3,000 characters", "280 characters", "2,200 characters", "At most 5 hashtags"],
        ),
        (
            "newsletter",
            ["at most 60 characters", "at most 100 characters", "2 to 5", "no call to action"],
        ),
    ],
)
def test_bounds_stand_in_the_prompt(name: str, bounds: list[str]) -> None:
    task = format_named(name).task
    assert [bound for bound in bounds if bound not in task] == []


@every_format
def test_a_task_forbids_padding_and_invention(name: str) -> None:
    task = format_named(name).task
    assert "never pad" in task
    assert "never invent" in task
