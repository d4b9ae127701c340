"""The answer to the submit is a stream of events; the first that says done or failed ends it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from repurpose.completion._answers import EXCERPT, id_in, is_success, refused, undecided, verdict
from repurpose.completion._events import events_in
from repurpose.completion._submitting import lost, submit_request
from repurpose.completion._timing import Wait
from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.core.endpoint import Endpoint, Stream
from repurpose.core.exchange import Response, WireError
from repurpose.core.json_types import JsonValue
from repurpose.ports.endpoints import Streaming
from repurpose.schema.intake import IntakeError, decode

__all__ = ["drive"]


async def drive(
    endpoint: Endpoint, values: Mapping[str, JsonValue], environment: Environment
) -> CompletionOutcome:
    """A `completion.base.Drive`. What decides is the event; what comes after it is never read.

    Server-sent events and JSON lines are told apart by the response itself. Comments, and events
    that are no JSON, are passed over. A stream that ends, or breaks, without a match is a timeout,
    since the work may well go on; and the timeout also fires while nothing comes at all.
    """
    wait = Wait(endpoint, values, environment.clock)
    request = submit_request(endpoint, values)
    has_begun = False
    try:
        async with environment.wire.stream(request, endpoint.completion.timeout) as response:
            if not is_success(response.status):
                raise refused(endpoint, await _beginning_of(response))
            has_begun = True
            return await _followed(endpoint, response, wait)
    except WireError as error:
        if not has_begun:
            raise lost(endpoint, error) from error
        return wait.over("timeout", diagnosis=f"the stream broke: {error}")
    except TimeoutError:
        said = "no event ended the stream" if has_begun else "the submit was not answered"
        return wait.over("timeout", diagnosis=said)


async def _followed(endpoint: Endpoint, response: Streaming, wait: Wait) -> CompletionOutcome:
    mode = endpoint.completion
    assert isinstance(mode, Stream)  # noqa: S101 - MODES chose this drive by it
    last: JsonValue = None
    is_first = True
    async with aclosing(_decoded(response)) as events:
        async for event in events:
            if wait.left() < 0:
                return wait.over("timeout", last, diagnosis="no event ended the stream")
            if is_first:
                wait.remote_id = id_in(endpoint, event)
            is_first, last = False, event
            ended = verdict(event, done=mode.done, failed=mode.failed)
            if ended:
                return wait.over(ended, event)
    said = "no event was JSON" if is_first else f"its last event {undecided(last, mode.done)}"
    return wait.over("timeout", last, diagnosis=f"the stream ended, and {said}")


async def _decoded(response: Streaming) -> AsyncGenerator[JsonValue, None]:
    """The events that are JSON."""
    kind = response.headers.get("content-type", "")
    async with aclosing(events_in(response.chunks(), kind)) as texts:
        async for text in texts:
            try:
                event = decode(text)
            except IntakeError:
                continue
            yield event


async def _beginning_of(response: Streaming) -> Response:
    """A refusal with as much of its body as is shown; the rest is not waited for."""
    body = b""
    async for piece in response.chunks():
        body += piece
        if len(body) >= 4 * EXCERPT:
            break
    return Response(response.status, response.headers, body)
