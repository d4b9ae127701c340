"""`repurpose new-format`, and what `check` and `formats` say of formats of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def written(folder: Path, name: str, prompt: str, schema: str | None = None) -> None:
    for kind in ("prompts", "schemas"):
        (folder / "formats" / kind).mkdir(parents=True, exist_ok=True)
    (folder / "formats" / "prompts" / f"{name}.md").write_text(prompt, encoding="utf-8")
    if schema is not None:
        file = folder / "formats" / "schemas" / f"{name}.schema.json"
        file.write_text(schema, encoding="utf-8")


def test_the_example_passes_the_check(repurpose: Command) -> None:
    made = repurpose("new-format", "release-notes")
    assert made.returncode == 0
    assert "wrote formats/prompts/release-notes.md" in made.stdout.replace("\\", "/")
    assert "repurpose check --formats-dir formats" in made.stdout
    assert "--formats release-notes --formats-dir formats" in made.stdout
    checked = repurpose("check", "--formats-dir", "formats")
    assert checked.returncode == 0, checked.stdout
    assert "format release-notes: ok" in checked.stdout


def test_the_example_is_listed_with_its_fields(repurpose: Command) -> None:
    repurpose("new-format", "meta", "--dir", "mine")
    listed = repurpose("formats", "--formats-dir", "mine").stdout
    assert "meta" in listed
    assert "title, description, tags" in listed


def test_nothing_is_overwritten(repurpose: Command, tmp_path: Path) -> None:
    written(tmp_path, "meta", "Mine.")
    refused = repurpose("new-format", "meta")
    assert refused.returncode == 2
    assert "exists and is not overwritten" in refused.stderr
    assert (tmp_path / "formats" / "prompts" / "meta.md").read_text(encoding="utf-8") == "Mine."
    assert not list((tmp_path / "formats" / "schemas").iterdir())


@pytest.mark.parametrize(
    ("name", "said"),
    [("faq", "built-in"), ("../x", "is no name for a format"), ("Meta", "is no name")],
)
def test_a_name_that_cannot_be_used_is_refused(
    name: str, said: str, repurpose: Command, tmp_path: Path
) -> None:
    refused = repurpose("new-format", name)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert not (tmp_path / "formats").exists()


@pytest.mark.parametrize(
    ("prompt", "schema", "said"),
    [
        ("Write.", '{"type": "object", "$ref": "x"}', '"$ref" is not in the supported subset'),
        ("About {titel}.", None, "the prompt has the unknown place {titel}"),
        (" \n", None, "the prompt is empty"),
        (
            "Write.",
            '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}',
            "requires 'b', which properties does not declare",
        ),
        ("+++\nlabl = 1\n+++\nWrite.", None, 'unknown key "labl"; did you mean label?'),
        ("From {fax.pairs}.", None, "{fax.pairs} needs fax, which is not part of the run"),
        ("From {faq.pears}.", None, "faq has no field pears; did you mean pairs?"),
    ],
)
def test_what_is_wrong_is_one_line_and_other_formats_are_still_checked(
    prompt: str, schema: str | None, said: str, repurpose: Command, tmp_path: Path
) -> None:
    written(tmp_path, "bad", prompt, schema)
    written(tmp_path, "good", "Write.")
    done = repurpose("check", "--formats-dir", "formats")
    assert done.returncode == 2
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("format bad:")]
    assert said in line
    assert "format good: ok" in done.stdout
    assert "format faq: ok" in done.stdout


def test_a_format_that_cannot_be_used_is_left_out_of_the_list_and_told(
    repurpose: Command, tmp_path: Path
) -> None:
    written(tmp_path, "bad", "About {titel}.")
    listed = repurpose("formats", "--formats-dir", "formats")
    assert "faq" in listed.stdout
    assert "bad" not in listed.stdout
    assert "unknown place {titel}" in listed.stderr
