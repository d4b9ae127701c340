"""Traces of a real MLflow server on loopback, written with MLflow's own client.

Needs an interpreter that has MLflow: the one that runs the tests, or the one that the environment
variable MLFLOW_PYTHON names.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repurpose.cli import main
from repurpose.core.endpoint import TraceState
from repurpose.core.exchange import WireError
from repurpose.core.json_types import JsonValue
from repurpose.core.paths import at
from repurpose.engines._endpoint_wire import HttpWire
from repurpose.schema.intake import decode
from repurpose.traces.mlflow import mlflow_traces

pytestmark = pytest.mark.slow
HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "fixtures" / "replies"
ARTICLE = HERE.parent.parent / "fixtures" / "sources" / "article.md"
PATIENCE = 90.0


@dataclass
class Running:
    """An MLflow server, and an agent that writes its traces there."""

    server: str
    agent: str

    def submit(self, **job: object) -> None:
        """Give the agent a job, and wait until its trace is written."""
        body = json.dumps({"format": "summary", "answered": True, **job}).encode()
        urllib.request.urlopen(f"{self.agent}/runs", body, timeout=30).close()


def python_with_mlflow() -> str:
    named = os.environ.get("MLFLOW_PYTHON")
    if named is None and importlib.util.find_spec("mlflow") is None:
        pytest.skip("MLflow is not installed, and MLFLOW_PYTHON names no interpreter that has it")
    return named or sys.executable


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@contextlib.contextmanager
def process(*command: str, home: Path, ready: str) -> Iterator[None]:
    """A process with its children, from the moment it answers until it is no longer needed."""
    quiet = {"DO_NOT_TRACK": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
    quiet |= {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "HOME": str(home)}
    quiet |= {"MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false"}  # which writes every few seconds
    output = home / f"{Path(command[1]).stem}.log"
    with output.open("wb") as log:
        started = subprocess.Popen(
            command,
            cwd=home,
            env={**os.environ, **quiet},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_for(ready, started, output)
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def wait_for(url: str, started: subprocess.Popen[bytes], output: Path) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.2)):
        if started.poll() is not None:
            break
        with contextlib.suppress(OSError, urllib.error.URLError):
            urllib.request.urlopen(url, timeout=3).close()
            return
        pause.wait(0.2)
    pytest.fail(f"it did not start: {output.read_text(encoding='utf-8', errors='replace')[-2000:]}")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    python, home = python_with_mlflow(), tmp_path_factory.mktemp("mlflow")
    port, agent_port = free_port(), free_port()
    server, agent = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{agent_port}"
    places = ("--backend-store-uri", f"sqlite:///{home / 'mlflow.db'}")
    places += ("--artifacts-destination", str(home / "artifacts"))
    bound = ("--host", "127.0.0.1", "--port", str(port), "--workers", "1")
    start = (python, "-m", "mlflow", "server", *bound, *places)
    script = (python, str(HERE / "mlflow_agent.py"), server, str(agent_port), str(GOLDEN))
    with (
        process(*start, home=home, ready=f"{server}/health"),
        process(*script, home=home, ready=agent),
    ):
        yield Running(server, agent)


def ask(running: Running, run: str, **table: Any) -> tuple[TraceState, JsonValue]:
    """What the source says of a run: its state and its record."""
    given = {"kind": "mlflow", "url": running.server, "experiment": "writers", **table}

    async def asked() -> tuple[TraceState, JsonValue]:
        wires: list[HttpWire] = []

        def wire_for(base_url: str, headers: Mapping[str, str]) -> HttpWire:
            wires.append(HttpWire(base_url, headers))
            return wires[-1]

        source = mlflow_traces(given, wire_for=wire_for)
        try:
            return await source.state(run), await source.record(run)
        finally:
            for wire in wires:
                await wire.close()

    return asyncio.run(asked())


@pytest.mark.parametrize(
    "key", ["tags.repurpose.run_id", "tags.job id", "metadata.job", "client_request_id"]
)
def test_a_trace_that_ended_is_found_by_each_key_with_its_whole_answer(
    running: Running, key: str
) -> None:
    run = f"whole-{key.translate(str.maketrans('. _', '---'))}"
    running.submit(run_id=run)
    state, record = ask(running, run, key=key)
    golden = decode((GOLDEN / "summary" / "golden.json").read_text(encoding="utf-8"))
    assert state.status == "done"
    assert at(record, "response.answer") == golden
    assert at(record, "response.padding") == "x" * 20_000
    assert at(record, "request.job.run_id") == run
    assert at(record, "spans.1.name") == "think"


def test_a_trace_that_failed_is_a_run_that_failed(running: Running) -> None:
    running.submit(run_id="closed", plan="fails")
    state, record = ask(running, "closed")
    assert state.status == "failed"
    assert at(record, "spans.0.status") == "error"


def test_a_trace_that_goes_on_leaves_the_run_running(running: Running) -> None:
    running.submit(run_id="silent", plan="silent")
    state, record = ask(running, "silent")
    assert state == TraceState("running", "the trace is still in progress")
    assert record is None


def test_a_run_that_has_no_trace_is_absent(running: Running) -> None:
    state, record = ask(running, "nobody")
    assert state.status == "absent"
    assert record is None


def test_an_experiment_that_is_not_there_yet_is_told(running: Running) -> None:
    state, _ = ask(running, "nobody", experiment="painters")
    assert state == TraceState("absent", 'MLflow has no experiment "painters" yet')


def test_spans_of_another_tracer_are_found_by_an_attribute(running: Running) -> None:
    attributes = [
        {"key": "job.id", "value": {"stringValue": "foreign-1"}},
        {"key": "output.value", "value": {"stringValue": '{"answer": "Roofs."}'}},
    ]
    span = {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "name": "agent.run",
        "startTimeUnixNano": "1796024544557825780",
        "endTimeUnixNano": "1796024544558057692",
        "attributes": attributes,
        "status": {},
    }
    sent = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    request = urllib.request.Request(
        f"{running.server}/v1/traces",
        json.dumps(sent).encode(),
        {"Content-Type": "application/json", "x-mlflow-experiment-id": "1"},
    )
    urllib.request.urlopen(request, timeout=30).close()
    state, record = ask(running, "foreign-1", key="span.attributes.job.id", experiment="1")
    assert state.status == "done"
    assert at(record, "attributes.output.value.answer") == "Roofs."


def test_an_address_that_is_no_mlflow_server_is_told(running: Running) -> None:
    with pytest.raises(WireError, match="is url the address of an MLflow 3 server"):
        ask(running, "nobody", url=f"{running.server}/elsewhere", experiment="1")


SETTINGS = """
[endpoints.writer]
submit = "POST /runs"
base_url = "{agent}"
result_path = "{result_path}"

