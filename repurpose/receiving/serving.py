"""The receiver as a process of its own, from its first post to Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from aiohttp import web

from repurpose.errors import UsageError
from repurpose.ports import Clock
from repurpose.ports.endpoints import Deliveries
from repurpose.receiving.application import application, runner_of
from repurpose.receiving.webhooks import Secret

__all__ = ["StoreSink", "serve"]

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class StoreSink:
    """A `Sink` that keeps what is posted in a store, and has it there before it is acknowledged."""

    deliveries: Deliveries
    clock: Clock

    async def issued(self, key: str) -> bool:
        """Whether bodies are taken under this key."""
        return await asyncio.to_thread(self.deliveries.issued, key)

    async def deliver(self, key: str, body: bytes) -> bool:
        """Keep a body; False where its key was never issued."""
        return await asyncio.to_thread(self.deliveries.deliver, key, body, self._now())

    async def deliver_event(self, event_id: str, key: str, body: bytes) -> bool:
        """Keep the body of an event; False where it was seen before."""
        now = self._now()
        return await asyncio.to_thread(self.deliveries.deliver_event, event_id, key, body, now)

    def _now(self) -> float:
        return self.clock.now().timestamp()


def serve(
    deliveries: Deliveries,
    clock: Clock,
    *,
    host: str,
    port: int,
    base_url: str,
    secret: Secret | None,
    listening: Callable[[str], None],
) -> None:
    """Take posts until SIGINT or SIGTERM; what is on its way then is still taken.

    `listening` is told the address when posts are taken there; port 0 is any that is free.

    Raises:
        UsageError: there is no such address here, or somebody else has it.
    """
    sink = StoreSink(deliveries, clock)
    app = application(sink, clock, secret=secret, beneath=urlsplit(base_url).path)
    asyncio.run(_served(app, host, port, listening))


async def _served(
    app: web.Application, host: str, port: int, listening: Callable[[str], None]
) -> None:
    runner = runner_of(app)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stopped.set)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopped.set))
    try:
        await runner.setup()
        await _begun(runner, host, port)
        listening(_address(host, runner.addresses[0][1]))
        await stopped.wait()
    finally:
        await runner.cleanup()


async def _begun(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        # asyncio would take an empty name for every address of this machine.
        await web.TCPSite(runner, host.strip() or "no host", port).start()
    except (OSError, UnicodeError, OverflowError) as fault:
        busy = getattr(fault, "errno", None) in (98, 48, 10048)  # Linux, macOS, Windows
        reason = "is in use" if busy else "cannot be used"
        raise UsageError(
            f"{_address(host, port)} {reason}",
            hint="give another --port" if busy else "give another --host or --port",
        ) from fault


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
