"""Asks a model through OpenAI's Responses API in background mode, and waits for its response.

The request is accepted at once and worked on for as long as it takes, so no connection has to hold
meanwhile. The end is found out by asking for the state, or told by a webhook. Nothing that the
transport raises leaves this module, and no log line holds a prompt, an answer or a key.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic_core import to_json

from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.completion.poll import drive
from repurpose.core.call import Call, Reply
from repurpose.core.endpoint import Endpoint, Poll, StatusMatch
from repurpose.core.json_types import JsonValue
from repurpose.engines._api_key import usable_key
from repurpose.engines._gate import Gate, Patience, Transport
from repurpose.engines._openai_connections import sessions
from repurpose.engines._openai_faults import Party
from repurpose.engines._openai_requests import OPENAI_URL, Address, comparable
from repurpose.engines._pace import Pace
from repurpose.engines._profiles import profile_chosen
from repurpose.engines._response_format import schema_name
from repurpose.engines._responses_server import Followed, ResponsesServer
from repurpose.engines._responses_shapes import failure_of, reply_of, response_body
from repurpose.errors import StillWorking, StoreError, UsageError
from repurpose.ports import Clock, Engine
from repurpose.ports.endpoints import Rendezvous

__all__ = ["responses_engine"]

log = logging.getLogger(__name__)

_SUBMIT_SECONDS = 120.0
"""For a submit to be accepted; one in the background takes about a second."""
_LOST_WEBHOOK = 30.0
"""Seconds after which the state is asked for although no webhook told of its end."""
_AFTER_WEBHOOK = 1.0
"""Between looks once one did, where the first look did not show it yet."""
_LAST_LOOK = 1.0
"""Before time is up, for the end whose webhook was lost."""

_STATE = Poll(
    status_path="/responses/{id}",
    done=StatusMatch("status", ("completed", "incomplete")),
    failed=StatusMatch("status", ("failed", "cancelled")),
)


def responses_engine(
    *,
    model: str,
    clock: Clock,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout: float = 600.0,
    temperature: float | None = None,
    jitter: Callable[[], float] = random.random,
    key_variable: str = "OPENAI_API_KEY",
    profile: str | None = None,
    rpm: float | None = None,
    tpm: float | None = None,
    rendezvous: Rendezvous | None = None,
) -> Engine:
    """An engine that has `model` answer in the background, at OpenAI or at `base_url`.

    `timeout` is for the whole call, in seconds; a response that is not done by then is told to
    stop, as is one whose call is cancelled. The state is asked for each second. With `rendezvous`,
    where verified webhooks are met under `openai:` and the id of a response, it is asked for when
    one came, and every 30 s for the case that it is lost.

    A submit is sent once: a rate limit, a server that is busy and a lost answer all end the call.
    Without `api_key` no Authorization header is sent, and the environment is never searched for
    one. `key_variable` is only named in messages. `rpm` and `tpm` are the most requests and tokens
    a minute; without them, what the server names in its headers is kept to.

    Connections live as long as those of the engine `openai`.

    Raises:
        UsageError: `base_url` is no http or https address, the key cannot be one, a number is out
            of range, or there is no such profile.
    """
    api_key = usable_key(api_key, key_variable)
    if timeout <= 0:
        raise UsageError("timeout must be above 0")
    address = Address.of(base_url or OPENAI_URL)
    served = profile_chosen(profile, address.host)
    patience = Patience(budget=1, deadline=timeout)
    submit_seconds = min(timeout, _SUBMIT_SECONDS)
    server = ResponsesServer(
        address=address,
        party=Party(
            address.host, model, key_variable, submit_seconds, api_key, served, "responses"
        ),
        clock=clock,
        transport=Transport(
            server=address.host,
            gate=Gate(clock, jitter, patience, Pace(rpm, tpm)),
            clock=clock,
            jitter=jitter,
            patience=patience,
            unreachable_hint=address.unreachable_hint,
        ),
        submits=sessions(address.url, api_key, is_openai=address.is_openai, reused=False),
        sessions=sessions(address.url, api_key, is_openai=address.is_openai),
    )
    background = _Background(server, timeout, temperature, rendezvous)
    return Engine(
        name="responses",
        answer=background.answer,
        model=model,
        parameters=comparable(address, served, temperature),
        schema_in_prompt=served.schema_in_prompt,
        close=background.close,
    )


@dataclass(frozen=True, slots=True)
class _Background:
    """From a call to its reply, at one address with one model."""

    server: ResponsesServer
    timeout: float
    temperature: float | None
    rendezvous: Rendezvous | None

    async def answer(self, call: Call) -> Reply:
        """The reply, however long the server works on it.

        Raises:
            EngineError: no reply came; nothing else is raised but cancellation.
        """
        party, clock = self.server.party, self.server.clock
        began = clock.monotonic()
        pace, characters = self.server.transport.gate.pace, len(call.system) + len(call.user)
        tokens = pace.estimate(characters, call.output_tokens)
        body = to_json(response_body(call, party.model, party.profile, self.temperature))
        caller = {"X-Repurpose-Caller": f"repurpose.{schema_name(call.format)}"}
        submitted = await self.server.submit(body, caller, tokens)
        if isinstance(submitted, Reply):
            return submitted
        try:
            left = max(1.0, began + self.timeout - clock.monotonic())
            outcome = await self._ended(submitted, left)
        except asyncio.CancelledError:
            await submitted.cancel()
            raise
        log.debug("%s: %s after %.2f s", party.server, outcome.status, outcome.elapsed)
        reply = await self._reply(call, submitted, outcome)
        pace.settle(tokens, characters, reply.usage)
        return reply

    async def close(self) -> None:
        """Let go of connections, and of what listens for webhooks."""
        await self.server.close()
        if self.rendezvous is not None:
            await self.rendezvous.close()

    async def _ended(self, followed: Followed, seconds: float) -> CompletionOutcome:
        """How the response ended, or that time is up."""
        clock = self.server.clock
        mode = replace(_STATE, timeout=seconds)
        known: dict[str, JsonValue] = {"run_id": followed.response_id}
        if self.rendezvous is None:
            return await drive(self._endpoint(mode), known, Environment(followed, clock))
        key = f"openai:{followed.response_id}"
        told = _Told(clock, self.rendezvous, key)
        mode = replace(mode, interval=_LOST_WEBHOOK)
        try:
            return await drive(self._endpoint(mode), known, Environment(followed, told))
        finally:
            with contextlib.suppress(StoreError):  # else a paid reply would be lost
                self.rendezvous.forget(key)

    def _endpoint(self, mode: Poll) -> Endpoint:
        return Endpoint(
            name="responses",
            base_url=self.server.address.url,
            path="/responses",
            returned_id="id",
            completion=mode,
        )

    async def _reply(self, call: Call, followed: Followed, outcome: CompletionOutcome) -> Reply:
        party = self.server.party
        match outcome.status:
            case "done":
                return reply_of(followed.seen, server=party.server)
            case "failed":
                raise failure_of(
                    followed.seen,
                    call,
                    server=party.server,
                    response_id=followed.response_id,
                    key=party.key,
                )
            case "timeout":
                await followed.cancel()
                raise StillWorking(
                    f"{followed.response_id} at {party.server} was {followed.status} after"
                    f" {self.timeout:g} s, and was told to stop",
                    hint="give a longer --timeout",
                )


@dataclass(slots=True)
class _Told:
    """A clock whose sleeper a webhook wakes. Where webhooks cannot be met, it sleeps on."""

    clock: Clock
    rendezvous: Rendezvous
    key: str
    _is_told: bool = False

    def now(self) -> datetime:
        """The present moment."""
        return self.clock.now()

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        return self.clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for a webhook, for that long at most."""
        if self._is_told:
            await self.clock.sleep(min(seconds, _AFTER_WEBHOOK))
            return
        if seconds < _LOST_WEBHOOK:  # time is up after it
            seconds = max(seconds - _LAST_LOOK, min(seconds, _LAST_LOOK))
        try:
            self._is_told = await self.rendezvous.wait(self.key, seconds) is not None
        except StoreError as error:
            log.warning("no webhook can be met: %s", error.message)
            await self.clock.sleep(seconds)
