"""What is said about the installation, the database and the embedded engine."""

from __future__ import annotations

import asyncio
import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from repurpose.api import doctoring
from repurpose.api.doctoring import Diagnosis, examined
from repurpose.config import Settings
from repurpose.errors import UsageError
from repurpose.formats import FORMATS

REQUIRED = ["openai[aiohttp]>=3.3", "pydantic>=2.12", 'tomli>=2; python_version < "3.11"']
EXTRAS = [
    "quokka-sdk>=1; extra == 'quokka'",
    'pydantic>=2; extra == "there"',
    "never-had>=1; extra == 'dev'",
]


def found(tmp_path: Path, **changes: Any) -> dict[str, Diagnosis]:
    fields: dict[str, Any] = {"database": tmp_path / "folder" / "texts.db", **changes}
    return {diagnosis.name: diagnosis for diagnosis in examined(Settings(**fields))}


@pytest.fixture
def requires(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set what the installed metadata says is needed."""

    def declare(*lines: str) -> None:
        monkeypatch.setattr(metadata, "requires", lambda name: list(lines))

    return declare


def test_without_a_model_everything_but_a_server_is_looked_at(tmp_path: Path) -> None:
    diagnoses = found(tmp_path)
    assert [d.name for d in diagnoses.values() if d.state != "ok"] == []
    assert {f"format {name}" for name in FORMATS} <= set(diagnoses)
    assert re.fullmatch(
        r"4 formats of a small text in \d\.\d\d s", diagnoses["embedded engine"].found
    )
    assert "--model" in str(diagnoses["model"].advice)


def test_versions_are_told_for_a_report(tmp_path: Path) -> None:
    diagnoses = found(tmp_path)
    assert re.search(r"Python 3\.\d+\.\d+, SQLite 3\.", diagnoses["repurpose"].found)
    assert f"aiohttp {metadata.version('aiohttp')}" in diagnoses["packages"].found


def test_the_packages_whose_versions_are_told_are_ones_that_we_need(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[\[<>=]", line)[0] for line in project["dependencies"]}
    assert set(doctoring._SHOWN) <= needed


def test_a_missing_package_is_a_fault_that_ends_the_list(tmp_path: Path, requires: Any) -> None:
    requires(*REQUIRED, "quokka>=1")
    diagnoses = found(tmp_path)
    assert list(diagnoses) == ["repurpose", "packages"]
    packages = diagnoses["packages"]
    assert (packages.state, packages.found) == ("fault", "quokka missing")
    assert "pip install" in str(packages.advice)


def test_an_extra_is_told_with_how_to_have_it_and_no_fault(tmp_path: Path, requires: Any) -> None:
    requires(*REQUIRED, *EXTRAS)
    diagnoses = found(tmp_path)
    missing, there = diagnoses["extra quokka"], diagnoses["extra there"]
    assert (missing.state, missing.found) == ("ok", "quokka-sdk not installed")
    assert "pip install 'repurpose-text[quokka]'" in str(missing.advice)
    assert (there.found, there.advice) == ("installed", None)
    assert "extra dev" not in diagnoses


def test_a_folder_that_is_not_installed_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", absent)
    assert found(tmp_path)["packages"].state == "ok"


def test_the_database_is_told_with_its_tables_runs_and_size(tmp_path: Path) -> None:
    diagnoses = found(tmp_path)
    database = diagnoses[f"database {tmp_path / 'folder' / 'texts.db'}"]
    assert database.state == "ok"
    assert re.fullmatch(r"opens; tables of step m\d{3}_\w+, 0 runs, \d+ KiB", database.found)


def test_a_database_that_cannot_be_opened_is_a_fault_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "texts.db").write_bytes(b"No database at all, but a text that is long enough. " * 9)
    diagnoses = found(tmp_path, database=tmp_path / "texts.db")
    database = diagnoses[f"database {tmp_path / 'texts.db'}"]
    assert database.state == "fault"
    assert "; " in database.found  # the reason, and then the hint of the store
    assert diagnoses["embedded engine"].state == "ok"


def test_an_engine_package_that_does_not_load_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> Any:
        raise ImportError("no symbol", name="nltk")

    monkeypatch.setattr(doctoring, "member", broken)
    engine = found(tmp_path)["embedded engine"]
    assert (engine.state, engine.found) == ("fault", "nltk does not load")
    assert "pip install" in str(engine.advice)


def test_another_engine_is_not_called(tmp_path: Path) -> None:
    diagnoses = found(tmp_path, model="small", engine="extractive")
    assert diagnoses["model"].found.startswith("not called: engine extractive")


def test_with_a_model_its_server_is_looked_at_too(tmp_path: Path, mock_server: Any) -> None:
    diagnoses = found(tmp_path, model="small", base_url=mock_server.url)
    assert diagnoses["profile generic"].found == "fits this server"
    assert len(mock_server.requests) == 2


def test_in_an_event_loop_it_says_so(tmp_path: Path) -> None:
    async def inside() -> None:
        found(tmp_path)

    with pytest.raises(UsageError, match="event loop"):
        asyncio.run(inside())
