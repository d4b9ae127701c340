"""`--engine endpoint:NAME` from outside, with a service on loopback that writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from endpoint_servers import Workflow, workflow

Command = Callable[..., Any]

TOKEN = "tok-4f9b2c7d1e8a6350"
SETTINGS = """\
[endpoints.writer]
base_url = "{url}"
submit = "/write"
header.Authorization = "Bearer env:WRITER_TOKEN"
body = {{run = "{{{{run_id}}}}", rules = "{{{{system}}}}", text = "{{{{user}}}}"}}
result_path = "output"

[endpoints.jobs]
base_url = "{url}"
submit = "POST /jobs"
correlate = "returned:job.id"
result_path = "output.text"

[endpoints.jobs.completion]
mode = "poll"
status_path = "/jobs/{{id}}"
done = {{field = "state", equals = "completed"}}
failed = {{field = "state", one_of = ["failed"]}}
interval = 0.01
timeout = 0.2

[endpoints.flow]
base_url = "{url}"
submit = "/webhook/write"
body = {{text = "{{{{prompt}}}}", reply_to = "{{{{callback_url}}}}"}}
result_path = "output.text"

[endpoints.flow.completion]
mode = "callback"
done = {{field = "state", equals = "completed"}}
failed = {{field = "state", equals = "failed"}}
timeout = 5

[composites.kit]
version = 1
renderer = "markdown"
sections = [{{name = "summary", input = "summary", label = "In short"}}]
"""


@pytest.fixture(scope="module")
def _running() -> Iterator[Workflow]:
    with workflow() as service:
        yield service


@pytest.fixture
def service(_running: Workflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workflow:
    """The service, with settings that name it and the token that it is sent."""
    _running.asked.clear()
    _running.headers.clear()
    _running.paths.clear()
    _running.plans.clear()
    (tmp_path / "repurpose.toml").write_text(SETTINGS.format(url=_running.url), encoding="utf-8")
    monkeypatch.setenv("WRITER_TOKEN", TOKEN)
    return _running


@pytest.fixture
def write(repurpose: Command, article: Path) -> Command:
    """`repurpose run` of the article's summary by an endpoint."""

    def run(name: str = "writer", *options: str) -> Any:
        engine = f"endpoint:{name}"
        return repurpose("run", article, "--formats", "summary", "--engine", engine, *options)

    return run


def change(folder: Path, old: str, new: str) -> None:
    """Write something else into the settings."""
    path = folder / "repurpose.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def error_lines(done: Any) -> list[str]:
    """What a command that was refused says, without notes and which settings it used."""
    return [line for line in done.stderr.splitlines() if line.startswith(("Error", "Hint"))]


# --- runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["writer", "jobs", "flow"])
def test_an_article_is_written_by_the_endpoint(
    name: str, service: Workflow, write: Command
) -> None:
    done = write(name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Summary (")
    assert f"endpoint {name}" in done.stdout.splitlines()[0]
    assert "1 call" in done.stderr
    assert len(service.asked) == 1


def test_the_same_run_again_makes_no_submit(service: Workflow, write: Command) -> None:
    first, second = write(), write()
    assert second.stdout == first.stdout
    assert "0 calls" in second.stderr
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [('rules = "', 'instructions = "'), ('result_path = "output"', 'result_path = ""')],
)
def test_another_template_or_place_of_the_answer_is_asked_anew(
    old: str, new: str, service: Workflow, write: Command, tmp_path: Path
) -> None:
    write()
    change(tmp_path, old, new)
    write()
    assert len(service.asked) > 1


def test_an_answer_that_is_none_is_asked_for_once_more_as_a_run_of_its_own(
    service: Workflow, write: Command
) -> None:
    service.plans.append("invalid")
    done = write()
    assert done.returncode == 0, done.stderr
    assert "2 calls" in done.stderr
    first, second = service.asked
    assert first["run"] != second["run"]
    assert "Here you are!" in second["text"]


def test_three_failures_are_three_kinds(
    service: Workflow, write: Command, repurpose: Command, tmp_path: Path
) -> None:
    service.plans.extend(["fails", "fails", "silent"])
    for name in ("writer", "jobs", "jobs"):
        done = write(name, "--force", "--db", "kinds.db")
        assert done.returncode == 4
    rows = repurpose("stats", "--db", "kinds.db")
    for kind in ("never_started", "agent_failed", "still_working"):
        assert kind in rows.stdout, rows.stdout


# --- secrets -----------------------------------------------------------------------------------


def test_the_token_reaches_the_service_and_nothing_else(
    service: Workflow, write: Command, repurpose: Command, tmp_path: Path
) -> None:
    service.plans.append("fails")
    said = [write("writer", "--db", "own.db"), write("writer", "--db", "own.db")]
    said += [repurpose("show", "last", "--calls", "--db", "own.db")]
    assert service.headers[0]["authorization"] == f"Bearer {TOKEN}"
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("own.db*"))
    assert TOKEN.encode() not in kept
    assert not any(TOKEN in done.stdout + done.stderr for done in said)


