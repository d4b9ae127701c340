"""The answer to the submit is the result."""

from __future__ import annotations

from collections.abc import Mapping

from repurpose.completion._answers import body_of, id_in
from repurpose.completion._submitting import submit
from repurpose.completion._timing import Wait
from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.core.endpoint import Endpoint
from repurpose.core.json_types import JsonValue

__all__ = ["drive"]


async def drive(
    endpoint: Endpoint, values: Mapping[str, JsonValue], environment: Environment
) -> CompletionOutcome:
    """A `completion.base.Drive`; the timeout reaches the socket."""
    wait = Wait(endpoint, values, environment.clock)
    try:
        response = await submit(endpoint, values, environment)
    except TimeoutError:
        return wait.over("timeout", diagnosis="the submit was not answered")
    body = body_of(endpoint, response)
    wait.remote_id = id_in(endpoint, body)
    return wait.over("done", body)
