"""Engines that ask a budget before each request, and count after it what was taken.

What is true here: a request is never sent before its worst case is reserved. One that may have been
paid although no answer came stays counted at its worst; one that was refused is given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal

from repurpose.config import Settings
from repurpose.contexts import output_of
from repurpose.core.budget import Amount, Budget, Reservation
from repurpose.core.call import Call, Reply, Usage
from repurpose.engines._meter import METER
from repurpose.errors import BudgetReached, NeverStarted, StillWorking, UsageError
from repurpose.ports import Answerer, Deferred, Engine, Listener
from repurpose.prices import FREE_ENGINES, Price, exact_cost, most_cost, price_of
from repurpose.steps.worst_case import Load, call_load, load_cost
from repurpose.text.tokens import corrected_factor

__all__ = ["BudgetedEngine", "budget_for", "budgeted", "within_budget"]

_LESS = "raise the cap, or lower --max-output-tokens, which is reserved for each call"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetedEngine(Engine):
    """An engine whose calls are all within a budget."""

    budget: Budget


def budget_for(settings: Settings) -> Budget | None:
    """The budget that the settings set, with nothing spent of it yet; None where they set none.

    Raises:
        UsageError: a cap that is no number from 0 up.
    """
    if not settings.is_capped:
        return None
    return Budget(
        max_cost=settings.max_cost, max_calls=settings.max_calls, max_tokens=settings.max_tokens
    )


def budgeted(
    engine: Engine,
    budget: Budget,
    *,
    prices: Mapping[str, Price] | None = None,
    output_tokens: int | None = None,
) -> Engine:
    """The engine, held to a budget that others may share; one that calls no model as it is.

    Its `answer` and `stream` wait while calls in flight hold what is left, raise `BudgetReached`
    where nothing is left for the call, and `NeverStarted` where the whole budget would not do.
    `prices` are the user's own, by model; `output_tokens` is what replies may have, where that
    is the same for all calls. Wrapping twice with one budget counts once.

    Raises:
        UsageError: there is a cap, and no way to know what a call may take at worst: no price, or
            no longest reply. Raised before any call; the hint says how to give it.
    """
    if engine.extractive or (isinstance(engine, BudgetedEngine) and engine.budget is budget):
        return engine
    payer = _Payer(engine, budget, prices or {})
    _refuse_unknown(payer, output_tokens)
    same = {each.name: getattr(engine, each.name) for each in fields(Engine)}
    stream = None if engine.stream is None else payer.stream
    return BudgetedEngine(**{**same, "answer": payer.answer, "stream": stream}, budget=budget)


def within_budget(engine: Engine, settings: Settings) -> Engine:
    """The engine under the caps of the settings; as it is where there are none, or it has a budget.

    Raises:
        UsageError: a cap cannot be held, since nobody knows what a call may take.
    """
    budget = None if isinstance(engine, BudgetedEngine) else budget_for(settings)
    if budget is None:
        return engine
    tokens = settings.output_tokens
    return budgeted(engine, budget, prices=settings.prices, output_tokens=tokens)


def _refuse_unknown(payer: _Payer, output_tokens: int | None) -> None:
    """Raise UsageError where nobody can say what a call may take at worst."""
    budget, engine = payer.budget, payer.engine
    model = engine.model or engine.name
    if budget.capped("cost") and not payer.is_free and payer.price is None:
        at = f" at {payer.endpoint}" if payer.endpoint else ""
        raise UsageError(
            f"--max-cost needs a price, and none is known for {model}{at}",
            hint=f'give it in repurpose.toml: [prices."{model}"] with input and output, in US'
            " dollars per million tokens",
        )
    if payer.estimates and output_tokens is None and payer.largest is None:
        raise UsageError(
            f"the longest reply of {model} is not known, so a call has no worst case to reserve",
            hint="give --max-output-tokens",
        )


class _Payer:
    """From a call to its reply, within a budget."""

    def __init__(self, engine: Engine, budget: Budget, prices: Mapping[str, Price]) -> None:
        self.engine = engine
        self.budget = budget
        self.is_free = engine.name in FREE_ENGINES
        endpoint = engine.parameters.get("endpoint")
        self.endpoint = endpoint if isinstance(endpoint, str) else None
        self.largest = output_of(engine.model)
        loaded = engine.parameters.get("context_tokens")
        if isinstance(loaded, int):  # a model in this process: prompt and reply share it
            self.largest = loaded
        self._prices = prices
        self.price = self._price_of(engine.model)
        self.estimates = budget.capped("tokens") or (budget.capped("cost") and not self.is_free)
        self._factor = 1.0

    async def answer(self, call: Call) -> Reply:
        """The engine's reply.

        Raises:
            BudgetReached: nothing is left for this call; it was not sent.
            EngineError: no reply came.
        """
        return await self._paid(call, self.engine.answer)

    async def stream(self, call: Call, listener: Listener) -> Reply:
        """The same as `answer`, heard while it is written."""
        stream = self.engine.stream
        assert stream is not None  # noqa: S101 - else this is not offered

        async def heard(asked: Call) -> Reply:
            return await stream(asked, listener)

        return await self._paid(call, heard)

    async def _paid(self, call: Call, answer: Answerer) -> Reply:
        load = self._load(call)
        account = _Account(self.budget, self._worst(load))
        await account.opened()
        follower = METER.set(account)
        try:
            reply = await answer(call)
        except NeverStarted:
            account.close(None, unpaid=True)
            raise
        except Deferred:  # it will be paid, and nobody will ask a budget then
            later = load_cost(load, self.price, batch=True) if load else None
            account.close(Amount(tokens=load.tokens if load else None, cost=later))
            raise
        except BaseException:  # whatever ended it, it may have been paid
            account.close(None)
            raise
        finally:
            METER.reset(follower)
        account.close(self._took(reply))
        self._correct(load, reply.usage)
        return reply

    def _load(self, call: Call) -> Load | None:
        """What the call takes at most; None where no cap asks for it."""
        return call_load(call, self.largest, self._factor) if self.estimates else None

    def _worst(self, load: Load | None) -> Amount:
        """What to reserve.

        Raises:
            NeverStarted: nobody knows, or the whole budget would not do.
        """
        free = Decimal(0) if self.is_free else None
        worst = Amount(cost=free)
        if load is not None:
            self._refuse_unpriced(load)
            cost = load_cost(load, self.price) if free is None else free
            worst = Amount(tokens=load.tokens, cost=cost)
        refused = self.budget.excess(worst)
        if refused is not None:
            raise NeverStarted(refused, hint=_LESS)
        return worst

    def _refuse_unpriced(self, load: Load) -> None:
        """Raise NeverStarted for a prompt that may be longer than the known price is for."""
        most = self.price.up_to if self.price else None
        if self.budget.capped("cost") and most is not None and load.prompt > most:
            raise NeverStarted(
                f"the known price is for prompts of up to {most:,} tokens, and this one may have"
                f" {load.prompt:,}",
                hint=f'give one for all in repurpose.toml: [prices."{self.engine.model}"]',
            )

    def _took(self, reply: Reply) -> Amount:
        """What the reply says that it took; what it does not say is None."""
        usage = reply.usage
        given, written = usage.prompt_tokens, usage.completion_tokens
        tokens = None if given is None or written is None else given + written
        if self.is_free:
            return Amount(tokens=tokens, cost=Decimal(0))
        price = self._price_of(reply.model or self.engine.model) or self.price
        cost = exact_cost(usage, price)
        if cost is None and price and given is not None and written is not None:
            cost = most_cost(price, given, written)  # what of it the cache held is not known
        return Amount(tokens=tokens, cost=cost)

    def _price_of(self, model: str | None) -> Price | None:
        own = self._prices.get(model or "") or self._prices.get(self.engine.model or "")
        return own or price_of(model, self.endpoint)

    def _correct(self, load: Load | None, usage: Usage) -> None:
        """Remember how many of the model's tokens an estimated one is, where they are more."""
        if load is not None and usage.prompt_tokens and usage.prompt_tokens > load.prompt:
            self._factor *= max(1.0, corrected_factor(load.prompt, usage.prompt_tokens))


