"""Asks a model in a GGUF file, in this process: no server, no key, nothing leaves the machine.

One call at a time, since they would share the same processors anyway, and with the source at the
beginning of the prompt: what llama.cpp has computed for it then serves every further format.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from repurpose.core.call import Call, Reply
from repurpose.core.json_types import JsonValue
from repurpose.engines._local_file import ModelFile
from repurpose.engines._local_model import LocalModel, Setup, require_library, usable_threads
from repurpose.errors import EngineError, StillWorking, UsageError
from repurpose.ports import Clock, Engine, Listener
from repurpose.text.boundary import BOUNDARY_RULE

__all__ = ["local_engine"]

log = logging.getLogger(__name__)

_RULE_ABOVE = "The system message says which blocks are untrusted data, and what that means."
"""In place of the rule itself, whose tags would look like a second block in the user message."""
_OUTPUT_TOKENS = 2048
"""The budget where a call names none. About three times the longest answer of a built-in format;
a small model that repeats itself would else go on until its context is full."""


def local_engine(
    *,
    path: str | Path,
    clock: Clock,
    temperature: float | None = None,
    timeout: float = 600.0,
    context_tokens: int = 8192,
    threads: int | None = None,
) -> Engine:
    """An engine that asks the model in the GGUF file at `path`, held to our JSON schema.

    The model is loaded by the first call and kept until `close`; while it loads, the library lets
    nothing else in this process run. Calls are answered one after another. `timeout` is for one
    call from the moment its turn has come, loading included, in seconds. `context_tokens` bounds
    prompt and answer together, and is itself bounded by what the model was trained with. `threads`
    is one less than the processors that this process may use, where it is None.

    A call that is cancelled or out of time stops within one batch of its prompt, or one token.

    Raises:
        UsageError: no GGUF file, the extra `local` is not installed, or a number out of range.
    """
    if timeout <= 0 or context_tokens < 1 or (threads is not None and threads < 1):
        raise UsageError("timeout must be above 0, context_tokens and threads at least 1")
    file = ModelFile.at(path)
    require_library()
    model = LocalModel(Setup(file, context_tokens, threads or usable_threads()))
    asker = _Asker(file.name, model, clock, timeout, temperature)
    parameters: dict[str, JsonValue] = {
        "file_bytes": file.size,
        "file_start": file.start_digest,
        "context_tokens": context_tokens,
    }
    if temperature is not None:
        parameters["temperature"] = temperature
    return Engine(
        name="local",
        answer=asker.answer,
        stream=asker.stream,
        model=file.name,
        parameters=parameters,
        close=asker.close,
        lanes=1,
    )


class _Asker:
    """From a call to its reply, in a thread of its own that does one thing at a time."""

    def __init__(
        self, name: str, model: LocalModel, clock: Clock, timeout: float, temperature: float | None
    ) -> None:
        self._name = name
        self._model = model
        self._clock = clock
        self._timeout = timeout
        self._temperature = temperature
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-model")
        self._turns: set[threading.Event] = set()
        """One for each call that is waiting or in work; setting it ends that call."""

    async def answer(self, call: Call) -> Reply:
        """The reply, when the calls before it are done.

        Raises:
            EngineError: no reply came; nothing else is raised but cancellation.
        """
        return await self._answer(call, None)

    async def stream(self, call: Call, listener: Listener) -> Reply:
        """The same; the listener is told in the thread of the event loop, as all else is."""
        return await self._answer(call, listener)

    async def _answer(self, call: Call, listener: Listener | None) -> Reply:
        loop = asyncio.get_running_loop()
        begun, stop = asyncio.Event(), threading.Event()

        def soon(call_back: Callable[..., object], *arguments: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop ended, so nobody waits any more
                loop.call_soon_threadsafe(call_back, *arguments)

        def begin() -> None:
            soon(begun.set)
            if listener is not None:
                soon(listener.began)

        def heard(text: str) -> None:
            if listener is not None and not stop.is_set():
                soon(listener.heard, text)

        self._turns.add(stop)
        turn = partial(self._take_turn, self._body(call), stop, begin, heard)
        work = loop.run_in_executor(self._thread, turn)
        work.add_done_callback(_noticed)
        try:
            await begun.wait()
            began = self._clock.monotonic()
            async with asyncio.timeout(self._timeout):
                reply = await work
        except TimeoutError as error:
            raise StillWorking(
                f"{self._name} gave no answer within {self._timeout:g} s",
                hint="raise --timeout, use a smaller model, or a shorter text",
            ) from error
        finally:
            stop.set()
            work.cancel()  # takes it out of the queue, where it has not begun
            self._turns.discard(stop)
        log.debug(
            "%s answered %s: %.2f s, finish %s",
            self._name,
            call.caller,
            self._clock.monotonic() - began,
            reply.finish,
        )
        return reply

    async def close(self) -> None:
        """End what is in work and let go of the model; a later call loads it again."""
        for stop in tuple(self._turns):
            stop.set()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._model.unload)

    def _take_turn(
        self,
        body: Mapping[str, object],
        stop: threading.Event,
        begin: Callable[[], None],
        heard: Callable[[str], None],
    ) -> Reply:
        """In the thread: the reply, or an error where it was told to stop."""
        begin()
        if not stop.is_set():
            try:
                reply = self._model.ask(body, stop.is_set, heard)
            except EngineError:
                if not stop.is_set():
                    raise
            else:
                return reply
        raise EngineError(f"{self._name} was closed before it had answered")

    def _body(self, call: Call) -> dict[str, object]:
        """The request, laid out so that the calls for one source begin alike.

        The system message is the same in every call there is. In the user message the fenced
        source comes first, then the rules, which so have the last word.
        """
        rules = call.system.replace(BOUNDARY_RULE, _RULE_ABOVE)
        body: dict[str, object] = {
            "messages": [
                {"role": "system", "content": BOUNDARY_RULE},
                {"role": "user", "content": f"{call.user}\n\n{rules}"},
            ],
            "max_tokens": call.output_tokens or _OUTPUT_TOKENS,
            "cache_prompt": True,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # a chunk for each batch of the prompt: a chance to stop
        }
        if call.wire:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": call.format, "strict": True, "schema": call.wire},
            }
        if self._temperature is not None:
            body["temperature"] = self._temperature
        return body


def _noticed(work: asyncio.Future[Reply]) -> None:
    """Look at how it ended, so that asyncio does not report what a cancelled caller cannot see."""
    if not work.cancelled():
        work.exception()
