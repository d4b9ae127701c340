"""Asks a provider with an interface of its own, through the client that instructor makes for it.

Of instructor this takes the client, and its translation of messages into the provider's terms. Not
its answer classes: with a class, an invalid answer raises, its text goes to a log at level error,
and a repair with the library's own words follows. So `response_model` is None, our schema goes in
the provider's own parameter for it, and the raw reply comes back, whatever is in it. Never a
`context`: with one, every message is run as a template, the source included.

Nothing that instructor or an SDK raises leaves this module, and no log line holds a prompt, an
answer or a key.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from repurpose.core.call import Call, Reply
from repurpose.core.json_types import JsonValue
from repurpose.engines._api_key import usable_key
from repurpose.engines._gate import Fault, Gate, Patience, Transport
from repurpose.engines._instructor_clients import (
    Client,
    close_client,
    made_client,
    require_sdk,
)
from repurpose.engines._instructor_faults import fault_of, status_error
from repurpose.engines._instructor_providers import PROVIDERS, Provider, provider_of
from repurpose.engines._instructor_replies import COMPLETIONS
from repurpose.engines._instructor_requests import REQUESTS, Asking
from repurpose.engines._openai_faults import Party, is_filtered
from repurpose.engines._openai_reply import read_reply
from repurpose.engines._pace import Pace
from repurpose.engines._per_loop import PerLoop
from repurpose.engines._profiles import profile_named
from repurpose.errors import BrokenReply, EngineError, UsageError
from repurpose.ports import Clock, Engine

__all__ = ["instructor_engine"]

log = logging.getLogger(__name__)


def instructor_engine(
    *,
    model: str,
    clock: Clock,
    api_key: str | None = None,
    base_url: str | None = None,
    profile: str | None = None,
    timeout: float = 120.0,
    transport_budget: int = 4,
    deadline: float = 600.0,
    temperature: float | None = None,
    jitter: Callable[[], float] = random.random,
    rpm: float | None = None,
    tpm: float | None = None,
) -> Engine:
    """An engine that asks `model`, `PROVIDER/NAME` such as `anthropic/claude-haiku-4-5`.

    `timeout`, `deadline` and `transport_budget` mean what they mean for an OpenAI-compatible
    server: one request costs one request, whatever an SDK would do by itself. `base_url` is for
    a proxy that speaks the provider's own interface, `profile` for providers that speak OpenAI's.

    Raises:
        UsageError: no such provider, a package or the key is missing, the key cannot be one, or
            a number is out of range.
    """
    found = provider_of(model)
    if found is None:
        raise UsageError(
            f"--model {model} names no provider", hint=f"write {'/..., '.join(PROVIDERS)}/..."
        )
    provider, name = found
    require_sdk(provider)
    key = _checked_key(provider, model, api_key)
    if timeout <= 0 or deadline <= 0 or transport_budget < 1:
        raise UsageError("timeout and deadline must be above 0, transport_budget at least 1")
    pace = Pace(rpm, tpm)
    if profile and provider.dialect != "chat":
        raise UsageError(f"--profile is for OpenAI-compatible servers, not for {provider.label}")
    asking = Asking(profile_named(profile or provider.profile), temperature, timeout)
    patience = Patience(budget=transport_budget, deadline=deadline)
    asker = _Asker(
        provider=provider,
        party=Party(
            provider.label, name, next(iter(provider.keys), "no key"), timeout, key, asking.profile
        ),
        asking=asking,
        clock=clock,
        transport=Transport(
            server=provider.label,
            gate=Gate(clock, jitter, patience, pace),
            clock=clock,
            jitter=jitter,
            patience=patience,
            unreachable_hint="check the network connection",
        ),
        clients=PerLoop(
            partial(made_client, provider, name, api_key=key, base_url=base_url),
            partial(close_client, provider),
        ),
    )
    parameters: dict[str, JsonValue] = {}
    if base_url:
        parameters["endpoint"] = _shown(base_url)
    if provider.dialect == "chat":
        parameters.update(asking.profile.parameters)
    if temperature is not None:
        parameters["temperature"] = temperature
    return Engine(
        name="instructor",
        answer=asker.answer,
        model=f"{provider.name}/{name}",
        parameters=parameters,
        schema_in_prompt=not provider.shows_schema,
        cache=asking.profile.cache if provider.dialect == "chat" else None,
        needs_one_schema=asking.profile.needs_one_schema,
        close=asker.clients.close,
    )


def _shown(base_url: str) -> str:
    """An address without user, password and query.

    Raises:
        UsageError: it is no http or https address.
    """
    try:
        parts = urlsplit(base_url)
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("the base_url is no http or https address")
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def _checked_key(provider: Provider, model: str, api_key: str | None) -> str | None:
    variable = provider.keys[0] if provider.keys else None
    key = usable_key(api_key, variable)
    if variable and key is None:
        raise UsageError(f"--model {model} needs a key", hint=f"set {variable}")
    return key


@dataclass(frozen=True, slots=True)
class _Asker:
    """From a call to its reply, at one provider with one model."""

    provider: Provider
    party: Party
    asking: Asking
    clock: Clock
    transport: Transport
    clients: PerLoop[Client]

    async def answer(self, call: Call) -> Reply:
        """The reply, however many requests it took.

        Raises:
            EngineError: no reply came; nothing else is raised but cancellation.
        """
        request = REQUESTS[self.provider.dialect](call, self.asking)

        async def send(left: float) -> Reply:
            return await self._send(request, min(left, self.party.timeout))

        return await self.transport.reply_to(call, send, self._fault_of)

    async def _send(self, request: Mapping[str, object], seconds: float) -> Reply:
        """One request; raises whatever the client raises."""
        client = await self._client()
        try:
            async with asyncio.timeout(seconds):
                raw = await client.create(response_model=None, max_retries=0, **request)
        except Exception as error:
            refused = status_error(error)
            if refused is not None and is_filtered(refused):
                return Reply("", finish="content_filter")
            raise
        if isinstance(raw, str):  # what an SDK makes of a body that does not call itself JSON
            what = "a web page" if raw.lstrip()[:1] == "<" else "text"
            raise BrokenReply(
                f"{self.party.server} answered with {what}, not with JSON", status=200
            )
        return read_reply(COMPLETIONS[self.provider.dialect](raw), server=self.party.server)

    async def _client(self) -> Client:
        try:
            return await self.clients.client()
        except Exception as error:
            name = type(error).__name__
            raise EngineError(
                f"no client for {self.party.server} could be made ({name})"
            ) from error

    def _fault_of(self, error: Exception) -> Fault:
        fault = fault_of(error, self.party, self.clock.now())
        log.info("request to %s failed: %s", self.party.server, type(fault).__name__)
        return fault
