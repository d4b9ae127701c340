"""Asks a model behind an OpenAI-compatible chat completions endpoint.

The request is ours from the first byte to the last, and `_gate` decides what is sent again.
Nothing that the transport raises leaves this module, and no log line holds a prompt, an answer or
a key.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import aiohttp
from pydantic_core import to_json

from repurpose.core.call import Call, Reply
from repurpose.engines._api_key import usable_key
from repurpose.engines._gate import Fault, Gate, Patience, Transport
from repurpose.engines._openai_connections import StatusError, sessions
from repurpose.engines._openai_faults import Party, fault_of, is_filtered
from repurpose.engines._openai_reply import decoded, error_object, read_reply
from repurpose.engines._openai_requests import OPENAI_URL, Address, chat_body, comparable
from repurpose.engines._openai_stream import Streaming, streamed_reply
from repurpose.engines._pace import Pace
from repurpose.engines._per_loop import PerLoop
from repurpose.engines._profiles import profile_chosen
from repurpose.engines._response_format import schema_name
from repurpose.errors import UsageError
from repurpose.ports import Clock, Engine, Listener

__all__ = ["OPENAI_URL", "openai_engine"]

log = logging.getLogger(__name__)


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
    rpm: float | None = None,
    tpm: float | None = None,
) -> Engine:
    """An engine that asks `model`, at OpenAI or at `base_url`, as that kind of server is asked.

    `profile` names the kind, `NAME` or `NAME:KIND`; None chooses by the address. Its
    `schema_in_prompt` goes on to the engine, since prompts are written before a call.

    `timeout` bounds one request and `deadline` one call with all its requests and waits, both in
    seconds. `transport_budget` requests of a call may be lost (5xx, 408, 409, connections,
    timeouts); rate limits do not count and hold every call of this engine back. Without `api_key`
    no Authorization header is sent, and the environment is never searched for one.
    `key_variable` is only named in messages. `rpm` and `tpm` are the most requests and tokens a
    minute; without them, what the server names in its headers is kept to.

    It opens connections on first use in an event loop and closes them when `close` is called or
    that loop ends, so one engine may serve several `asyncio.run` one after another.

    Raises:
        UsageError: `base_url` is no http or https address, the key cannot be one, a number is out
            of range, or there is no such profile.
    """
    api_key = usable_key(api_key, key_variable)
    if timeout <= 0 or deadline <= 0 or transport_budget < 1:
        raise UsageError("timeout and deadline must be above 0, transport_budget at least 1")
    pace = Pace(rpm, tpm)
    address = Address.of(base_url or OPENAI_URL)
    served = profile_chosen(profile, address.host)
    patience = Patience(budget=transport_budget, deadline=deadline)
    chat = _Chat(
        address=address,
        party=Party(address.host, model, key_variable, timeout, api_key, served),
        temperature=temperature,
        clock=clock,
        transport=Transport(
            server=address.host,
            gate=Gate(clock, jitter, patience, pace),
            clock=clock,
            jitter=jitter,
            patience=patience,
            unreachable_hint=address.unreachable_hint,
        ),
        sessions=sessions(address.url, api_key, is_openai=address.is_openai),
    )
    return Engine(
        name="openai",
        answer=chat.answer,
        stream=chat.stream,
        model=model,
        parameters=comparable(address, served, temperature),
        schema_in_prompt=served.schema_in_prompt,
        cache=served.cache,
        needs_one_schema=served.needs_one_schema,
        close=chat.sessions.close,
    )


@dataclass(frozen=True, slots=True)
class _Chat:
    """From a call to its reply, at one address with one model."""

    address: Address
    party: Party
    temperature: float | None
    clock: Clock
    transport: Transport
    sessions: PerLoop[aiohttp.ClientSession]
    streaming: Streaming = field(default_factory=Streaming)

    async def answer(self, call: Call) -> Reply:
        """The reply, however many requests it took.

        Raises:
            EngineError: no reply came; nothing else is raised but cancellation.
        """
        body, headers = to_json(self._body(call)), _headers(call)

        async def send(left: float) -> Reply:
            return await self._send(body, headers, min(left, self.party.timeout))

        return await self.transport.reply_to(call, send, self._fault_of)

    async def stream(self, call: Call, listener: Listener) -> Reply:
        """The same reply, heard while it is written; in one piece where a server cannot stream.

        Raises:
            EngineError: no whole reply came; nothing else is raised but cancellation.
        """
        plain, headers = self._body(call), _headers(call)

        async def send(left: float) -> Reply:
            refused = 0
            while True:
                listener.began()
                sent = self.streaming.fields
                body = to_json({**plain, **sent})
                try:
                    reply = await self._send(body, headers, min(left, self.party.timeout), listener)
                except StatusError as error:
                    if not self.streaming.learn(error, sent):
                        raise
                    refused += 1
                else:
                    return replace(reply, requests=reply.requests + refused)

        return await self.transport.reply_to(call, send, self._fault_of)

    async def _send(
        self,
        body: bytes,
        headers: Mapping[str, str],
        seconds: float,
        listener: Listener | None = None,
    ) -> Reply:
        """One request; raises whatever the transport raises, and a `StatusError`."""
        session = await self.sessions.client()
        async with (
            asyncio.timeout(seconds),
            # A redirect could carry a prompt to another host.
            session.post(
                self.address.endpoint, data=body, headers=headers, allow_redirects=False
            ) as response,
        ):
            if listener is not None and 200 <= response.status < 300:
                self.transport.gate.learn(response.headers)
                return await streamed_reply(response, listener.heard, server=self.party.server)
            content = await response.read()
        self.transport.gate.learn(response.headers)
        request_id = response.headers.get("x-request-id")
        if not 200 <= response.status < 300:
            refused = StatusError(response.status, response.headers, error_object(content))
            if is_filtered(refused):
                return Reply("", finish="content_filter", request_id=request_id)
            raise refused
        return read_reply(
            decoded(
                content,
                server=self.party.server,
                status=response.status,
                kind=response.headers.get("content-type", ""),
            ),
            server=self.party.server,
            request_id=request_id,
        )

    def _body(self, call: Call) -> dict[str, object]:
        return chat_body(call, self.party.model, self.party.profile, self.temperature)

    def _fault_of(self, error: Exception) -> Fault:
        fault = fault_of(error, self.party, self.clock.now())
        log.info("request to %s failed: %s", self.party.server, type(fault).__name__)
        return fault


def _headers(call: Call) -> dict[str, str]:
    return {"X-Repurpose-Caller": f"repurpose.{schema_name(call.format)}"}
