"""`repurpose config`, and the settings file for every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repurpose.config import KEYS
from repurpose.config._example import example_text

Command = Callable[..., Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The settings file of the folder in which commands run."""
    path = tmp_path / "repurpose.toml"
    path.write_text(
        'database = "own.db"\ntimeout = 7\nvoice = "acme"\n'
        '[run]\nformats = ["summary"]\n[voices.acme]\ndisclaimer = "No advice."\n'
        '[formats.note]\nprompt = "Write a note."\n',
        encoding="utf-8",
    )
    return path


def lines(text: str) -> dict[str, dict[str, Any]]:
    """JSON lines by their key."""
    read = [json.loads(line) for line in text.splitlines()]  # noqa: TID251 - our own output
    return {each["key"]: each for each in read}


def test_each_setting_is_told_with_its_origin(repurpose: Command, file: Path) -> None:
    done = repurpose("config", "--db", "x.db", "--json")
    told = lines(done.stdout)
    assert told["timeout"] == {
        "key": "timeout",
        "value": 7,
        "layer": "file",
        "where": str(file),
    }
    assert (told["database"]["value"], told["database"]["layer"]) == ("x.db", "flag")
    assert told["formats.note"]["value"] == "declared"
    assert set(KEYS) - set(told) == {"retry.max_retries"}


def test_a_person_gets_a_table_and_the_files_path(
    repurpose: Command, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPURPOSE_TONE", "dry")
    done = repurpose("config")
    assert done.stderr == f"file: {file}\n"
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["tone", "dry", "environment", "REPURPOSE_TONE"] in rows
    assert ["timeout", "7", "file", str(file)] in rows
    assert ["concurrency", "4", "default"] in rows


def test_no_key_and_no_password_is_ever_shown(
    repurpose: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPURPOSE_API_KEY", "sk-hunter2")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2")
    monkeypatch.setenv("REPURPOSE_BASE_URL", "http://me:hunter2@localhost:1/v1")
    monkeypatch.setenv("REPURPOSE_PROXY", "http://me:hunter2@localhost:2")
    for arguments in ([], ["--json"]):
        done = repurpose("config", *arguments)
        assert "hunter2" not in done.stdout + done.stderr
        assert "http://localhost:2" in done.stdout
        assert "REPURPOSE_API_KEY" in done.stdout


def test_the_example_is_printed_as_it_is_shipped(repurpose: Command, tmp_path: Path) -> None:
    done = repurpose("config", "--example")
    assert done.stdout == example_text()
    (tmp_path / "repurpose.toml").write_text(done.stdout, encoding="utf-8")
    assert repurpose("config").returncode == 0


def test_a_run_goes_by_the_file_and_says_so(
    repurpose: Command, file: Path, article: Path, tmp_path: Path
) -> None:
    done = repurpose("run", article)
    assert done.returncode == 0, done.stderr
    assert f"Settings: {file}" in done.stderr
    assert done.stdout.count("\n# ") + done.stdout.startswith("# ") == 1
    assert done.stdout.rstrip().endswith("No advice.")
    assert (tmp_path / "own.db").exists()
    assert "Settings" not in repurpose("run", article, "--quiet").stderr


def test_flags_are_over_the_file(repurpose: Command, file: Path, article: Path) -> None:
    done = repurpose("run", article, "--formats", "faq", "--db", "other.db", "--quiet")
    assert done.stdout.startswith("# FAQ")
    assert "summary" in repurpose("run", article, "--quiet").stdout.lower()
    assert "FAQ" not in repurpose("list").stdout


def test_no_config_leaves_the_file_out(
    repurpose: Command, file: Path, article: Path, tmp_path: Path
) -> None:
    file.write_text("nonsense = [", encoding="utf-8")
    assert repurpose("run", article, "--quiet").returncode == 2
    done = repurpose("run", article, "--no-config", "--quiet", "--formats", "summary")
    assert done.returncode == 0, done.stderr
    assert "No advice." not in done.stdout
    both = repurpose("run", article, "--no-config", "--config", file)
    assert "contradict" in both.stderr


def test_a_file_elsewhere_can_be_named(
    repurpose: Command, file: Path, article: Path, tmp_path: Path
) -> None:
    other = tmp_path / "team" / "settings.toml"
    other.parent.mkdir()
    other.write_text('database = "team.db"\n[run]\nformats = ["faq"]', encoding="utf-8")
    assert repurpose("run", article, "--config", other, "--quiet").stdout.startswith("# FAQ")
    assert (other.parent / "team.db").exists()
    assert "faq" in repurpose("list", "--config", other).stdout
    assert repurpose("list").stdout == ""


@pytest.mark.parametrize("command", [["list"], ["show", "last"], ["export", "last"]])
def test_what_is_stored_is_read_from_the_files_database(
    repurpose: Command, file: Path, article: Path, command: list[str]
) -> None:
    repurpose("run", article, "--quiet")
    assert repurpose(*command).returncode == 0
    found = repurpose(*command)
    assert "lending" in found.stdout or "Halvik" in found.stdout


def test_a_voice_is_chosen_by_flag(repurpose: Command, file: Path, article: Path) -> None:
    text = file.read_text(encoding="utf-8").replace('voice = "acme"\n', "")
    file.write_text(text, encoding="utf-8")
    assert "No advice." not in repurpose("run", article, "--quiet").stdout
    assert "No advice." in repurpose("run", article, "--voice", "acme", "--quiet").stdout
    wrong = repurpose("run", article, "--voice", "acne")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean acme?" in wrong.stderr


def test_a_switch_of_the_file_can_be_switched_off(
    repurpose: Command, file: Path, article: Path
) -> None:
    file.write_text(
        '[run]\nformats = ["social"]\nplatforms = ["x"]\nthread = true\n', encoding="utf-8"
    )
    thread = repurpose("run", article, "--json", "--quiet").stdout
    single = repurpose("run", article, "--json", "--quiet", "--no-thread").stdout
    assert '"posts"' in thread
    assert '"posts"' not in single


def test_a_format_of_the_file_can_be_asked_for(
    repurpose: Command, file: Path, article: Path
) -> None:
    done = repurpose("run", article, "--formats", "note", "--quiet")
    assert "unknown format" not in done.stderr
    assert repurpose("run", article, "--formats", "nota").returncode == 2


def test_a_fault_of_the_file_is_one_line_and_exit_code_two(
    repurpose: Command, file: Path, article: Path
) -> None:
    file.write_text("modle = 'x'\ntimeout = 'y'\n", encoding="utf-8")
    done = repurpose("run", article)
    assert done.returncode == 2
    assert done.stderr == (
        "Error: repurpose.toml: modle is not known; did you mean model?\n"
        "Hint: 1 more: repurpose check lists all\n"
    )
