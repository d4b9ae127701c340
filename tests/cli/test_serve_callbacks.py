"""`repurpose serve-callbacks`: what it refuses to start with, what it takes, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from receivers import QuickClock, post
from repurpose.api._rendezvous import deliveries_in
from repurpose.receiving.stored import StoredRendezvous

BASE = "https://example.org/in"
BASE_VARIABLE = "REPURPOSE_CALLBACK_BASE_URL"


def test_without_an_address_to_be_reached_at_one_line_names_the_setting(
    repurpose: Callable[..., Any], tmp_path: Path
) -> None:
    done = repurpose("serve-callbacks", "--port", "0", "--db", "some.db")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("Error: callback_base_url is not set")
    assert BASE_VARIABLE in done.stderr
    assert not (tmp_path / "some.db").exists()


@pytest.mark.parametrize(
    "url", ["example.org", "ftp://example.org", "https://e.org/a?b", "http://"]
)
def test_an_address_that_is_none_is_refused(
    repurpose: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv(BASE_VARIABLE, url)
    done = repurpose("serve-callbacks", "--port", "0")
    assert done.returncode == 2
    assert BASE_VARIABLE in done.stderr


def test_a_secret_that_is_none_is_told_and_not_shown(
    repurpose: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BASE_VARIABLE, BASE)
    monkeypatch.setenv("OPENAI_WEBHOOK_SECRET", "whsec_***")
    done = repurpose("serve-callbacks", "--port", "0")
    assert done.returncode == 2
    assert "OPENAI_WEBHOOK_SECRET" in done.stderr
    assert "***" not in done.stderr


@pytest.mark.parametrize("host", ["", " ", "no-such-host.invalid", "1.2.3.4\n"])
def test_a_host_that_is_none_is_one_line(
    repurpose: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv(BASE_VARIABLE, BASE)
    done = repurpose("serve-callbacks", "--host", host, "--port", "0", "--db", "some.db")
    assert done.returncode == 2
    assert "cannot be used" in done.stderr


def test_a_busy_port_is_one_line(
    repurpose: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BASE_VARIABLE, BASE)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = repurpose("serve-callbacks", "--port", port, "--db", "some.db")
    assert done.returncode == 2
    assert f"127.0.0.1:{port} is in use" in done.stderr


@contextmanager
def serving(folder: Path, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "repurpose", "serve-callbacks", "--port", "0", *arguments]
    process = subprocess.Popen(
        [*command, "--db", str(folder / "some.db")],
        env={**os.environ, BASE_VARIABLE: BASE, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], number: int) -> tuple[int, str, str]:
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_one_line_takes_a_post_and_ends_well(tmp_path: Path, number: int) -> None:
    rendezvous = StoredRendezvous(lambda: deliveries_in(tmp_path / "some.db"), BASE, QuickClock())
    ticket = asyncio.run(rendezvous.ticket())
    assert ticket.url.startswith(f"{BASE}/callbacks/")
    with serving(tmp_path) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(f"Taking posts for {BASE} at http://127.0.0.1:")
        assert "without OpenAI webhooks" in line
        url = line.partition(" at ")[2].partition(",")[0]
        where = ticket.url.replace(BASE, url)
        assert asyncio.run(post(where, b"done"))[0] == 202
        assert asyncio.run(rendezvous.wait(ticket.key, 0)) == b"done"
        assert ended(process, number) == (0, "", "")


def test_json_says_the_same_for_programs(tmp_path: Path) -> None:
    with serving(tmp_path, "--json", OPENAI_WEBHOOK_SECRET="whsec_c2VjcmV0") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        told = json.loads(line)  # noqa: TID251 - our own output
        assert told["event"] == "listening"
        assert told["callback_base_url"] == BASE
        assert told["webhooks"] is True
        assert asyncio.run(post(f"{told['address']}/webhooks/openai"))[0] == 401
        assert asyncio.run(post(f"{told['address']}/in/webhooks/openai"))[0] == 401
        assert "c2VjcmV0" not in line
        assert ended(process, signal.SIGTERM) == (0, "", "")
