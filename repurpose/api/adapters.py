"""Real time, fresh ids, and the members of the families, each loaded when it is chosen."""

from __future__ import annotations

import itertools
import os
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path

from repurpose.config import ENDPOINT, LOCAL, REQUEST_SECONDS, Settings
from repurpose.core.table import member
from repurpose.engines import ENGINES
from repurpose.errors import UsageError
from repurpose.exports import EXPORTS
from repurpose.ports import BatchStore, Clock, Engine, Store
from repurpose.ports.endpoints import Rendezvous
from repurpose.receiving.webhooks import SECRET_VARIABLE
from repurpose.stores import STORES

__all__ = ["SystemClock", "engine_for", "exported", "new_id", "open_store"]


class SystemClock:
    """The real time."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Give others a turn for at least `seconds`."""
        # Commands that only read need no event loop, and it is a fifth of what they would import.
        import asyncio  # noqa: PLC0415 - see above

        await asyncio.sleep(seconds)


_counter = itertools.count()


def new_id() -> str:
    """A fresh id of 19 hex digits; ids made later sort later.

    Eleven hex digits of milliseconds, two of a counter against equal moments, six random ones.
    """
    moment = time.time_ns() // 1_000_000
    return f"{moment:011x}{next(_counter) % 256:02x}{secrets.token_hex(3)}"


def open_store(database: str | Path) -> BatchStore:
    """The store in this SQLite file, made where there is none yet.

    Raises:
        StoreError: it cannot be opened.
    """
    opened: BatchStore = member(STORES["sqlite"])(database)
    return opened


def engine_for(settings: Settings) -> Engine:
    """The engine that these settings choose; the embedded one where no model is named.

    Raises:
        UsageError: an engine that is not there, or a model without key or address.
    """
    match settings.chosen_engine:
        case "extractive":
            engine: Engine = member(ENGINES["extractive"])()
        case "openai":
            ready = settings.checked_for_model()
            engine = member(ENGINES["openai"])(
                model=ready.model,
                base_url=ready.base_url,
                api_key=ready.api_key,
                key_variable=ready.key_variable,
                timeout=ready.timeout,
                temperature=ready.temperature,
                profile=ready.profile,
                rpm=ready.rpm,
                tpm=ready.tpm,
                clock=SystemClock(),
            )
        case "responses":
            engine = _responses(settings.checked_for_model())
        case "instructor":
            engine = member(ENGINES["instructor"])(
                model=settings.named_model,
                base_url=settings.base_url,
                api_key=settings.api_key,
                timeout=settings.timeout,
                temperature=settings.temperature,
                profile=settings.profile,
                rpm=settings.rpm,
                tpm=settings.tpm,
                clock=SystemClock(),
            )
        case "local":
            # A model in this process is slower than a server and has a default of its own.
            own = {
                "timeout": None if settings.timeout == REQUEST_SECONDS else settings.timeout,
                "context_tokens": settings.context_tokens,
            }
            engine = member(ENGINES["local"])(
                path=settings.named_model.removeprefix(LOCAL),
                temperature=settings.temperature,
                clock=SystemClock(),
                **{name: value for name, value in own.items() if value is not None},
            )
        case named if named.startswith(ENDPOINT):
            engine = member("repurpose.api._endpoints:endpoint_engine_for")(
                settings, clock=SystemClock(), new_id=new_id, environment=os.environ
            )
        case other:
            known = "openai, responses, instructor, local, extractive or endpoint:NAME"
            raise UsageError(
                f"--engine {other[:40]!r} is not known",
                hint=f"give {ENDPOINT}{other}" if other in settings.endpoints else known,
            )
    return engine


def _responses(ready: Settings) -> Engine:
    """The engine that has a model answer in the background."""
    clock = SystemClock()
    # What is worked on in the background may take longer than a request; unless somebody said so.
    own = {} if ready.timeout == REQUEST_SECONDS else {"timeout": ready.timeout}
    engine: Engine = member(ENGINES["responses"])(
        model=ready.model,
        base_url=ready.base_url,
        api_key=ready.api_key,
        key_variable=ready.key_variable,
        temperature=ready.temperature,
        profile=ready.profile,
        rpm=ready.rpm,
        tpm=ready.tpm,
        clock=clock,
        rendezvous=_webhooks(ready, clock) if ready.background == "webhook" else None,
        **own,
    )
    return engine


def _webhooks(settings: Settings, clock: Clock) -> Rendezvous:
    """Where verified webhooks are met.

    Raises:
        UsageError: nobody could receive or verify one.
    """
    needed = {
        "callback_base_url": settings.callback_base_url,
        SECRET_VARIABLE: os.environ.get(SECRET_VARIABLE, "").strip(),
    }
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise UsageError(
            f"--background webhook needs {' and '.join(missing)}",
            hint="set that and run repurpose serve-callbacks, or use --background poll",
        )
    found: Rendezvous = member("repurpose.api._rendezvous:rendezvous_for")(
        settings, clock, reachable_on_loopback=False
    )
    return found


def exported(store: Store, run_id: str, kind: str) -> str:
    """A stored run as one document; the same rows give the same text.

    Raises:
        UsageError: no such run, or an export that is not known.
    """
    where = EXPORTS.get(kind)
    if where is None:
        raise UsageError(f"no export {kind!r}", hint=f"choose from {', '.join(EXPORTS)}")
    found = store.run(run_id)
    document: str = member(where)(found, store.source(found.source_id), store.rows(found.id))
    return document