def test_a_callback_address_is_in_no_database_and_no_line(
    service: Workflow, write: Command, tmp_path: Path
) -> None:
    done = write("flow", "--db", "own.db")
    secret = service.asked[0]["reply_to"].rpartition("/")[2]
    assert len(secret) >= 22
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("own.db*"))
    assert secret.encode() not in kept
    assert secret not in done.stdout + done.stderr


def test_a_token_that_is_not_set_is_named_before_any_request(
    service: Workflow, write: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WRITER_TOKEN")
    done = write()
    assert done.returncode == 2
    assert error_lines(done)[0] == "Error: endpoint writer needs WRITER_TOKEN in the environment"
    assert service.paths == []


# --- what cannot be used -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("endpoint:wirter", "Error: no endpoint 'wirter'; did you mean endpoint:writer?"),
        ("endpoint:", "Error: no endpoint ''"),
        ("writer", "Hint: give endpoint:writer"),
    ],
)
def test_an_endpoint_that_is_not_declared_is_told_with_the_nearest(
    engine: str, said: str, service: Workflow, repurpose: Command, article: Path
) -> None:
    done = repurpose("run", article, "--engine", engine)
    assert done.returncode == 2
    assert any(line.startswith(said) for line in error_lines(done)), done.stderr


def test_a_model_beside_an_endpoint_is_refused(service: Workflow, write: Command) -> None:
    done = write("writer", "--model", "gpt-4.1-mini")
    assert done.returncode == 2
    assert "--model and --engine endpoint:writer exclude each other" in done.stderr
    assert service.paths == []


@pytest.mark.parametrize("command", ["run", "check", "config"])
def test_a_table_that_cannot_work_is_refused_by_whatever_reads_the_settings(
    command: str, service: Workflow, repurpose: Command, article: Path, tmp_path: Path
) -> None:
    change(tmp_path, 'status_path = "/jobs/{id}"\n', "")
    done = repurpose(command, *([article] if command == "run" else []))
    assert done.returncode == 2
    assert "endpoints.jobs.completion: status_path is missing" in done.stdout + done.stderr


