"""From requests to answers: bodies are read within bounds, and every fault becomes an answer."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from repurpose.errors import RepurposeError
from repurpose.web.bodies import Nothing, checked
from repurpose.web.faults import HttpFault, fault_of, is_api, json_fault
from repurpose.web.openapi import document
from repurpose.web.operations import OPERATIONS, Operation
from repurpose.web.pages import PAGES, Page, error_page
from repurpose.web.site import Asked, Site
from repurpose.web.streaming import EventStream

__all__ = ["refusals", "routes"]

log = logging.getLogger(__name__)

_SLOW_AT_ONCE = 4


class _Endpoint:
    """An ASGI application that answers one operation or page, whatever happens in it."""

    def __init__(self, site: Site, answer: Callable[[Request], Awaitable[Any]]) -> None:
        self._site = site
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        except HttpFault as fault:
            response = await faulty(self._site, request, fault)
        except RepurposeError as error:
            response = await faulty(self._site, request, fault_of(error))
        except HTTPException as foreign:
            response = await faulty(self._site, request, _plain(foreign))
        except Exception as foreign:  # noqa: BLE001 - whatever it is, nobody sees its text
            response = await faulty(self._site, request, _masked(foreign))
        await response(scope, receive, send)


async def faulty(site: Site, request: Request, fault: HttpFault) -> Response:
    """The answer that says no, as JSON or as a page."""
    if is_api(request.scope):
        return json_fault(fault)
    return await anyio.to_thread.run_sync(error_page, site, fault)


def _plain(foreign: HTTPException) -> HttpFault:
    words = {404: "there is nothing at this address", 405: "that cannot be done here"}
    return HttpFault(
        foreign.status_code, "http", words.get(foreign.status_code, "the request cannot be used")
    )


def _masked(foreign: Exception) -> HttpFault:
    error_id = secrets.token_hex(4)
    trace = foreign.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}" if trace else "unknown place"
    log.error("error %s: %s at %s", error_id, type(foreign).__name__, where)
    return HttpFault(500, "unexpected", f"something went wrong here (error {error_id})")


def refusals(site: Site) -> dict[Any, Any]:
    """What answers where no route does: another method, or a static file that is not there."""

    async def answer(request: Request, foreign: HTTPException) -> Response:
        return await faulty(site, request, _plain(foreign))

    return {HTTPException: answer}


@cache  # it does not change while a process runs
def _described() -> dict[str, Any]:
    return document(OPERATIONS)


def routes(site: Site) -> list[Route]:
    """Every route of the server but the static files'."""
    slow = anyio.CapacityLimiter(_SLOW_AT_ONCE)

    async def openapi(_: Request) -> Response:
        return JSONResponse(_described())

    async def nothing(_: Request) -> Response:
        raise HTTPException(404)

    made = [
        Route(one.path, _Endpoint(site, _operation(site, one, slow)), methods=[one.method])
        for one in OPERATIONS
    ]
    pages = [Route(path, _Endpoint(site, _page(site, page))) for path, page in PAGES.items()]
    return [
        Route("/api/openapi.json", _Endpoint(site, openapi), methods=["GET"]),
        *made,
        *pages,
        Route("/{rest:path}", _Endpoint(site, nothing), methods=["GET", "HEAD", "POST"]),
    ]


def _page(site: Site, page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        asked = Asked(request.path_params, dict(request.query_params))
        return await anyio.to_thread.run_sync(page, site, asked)

    return answer


def _operation(
    site: Site, one: Operation, slow: anyio.CapacityLimiter
) -> Callable[[Request], Awaitable[Response | EventStream]]:
    limiter = slow if one.slow else None

    async def answer(request: Request) -> Response | EventStream:
        if one.take is not None:
            given = await one.take(site, request)
        else:
            raw = await _read(request, one) if one.body else b""
            given = await anyio.to_thread.run_sync(
                _handled, site, one, request, raw, limiter=limiter
            )
        if isinstance(given, Response | EventStream):
            return given
        return JSONResponse(given, one.status)

    return answer


def _handled(site: Site, one: Operation, request: Request, raw: bytes) -> Any:  # noqa: ANN401 - see below
    """What an operation gives: an object, or a response."""
    assert one.handle is not None  # noqa: S101 - an operation has one of the two
    body = checked(one.body, raw) if one.body else Nothing()
    return one.handle(site, Asked(request.path_params, dict(request.query_params), body))


async def _read(request: Request, one: Operation) -> bytes:
    """The body, counted as it comes.

    Raises:
        HttpFault: it is too large, or declared as something else.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > one.bound:
            raise HttpFault(413, "too_large", f"the body is larger than {one.bound:,} bytes")
    if content and kind != "application/json":
        raise HttpFault(415, "body", "send JSON, as Content-Type: application/json")
    return bytes(content)
