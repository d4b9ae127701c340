"""`repurpose doctor`, and `--profile`, from outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def test_without_a_model_it_is_one_line_each_and_exit_0(repurpose: Command) -> None:
    done = repurpose("doctor")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert all(line.startswith(("ok     ", "note   ")) for line in lines)
    assert any(line.startswith("ok     embedded engine: 4 formats") for line in lines)
    assert done.stderr == ""


def test_json_lines_hold_the_same(repurpose: Command) -> None:
    done = repurpose("doctor", "--json")
    objects = [json.loads(line) for line in done.stdout.splitlines()]  # noqa: TID251 - our own output
    assert all(set(one) == {"name", "state", "found", "advice"} for one in objects)
    assert objects[0]["name"] == "repurpose"


def test_a_fault_is_exit_2_and_its_line_names_the_fix(repurpose: Command, mock_server: Any) -> None:
    mock_server.plan("unsupported", schema="probe")
    mock_server.answers[""] = '{"fruit": "quince", "word": "tangerine"}'
    done = repurpose("doctor", "--model", "small", "--base-url", mock_server.url)
    assert done.returncode == 2
    (fault,) = [line for line in done.stdout.splitlines() if line.startswith("fault")]
    assert fault.endswith("add --profile generic:object, or set REPURPOSE_PROFILE=generic:object")
    fixed = repurpose(
        "doctor", "--model", "small", "--base-url", mock_server.url, "--profile", "generic:object"
    )
    assert fixed.returncode == 0, fixed.stdout


def test_the_database_of_the_flag_is_looked_at(repurpose: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, so no folder", encoding="utf-8")
    done = repurpose("doctor", "--db", tmp_path / "taken" / "texts.db")
    assert done.returncode == 2
    assert f"fault  database {tmp_path / 'taken' / 'texts.db'}: " in done.stdout


# --- the flag ---------------------------------------------------------------------------------


@pytest.fixture
def run_with(repurpose: Command, article: Path, mock_server: Any) -> Command:
    flags = ["--formats", "summary", "--no-repair", "--model", "small"]

    def run(*more: str) -> Any:
        return repurpose("run", article, *flags, "--base-url", mock_server.url, *more)

    return run


@pytest.mark.parametrize(
    ("profile", "kind"),
    [(None, "json_schema"), ("vllm", "json_schema"), ("deepseek", "json_object")],
)
def test_a_run_asks_as_its_profile_says_with_the_schema_in_the_prompt(
    profile: str | None, kind: str, run_with: Command, mock_server: Any
) -> None:
    run_with(*(["--profile", profile] if profile else []))
    body = mock_server.requests[-1].body
    assert body["response_format"]["type"] == kind
    assert '"additionalProperties":false' in body["messages"][0]["content"]


def test_a_server_that_shows_the_schema_gets_it_once(run_with: Command, mock_server: Any) -> None:
    run_with("--profile", "openai")
    body = mock_server.requests[-1].body
    assert body["response_format"]["json_schema"]["strict"] is True
    assert "additionalProperties" not in body["messages"][0]["content"]


def test_the_environment_names_a_profile_and_the_flag_wins(
    run_with: Command, mock_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPURPOSE_PROFILE", "anthropic")
    run_with()
    assert "response_format" not in mock_server.requests[-1].body
    run_with("--profile", "deepseek")
    assert mock_server.requests[-1].body["response_format"] == {"type": "json_object"}


def test_another_profile_is_another_result(run_with: Command, mock_server: Any) -> None:
    assert run_with().returncode == 0
    assert "0 calls" in run_with().stderr
    assert "0 calls" in run_with("--profile", "generic").stderr
    assert "1 call" in run_with("--profile", "generic:schema").stderr
    assert len(mock_server.requests) == 2


def test_an_unknown_profile_is_exit_2_and_no_request(run_with: Command, mock_server: Any) -> None:
    done = run_with("--profile", "olama")
    assert done.returncode == 2
    assert "did you mean ollama?" in done.stderr
    assert not mock_server.requests


def test_a_refused_schema_names_the_profile_and_the_doctor(
    run_with: Command, mock_server: Any
) -> None:
    mock_server.plan("unsupported")
    done = run_with()
    assert done.returncode == 4
    told = done.stdout + done.stderr
    assert "does not take our JSON schema" in told
    assert "add --profile generic:object; repurpose doctor says what this server takes" in told