class _Account:
    """What one call reserves and pays, request by request."""

    def __init__(self, budget: Budget, worst: Amount) -> None:
        self._budget = budget
        self._worst = worst
        self._reservation: Reservation | None = None
        self._is_refused = False
        """Whether the server did not do what the reservation is for."""

    async def opened(self) -> None:
        """Reserve the first request; raises BudgetReached where nothing is left for it."""
        self._reservation = await _reserved(self._budget, self._worst)

    def failed(self, *, maybe_paid: bool) -> None:
        """Count a request that brought no answer at its worst, or keep its part for the next."""
        if maybe_paid and self._reservation is not None:
            self._budget.settle(self._reservation, None)
            self._reservation = None
        self._is_refused = not maybe_paid

    async def again(self) -> None:
        """Reserve one more request of the same call.

        Raises:
            StillWorking: nothing is left for it.
        """
        self._is_refused = False
        if self._reservation is None:
            more = Amount(0, self._worst.tokens, self._worst.cost)
            try:
                self._reservation = await _reserved(self._budget, more)
            except BudgetReached as reached:
                raise StillWorking(
                    "the connection was lost, and the budget is reached", hint=reached.message
                ) from reached

    def close(self, took: Amount | None, *, unpaid: bool = False) -> None:
        """Count what the last request took; None where nobody knows."""
        reservation, self._reservation = self._reservation, None
        if reservation is None:
            return
        if unpaid or self._is_refused:
            self._budget.release(reservation)
        elif took is None:
            self._budget.settle(reservation, None)
        else:
            calls = reservation.worst.calls
            self._budget.settle(reservation, Amount(calls, took.tokens, took.cost))


async def _reserved(budget: Budget, worst: Amount) -> Reservation:
    """The reservation, when there is room for it.

    Raises:
        BudgetReached: there is none.
    """
    changed = asyncio.Event()
    made = budget.reserve(worst, changed.set)
    try:
        await changed.wait()
    except BaseException:
        budget.release(made)
        raise
    if made.state == "refused":
        assert budget.reached is not None  # noqa: S101 - a refusal says why
        # A new one each time: the traceback of an exception grows with each raise.
        raise BudgetReached(budget.reached.message, hint=budget.reached.hint) from None
    return made
