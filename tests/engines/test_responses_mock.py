"""Whole runs in the background against the shared mock server, by poll and by signed webhook."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json

from repurpose.cli import main
from repurpose.schema.intake import decode

pytestmark = [
    pytest.mark.shared,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals to processes"),
]

SECRET = "whsec_YSBzZWNyZXQgb2YgdGVzdHM="
SENTENCES = [
    "Kestrels hover over the ring road at noon.",
    "They hunt voles in the verge.",
    "A verge that is mown once a year feeds two pairs.",
    "Nobody mows it in May.",
    "The town counts them.",
]
RUN = [
    "run",
    "article.md",
    "--engine",
    "responses",
    "--model",
    "small",
    "--db",
    "texts.db",
    "--formats",
    "summary",
]

Start = Callable[..., str]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with an article, in which commands run."""
    monkeypatch.chdir(tmp_path)
    text = "# Kestrels of the ring road\n\n" + " ".join(SENTENCES)
    Path("article.md").write_text(text, encoding="utf-8")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process with further options: exit code and both outputs."""

    def ran(*more: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["repurpose", *RUN, *more])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return ran


@pytest.fixture
def started() -> Iterator[Start]:
    """Start a server, and read where it listens from its first line; ended with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(command: list[str], where: str, env: Mapping[str, str] | None = None) -> str:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        running.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(where, line)
        assert found, line
        return found[1]

    yield start
    for process in running:
        process.terminate()
        process.communicate(timeout=10)


@pytest.fixture
def mock(shared: Path, started: Start) -> Start:
    """Start the mock server with these options; its base URL."""
    Path("answers").mkdir()
    Path("answers/summary.json").write_bytes(to_json({"sentences": SENTENCES}))

    def start(*options: str) -> str:
        script = str(shared / "bench" / "mock_openai.py")
        command = [sys.executable, script, "--port", "0", "--answers", "answers", *options]
        return f"http://127.0.0.1:{started(command, r'listening on ([0-9]+)')}/v1"

    return start


@pytest.fixture
def hooked(root: Path, started: Start, mock: Start, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start a mock server whose webhooks a receiver over this folder's database takes."""
    monkeypatch.setenv("OPENAI_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("REPURPOSE_CALLBACK_BASE_URL", "http://127.0.0.1:1")
    command = [sys.executable, "-m", "repurpose", "serve-callbacks", "--port", "0", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    address = started([*command, "--db", "texts.db"], r'"address": *"([^"]+)"', environment)

    def start(*options: str) -> str:
        posted = ("--webhook-url", f"{address}/webhooks/openai", "--webhook-secret", SECRET)
        return mock(*posted, *options)

    return start


def told(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return decode(answer.read().decode())


def counts(url: str) -> dict[str, int]:
    """Requests by the beginning of their path, and webhooks by the status they were answered."""
    found: dict[str, int] = told(url.removesuffix("/v1") + "/__mock/stats")["counts"]
    return found


def looks(url: str) -> int:
    """How often a response was asked for, or cancelled."""
    return sum(n for path, n in counts(url).items() if path.startswith("/v1/responses/"))


def test_a_run_waits_for_a_response_in_the_background(run: Run, mock: Start) -> None:
    url = mock("--background-ms", "1500")
    code, out, err = run("--base-url", url)
    assert code == 0, err
    assert SENTENCES[0] in out
    assert counts(url)["/v1/responses"] == 1
    assert 2 <= looks(url) <= 4


def test_a_wrong_answer_is_repaired_by_one_more_response(run: Run, mock: Start) -> None:
    url = mock("--background-ms", "50", "--plan", "missing+ok")
    code, out, err = run("--base-url", url)
    assert code == 0, err
    assert SENTENCES[0] in out
    assert counts(url)["/v1/responses"] == 2


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        ("failed", "(code server_error): mock failure"),
        ("429=3", "takes no more requests just now (status 429)"),
        ("503", "did not take the request (status 503)"),
        ("401", "wants an API key"),
        ("refusal", "refus"),
    ],
)
def test_what_goes_wrong_is_told_after_one_submit(
    run: Run, mock: Start, plan: str, says: str
) -> None:
    url = mock("--background-ms", "50", "--plan", plan)
    code, out, err = run("--base-url", url)
    assert code == 4
    assert says in out + err
    assert counts(url)["/v1/responses"] == 1


@pytest.mark.parametrize("fault", ["none", "duplicate"])
def test_a_signed_webhook_ends_the_run_with_one_look(run: Run, hooked: Start, fault: str) -> None:
    url = hooked("--background-ms", "1500", "--webhook-fault", fault)
    began = time.monotonic()
    code, out, err = run("--base-url", url, "--background", "webhook")
    assert code == 0, err
    assert SENTENCES[0] in out
    assert looks(url) == 1
    assert time.monotonic() - began < 20  # the look for a lost webhook comes after 30


@pytest.mark.parametrize("fault", ["bad-signature", "old"])
def test_a_forged_or_old_webhook_wakes_nobody(run: Run, hooked: Start, fault: str) -> None:
    url = hooked("--background-ms", "100", "--webhook-fault", fault)
    began = time.monotonic()
    code, _, err = run("--base-url", url, "--background", "webhook", "--timeout", "4")
    assert code == 0, err  # the last look, a second before time is up, found it
    assert looks(url) == 1
    assert time.monotonic() - began > 2.9
    webhooks = {name for name in counts(url) if name.startswith("webhook")}
    assert webhooks == {"webhook 401"}


def test_a_second_interrupt_ends_the_wait_and_stops_the_response(root: Path, mock: Start) -> None:
    url = mock("--background-ms", "60000")
    process = subprocess.Popen(
        [sys.executable, "-m", "repurpose", *RUN, "--base-url", url],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    until = time.monotonic() + 30
    while not looks(url) and time.monotonic() < until:
        pass
    process.send_signal(signal.SIGINT)
    while "stopping" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)  # the response takes a minute
    assert (process.returncode, out, "Traceback" in err) == (130, "", False)
    assert "cancelled" in set(_states(url))


def _states(url: str) -> Iterator[str]:
    """The states of all responses of a mock server, which numbers what it makes."""
    for number in range(1, 9):
        try:
            yield told(f"{url}/responses/resp_{number:024x}")["status"]
        except urllib.error.HTTPError:
            continue


def test_a_webhook_ends_the_wait_for_a_providers_batch(
    hooked: Start, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = hooked("--batch-ms", "2000")
    options = ["--provider-batch", "--wait", "--model", "small", "--base-url", url]
    command = ["batch", "article.md", "--formats", "summary", "--db", "texts.db", *options]
    monkeypatch.setattr("sys.argv", ["repurpose", *command])
    began = time.monotonic()
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None), capsys.readouterr().err
    assert counts(url)["webhook 202"] == 1
    assert time.monotonic() - began < 30, "without the webhook it looks again after a minute"
