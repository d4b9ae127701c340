"""What a session says to a server and which way it goes: by the address and the environment."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest

from repurpose.core.call import Call
from repurpose.core.source import Source
from repurpose.engines import _openai_connections as connections
from repurpose.engines._sessions import certificates, proxy_for
from repurpose.engines.openai import openai_engine

OPENAI = "https://api.openai.com/v1"
OTHER = "http://models.example:8080/v1"
CALL = Call("brief", "Write.", "A ferry.", {}, {}, Source("A ferry.", "a.md", "markdown"))


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)


# --- the way ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, OPENAI, None),
        ({"HTTPS_PROXY": "http://proxy.example:3128"}, OPENAI, "http://proxy.example:3128"),
        ({"HTTPS_PROXY": "http://proxy.example:3128"}, OTHER, None),
        ({"HTTP_PROXY": "http://me:pw@proxy.example"}, OTHER, "http://me:pw@proxy.example"),
        ({"ALL_PROXY": "proxy.example:3128"}, OPENAI, "http://proxy.example:3128"),
        ({"HTTP_PROXY": "http://p.example", "NO_PROXY": "models.example"}, OTHER, None),
        ({"HTTP_PROXY": "http://p.example", "NO_PROXY": ".example"}, OTHER, None),
        ({"HTTP_PROXY": "http://p.example", "NO_PROXY": "*"}, OTHER, None),
        ({"HTTP_PROXY": "http://p.example", "NO_PROXY": "dels.example"}, OTHER, "http://p.example"),
    ],
)
def test_the_proxy_of_the_environment_is_used(
    variables: dict[str, str], url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.lower(), value)  # which counts more, where both are set
    assert proxy_for(url) == proxy


def test_a_call_goes_through_the_proxy(clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.append(await reader.readline())
        body = b'{"choices": [{"message": {"content": "Yes."}}]}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    async def through() -> str:
        proxy = await asyncio.start_server(answer, "127.0.0.1", 0)
        host, port = proxy.sockets[0].getsockname()
        monkeypatch.setenv("http_proxy", f"http://{host}:{port}")
        engine = openai_engine(model="small", clock=clock, base_url="http://models.example/v1")
        async with proxy:
            reply = await engine.answer(CALL)
            await engine.close()
        return reply.text

    assert asyncio.run(through()) == "Yes."
    assert told == [b"POST http://models.example/v1/chat/completions HTTP/1.1\r\n"]


# --- what is said -----------------------------------------------------------------------------


def test_without_a_key_nobody_is_named(
    mock_server: Any, clock: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    mock_server.answers["brief"] = {"headline": "Yes"}
    engine = openai_engine(model="small", clock=clock, base_url=mock_server.url)

    async def once() -> None:
        await engine.answer(CALL)
        await engine.close()

    asyncio.run(once())
    assert "authorization" not in mock_server.requests[0].headers


def test_a_password_in_the_address_is_sent_in_place_of_a_key() -> None:
    assert "Authorization" in connections._headers(OTHER, "key", is_openai=False)
    with_password = connections._headers("http://me:pw@models.example/v1", "key", is_openai=False)
    assert "Authorization" not in with_password


def test_only_openai_learns_the_organization_and_the_project(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project")
    said = connections._headers(OPENAI, "key", is_openai=True)
    assert (said["OpenAI-Organization"], said["OpenAI-Project"]) == ("org", "project")
    assert "OpenAI-Project" not in connections._headers(OTHER, "key", is_openai=False)


def test_further_headers_of_the_environment_are_said_but_none_takes_the_key_s_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: web: two\nnonsense\nauthorization: x")
    said = connections._headers(OTHER, "key", is_openai=False)
    assert said.getall("x-team") == ["web: two"]
    assert said.getall("Authorization") == ["Bearer key"]


# --- who is trusted ---------------------------------------------------------------------------


def test_a_server_with_tls_must_prove_who_it_is() -> None:
    context = certificates()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
