"""Speaks to the responses endpoint of one server: a submit, the state of a response, its end.

A submit is sent once, whatever comes of it: it may have been accepted. Asking for a state costs
nothing, so who waits decides how often that is done.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from urllib.parse import quote

import aiohttp
from pydantic_core import to_json

from repurpose.completion._answers import is_success, is_transient
from repurpose.core.call import Reply
from repurpose.core.exchange import Request, Response, WireError
from repurpose.engines._gate import Fault, Final, Lost, RateLimited, Transport
from repurpose.engines._openai_connections import StatusError
from repurpose.engines._openai_faults import Party, fault_of, is_filtered, spoken_codes
from repurpose.engines._openai_reply import decoded, error_object
from repurpose.engines._openai_requests import Address
from repurpose.engines._per_loop import PerLoop
from repurpose.engines._responses_shapes import ResponseObject
from repurpose.errors import AgentFailed, BrokenReply, EngineError, NeverStarted, StillWorking
from repurpose.ports import Clock
from repurpose.ports.endpoints import Streaming

__all__ = ["Followed", "ResponsesServer"]

_CANCEL_SECONDS = 2.0
"""For a server to take note that nobody waits any more; Ctrl-C is not to take longer."""
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")


@dataclass(frozen=True, slots=True)
class ResponsesServer:
    """Responses at one address."""

    address: Address
    party: Party
    clock: Clock
    transport: Transport
    """Paces submits; none of them is sent again."""
    submits: PerLoop[aiohttp.ClientSession]
    """Opens a connection for each: one that was kept may be closed at the very moment, and whether
    the server took the request would be anybody's guess."""
    sessions: PerLoop[aiohttp.ClientSession]
    """For whatever else is asked."""

    async def close(self) -> None:
        """Close the connections of the running loop."""
        await self.submits.close()
        await self.sessions.close()

    async def submit(
        self, body: bytes, headers: Mapping[str, str], tokens: int
    ) -> Followed | Reply:
        """The response that was accepted; a reply where a content filter stopped the prompt.

        Raises:
            NeverStarted: it was not accepted.
            StillWorking: no answer came, so it may have been.
            BrokenReply: what was answered is no response.
        """

        async def send(left: float) -> Followed | Reply:
            return await self._submitted(body, headers, min(left, self.party.timeout))

        submitted, _ = await self.transport.deliver(send, self._fault_of, tokens)
        return submitted

    async def cancel(self, response_id: str) -> None:
        """Have a response stopped, as far as the server can be told within two seconds."""
        url = f"{self.address.url.rstrip('/')}/responses/{quote(response_id, safe='')}/cancel"
        with contextlib.suppress(WireError, TimeoutError):
            await self.exchanged("POST", url, _CANCEL_SECONDS)

    async def exchanged(self, method: str, url: str, seconds: float) -> Response:
        """One request without a body, and its response.

        Raises:
            WireError: no response came.
            TimeoutError: none came in time.
        """
        try:
            session = await self.sessions.client()
            async with (
                asyncio.timeout(seconds),
                session.request(method, url, allow_redirects=False) as response,
            ):
                return await _whole(response)
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise WireError(f"the connection was lost ({type(error).__name__})") from error

    async def _submitted(
        self, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> Followed | Reply:
        url = f"{self.address.url.rstrip('/')}/responses"
        session = await self.submits.client()
        async with (
            asyncio.timeout(seconds),
            # A redirect could carry a prompt to another host.
            session.post(url, data=body, headers=headers, allow_redirects=False) as answered,
        ):
            response = await _whole(answered)
        self.transport.gate.learn(response.headers)
        if not is_success(response.status):
            refused = StatusError(response.status, response.headers, error_object(response.body))
            if is_filtered(refused):
                request_id = response.headers.get("x-request-id")
                return Reply("", finish="content_filter", request_id=request_id)
            raise refused
        seen = self.read(response)
        response_id = seen.get("id")
        if not isinstance(response_id, str) or not _ID.fullmatch(response_id):
            raise BrokenReply(
                f"{self.party.server} answered without the id of a response",
                hint="check --base-url; --engine openai asks for chat completions",
                status=response.status,
            )
        return Followed(self, response_id, seen)

    def read(self, response: Response) -> ResponseObject:
        """The object in a response of success.

        Raises:
            BrokenReply: there is none.
        """
        kind = response.headers.get("content-type", "")
        server, status = self.party.server, response.status
        told = decoded(response.body, server=server, status=status, kind=kind)
        if not isinstance(told, Mapping):
            raise BrokenReply(f"{server} answered with JSON that is not an object", status=status)
        return told

    def _fault_of(self, error: Exception) -> Fault:
        """What a submit that failed means; always the end of it."""
        fault = fault_of(error, self.party, self.clock.now())
        server, gate = self.party.server, self.transport.gate
        match fault:
            case Final():
                return fault
            case RateLimited(status=status, retry_after=named):
                gate.hold(named)  # the others wait
                gate.refused(self.clock.monotonic())
                when = "later" if named is None else f"in {named:g} s"
                ours: EngineError = NeverStarted(
                    f"{server} takes no more requests just now (status {status})",
                    hint=f"try again {when}, or keep below its limit with --rpm",
                    status=status,
                )
            case Lost(reached=False):
                ours = NeverStarted(
                    f"no server answers at {server}", hint=self.address.unreachable_hint
                )
            case Lost(maybe_paid=True, what=what):
                ours = StillWorking(
                    f"{server} did not say whether it took the request ({what})",
                    hint="it may be working on it; another try may be paid for a second time",
                )
            case Lost(what=what, status=status):
                ours = NeverStarted(
                    f"{server} did not take the request ({what})",
                    hint="try again later",
                    status=status,
                )
        return Final(ours)


@dataclass(slots=True)
class Followed:
    """The wire of one response that was accepted, for whoever waits for its end.

    Its submit is over, so the one who waits is told of it without another; and the state that the
    submit was answered with is the first that it sees. Of later ones it sees the status alone, in
    JSON of ours: what else stands in them is for the reader of the reply.
    """

    server: ResponsesServer
    response_id: str
    seen: ResponseObject
    """As it was seen last."""
    _told: int = 0

    async def send(self, request: Request, timeout: float) -> Response:  # noqa: ASYNC109 - of `Wire`
        """The state of the response.

        Raises:
            AgentFailed: the server refuses to tell it.
            WireError: it cannot be told just now.
            TimeoutError: it was not told in time.
        """
        self._told += 1
        if self._told > 2:  # the submit, and the state in its answer
            response = await self.server.exchanged(request.method, request.url, timeout)
            if is_transient(response.status):
                return response
            if not is_success(response.status):
                raise self._refused(response)
            try:
                self.seen = self.server.read(response)
            except BrokenReply as error:
                raise WireError(error.message) from error
        state = {"id": self.response_id, "status": self.seen.get("status")}
        return Response(200, {}, to_json(state))

    def stream(
        self,
        request: Request,
        timeout: float,
    ) -> AbstractAsyncContextManager[Streaming]:
        """Never: what works in the background is asked for its state."""
        raise NotImplementedError

    async def cancel(self) -> None:
        """Have it stopped, as far as the server can be told within two seconds."""
        await self.server.cancel(self.response_id)

    @property
    def status(self) -> str:
        """In the server's words, as it was seen last."""
        status = self.seen.get("status")
        return status if isinstance(status, str) and _ID.fullmatch(status) else "not done"

    def _refused(self, response: Response) -> AgentFailed:
        party, status = self.server.party, response.status
        codes = spoken_codes(error_object(response.body), secret=party.key)
        if status == 404:
            return AgentFailed(
                f"{party.server} does not know {self.response_id} any more (status 404){codes}",
                hint="responses are kept for a limited time",
                status=status,
            )
        return AgentFailed(
            f"{party.server} refuses to tell the state of {self.response_id}"
            f" (status {status}){codes}",
            hint=f"check the key in {party.key_variable}" if status in (401, 403) else None,
            status=status,
        )


async def _whole(response: aiohttp.ClientResponse) -> Response:
    content = await response.read()
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Response(response.status, headers, content)
