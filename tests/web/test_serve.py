"""`repurpose serve`: what it refuses to start with, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner, Result

from repurpose.cli import cli
from repurpose.errors import StoreError, UsageError
from repurpose.web.serving import bound, serve

TOKEN = "a-token-of-some-length"


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., Result]:
    """What the command says that does not start."""

    def run(*arguments: str, **environment: str) -> Result:
        database = ["--db", str(tmp_path / "texts.db")]
        return CliRunner().invoke(cli, ["serve", *database, *arguments], env=environment)

    return run


def test_a_busy_port_is_one_line(told: Callable[..., Result]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        error = told("--port", str(port)).exception
    assert isinstance(error, UsageError)
    assert error.exit_code == 2
    assert f":{port}/ is in use" in error.message
    assert error.hint == "give another --port"


@pytest.mark.parametrize("host", ["no-such-host.invalid", "300.1.1.1", "a" * 70, "1.2.3.4\n"])
def test_a_host_that_is_none_is_one_line(told: Callable[..., Result], host: str) -> None:
    error = told("--host", host, "--token", TOKEN, "--port", "0").exception
    assert isinstance(error, UsageError)
    assert "cannot be used" in error.message


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "example.org"])
def test_others_are_let_in_with_a_token_only(told: Callable[..., Result], host: str) -> None:
    error = told("--host", host, "--port", "0").exception
    assert isinstance(error, UsageError)
    assert "needs a token" in error.message
    assert "REPURPOSE_WEB_TOKEN" in str(error.hint)


@pytest.mark.parametrize("token", ["two words", "é", "a\nb"])
def test_a_token_fits_into_an_address(told: Callable[..., Result], token: str) -> None:
    assert isinstance(told("--token", token).exception, UsageError)


def test_settings_are_checked_before_anything_listens(told: Callable[..., Result]) -> None:
    error = told("--language", "not a code!", "--port", "0").exception
    assert isinstance(error, UsageError)


def test_a_database_that_is_none_is_told_before_anybody_visits(tmp_path: Path) -> None:
    other = tmp_path / "notes.md"
    other.write_text("Kestrels hover at noon.\n" * 20, encoding="utf-8")
    error = CliRunner().invoke(cli, ["serve", "--db", str(other), "--port", "0"]).exception
    assert isinstance(error, StoreError)
    assert error.exit_code == 2
    assert "notes.md" in error.message
    assert other.read_text("utf-8").startswith("Kestrels")


def test_a_model_without_its_key_is_told_before_anybody_visits(told: Callable[..., Result]) -> None:
    error = told("--model", "gpt-4.1-mini", "--port", "0").exception
    assert isinstance(error, UsageError)
    assert "OPENAI_API_KEY" in f"{error.message} {error.hint}"


def test_a_missing_extra_is_one_line_that_says_what_to_install(
    told: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("repurpose.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    for name in [name for name in sys.modules if name.startswith("starlette.")]:
        monkeypatch.setitem(sys.modules, name, None)
    error = told("--port", "0").exception
    assert isinstance(error, UsageError)
    assert 'pip install "repurpose-text[web]"' in error.message


def test_a_port_of_our_own_choice_is_free() -> None:
    with bound("127.0.0.1", 0) as one, bound("::1", 0) as other:
        assert one.getsockname()[1] > 0
        assert other.family == socket.AF_INET6


def test_a_wrong_address_is_refused_before_the_database_is_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        serve(None, host="0.0.0.0", port=0, token=None, author=None, tell=print)


# --- a process of its own -----------------------------------------------------------------------

SLOW_ENGINE = """
import asyncio, sys
from pathlib import Path
from repurpose.config import Settings
from repurpose.core.call import Reply
from repurpose.ports import Engine
from repurpose.web.serving import serve

async def answer(call):
    await asyncio.sleep(float(sys.argv[2]))
    return Reply('{"pairs": [{"question": "Who?", "answer": "Owls sleep by day."}]}')

