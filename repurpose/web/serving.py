"""The application on a socket, from its first request to Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvicorn

from repurpose.api.adapters import engine_for, open_store
from repurpose.config import ENDPOINT, Settings
from repurpose.errors import UsageError
from repurpose.fetching.addresses import is_loopback
from repurpose.web.app import App, create_app

__all__ = ["address_of", "bound", "serve"]

_PATIENCE_SECONDS = 5
"""How long an answer that is on its way has at the end."""
_LOOK_SECONDS = 0.05


def serve(
    settings: Any,  # noqa: ANN401 - those of `create_app`, as are the options
    *,
    host: str,
    port: int,
    token: str | None,
    author: str | None,
    tell: Callable[[str], None],
    **options: Any,  # noqa: ANN401 - see above
) -> None:
    """Serve until the user stops it; what is in flight is finished first, as `run` does.

    `author` is who sits here, and did what nobody signs unless others are let in. `tell` is given
    lines for the user: the address, and what Ctrl-C does.

    Raises:
        UsageError: the address cannot be used, or is not only this machine's and has no token; or
            a model is named whose key is missing, or an endpoint that cannot be asked.
        StoreError: the database cannot be opened; told now, not to the first visitor.
    """
    if not is_loopback(host) and token is None:
        raise UsageError(
            f"--host {host} lets others in, so it needs a token",
            hint="give --token, or set REPURPOSE_WEB_TOKEN, to a secret of your own",
        )
    listening = bound(host, port)
    with listening:
        _refuse_unusable(settings, options)
        port = listening.getsockname()[1]
        named = (author or "editor") if is_loopback(host) else "visitor"
        app = create_app(settings, host=host, port=port, token=token, author=named, **options)
        address = address_of(host, port)
        tell(address if token is None else f"{address}?token=… with your token, once")
        asyncio.run(_Serving(app, tell).served(listening))


def _refuse_unusable(settings: Settings, options: Mapping[str, Any]) -> None:
    """Raise what the first run would end with, while whoever can mend it is looking."""
    open_store(settings.database).close()
    if options.get("engine") is not None:
        return
    if settings.chosen_engine == "openai":
        settings.checked_for_model()
    elif settings.chosen_engine.startswith((ENDPOINT, "responses")):
        engine_for(settings)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 takes any that is free.

    Raises:
        UsageError: there is no such address here, or somebody else has it.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, place = found[0]
        listening = socket.create_server(place[:2], family=family, backlog=256)
    except OverflowError as fault:
        raise UsageError(f"--port {port} is no port") from fault
    except (OSError, UnicodeError) as fault:
        busy = getattr(fault, "errno", None) in (98, 48, 10048)  # Linux, macOS, Windows
        reason = "is in use" if busy else f"cannot be used: {getattr(fault, 'strerror', fault)}"
        raise UsageError(
            f"{address_of(host, port)} {reason}",
            hint="give another --port" if busy else "give another --host",
        ) from fault
    # asyncio takes a socket made this way for no TCP, and leaves its answers waiting for
    # acknowledgements, 40 ms each; accepted connections inherit the option.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address_of(host: str, port: int) -> str:
    """What a browser opens.

    >>> address_of("::1", 8400)
    'http://[::1]:8400/'
    """
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Server(uvicorn.Server):
    """uvicorn's, but signals are heard here: they stop runs before they stop the server."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Serving:
    """One server with its signals."""

    def __init__(self, app: App, tell: Callable[[str], None]) -> None:
        assert app.site is not None  # noqa: S101 - `create_app` gives one
        self._site = app.site
        self._tell = tell
        self._asked = 0
        self._leaving: asyncio.Future[None] | None = None
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_PATIENCE_SECONDS,
        )
        self._server = _Server(config)

    async def served(self, listening: socket.socket) -> None:
        """Answer until the user stops it."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, self.stop)
            except NotImplementedError:  # Windows
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(self.stop))
        await self._server.serve(sockets=[listening])
        if self._leaving is not None:
            self._leaving.cancel()

    def stop(self) -> None:
        """Finish what is in flight and leave; again, leave now."""
        self._asked += 1
        work = self._site.work
        work.refusing = True
        work.stop()
        if self._asked == 1 and not work.idle:
            self._tell("stopping after what is in flight; Ctrl-C again stops now")
        if self._asked > 2:
            self._server.force_exit = True
        if self._leaving is None:
            self._leaving = asyncio.ensure_future(self._left())

    async def _left(self) -> None:
        while not self._site.work.idle:  # noqa: ASYNC110 - jobs end in another thread
            await asyncio.sleep(_LOOK_SECONDS)
        self._site.hub.close()
        self._server.should_exit = True
