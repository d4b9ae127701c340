"""Prompts and schemas are found in a checkout and in a wheel, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from repurpose import resources
from repurpose.errors import UsageError
from repurpose.resources import prompt_text, schema_names, schema_text

FORMATS = ("faq", "newsletter", "social", "summary")


@pytest.mark.parametrize("name", FORMATS)
def test_a_prompt_is_the_text_of_its_file(name: str, root: Path) -> None:
    assert prompt_text(name) == (root / "prompts" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_a_schema_is_the_text_of_its_file(name: str, root: Path) -> None:
    file = root / "schemas" / f"{name}.schema.json"
    assert schema_text(name) == file.read_text(encoding="utf-8")


def test_schema_names_are_those_of_the_folder(root: Path) -> None:
    files = (root / "schemas").glob("*.schema.json")
    assert schema_names() == tuple(sorted(f.name.removesuffix(".schema.json") for f in files))
    assert set(FORMATS) <= set(schema_names())


def test_a_missing_prompt_is_named_by_its_file() -> None:
    with pytest.raises(UsageError, match=r"prompts/haiku\.md"):
        prompt_text("haiku")


def test_a_missing_schema_is_named_by_its_file() -> None:
    with pytest.raises(UsageError, match=r"schemas/haiku\.schema\.json"):
        schema_text("haiku")


@pytest.mark.parametrize("name", ["../README", "..", "", "a/b", "FAQ\n", "faq.md"])
def test_a_name_cannot_leave_its_folder(name: str) -> None:
    with pytest.raises(UsageError):
        prompt_text(name)


def test_the_package_is_asked_before_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a wheel the files stand inside the package; what lies beside it is somebody else's."""
    shipped = tmp_path / "_data" / "prompts"
    shipped.mkdir(parents=True)
    (shipped / "faq.md").write_text("shipped", encoding="utf-8")
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    assert prompt_text("faq") == "shipped"


def test_a_file_that_the_package_lacks_is_read_from_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    assert "5 to 10 pairs" in prompt_text("faq")
