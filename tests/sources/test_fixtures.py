"""The sample sources that ship with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from repurpose.sources import load_path


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("article.md", "en"),
        ("artikel.md", "de"),
        ("kiji.md", "ja"),
        ("page.html", "en"),
        ("notes.txt", "en"),
    ],
)
def test_every_sample_loads_without_a_warning(root: Path, name: str, language: str) -> None:
    source = load_path(root / "fixtures" / "sources" / name)
    assert source.language == language
    assert source.warnings == ()


@pytest.mark.parametrize("name", ["article.md", "artikel.md", "kiji.md"])
def test_the_articles_declare_everything(root: Path, name: str) -> None:
    source = load_path(root / "fixtures" / "sources" / name)
    assert source.title
    assert source.author
    assert source.date
    assert source.url
    kinds = [one.kind for one in source.blocks]
    assert kinds.count("heading") >= 5
    assert "list" in kinds


def test_the_page_is_read_without_its_hidden_part(root: Path) -> None:
    source = load_path(root / "fixtures" / "sources" / "page.html")
    assert source.title == "A quieter square: what happened when Brenn moved its buses"
    assert source.author == "Philippa Strand"
    assert source.date == "2026-01-22"
    assert source.hidden == 1
    for unseen in ("travel partner", "Subscribe", "Copyright", "choir"):
        assert unseen not in source.text
