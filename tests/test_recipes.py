"""The README's recipes for cron, systemd and GitHub Actions, read as those programs read them."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from repurpose.cli.batch import command

README = Path(__file__).resolve().parent.parent / "README.md"
FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
"""The bounds of minute, hour, day, month and weekday (crontab(5))."""


def blocks(language: str) -> list[str]:
    """The README's code blocks in this language."""
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def units() -> list[configparser.ConfigParser]:
    read = []
    for block in blocks("ini"):
        parser = configparser.ConfigParser(delimiters="=", interpolation=None)
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # names have capitals
        parser.read_string(block)
        read.append(parser)
    return [parser for parser in read if parser.has_section("Unit")]


def unit(section: str) -> configparser.ConfigParser:
    (found,) = [parser for parser in units() if parser.has_section(section)]
    return found


def workflow() -> dict[Any, Any]:
    (found,) = [loaded for each in blocks("yaml") if "jobs" in (loaded := yaml.safe_load(each))]
    assert isinstance(found, dict)
    return found


def assert_five_fields(fields: list[str]) -> None:
    """The fields of a time table, each `*`, a number or a step within its bounds."""
    for field, (least, most) in zip(fields, FIELDS, strict=True):
        number, _, step = field.partition("/")
        assert number == "*" or least <= int(number) <= most, field
        assert not step or int(step) > 0


def assert_is_a_batch(line: str) -> None:
    """The command is one that this version takes."""
    words = shlex.split(line.replace("${{", "").replace("}}", ""))
    place = next(place for place, word in enumerate(words) if word.endswith("repurpose"))
    assert words[place + 1] == "batch"
    with command.make_context("batch", words[place + 2 :], resilient_parsing=False) as context:
        assert context.params["sources"]


def test_the_crontab_has_five_fields_and_a_command() -> None:
    (block,) = blocks("crontab")
    lines = [line for line in block.splitlines() if line and not line.startswith("#")]
    assert lines
    for line in lines:
        *fields, run = line.split(maxsplit=5)
        assert_five_fields(fields)
        assert not re.search(r"(?<!\\)%", run), "cron takes a % for the end of the line"
        assert_is_a_batch(run)


def test_the_service_runs_a_batch_and_lets_what_is_in_flight_end() -> None:
    service = unit("Service")["Service"]
    assert service["Type"] == "oneshot"
    assert service["ExecStart"].startswith("/")
    assert_is_a_batch(service["ExecStart"])
    assert service["SuccessExitStatus"] == "5"
    assert int(service["TimeoutStopSec"]) > 120, "a request may take that long"


def test_the_timer_comes_every_night_also_after_a_night_that_was_missed() -> None:
    timer = unit("Timer")
    assert re.fullmatch(r"\*-\*-\* \d\d:\d\d:\d\d", timer["Timer"]["OnCalendar"])
    assert timer["Timer"]["Persistent"] == "true"
    assert timer["Install"]["WantedBy"] == "timers.target"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_itself_finds_nothing_wrong(tmp_path: Path) -> None:
    service, timer = (block for block in blocks("ini") if "[Unit]" in block)
    program = "ExecStart=/usr/local/bin/repurpose"
    assert program in service
    named = service.replace(program, f"ExecStart={shutil.which('true')}")
    # A user and a file that are not on this machine are no fault of the unit.
    named = re.sub(r"^(User|EnvironmentFile)=.*\n", "", named, flags=re.MULTILINE)
    (tmp_path / "repurpose.service").write_text(named, encoding="utf-8")
    (tmp_path / "repurpose.timer").write_text(timer, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / "repurpose.service", tmp_path / "repurpose.timer"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if "repurpose" in line]
    assert told == []


def test_the_workflow_is_scheduled_and_keeps_the_database_whatever_happens() -> None:
    read = workflow()
    on = read.get("on", read.get(True))  # YAML 1.1 takes the word for a truth value
    assert_five_fields(on["schedule"][0]["cron"].split())
    (job,) = read["jobs"].values()
    steps = job["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert all("@" in step["uses"] for step in steps if "uses" in step)
    (batch,) = [step for step in steps if "repurpose batch" in step.get("run", "")]
    assert_is_a_batch(batch["run"])
    (save,) = [step for step in steps if "cache/save" in step.get("uses", "")]
    assert save["if"] == "always()"
    assert save["with"]["path"] in batch["run"]
    assert read["concurrency"]["cancel-in-progress"] is False
