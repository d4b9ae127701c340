"""Half-price batches at the provider: queue, submit, collect.

    engine = gathering(settings)            # its runs queue their calls and send nothing
    ...                                     # any runs, with that engine and a store
    await submit(settings, store, claims)   # the queue goes to the provider
                                            # the process may end here
    await collect(settings, store, claims)  # hours later: the replies are stored
    ...                                     # the same runs again: they find their replies, and
                                            # queue what is left, such as repairs

Every step may be killed and done again: no request is in two batches, and no reply is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic_core import to_json

from repurpose.api.adapters import SystemClock, engine_for, new_id
from repurpose.config import Settings
from repurpose.core.call import Call
from repurpose.core.profile import Profile
from repurpose.core.provider_batch import Collected, Pending, ProviderBatch, Submitted
from repurpose.core.table import member
from repurpose.engines._batch_gathering import gathering_engine
from repurpose.engines._openai_requests import OPENAI_URL, Address, chat_body
from repurpose.engines._profiles import profile_chosen
from repurpose.errors import UsageError
from repurpose.ports import Clock, Engine, Store
from repurpose.ports.endpoints import Deliveries
from repurpose.receiving.tokens import event_key

if TYPE_CHECKING:  # it loads an HTTP client, which only sending and collecting need
    from repurpose.engines._batch_sending import Claims, Limits, Sender
    from repurpose.engines._batch_server import BatchServer

__all__ = ["POLL_SECONDS", "collect", "gathering", "pending", "submit"]

POLL_SECONDS = 60.0
"""Between two looks at batches that are waited for; most take minutes to hours."""
_SILENT = 10
"""Looks in a row that failed, after which nobody waits any longer."""


def gathering(settings: Settings, *, repair_live: bool = False) -> Engine:
    """An engine whose calls wait for a provider's batch, with the facts of the chosen one.

    Its prompts are laid out without regard to a cache: batches are not known to have one, and a
    schema of its own for each format needs fewer repairs. With `repair_live`, answers that must
    be asked for again are so at once, at full price.

    Raises:
        UsageError: the chosen engine has no such batches, or cannot be used.
    """
    at = _At.of(settings)
    body_of = lambda call: to_json(at.body(call)).decode()  # noqa: E731 - what the engine calls
    return gathering_engine(replace(at.engine, cache="none"), body_of, repair_live=repair_live)


async def submit(
    settings: Settings,
    store: Store,
    claims: Claims,
    *,
    wanted_since: str | None = None,
    limits: Limits | None = None,
    clock: Clock | None = None,
) -> Submitted:
    """Send what is queued for the chosen engine, and finish what a killed process began.

    `claims` keep two processes from sending one batch; they must be renewed meanwhile.
    `wanted_since`, an ISO time, leaves out what no run has asked for since then, such as the
    calls for a text that has changed. Whatever fails on the way is told in `faults`.

    Raises:
        UsageError: the chosen engine has no such batches.
        StoreError: the database fails.
    """
    at = _At.of(settings)
    clock = clock or SystemClock()
    server = at.server(clock)
    sender = at.sender(server, store, claims, clock, limits)
    try:
        submitted: Submitted = await sender.submit(wanted_since)
    finally:
        await server.close()
    return submitted


async def collect(
    settings: Settings,
    store: Store,
    claims: Claims,
    *,
    wait: bool = False,
    stopping: Callable[[], bool] = lambda: False,
    poll_seconds: float = POLL_SECONDS,
    clock: Clock | None = None,
) -> Collected:
    """Store what the provider has answered; with `wait`, look again until all batches are over.

    That is every `poll_seconds`, and within a second of a verified webhook about one of them, where
    `repurpose serve-callbacks` takes those. `stopping` ends the wait within a second.

    Batches that a killed process sent and could not store are found again first. Requests that
    were not answered are back in the queue, which `submit` sends.

    Raises:
        UsageError: the chosen engine has no such batches.
        StoreError: the database fails; what was collected before is stored.
    """
    at = _At.of(settings)
    clock = clock or SystemClock()
    server = at.server(clock)
    collector = member("repurpose.engines._batch_collecting:Collector")(
        server, store.provider_batches, clock, settings.prices
    )
    try:
        lost = await at.sender(server, store, claims, clock, None).attach()
        collected: Collected = await collector.collect()
        silent = 0
        while wait and collected.working and silent < _SILENT:
            webhooks = _Webhooks(store.deliveries, collected.working, clock)
            if not await _slept(clock, poll_seconds, stopping, webhooks.came):
                break
            collected += await collector.collect()
            silent = silent + 1 if collected.faults else 0
    finally:
        await server.close()
    return replace(collected, faults=(*lost.faults, *collected.faults))


def pending(store: Store) -> Pending:
    """What waits in this store, of all engines.

    Raises:
        StoreError: the database fails.
    """
    return store.provider_batches.pending()


async def _slept(
    clock: Clock, seconds: float, stopping: Callable[[], bool], woken: Callable[[], bool]
) -> bool:
    """Whether the time passed, or somebody was woken, without anybody asking to stop."""
    until = clock.monotonic() + seconds
    while (left := until - clock.monotonic()) > 0 and not woken():
        if stopping():
            return False
        await clock.sleep(min(left, 1.0))
    return not stopping()


@dataclass(frozen=True, slots=True)
class _Webhooks:
    """What a provider posts about batches: that it is time to look, and no more than that."""

    deliveries: Deliveries
    batches: Sequence[ProviderBatch]
    clock: Clock

    def came(self) -> bool:
        """Whether there is news of a batch that nobody has looked at; all of it is taken."""
        now = self.clock.now().timestamp()
        keys = [event_key(batch.batch_id) for batch in self.batches if batch.batch_id]
        news = [key for key in keys if self.deliveries.claim(key, now) is not None]
        return bool(news)


@dataclass(frozen=True, slots=True)
class _At:
    """The server and model that the settings choose."""

    settings: Settings
    """Ready for a model call."""
    engine: Engine
    profile: Profile

    @classmethod
    def of(cls, settings: Settings) -> _At:
        if settings.chosen_engine != "openai":
            raise UsageError(
                "provider batches need a model at OpenAI, or at a server with its batch interface",
                hint="name a --model such as gpt-4.1-mini, or a --base-url, and --engine openai",
            )
        ready = settings.checked_for_model()
        host = Address.of(ready.base_url or OPENAI_URL).host
        profile = profile_chosen(ready.profile, host)
        return cls(ready, engine_for(settings), profile)

    def body(self, call: Call) -> dict[str, object]:
        return chat_body(call, self.settings.named_model, self.profile, self.settings.temperature)

    def server(self, clock: Clock) -> BatchServer:
        ready = self.settings
        made: BatchServer = member("repurpose.engines._batch_server:batch_server")(
            url=ready.base_url or OPENAI_URL,
            model=ready.named_model,
            clock=clock,
            api_key=(ready.api_key or "").strip() or None,
            key_variable=ready.key_variable,
            timeout=ready.timeout,
            profile=self.profile,
        )
        return made

    def sender(
        self,
        server: BatchServer,
        store: Store,
        claims: Claims,
        clock: Clock,
        limits: Limits | None,
    ) -> Sender:
        make = member("repurpose.engines._batch_sending:Sender")
        options = {} if limits is None else {"limits": limits}
        made: Sender = make(
            server=server,
            engine=self.engine,
            batches=store.provider_batches,
            claims=claims,
            clock=clock,
            new_id=new_id,
            **options,
        )
        return made
