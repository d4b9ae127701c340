"""The shipped example: it parses, equals the code's defaults, and knows every key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from repurpose.cli.run import command
from repurpose.config import KEYS, faults_in, from_environment, read_file
from repurpose.config._example import example_text
from repurpose.config._keys import NAMED_TABLES, RULES

OF_ONE_COMMAND = {
    "--config",
    "--no-config",
    "--force",
    "--json",
    "--kind",
    "--quiet",
}
"""Options that say something about one use of the command, and not how texts are made."""
SAID_OTHERWISE = {"--no-repair": "retry.max_attempts"}


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "repurpose.toml"
    path.write_text(example_text(), encoding="utf-8")
    return path


@pytest.fixture
def uncommented(tmp_path: Path) -> Path:
    """The example with every key active; of two spellings of the same, one."""
    lines = [re.sub(r"^# (?=[\[\]\w ]*[=\[\]{}])(?!---)", "", line) for line in _body()]
    path = tmp_path / "all" / "repurpose.toml"
    path.parent.mkdir()
    text = "\n".join(line for line in lines if not line.startswith("max_retries"))
    path.write_text(text, encoding="utf-8")
    (path.parent / "voices").mkdir()
    (path.parent / "voices" / "newsletter.md").write_text("Hello.", encoding="utf-8")
    return path


def _body() -> list[str]:
    head, _, body = example_text().partition("\n\n")
    assert head.startswith("# Settings")
    return body.splitlines()


def test_the_example_has_no_fault_and_equals_the_codes_defaults(example: Path) -> None:
    assert faults_in(example) == []
    chosen = from_environment({}, file=read_file(example))
    assert replace(chosen, folder=None) == from_environment({})


def test_whatever_has_a_default_is_active_with_it(example: Path) -> None:
    given = read_file(example).values
    chosen = from_environment({})
    for path, key in KEYS.items():
        default = getattr(chosen, key.field, None) if key.field else None
        if default is None or default == () or path == "database":
            continue
        assert path in given, path


def test_every_key_stands_in_it_with_its_meaning(uncommented: Path) -> None:
    raw = tomllib.loads(uncommented.read_text(encoding="utf-8"))
    assert faults_in(uncommented) == []
    found = {
        f"{table}.{name}" if isinstance(value, dict) else table
        for table, value in raw.items()
        for name in (value if isinstance(value, dict) else {"": 0})
    }
    assert set(KEYS) - found == {"retry.max_retries"}
    assert "max_retries" in example_text()
    for table, rules in RULES.items():
        (entry,) = raw[table].values()
        assert set(rules) == set(entry), table
    assert {"formats"} <= set(raw)
    assert set(raw) <= {path.partition(".")[0] for path in KEYS} | set(NAMED_TABLES)


def test_everything_that_can_be_active_gives_settings(uncommented: Path) -> None:
    chosen = from_environment({}, file=read_file(uncommented))
    assert chosen.voice is not None
    assert chosen.voice.names == ("GitHub", "Łódź")
    assert chosen.voice.samples[-1] == "Hello."


def test_whatever_a_flag_of_run_can_set_the_file_can_set() -> None:
    flags = {key.flag for key in KEYS.values()}
    for parameter in command.params:
        names = {name for name in parameter.opts if name.startswith("--")}
        if not names or names & (OF_ONE_COMMAND | set(SAID_OTHERWISE)):
            continue
        assert names & flags, f"{names} is no setting of the file"


def test_every_flag_that_a_setting_names_is_one_of_run() -> None:
    offered = {name for parameter in command.params for name in parameter.opts}
    assert {key.flag for key in KEYS.values() if key.flag} <= offered
