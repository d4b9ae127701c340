"""An engine that answers from a script, for tests: ours and those of whoever builds on us."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from repurpose.core.call import Call, Reply
from repurpose.core.json_types import JsonObject
from repurpose.errors import EngineError, UsageError
from repurpose.ports import Clock, Engine, Listener

__all__ = ["Scripted", "ScriptedEngine", "Streamed", "scripted_engine"]


@dataclass(frozen=True, slots=True)
class Streamed:
    """A reply that is written piece by piece, for whoever listens; the same text for all others."""

    pieces: Sequence[str]
    delay: float = 0.0
    """Seconds before each piece."""
    then: Exception | None = None
    """What is raised after the pieces, in place of a reply."""


Scripted: TypeAlias = "Reply | str | JsonObject | Exception | Streamed"
"""One step of a script: a reply, its text, its JSON, its pieces, or what is raised instead."""


@dataclass(frozen=True, slots=True)
class ScriptedEngine(Engine):
    """An engine that also shows what it was asked."""

    calls: list[Call] = field(default_factory=list)
    """Every call received, in order; the ones that were answered with an exception too."""


def scripted_engine(
    replies: Mapping[str, Sequence[Scripted]] | Sequence[Scripted],
    *,
    name: str = "scripted",
    model: str | None = None,
    repeat_last: bool = False,
    clock: Clock | None = None,
) -> ScriptedEngine:
    """An engine that answers with `replies` in order, and remembers its calls.

    A mapping goes from a format's name to the replies of that format; a sequence serves whatever
    format asks next. An exception in the script is raised. When the replies have run out the
    engine raises `EngineError`, so that a call too many fails a test; with `repeat_last` the last
    one is given again and again.

    It streams: a listener hears the pieces of a `Streamed` one by one, with its delays by `clock`
    or in real time, and any other reply in one piece.

    Two scripts with one name share idempotency keys, so name them apart where they share a store.

    Raises:
        UsageError: `replies` is a single string.

    >>> import asyncio
    >>> from repurpose.core.source import Source
    >>> engine = scripted_engine({"faq": [{"pairs": []}]})
    >>> call = Call("faq", "system", "user", {}, {}, Source("A text.", "-", "text"))
    >>> asyncio.run(engine.answer(call)).text
    '{"pairs": []}'
    >>> [call.format for call in engine.calls]
    ['faq']
    """
    if isinstance(replies, str):
        raise UsageError("a script is a sequence of replies; put the one string into a list")
    script = _Script(replies, repeat_last=repeat_last, clock=clock)
    return ScriptedEngine(
        name=name,
        answer=script.answer,
        stream=script.stream,
        model=model,
        calls=script.calls,
    )


class _Script:
    """The replies still to come, and the calls that came."""

    def __init__(
        self,
        replies: Mapping[str, Sequence[Scripted]] | Sequence[Scripted],
        *,
        repeat_last: bool,
        clock: Clock | None,
    ) -> None:
        self.calls: list[Call] = []
        self._replies = replies
        self._repeat_last = repeat_last
        self._sleep = asyncio.sleep if clock is None else clock.sleep
        self._given: dict[str, int] = {}

    async def answer(self, call: Call) -> Reply:
        """The next reply of the script."""
        self.calls.append(call)
        return _reply(self._next(call.format))

    async def stream(self, call: Call, listener: Listener) -> Reply:
        """The same, heard while it is written."""
        self.calls.append(call)
        step = self._next(call.format)
        listener.began()
        if not isinstance(step, Streamed):
            reply = _reply(step)
            listener.heard(reply.text)
            return reply
        for piece in step.pieces:
            await self._sleep(step.delay)
            listener.heard(piece)
        return _reply(step)

    def _next(self, format: str) -> Scripted:
        lane, steps = "", self._replies
        if isinstance(steps, Mapping):
            lane, steps = f" for {format}", steps.get(format, ())
        place = self._given.get(lane, 0)
        self._given[lane] = place + 1
        if place >= len(steps):
            if not (self._repeat_last and steps):
                raise EngineError(f"the script has no reply left{lane}; it held {len(steps)}")
            place = len(steps) - 1
        return steps[place]


def _reply(step: Scripted) -> Reply:
    """The reply that a step is; raises what it raises instead."""
    match step:
        case Reply():
            return step
        case str():
            return Reply(step)
        case Exception():
            raise step
        case Streamed():
            if step.then is not None:
                raise step.then
            return Reply("".join(step.pieces))
        case _:
            return Reply(json.dumps(dict(step), ensure_ascii=False))