serve(
    Settings(database=Path(sys.argv[1])), host="127.0.0.1", port=0, token=None, author="me",
    tell=lambda line: print(line, flush=True), engine=Engine(name="slow", answer=answer),
)
"""


@pytest.fixture
def process(tmp_path: Path, root: Path) -> Any:
    """Starts the server as a process of its own, whose model takes so many seconds."""
    running: list[subprocess.Popen[str]] = []

    def start(seconds: float) -> tuple[subprocess.Popen[str], str]:
        begun = subprocess.Popen(
            [sys.executable, "-c", SLOW_ENGINE, str(tmp_path / "texts.db"), str(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        running.append(begun)
        assert begun.stdout is not None
        return begun, begun.stdout.readline().strip()

    yield start
    for each in running:
        each.kill()
        each.communicate()


def begin(url: str) -> str:
    """The id of a run that the model is at work on."""
    csrf = httpx2.get(f"{url}api/session").json()["csrf"]
    body = {"text": "Owls.", "formats": ["faq"]}
    answer = httpx2.post(f"{url}api/runs", json=body, headers={"X-CSRF-Token": csrf})
    run = str(answer.json()["run"])
    for _ in range(200):
        if not httpx2.get(f"{url}api/runs/{run}").json()["run"]["queued"]:
            return run
        time.sleep(0.01)  # noqa: TID251 - another process is waited for
    raise AssertionError("it did not begin")


def stored(tmp_path: Path, run: str) -> tuple[str, list[str]]:
    from repurpose.stores.sqlite import open_store

    store = open_store(tmp_path / "texts.db")
    found = store.run(run).status, [row.status for row in store.rows(run)]
    store.close()
    return found


@pytest.mark.slow
def test_ctrl_c_ends_an_idle_server_at_once_and_well(process: Any) -> None:
    begun, url = process(0)
    assert url.startswith("http://127.0.0.1:")
    assert httpx2.get(url).status_code == 200
    with httpx2.stream("GET", f"{url}runs"):
        began = time.monotonic()
        begun.send_signal(signal.SIGINT)
        assert begun.wait(5) == 0
    assert time.monotonic() - began < 3
    assert begun.stdout.read() == ""


@pytest.mark.slow
def test_ctrl_c_finishes_what_is_in_flight(process: Any, tmp_path: Path) -> None:
    begun, url = process(1.0)
    run = begin(url)
    with httpx2.stream("GET", f"{url}api/runs/{run}/events") as watching:
        begun.send_signal(signal.SIGINT)
        assert "run_ended" in watching.read().decode()
    assert begun.wait(5) == 0
    assert stored(tmp_path, run) == ("done", ["done"])
    assert "Ctrl-C again stops now" in begun.stdout.read()


@pytest.mark.slow
def test_ctrl_c_twice_stops_now_and_the_run_is_noted_as_interrupted(
    process: Any, tmp_path: Path
) -> None:
    begun, url = process(60)
    run = begin(url)
    begun.send_signal(signal.SIGINT)
    assert "Ctrl-C again" in begun.stdout.readline()
    begun.send_signal(signal.SIGINT)
    assert begun.wait(5) == 0
    assert stored(tmp_path, run) == ("interrupted", [])


@pytest.mark.slow
def test_after_a_kill_a_run_is_still_told(process: Any, tmp_path: Path) -> None:
    begun, url = process(60)
    run = begin(url)
    begun.kill()
    begun.wait(5)
    _, url = process(0)
    told = httpx2.get(f"{url}api/runs/{run}").json()
    assert (told["run"]["status"], told["live"]) == ("running", False)
    lines = httpx2.get(f"{url}api/runs/{run}/events?until=end").text
    assert "killed" in lines


def test_an_answer_does_not_wait_for_acknowledgements() -> None:
    """Each would take some 40 ms more: Nagle's algorithm against delayed acknowledgements."""
    with bound("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
