"""What calls took, as `show RUN --calls` and the end of `run` tell it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mock_server import MockServer
from repurpose.api.adapters import open_store
from repurpose.api.runs import arun
from repurpose.config import Settings
from repurpose.core.call import Reply, Usage
from repurpose.core.source import Source
from repurpose.engines.scripted import scripted_engine
from repurpose.errors import NeverStarted, StillWorking

Command = Callable[..., Any]

SOURCE = Source(text="Kestrels hover over the ring road.", origin="a.md", kind="text")
OPENAI = "https://api.openai.com/v1"


def lines(text: str) -> list[dict[str, Any]]:
    """JSON lines, each decoded."""
    return [json.loads(line) for line in text.splitlines()]  # noqa: TID251 - our own output


@pytest.fixture
def database(tmp_path: Path, golden: Callable[[str], dict[str, Any]]) -> Path:
    """A stored run: a repaired FAQ, a summary without an answer, social posts never accepted."""
    path = tmp_path / "calls.db"
    text = json.dumps(golden("faq"))
    engine = scripted_engine(
        {
            "faq": [
                Reply("no pelican JSON", usage=Usage(1_000, 100, 0, 0), requests=2),
                Reply(text, usage=Usage(1_400, 800, 1_000, 300), model="gpt-4.1-mini-2025-04-14"),
            ],
            "summary": [StillWorking("no answer in 120 s")],
            "social": [NeverStarted("the key was refused")],
        }
    )
    engine = replace(engine, model="gpt-4.1-mini", parameters={"endpoint": OPENAI})
    store = open_store(path)
    settings = Settings(database=path, concurrency=1)
    asyncio.run(
        arun(SOURCE, ["faq", "summary", "social"], engine=engine, store=store, settings=settings)
    )
    store.close()
    return path


def test_one_line_a_call_with_tokens_cost_time_and_requests(
    repurpose: Command, database: Path
) -> None:
    head, first, second, lost, refused, total = repurpose(
        "show", "last", "--calls", "--db", database
    ).stdout.splitlines()
    columns = "CALL FORMAT TRY ENDED IN CACHED OUT REASONING US$ SECONDS SENT MODEL"
    assert head.split() == columns.split()
    assert first.split()[1:9] == ["faq", "1", "stop", "1,000", "0", "100", "0", "0.000560"]
    assert first.split()[10:] == ["2", "gpt-4.1-mini"]
    assert second.split()[1:9] == ["faq", "2", "stop", "1,400", "1,000", "800", "300", "0.00154"]
    assert second.split()[-1] == "gpt-4.1-mini-2025-04-14"
    assert lost.split()[3:9] == ["still_working", "-", "-", "-", "-", "-"]
    assert refused.split()[3:9] == ["never_started", "-", "-", "-", "-", "0"]
    assert total.endswith(
        "4 calls, at least 2,400 tokens in (1,000 cached), at least 900 out,"
        " cost unknown: 1 of 4 calls has no price; the others US$ 0.00210"
    )


def test_json_lines_are_the_calls_and_then_the_totals(repurpose: Command, database: Path) -> None:
    done = repurpose("show", "last", "--calls", "--json", "--db", database)
    *calls, total = lines(done.stdout)
    assert [call["attempt"] for call in calls] == [1, 2, 1, 1]
    assert calls[0]["requests"] == 2
    assert calls[1]["cost"] == pytest.approx((400 * 0.4 + 1_000 * 0.1 + 800 * 1.6) / 1_000_000)
    assert (calls[2]["cost"], calls[3]["cost"]) == (None, 0.0)
    assert total["usage"]["calls"] == 4
    assert total["usage"]["prompt_tokens"] == {"known": 2_400, "unknown": 1}
    assert total["usage"]["cost"]["unknown"] == 1


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_prompts_and_answers_are_shown_only_where_they_are_asked_for(
    repurpose: Command, database: Path, flags: list[str]
) -> None:
    shown = repurpose("show", "last", "--calls", *flags, "--db", database).stdout
    assert "Kestrels" not in shown
    assert "pelican" not in shown
    asked = repurpose("show", "last", "--calls", "--prompts", *flags, "--db", database).stdout
    assert "Kestrels hover over the ring road." in asked
    assert "no pelican JSON" in asked
    assert "no answer in 120 s" in asked


def test_calls_can_be_narrowed_to_a_format(repurpose: Command, database: Path) -> None:
    shown = repurpose("show", "last", "--calls", "--format", "faq", "--db", database).stdout
    assert "2 calls, 2,400 tokens in (1,000 cached), 900 out, US$ 0.00210" in shown


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["--prompts"], "--calls"),
        (["--calls", "--variant", "x"], "--variant"),
        (["--calls", "--format", "podcast"], "summary"),
    ],
)
def test_flags_that_contradict_each_other_are_exit_2(
    repurpose: Command, database: Path, flags: list[str], word: str
) -> None:
    done = repurpose("show", "last", *flags, "--db", database)
    assert done.returncode == 2
    assert word in done.stderr


def test_the_embedded_engine_costs_nothing_and_counts_no_tokens(
    repurpose: Command, article: Path
) -> None:
    done = repurpose("run", article)
    (end,) = [line for line in done.stderr.splitlines() if line.startswith("run ")]
    assert " 4 calls; see: " in end
    *calls, _ = lines(repurpose("show", "last", "--calls", "--json").stdout)
    assert {call["cost"] for call in calls} == {0.0}


def test_a_reused_run_made_no_calls(repurpose: Command, article: Path) -> None:
    repurpose("run", article, "--quiet")
    assert "0 calls" in repurpose("run", article).stderr
    shown = repurpose("show", "last", "--calls")
    assert shown.stdout.splitlines()[-1].endswith(": 0 calls")


def test_a_run_ends_with_its_calls_tokens_and_what_is_known_of_its_cost(
    repurpose: Command, article: Path, mock_server: MockServer
) -> None:
    done = repurpose(
        "run", article, "--model", "gpt-4.1-mini", "--base-url", mock_server.url, "--json"
    )
    assert done.returncode == 0, done.stderr
    end = done.stderr.splitlines()[-1]
    assert ", 4 calls, " in end
    assert " tokens in" in end
    assert "cost unknown: 4 of 4 calls have no price" in end
    usage = [result["meta"]["usage"] for result in lines(done.stdout)]
    assert [each["calls"] for each in usage] == [1, 1, 1, 1]
    assert all(each["cost"] == {"known": 0, "unknown": 1} for each in usage)
