"""Asks a model behind an OpenAI-compatible chat completions endpoint.

The request body is ours, sent through the client's `post`: its typed `create` spends a third of
its processor time on walking our schema. The client retries nothing; `_gate` does. Nothing that
the client or its transport raises leaves this module, and no log line holds a prompt, an answer
or a key.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic_core import to_json

from repurpose.core.call import Call, Reply
from repurpose.core.json_types import JsonValue
from repurpose.engines._gate import Fault, Gate, Patience, Transport
from repurpose.engines._openai_connections import connections
from repurpose.engines._openai_faults import Party, fault_of, is_filtered
from repurpose.engines._openai_reply import read_reply
from repurpose.engines._per_loop import PerLoop
from repurpose.engines._profiles import profile_for, profile_named
from repurpose.engines._response_format import response_format, schema_name
from repurpose.errors import BrokenReply, UsageError
from repurpose.ports import Clock, Engine

__all__ = ["OPENAI_URL", "openai_engine"]

log = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
"""Where calls go when no other server is named."""


def openai_engine(
    *,
    model: str,
    clock: Clock,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout: float = 120.0,
    transport_budget: int = 4,
    deadline: float = 600.0,
    temperature: float | None = None,
    jitter: Callable[[], float] = random.random,
    key_variable: str = "OPENAI_API_KEY",
    profile: str | None = None,
) -> Engine:
    """An engine that asks `model`, at OpenAI or at `base_url`, as that kind of server is asked.

    `profile` names the kind, `NAME` or `NAME:KIND`; None chooses by the address. Its
    `schema_in_prompt` goes on to the engine, since prompts are written before a call.

    `timeout` bounds one request and `deadline` one call with all its requests and waits, both in
    seconds. `transport_budget` requests of a call may be lost (5xx, 408, 409, connections,
    timeouts); rate limits do not count and hold every call of this engine back. Without `api_key`
    no Authorization header is sent, and the environment is never searched for one.
    `key_variable` is only named in messages.

    It opens connections on first use in an event loop and closes them when `close` is called or
    that loop ends, so one engine may serve several `asyncio.run` one after another.

    Raises:
        UsageError: `base_url` is no http or https address, the key cannot be one, a number is out
            of range, or there is no such profile.
    """
    api_key = (api_key or "").strip() or None
    if api_key and not (api_key.isascii() and api_key.isprintable()):
        raise UsageError(
            "the API key holds a character that no key has", hint=f"set {key_variable} again"
        )
    if timeout <= 0 or deadline <= 0 or transport_budget < 1:
        raise UsageError("timeout and deadline must be above 0, transport_budget at least 1")
    address = _Address.of(base_url or OPENAI_URL)
    served = profile_named(profile) if profile else profile_for(address.host)
    patience = Patience(budget=transport_budget, deadline=deadline)
    chat = _Chat(
        address=address,
        party=Party(address.host, model, key_variable, timeout, api_key, served),
        temperature=temperature,
        clock=clock,
        transport=Transport(
            server=address.host,
            gate=Gate(clock, jitter, patience),
            clock=clock,
            jitter=jitter,
            patience=patience,
            unreachable_hint=address.unreachable_hint,
        ),
        clients=connections(address.url, api_key),
    )
    parameters: dict[str, JsonValue] = {"endpoint": address.shown, **served.parameters}
    if temperature is not None:
        parameters["temperature"] = temperature
    return Engine(
        name="openai",
        answer=chat.answer,
        model=model,
        parameters=parameters,
        schema_in_prompt=served.schema_in_prompt,
        close=chat.clients.close,
    )


@dataclass(frozen=True, slots=True)
class _Address:
    """Where calls go, and what of that may be shown."""

    url: str = field(repr=False)
    """As given; it may hold a password or a key."""
    host: str
    """With its port, without user and password."""
    shown: str
    """Scheme, host and path."""

    @classmethod
    def of(cls, url: str) -> _Address:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                "the address of the model server cannot be used",
                hint="check --base-url; it starts with http:// or https://",
            )
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        host = name if port is None else f"{name}:{port}"
        return cls(url, host, f"{parts.scheme}://{host}{parts.path.rstrip('/')}")

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI itself, in any of its regions."""
        name = self.host.partition(":")[0]
        return name == "api.openai.com" or name.endswith(".api.openai.com")

    @property
    def unreachable_hint(self) -> str:
        if self.is_openai:
            return "check the network connection, or name another server with --base-url"
        return "check --base-url, and that the server is running"


