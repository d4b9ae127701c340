"""An engine that sends nothing: each call without a stored reply waits for a provider's batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from repurpose.core.call import Call, Reply
from repurpose.ports import Deferred, Engine

__all__ = ["gathering_engine"]


def gathering_engine(
    inner: Engine, body_of: Callable[[Call], str], *, repair_live: bool = False
) -> Engine:
    """An engine whose calls have the keys of `inner`'s, and are answered by a provider's batch.

    Make an ordinary run with it: replies that a batch brought are found in the store as every
    unused reply is, and no call is made for them. For any other call it raises `Deferred`, so
    that the call is queued once and its format stays open: first calls, then repairs.

    With `repair_live`, repairs go to `inner` at once and at its full price.
    """

    async def answer(call: Call) -> Reply:
        if repair_live and call.attempt > 1:
            return await inner.answer(call)
        raise Deferred(body_of(call))

    return replace(inner, answer=answer)
