"""A receiver over a store on a socket of loopback, and what posts to one."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from repurpose.api._rendezvous import deliveries_in
from repurpose.api.adapters import SystemClock
from repurpose.ports import Clock
from repurpose.ports.endpoints import Rendezvous
from repurpose.receiving.application import application, runner_of
from repurpose.receiving.serving import StoreSink
from repurpose.receiving.webhooks import Secret


class QuickClock(SystemClock):
    """Real time, in which one sleeps a fiftieth of what was asked for."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 50)


@asynccontextmanager
async def received(
    path: Path, clock: Clock, secret: Secret | None = None, beneath: str = ""
) -> AsyncIterator[str]:
    """The address of a receiver over a store."""
    with deliveries_in(path) as kept:
        app = application(StoreSink(kept, clock), clock, secret=secret, beneath=beneath)
        runner = runner_of(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


async def post(
    url: str, body: bytes = b"{}", headers: dict[str, str] | None = None, method: str = "POST"
) -> tuple[int, Any]:
    """Status and JSON of the answer."""
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status, await answer.json()


Meeting = Callable[[Callable[[Rendezvous], Awaitable[None]]], None]
"""Runs a test's coroutine with a rendezvous."""