@dataclass(frozen=True, slots=True)
class _Chat:
    """From a call to its reply, at one address with one model."""

    address: _Address
    party: Party
    temperature: float | None
    clock: Clock
    transport: Transport
    clients: PerLoop[openai.AsyncOpenAI]

    async def answer(self, call: Call) -> Reply:
        """The reply, however many requests it took.

        Raises:
            EngineError: no reply came; nothing else is raised but cancellation.
        """
        body, headers = self._body(call), self._headers(call)

        async def send(left: float) -> Reply:
            return await self._send(body, headers, min(left, self.party.timeout))

        return await self.transport.reply_to(call, send, self._fault_of)

    async def _send(
        self, body: Mapping[str, object], headers: Mapping[str, str | openai.Omit], seconds: float
    ) -> Reply:
        """One request; raises whatever the client raises."""
        client = await self.clients.client()
        try:
            async with asyncio.timeout(seconds):
                response = await client.post(
                    f"{self.address.url.rstrip('/')}/chat/completions",
                    content=to_json(body),  # a third of the time that the client's own takes
                    cast_to=httpx2.Response,
                    options={"headers": headers},
                )
        except openai.APIStatusError as error:
            if is_filtered(error):
                return Reply("", finish="content_filter", request_id=error.request_id)
            raise
        return read_reply(
            _decoded(response, self.party.server),
            server=self.party.server,
            request_id=response.headers.get("x-request-id"),
        )

    def _body(self, call: Call) -> dict[str, object]:
        body: dict[str, object] = {
            "model": self.party.model,
            "messages": [
                {"role": "system", "content": call.system},
                {"role": "user", "content": call.user},
            ],
            **response_format(call, self.party.profile),
            **self.party.profile.extra_body,
        }
        if call.output_tokens is not None:
            body[self.party.profile.output_parameter] = call.output_tokens
        if self.temperature is not None:
            body["temperature"] = self.temperature
        return body

    def _headers(self, call: Call) -> dict[str, str | openai.Omit]:
        headers: dict[str, str | openai.Omit] = {
            "X-Repurpose-Caller": f"repurpose.{schema_name(call.format)}"
        }
        if not self.party.key:
            headers["Authorization"] = openai.omit  # else a key for OpenAI may be found and sent
        if not self.address.is_openai:
            headers["OpenAI-Organization"] = openai.omit
            headers["OpenAI-Project"] = openai.omit
        return headers

    def _fault_of(self, error: Exception) -> Fault:
        fault = fault_of(error, self.party, self.clock.now())
        log.info("request to %s failed: %s", self.party.server, type(fault).__name__)
        return fault


def _decoded(response: httpx2.Response, server: str) -> object:
    """The JSON of a response's body."""
    status = response.status_code
    try:
        decoded: object = response.json()
    except (ValueError, RecursionError) as error:
        start = response.content[:200].lstrip().lower()
        if start.startswith(b"<") or "html" in response.headers.get("content-type", ""):
            raise BrokenReply(
                f"{server} answered with a web page, not with JSON (status {status})",
                hint="check --base-url; it usually ends in /v1",
                status=status,
            ) from error
        raise BrokenReply(
            f"{server} answered with a body that is not JSON (status {status})", status=status
        ) from error
    return decoded
