"""The repository itself: names, tables, imports, README, and the built package."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import repurpose
from repurpose.cli import COMMANDS
from repurpose.engines import ENGINES
from repurpose.exports import EXPORTS, RENDERERS
from repurpose.formats import FORMATS
from repurpose.sources import LISTINGS, SOURCES
from repurpose.stores import STORES

HEAVY = {
    "aiohttp",
    "httpx2",
    "instructor",
    "jsonschema",
    "nltk",
    "openai",
    "pydantic",
    "rich",
    "sqlite_utils",
    "trafilatura",
}


def imported_by(*arguments: str) -> set[str]:
    """The top-level packages that a Python process with these arguments imported."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(repurpose.__file__).parent.parent)},
        timeout=60,
        check=False,
    )
    names = re.findall(r"^import time:.*\|\s+(\S+)$", done.stderr, re.MULTILINE)
    assert "click" in names or "repurpose" in names
    return {name.split(".")[0] for name in names}


def test_every_public_name_can_be_imported() -> None:
    for name in repurpose.__all__:
        assert getattr(repurpose, name) is not None
    assert callable(repurpose.run)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = repurpose.nonsense


def test_the_validator_is_internal() -> None:
    assert not {"Validator", "compile_schema"} & set(repurpose.__all__)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "repurpose", "--help"],
        ["-m", "repurpose", "--version"],
        ["-c", "import repurpose"],
    ],
)
def test_help_and_import_load_nothing_heavy(arguments: list[str]) -> None:
    assert not imported_by(*arguments) & HEAVY


@pytest.mark.parametrize(
    "command",
    ["list", "show last", "show last --path faq.pairs", "show last --flat", "export last"],
)
def test_reading_what_is_stored_loads_no_model_library(command: str) -> None:
    loaded = imported_by("-m", "repurpose", *command.split())
    assert not loaded & (HEAVY - {"sqlite_utils"})


@pytest.mark.parametrize(
    ("table", "family"),
    [
        (ENGINES, "engines"),
        ({**EXPORTS, **{f"composite_{name}": it for name, it in RENDERERS.items()}}, "exports"),
        (FORMATS, "formats"),
        ({**SOURCES, **LISTINGS}, "sources"),
        (STORES, "stores"),
    ],
)
def test_each_familys_table_names_exactly_its_files(table: dict[str, str], family: str) -> None:
    folder = Path(repurpose.__file__).parent / family
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")} - {"base"}
    assert {where.split(":")[0].rpartition(".")[2] for where in table.values()} == files
    for where in table.values():
        module, _, name = where.partition(":")
        assert callable(getattr(importlib.import_module(module), name))


def test_every_module_can_be_imported_without_any_extra(root: Path) -> None:
    """Whoever lacks one is told which; what is imported at the top would end in a traceback."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        name: lines
        for name, lines in project["optional-dependencies"].items()
        if name not in {"bench", "dev", "test"}
    }
    named = {re.split(r"[\[<>=]", line)[0] for lines in extras.values() for line in lines}
    imported_as = {"google-genai": "google", "pypdf": "cryptography"}
    absent = sorted({imported_as.get(name, name) for name in named - {"repurpose-text"}})
    script = (
        "import importlib, pkgutil, sys\n"
        f"sys.modules.update(dict.fromkeys({absent!r}))\n"
        "import repurpose\n"
        "for found in pkgutil.walk_packages(repurpose.__path__, 'repurpose.'):\n"
        "    # The page is loaded by name, by a command that says what to install.\n"
        "    if not found.name.endswith('__main__') and '.web.' not in found.name:\n"
        "        importlib.import_module(found.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_each_command_has_its_file_and_the_help_that_the_table_shows() -> None:
    folder = Path(repurpose.__file__).parent / "cli"
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert {name.replace("-", "_") for name in COMMANDS} == files
    for module, short in COMMANDS.values():
        command = importlib.import_module(module).command
        assert command.help.split("\n\n")[0] == short


def test_every_command_is_in_the_readme(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"repurpose {name}" in readme


def test_the_readmes_test_command_is_what_ci_runs(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8").splitlines()
    ci = (root / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    (tests,) = [line for line in ci if line.endswith("-m pytest")]
    assert tests in readme


def test_the_readmes_help_and_output_are_what_the_commands_print(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", "README.md"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"run: cog -r README.md\n{done.stdout}{done.stderr}"


def test_every_module_says_what_it_is(root: Path) -> None:
    for path in (root / "repurpose").rglob("*.py"):
        assert path.read_text(encoding="utf-8").startswith('"""'), path


@pytest.mark.slow
def test_wheel_and_sdist_hold_every_prompt_and_schema_and_the_wheel_runs(
    root: Path, tmp_path: Path
) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(root)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    (wheel,) = tmp_path.glob("*.whl")
    (sdist,) = tmp_path.glob("*.tar.gz")
    shipped = {path.name for path in [*root.glob("prompts/*.md"), *root.glob("schemas/*.json")]}
    assert len(shipped) >= 10
    assert shipped <= {Path(name).name for name in zipfile.ZipFile(wheel).namelist()}
    with tarfile.open(sdist) as archive:
        assert shipped <= {Path(name).name for name in archive.getnames()}

    # A new environment, which gets nothing but what the wheel asks for.
    venv.create(tmp_path / "env", with_pip=True)
    scripts = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run(
        [str(scripts / "pip"), "install", "-q", str(wheel)],
        check=True,
        capture_output=True,
        timeout=600,
    )
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(scripts / "repurpose"), "run", str(root / "fixtures" / "sources" / "article.md")],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Summary")
