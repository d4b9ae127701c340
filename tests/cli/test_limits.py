"""What may be spent, and how fast, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mock_server import MockServer

Command = Callable[..., Any]

PRICE = '[prices."mock"]\ninput = 1\noutput = 2\n'


@pytest.fixture
def with_model(repurpose: Command, mock_server: MockServer, golden: Any, tmp_path: Path) -> Command:
    """Run with a model that has a price and knows all answers."""
    for name in ("summary", "faq", "social", "newsletter"):
        mock_server.answers[name] = golden(name)
    (tmp_path / "repurpose.toml").write_text(PRICE, encoding="utf-8")

    def run(*arguments: object) -> Any:
        options = ("--model", "mock", "--base-url", mock_server.url, "--concurrency", "1")
        return repurpose("run", *arguments, *options)

    return run


def test_a_run_that_reaches_its_budget_ends_with_5_and_says_what_is_left(
    with_model: Command, article: Path
) -> None:
    done = with_model(article, "--max-calls", "2")
    assert done.returncode == 5
    told = done.stderr.splitlines()
    assert "Note: not finished: social, newsletter" in told
    assert "Error: the budget of 2 calls is reached" in told
    assert told[-1].startswith("Hint: what is stored stays")
    assert "# Summary" in done.stdout


def test_the_same_command_goes_on_without_paying_again(
    with_model: Command, article: Path, mock_server: MockServer
) -> None:
    codes = [with_model(article, "--max-calls", "2").returncode for _ in range(3)]
    assert codes == [5, 0, 0]
    assert len(mock_server.requests) == 4


def test_one_budget_is_for_all_sources_together(
    with_model: Command, article: Path, tmp_path: Path, mock_server: MockServer
) -> None:
    other = tmp_path / "other.md"
    other.write_text("# Another one\n\nThe ferry sails at nine, with forty people on it.")
    third = tmp_path / "third.md"
    third.write_text("# A third one\n\nThe town pays for the ferry, and nobody else does.")
    done = with_model(article, other, third, "--max-calls", "6")
    assert done.returncode == 5
    assert len(mock_server.requests) == 6
    assert done.stderr.splitlines()[-1] == "2 sources: 1 done, 1 unfinished"


def test_a_cap_on_cost_says_what_was_spent_and_what_the_next_call_may_cost(
    with_model: Command, article: Path, tmp_path: Path
) -> None:
    """Each reply has 45 tokens and may have 100; a million cost 1,000 dollars."""
    dear = '[prices."mock"]\ninput = 0\noutput = 1000\n'
    (tmp_path / "repurpose.toml").write_text(dear, encoding="utf-8")
    done = with_model(article, "--max-cost", "0.15", "--max-output-tokens", "100", "--quiet")
    assert done.returncode == 5
    assert done.stderr.splitlines()[0] == (
        "Error: the budget of US$ 0.150 is reached: US$ 0.0900 spent,"
        " and the next call may cost up to US$ 0.100"
    )


def test_an_unknown_price_under_a_cap_is_refused_with_the_way_to_give_one(
    with_model: Command, article: Path, tmp_path: Path, mock_server: MockServer
) -> None:
    (tmp_path / "repurpose.toml").unlink()
    done = with_model(article, "--max-cost", "5")
    assert done.returncode == 2
    assert "--max-cost needs a price, and none is known for mock" in done.stderr
    assert '[prices."mock"]' in done.stderr
    assert mock_server.requests == []


def test_caps_may_stand_in_the_settings_file_and_flags_are_over_them(
    with_model: Command, article: Path, tmp_path: Path
) -> None:
    file = tmp_path / "repurpose.toml"
    file.write_text(f"rpm = 60000\n{PRICE}\n[budget]\nmax_calls = 1\n", encoding="utf-8")
    assert with_model(article).returncode == 5
    assert with_model(article, "--max-calls", "10").returncode == 0


@pytest.mark.parametrize(
    ("flag", "value", "told"),
    [
        ("--max-cost", "0", "--max-cost 0.0 is no number above 0"),
        ("--max-cost", "nan", "--max-cost nan is no number above 0"),
        ("--max-calls", "0", "--max-calls 0 is not at least 1"),
        ("--max-tokens", "-5", "--max-tokens -5 is not at least 1"),
        ("--rpm", "0", "--rpm 0.0 is no number above 0"),
        ("--tpm", "inf", "--tpm inf is no number above 0"),
    ],
)
def test_a_limit_within_which_nothing_could_be_done_is_refused(
    with_model: Command, article: Path, flag: str, value: str, told: str
) -> None:
    done = with_model(article, flag, value)
    assert (done.returncode, told in done.stderr) == (2, True)


def test_a_rate_without_a_model_changes_nothing(repurpose: Command, article: Path) -> None:
    done = repurpose("run", article, "--rpm", "1", "--max-cost", "0.01", "--formats", "summary")
    assert done.returncode == 0


def test_programs_are_told_the_same_code(with_model: Command, article: Path) -> None:
    done = with_model(article, "--max-calls", "1", "--json")
    assert done.returncode == 5
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["format"] == "summary"  # noqa: TID251 - our own output
