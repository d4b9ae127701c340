"""Ctrl-C while an agent is at work, and a receiver that is a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agents.a2a_agent import Agent
from agents.a2a_settings import WAYS, settings_for
from agents.desk import Desk, until
from agents.workflow_settings import settings_for as workflow_settings_for
from endpoint_servers import workflow

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal to a process"),
]

RUN = ["run", "article.md", "--engine", "endpoint:agent", "--formats", "summary"]


@contextmanager
def process(root: Path, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`repurpose` as a process of its own."""
    started = subprocess.Popen(
        [sys.executable, "-m", "repurpose", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    killer = threading.Timer(60, started.kill)
    killer.start()
    try:
        yield started
    finally:
        killer.cancel()
        started.kill()
        started.communicate()


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_twice_ends_the_wait_at_once_and_lets_go_of_the_agent(
    way: str, root: Path, desk: Desk, agent: Agent
) -> None:
    agent.writer.plans.append("silent")
    desk.settings(settings_for(way, agent.url, timeout=60))
    interrupted(root, desk, lambda: agent.writer.asked)
    until(lambda: agent.open_connections == 0)
    assert len(agent.writer.asked) == 1


@pytest.mark.parametrize("mode", ["sync", "trace"])
def test_ctrl_c_twice_lets_go_of_a_submit_that_is_held_open(
    mode: str, root: Path, desk: Desk
) -> None:
    with workflow(desk.folder / "traces.jsonl") as service:
        service.plans.append("silent")
        desk.settings(workflow_settings_for(mode, service.url, timeout=60))
        interrupted(root, desk, lambda: service.held)
        until(lambda: service.held == 0)
        assert len(service.asked) == 1


def interrupted(root: Path, desk: Desk, at_work: Callable[[], object]) -> None:
    """A run that is told twice to stop, as soon as somebody is at work for it."""
    with process(root, desk.folder, *RUN) as running:
        until(at_work)
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        while "stopping" not in (line := running.stderr.readline()):
            assert line, "it ended before it was told to stop a second time"
        running.send_signal(signal.SIGINT)
        # Well before the minute that the wait has left.
        desk.out, desk.err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert desk.out == ""
    assert "Traceback" not in desk.err


def test_push_notifications_reach_a_run_through_a_receiver_in_another_process(
    root: Path, desk: Desk, agent: Agent
) -> None:
    desk.settings(settings_for("push", agent.url))
    address = f"http://127.0.0.1:{_free_port()}"
    desk.monkeypatch.setenv("REPURPOSE_CALLBACK_BASE_URL", address)
    port = address.rpartition(":")[2]
    with process(root, desk.folder, "serve-callbacks", "--port", port) as receiver:
        assert receiver.stdout is not None
        assert address in receiver.stdout.readline()
        desk.run()
        receiver.send_signal(signal.SIGINT)
        said = receiver.communicate(timeout=20)
    assert desk.code == 0, desk.err
    (sent,) = agent.bodies
    told = sent["params"]["configuration"]["taskPushNotificationConfig"]["url"]
    assert told.startswith(f"{address}/callbacks/")
    capability = told.rpartition("/")[2]
    assert not desk.knows(capability)
    assert capability not in "".join(said)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
