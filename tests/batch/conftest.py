"""Sources to work on at night, and an engine that notes what would be paid."""

from __future__ import annotations

from pathlib import Path

import pytest

from batch_nights import Model, Nights


@pytest.fixture
def model(root: Path) -> Model:
    def golden(name: str) -> str:
        return (root / "fixtures" / "replies" / name / "golden.json").read_text(encoding="utf-8")

    return Model(golden)


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "posts"
    folder.mkdir()
    return folder


@pytest.fixture
def nights(model: Model, tmp_path: Path) -> Nights:
    return Nights(model, tmp_path / "nights.db")