def test_check_tells_of_every_endpoint(
    service: Workflow, repurpose: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = repurpose("check").stdout.splitlines()
    assert {"endpoint writer: ok", "endpoint jobs: ok", "endpoint flow: ok"} <= set(lines)
    monkeypatch.delenv("WRITER_TOKEN")
    change(
        tmp_path,
        f'[endpoints.flow]\nbase_url = "{service.url}',
        '[endpoints.flow]\nbase_url = "http://agents.example',
    )
    done = repurpose("check")
    assert done.returncode == 2
    faulty = [line for line in done.stdout.splitlines() if line.startswith("endpoint ")]
    assert faulty[0].startswith("endpoint writer: needs WRITER_TOKEN in the environment")
    assert faulty[1] == "endpoint jobs: ok"
    assert faulty[2].startswith("endpoint flow: callback_base_url is not set")
    assert service.paths == []


def test_a_cap_on_cost_needs_a_price_for_the_endpoint(service: Workflow, write: Command) -> None:
    done = write("writer", "--max-cost", "1")
    assert done.returncode == 2
    assert f"none is known for writer at {service.url}" in error_lines(done)[0]
    assert '[prices."writer"]' in error_lines(done)[1]
    assert service.paths == []


def test_without_counts_a_price_is_reserved_and_the_cost_stays_unknown(
    service: Workflow, write: Command, tmp_path: Path
) -> None:
    price = "[prices.writer]\ninput = 1\noutput = 10\n\n"
    change(tmp_path, "[composites.kit]", f"{price}[composites.kit]")
    assert "give --max-output-tokens" in write("writer", "--max-cost", "1").stderr
    done = write("writer", "--max-cost", "1", "--max-output-tokens", "500")
    assert done.returncode == 0, done.stderr
    assert "cost unknown" in done.stderr


def test_several_sources_are_written_one_after_another(
    service: Workflow, repurpose: Command, article: Path
) -> None:
    texts = [article, article.parent / "notes.txt"]
    done = repurpose("run", *texts, "--formats", "summary", "--engine", "endpoint:flow", "--json")
    assert len(service.asked) >= 2
    assert len({asked["reply_to"] for asked in service.asked}) == len(service.asked)
    assert done.returncode in (0, 1), done.stderr


def test_a_cap_on_calls_holds_for_an_endpoint(service: Workflow, write: Command) -> None:
    service.plans.append("invalid")
    assert write("writer", "--max-calls", "1").returncode == 5
    assert len(service.asked) == 1


# --- the other commands ------------------------------------------------------------------------


def test_stored_runs_are_listed_shown_counted_and_replayed(
    service: Workflow, write: Command, repurpose: Command
) -> None:
    made = write("jobs", "--json")
    row = json.loads(made.stdout.splitlines()[0])["rows"][0]  # noqa: TID251 - our own output
    assert "jobs" in repurpose("list").stdout
    assert "jobs" in repurpose("stats", "--by", "model").stdout
    calls = repurpose("show", "last", "--calls", "--json")
    call = json.loads(calls.stdout.splitlines()[0])  # noqa: TID251 - our own output
    replayed = repurpose("replay", call["id"])
    assert replayed.returncode == 0, replayed.stderr
    assert row["engine"] == "endpoint"


def test_a_batch_is_written_by_the_endpoint_and_not_written_again(
    service: Workflow, repurpose: Command, article: Path
) -> None:
    options = ("--formats", "summary,faq", "--engine", "endpoint:jobs")
    first = repurpose("batch", article, *options)
    assert first.returncode == 0, first.stderr
    again = repurpose("batch", article, *options)
    assert again.returncode == 0, again.stderr
    assert len(service.asked) == 2


def test_a_batch_at_a_provider_is_no_business_of_an_endpoint(
    service: Workflow, repurpose: Command, article: Path
) -> None:
    done = repurpose("batch", article, "--engine", "endpoint:writer", "--provider-batch")
    assert done.returncode == 2
    assert error_lines(done)[0].startswith("Error: provider batches need a model at OpenAI")
    assert service.paths == []


def test_a_composite_is_put_together_from_what_the_endpoint_wrote(
    service: Workflow, repurpose: Command, article: Path
) -> None:
    done = repurpose("compose", "kit", article, "--engine", "endpoint:writer", "--to", "stdout")
    assert done.returncode == 0, done.stderr
    assert "## In short" in done.stdout
    assert len(service.asked) == 1


def test_a_section_is_made_again_by_the_endpoint_that_made_it(
    service: Workflow, write: Command, repurpose: Command
) -> None:
    write("jobs")
    done = repurpose("regenerate", "last", "--section", "summary", "--instruction", "shorter")
    assert done.returncode == 0, done.stderr
    assert len(service.asked) == 2
    assert "shorter" in json.dumps(service.asked[1])
    other = repurpose("regenerate", "last", "--section", "summary", "--engine", "endpoint:writer")
    assert other.returncode == 0, other.stderr
    assert service.paths[-1] == "POST /write"


def test_a_section_of_an_endpoint_that_is_gone_is_not_asked_of_a_model(
    service: Workflow, write: Command, repurpose: Command, tmp_path: Path
) -> None:
    write("jobs")
    change(tmp_path, "endpoints.jobs", "endpoints.desk")
    done = repurpose("regenerate", "last", "--section", "summary")
    assert done.returncode == 2
    assert error_lines(done)[0].startswith("Error: no endpoint 'jobs'")


def test_the_page_is_not_opened_for_an_endpoint_that_cannot_be_asked(
    service: Workflow, repurpose: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uvicorn")
    monkeypatch.delenv("WRITER_TOKEN")
    done = repurpose("serve", "--engine", "endpoint:writer", "--port", "0")
    assert done.returncode == 2
    assert "needs WRITER_TOKEN" in error_lines(done)[0]


def test_commands_that_only_read_load_no_wire(
    service: Workflow, write: Command, tmp_path: Path
) -> None:
    write("writer", "--db", "own.db")
    script = (
        "import sys; from repurpose.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name in ('aiohttp', 'asyncio', 'httpx2')])"
    )
    for arguments in (["--help"], ["show", "last", "--db", "own.db"], ["list"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path)},
        )
        assert done.stdout.splitlines()[-1] == "[]", arguments