[endpoints.writer.body]
run_id = "{{{{run_id}}}}"
format = "{{{{format}}}}"
material = "{{{{user}}}}"
plan = "{plan}"

[endpoints.writer.completion]
mode = "trace"
source = {{kind = "mlflow", url = "{server}", experiment = "writers"}}
interval = 0.2
timeout = {timeout}
"""


@dataclass
class Desk:
    """A user who has a writer that tells of its work in MLflow alone."""

    running: Running
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def run(
        self, *, plan: str = "fine", timeout: float = 30, result_path: str = "response.answer"
    ) -> Any:
        """Exit code and output of a run."""
        settings = SETTINGS.format(
            agent=self.running.agent,
            server=self.running.server,
            plan=plan,
            timeout=timeout,
            result_path=result_path,
        )
        (self.folder / "repurpose.toml").write_text(settings, encoding="utf-8")
        given = ["run", str(ARTICLE), "--engine", "endpoint:writer", "--formats", "summary"]
        with self.monkeypatch.context() as process:
            process.setattr(sys, "argv", ["repurpose", *given, "--db", "texts.db"])
            process.chdir(self.folder)
            with pytest.raises(SystemExit) as ended:
                main()
        said = self.capsys.readouterr()
        return ended.value.code or 0, " ".join((said.out + said.err).split())


@pytest.fixture
def desk(
    running: Running,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    return Desk(running, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("result_path", ["response.answer", "response.as_text"])
def test_a_run_has_the_answer_of_a_writer_that_never_answers_its_submit(
    desk: Desk, result_path: str
) -> None:
    code, said = desk.run(result_path=result_path)
    assert code == 0, said


def test_a_run_whose_trace_failed_says_so(desk: Desk) -> None:
    code, said = desk.run(plan="fails")
    assert code == 4
    assert "endpoint writer failed, by its trace" in said
    assert "desk is closed" not in said


def test_a_run_whose_trace_does_not_end_says_what_is_known(desk: Desk) -> None:
    code, said = desk.run(plan="silent", timeout=3)
    assert code == 4
    assert "the trace is still in progress" in said
