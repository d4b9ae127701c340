"""Sends the one request that starts the work. It is never sent twice: it may cost money."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

from repurpose.completion._answers import body_of, id_in, is_success, refused
from repurpose.completion._filling import request_for
from repurpose.completion.base import Environment
from repurpose.core.endpoint import Endpoint
from repurpose.core.exchange import Request, Response, WireError
from repurpose.core.json_types import JsonValue
from repurpose.errors import NeverStarted, StillWorking

__all__ = ["held", "lost", "returned_id", "submit", "submit_request"]


def submit_request(endpoint: Endpoint, values: Mapping[str, JsonValue]) -> Request:
    """The request that starts the work."""
    return request_for(
        endpoint, values, method=endpoint.method, path=endpoint.path, body=endpoint.body
    )


async def submit(
    endpoint: Endpoint, values: Mapping[str, JsonValue], environment: Environment
) -> Response:
    """The answer of success to the submit.

    Raises:
        NeverStarted: no connection, or a status that is no success.
        StillWorking: the connection was lost, and the work may have begun.
        TimeoutError: no answer within the endpoint's timeout.
    """
    try:
        response = await environment.wire.send(
            submit_request(endpoint, values), endpoint.completion.timeout
        )
    except WireError as error:
        raise lost(endpoint, error) from error
    if not is_success(response.status):
        raise refused(endpoint, response)
    return response


@contextlib.asynccontextmanager
async def held(
    endpoint: Endpoint, values: Mapping[str, JsonValue], environment: Environment
) -> AsyncIterator[asyncio.Task[Response | None]]:
    """The submit under way, watched and not waited for; given up at the end, whatever it does.

    Its result is None where no answer came, which some endpoints mean to happen, and some gateways
    see to that it does.
    """
    task = asyncio.create_task(_submitted(endpoint, values, environment))
    try:
        yield task
    finally:
        task.cancel()
        # What it comes to is of interest no more, and a cancelled one has let go of its socket.
        await asyncio.gather(task, return_exceptions=True)


def returned_id(endpoint: Endpoint, response: Response) -> str | None:
    """The endpoint's own id; what else it answers is not looked at where none is asked for."""
    return id_in(endpoint, body_of(endpoint, response)) if endpoint.returned_id else None


def lost(endpoint: Endpoint, error: WireError) -> NeverStarted | StillWorking:
    """That the submit was not answered: it reached nobody, or nobody knows what became of it."""
    message = f"endpoint {endpoint.name}: {error}"
    if error.reached:
        return StillWorking(message, hint="it was not sent again: the work may have begun")
    return NeverStarted(message, hint="is the service running at its base_url?")


async def _submitted(
    endpoint: Endpoint, values: Mapping[str, JsonValue], environment: Environment
) -> Response | None:
    try:
        return await submit(endpoint, values, environment)
    except (TimeoutError, StillWorking):
        return None
