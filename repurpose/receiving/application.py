"""What answers a post: one HTTP application, whatever keeps the bodies.

    POST /callbacks/TOKEN    202 kept; 404 no such token; 400 no token or no body; 413 too long
    POST /webhooks/openai    202 kept; 200 nothing to keep; 401 not signed by the provider just
                             now; 404 no secret is set here; 413 too long
    anything else            404, or 405 for another method

Every body of an answer is a JSON object, with `error` in it where nothing was kept. A body is kept
as it came and looked into by whoever takes it; only a webhook's is, for the id in it, when it is
verified. An event that was seen before is answered with 200, since a provider sends again what
was not answered so, for days; it changes nothing.

No answer and no log holds a path, a token or a body.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from aiohttp import web

from repurpose.errors import StoreError
from repurpose.ports import Clock
from repurpose.receiving.tokens import CALLBACKS, event_key, key_of
from repurpose.receiving.webhooks import Secret, WebhookRefused, object_of

__all__ = ["LARGEST_BODY", "WEBHOOKS", "Sink", "application", "runner_of"]

LARGEST_BODY = 5 * 2**20
"""Bytes of one post. An answer is a few thousand; a transcript of an agent may be much more."""
WEBHOOKS = "/webhooks/openai"

_BODY_SECONDS = 60.0
"""How long a body may take, from its head on."""
_PATIENCE_SECONDS = 3.0
"""How long a post that is on its way has when the receiver ends."""

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Sink(Protocol):
    """Keeps what was posted. Raises `StoreError` where it cannot."""

    async def issued(self, key: str) -> bool:
        """Whether bodies are taken under this key."""

    async def deliver(self, key: str, body: bytes) -> bool:
        """Keep a body; False where its key was never issued."""

    async def deliver_event(self, event_id: str, key: str, body: bytes) -> bool:
        """Keep the body of an event; False where it was seen before."""


def application(
    sink: Sink, clock: Clock, *, secret: Secret | None = None, beneath: str = ""
) -> web.Application:
    """What answers posts and hands them to `sink`.

    Without `secret` there are no webhooks. `beneath` is a path under which the same is answered
    once more, for a receiver that is reached without a proxy by an address with a path.
    """
    answers = _Answers(sink, clock, secret)
    app = web.Application(middlewares=[_in_json], client_max_size=LARGEST_BODY)
    for prefix in {"", beneath.rstrip("/")}:
        app.router.add_post(f"{prefix}{CALLBACKS}{{token}}", answers.callback)
        app.router.add_post(f"{prefix}{CALLBACKS}", answers.callback)
        app.router.add_post(f"{prefix}{CALLBACKS.rstrip('/')}", answers.callback)
        app.router.add_post(f"{prefix}{WEBHOOKS}", answers.webhook)
    return app


def runner_of(app: web.Application) -> web.AppRunner:
    """The application, ready to listen, without a log.

    aiohttp's own would tell of each path, and of a request that it cannot read the line itself.
    """
    return web.AppRunner(
        app,
        access_log=None,
        # One of its own, since what `getLogger` returns anybody can turn on.
        logger=logging.Logger(__name__, logging.CRITICAL + 1),  # noqa: LOG001 - see above
        shutdown_timeout=_PATIENCE_SECONDS,
    )


class _Answers:
    def __init__(self, sink: Sink, clock: Clock, secret: Secret | None) -> None:
        self._sink = sink
        self._clock = clock
        self._secret = secret

    async def callback(self, request: web.Request) -> web.StreamResponse:
        """Keep what was posted to a ticket's address, and say so at once."""
        token = request.match_info.get("token", "")
        if not token:
            return _told(400, error="there is no token in the address")
        key = key_of(token)
        if not await self._sink.issued(key):  # before a body of any length is read
            return _told(404, error="nobody waits at this address")
        body = await _body(request)
        if not body:
            return _told(400, error="nothing was posted")
        if not await self._sink.deliver(key, body):
            return _told(404, error="nobody waits at this address")
        return _told(202, accepted=True)

    async def webhook(self, request: web.Request) -> web.StreamResponse:
        """Keep a verified event for whoever waits for what it tells of."""
        if self._secret is None:
            return _told(404, error="no webhooks are taken here")
        body = await _body(request)
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            event_id = self._secret.verified(headers, body, self._clock.now().timestamp())
        except WebhookRefused as refused:
            return _told(401, error=str(refused))
        told_of = object_of(body)
        if told_of is None:
            return _told(200, accepted=False, reason="the event tells of nothing with an id")
        if not await self._sink.deliver_event(event_id, event_key(told_of), body):
            return _told(200, accepted=False, reason="the event was taken before")
        return _told(202, accepted=True)


async def _body(request: web.Request) -> bytes:
    """The whole body, unless it is longer, or comes more slowly, than a result ever does."""
    if (request.content_length or 0) > LARGEST_BODY:
        raise web.HTTPRequestEntityTooLarge(LARGEST_BODY, request.content_length or 0)
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await request.read()
    except TimeoutError as slow:
        raise web.HTTPRequestTimeout from slow


@web.middleware
async def _in_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Whatever goes wrong as a JSON object, and nothing of it in a log."""
    try:
        return await handler(request)
    except web.HTTPException as fault:
        allowed = fault.headers.get("Allow")
        return _told(
            fault.status,
            headers={"Allow": allowed} if allowed else None,
            error=_REASONS.get(fault.status, fault.reason),
        )
    except StoreError:
        # Its words name a file of this machine, which is nothing for whoever posts.
        retry = {"Retry-After": "5"}
        return _told(503, headers=retry, error="it cannot be kept just now; post it again")


_REASONS = {
    404: "there is nothing at this address",
    408: "the body did not come",
    405: "this address takes posts only",
    413: f"the body is longer than {LARGEST_BODY // 2**20} MiB",
}


def _told(
    status: int, *, headers: dict[str, str] | None = None, **said: str | bool
) -> web.StreamResponse:
    return web.json_response(dict(said), status=status, headers=headers)
