"""The endpoint is given an address, and posts its result there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

from repurpose.completion._answers import decoded, undecided, verdict
from repurpose.completion._submitting import held, returned_id
from repurpose.completion._timing import Wait
from repurpose.completion.base import CompletionOutcome, Environment
from repurpose.core.endpoint import Callback, Endpoint, Ticket
from repurpose.core.exchange import Response
from repurpose.core.json_types import JsonValue
from repurpose.errors import BrokenReply, NeverStarted, UsageError
from repurpose.ports import Clock
from repurpose.ports.endpoints import Rendezvous
from repurpose.schema.intake import IntakeError

__all__ = ["drive"]

_MOMENT = 2.0
"""Seconds that an answer to the submit may come after the result, for the id in it."""


async def drive(
    endpoint: Endpoint, values: Mapping[str, JsonValue], environment: Environment
) -> CompletionOutcome:
    """A `completion.base.Drive`. What decides is the posted body.

    The answer to the submit is not waited for, and not looked at but for a returned id; that it
    was refused ends the wait. Every attempt has an address of its own, so what comes late is
    never taken for the answer to the next one.

    Raises:
        UsageError: there is nowhere to post to.
    """
    rendezvous = environment.rendezvous
    if rendezvous is None:
        raise UsageError(f"endpoint {endpoint.name}: mode callback needs a callback_base_url")
    wait = Wait(endpoint, values, environment.clock)
    ticket = await rendezvous.ticket()
    try:
        known = {**values, "callback_url": ticket.url}
        async with held(endpoint, known, environment) as submitting:
            delivery = asyncio.create_task(_delivered(endpoint, rendezvous, ticket.key, wait))
            try:
                await asyncio.wait({submitting, delivery}, return_when=asyncio.FIRST_COMPLETED)
                if not delivery.done() and (response := submitting.result()):
                    wait.remote_id = returned_id(endpoint, response)
                status, body, why = await delivery
            finally:
                delivery.cancel()
                await asyncio.gather(delivery, return_exceptions=True)
            if status != "timeout" and endpoint.returned_id and wait.remote_id is None:
                wait.remote_id = await _late_id(endpoint, submitting, environment.clock)
            return wait.over(status, body, diagnosis=why)
    except NeverStarted as error:
        raise _without(ticket, error) from None
    finally:
        rendezvous.forget(ticket.key)


def _without(ticket: Ticket, refused: NeverStarted) -> NeverStarted:
    """The refusal without the address, which whoever refuses may repeat."""
    capability = ticket.url.rpartition("/")[2]
    if capability not in refused.message:
        return refused
    message = refused.message.replace(capability, "[hidden]")
    return NeverStarted(message, hint=refused.hint, status=refused.status)


async def _delivered(
    endpoint: Endpoint, rendezvous: Rendezvous, key: str, wait: Wait
) -> tuple[Literal["done", "failed", "timeout"], JsonValue, str | None]:
    """What the first body that counts says, and the body; others are passed over."""
    mode = endpoint.completion
    assert isinstance(mode, Callback)  # noqa: S101 - MODES chose this drive by it
    last: JsonValue = None
    why = "nothing was posted to its callback address"
    while (left := wait.left()) > 0:
        body = await rendezvous.wait(key, left)
        if body is None:
            break
        last = _read(body)
        ended = verdict(last, done=mode.done, failed=mode.failed)
        if ended or mode.done is None:
            return ended or "done", last, None
        why = f"what was posted {undecided(last, mode.done)}"
    return "timeout", last, why


async def _late_id(
    endpoint: Endpoint, submitting: asyncio.Task[Response | None], clock: Clock
) -> str | None:
    """The endpoint's own id, where it posts the result before it answers the submit.

    The result is there, so the id is waited for a moment only, and nothing about it is a fault.
    """
    moment = asyncio.ensure_future(clock.sleep(_MOMENT))
    try:
        await asyncio.wait({submitting, moment}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        moment.cancel()
        await asyncio.gather(moment, return_exceptions=True)
    if not submitting.done() or submitting.exception():
        return None
    response = submitting.result()
    with suppress(BrokenReply):
        return returned_id(endpoint, response) if response else None
    return None


def _read(body: bytes) -> JsonValue:
    """A posted body as JSON, or as the text that it is."""
    try:
        return decoded(body)
    except IntakeError:
        return body.decode("utf-8", "replace")
