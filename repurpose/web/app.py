"""The whole server as one application, for `repurpose serve`, for tests and for demonstrations."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from repurpose.config import Settings
from repurpose.ports import Engine
from repurpose.web.choices import Choices, Resolve
from repurpose.web.engines import Engines
from repurpose.web.hub import Hub
from repurpose.web.pages import STATIC, environment
from repurpose.web.plans import Plans
from repurpose.web.routes import refusals, routes
from repurpose.web.security import Gate, Hosts
from repurpose.web.site import Site
from repurpose.web.stores import Stores
from repurpose.web.uploads import Uploads
from repurpose.web.work import Work

__all__ = ["App", "create_app"]

_SWEEP_SECONDS = 60.0
_SCRIPT = "text/javascript"  # some systems have another idea of .js, and browsers then refuse it


@dataclass(frozen=True, slots=True)
class App(Gate):
    """The application behind its gate, with the parts that whoever serves it has to know."""

    site: Site | None = None


class _Static(StaticFiles):
    """Scripts and styles, asked for anew after an update."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        if path.endswith(".js") and response.status_code == 200:
            response.headers["Content-Type"] = f"{_SCRIPT}; charset=utf-8"
        return response


def create_app(
    settings: Settings,
    *,
    engine: Engine | None = None,
    resolve: Resolve | None = None,
    voices: Sequence[str] = (),
    host: str = "127.0.0.1",
    port: int = 8400,
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    author: str = "editor",
    at_once: int = 2,
    seconds: Callable[[], float] = time.monotonic,
) -> App:
    """An ASGI application for one database.

    `engine` answers every call in place of the one that `settings` choose. `resolve` says under
    which settings something that was chosen on the page is made; without it, under `settings` with
    the choices in them. `host` and `port` are where it is served, which requests must name;
    `allowed_hosts` are further names. With a `token`, everybody needs it. `author` is who did what
    nobody signs; `at_once` runs are made side by side.

    Raises:
        UsageError: settings that cannot be used.
    """
    hub = Hub(seconds)
    site = Site(
        choices=Choices.of(settings, resolve, voices),
        stores=Stores(settings.database),
        engines=Engines(settings, engine),
        hub=hub,
        work=Work(hub, most=at_once),
        plans=Plans(seconds),
        uploads=Uploads(seconds),
        templates=environment(),
        csrf=secrets.token_urlsafe(32),
        author=author,
    )
    static = Mount("/static", _Static(directory=os.fspath(STATIC)))
    inner = Starlette(
        routes=[static, *routes(site)],
        exception_handlers=refusals(site),
        lifespan=_lifespan(site),
    )
    hosts = Hosts(host, port, tuple(allowed_hosts))
    return App(inner, hosts, site.csrf, token, site)


def _lifespan(site: Site) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """What is there from the first request to the last."""

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        site.hub.open(asyncio.get_running_loop())
        site.work.open(site.engines.close)
        sweeping = asyncio.ensure_future(_swept(site))
        try:
            yield
        finally:
            sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await sweeping
            site.hub.close()
            await asyncio.to_thread(site.work.close)
            site.uploads.close()
            site.stores.close()

    return living


async def _swept(site: Site) -> None:
    """Let go of what nobody needs any more, from time to time."""
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        site.hub.sweep()
        site.plans.sweep()
        await asyncio.to_thread(site.uploads.sweep)
