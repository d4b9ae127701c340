"""How much calls may take in all: reserved at worst before one is sent, settled after it.

What is spent and what is reserved never exceed a cap together, in whatever order calls begin and
end. Nothing here waits, so tasks of one event loop cannot come between; a reservation that has no
room yet waits in line and is told when its turn has come. Sums of money are exact decimals.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from repurpose.errors import BudgetReached, UsageError

__all__ = ["Amount", "Budget", "Kind", "Reservation", "told_dollars"]

Kind: TypeAlias = Literal["cost", "calls", "tokens"]
_KINDS: tuple[Kind, ...] = ("cost", "calls", "tokens")

_GO_ON = "what is stored stays; the same command goes on from there with a new budget"


@dataclass(frozen=True, slots=True)
class Amount:
    """What one call or several take; None where nobody knows, which is never nothing."""

    calls: int = 1
    tokens: int | None = None
    """Prompts and replies together."""
    cost: Decimal | None = None
    """US dollars."""


class Reservation:
    """A call's part of a budget, from before it is sent until it is settled."""

    __slots__ = ("on_change", "state", "worst")

    def __init__(self, worst: Amount, on_change: Callable[[], None]) -> None:
        self.worst = worst
        self.on_change = on_change
        self.state: Literal["waiting", "held", "refused", "settled"] = "waiting"
        """`held`: the call may be sent. `refused`: the budget is reached."""


class Budget:
    """What may be spent in all; None means no cap.

    A call without a known cost never passes under a cap on cost, and one of unknown length never
    under a cap on tokens. What a call turns out to take beyond its worst case is counted in full,
    so only then may the sum end above a cap.

    >>> budget = Budget(max_cost="0.10", max_calls=2)
    >>> first = budget.reserve(Amount(cost=Decimal("0.08")))
    >>> second = budget.reserve(Amount(cost=Decimal("0.03")))
    >>> first.state, second.state
    ('held', 'waiting')
    >>> budget.settle(first, Amount(cost=Decimal("0.02")))
    >>> second.state, budget.spent.cost
    ('held', Decimal('0.02'))
    """

    def __init__(
        self,
        *,
        max_cost: Decimal | float | str | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """Raises UsageError where a cap is no number from 0 up."""
        self._caps: dict[Kind, Decimal | int | None] = {
            "cost": None if max_cost is None else _decimal(max_cost),
            "calls": max_calls,
            "tokens": max_tokens,
        }
        for kind, cap in self._caps.items():
            if cap is not None and cap < 0:
                raise UsageError(f"max_{kind} {cap} is not at least 0")
        self._spent: dict[Kind, Decimal | int] = {"cost": Decimal(0), "calls": 0, "tokens": 0}
        self._held: dict[Kind, Decimal | int] = {"cost": Decimal(0), "calls": 0, "tokens": 0}
        self._unknown: set[Kind] = set()
        self._waiting: deque[Reservation] = deque()
        self.assumed = 0
        """Calls that are counted at their worst, since nobody knows what they took."""
        self.reached: BudgetReached | None = None
        """Why no further call may be sent, once one had no room; it stays so."""

    def capped(self, kind: Kind) -> bool:
        """Whether there is a cap of this kind."""
        return self._caps[kind] is not None

    @property
    def spent(self) -> Amount:
        """What calls took so far; a part that is not known of each of them is None."""
        return Amount(
            calls=int(self._spent["calls"]),
            tokens=None if "tokens" in self._unknown else int(self._spent["tokens"]),
            cost=None if "cost" in self._unknown else Decimal(self._spent["cost"]),
        )

    def excess(self, worst: Amount) -> str | None:
        """Why a call would have no room in the whole budget, were nothing spent; None if it has.

        >>> Budget(max_cost=5).excess(Amount(cost=Decimal("9.12")))
        'the call may cost up to US$ 9.12, and the whole budget is US$ 5.00'
        """
        for kind in _KINDS:
            cap, part = self._caps[kind], _part(worst, kind)
            if cap is None:
                continue
            if part is None:
                return f"nobody knows what the call may take at most, and there is a cap on {kind}"
            if part > cap:
                return (
                    f"the call may {_up_to(kind, part)}, and the whole budget is {_of(kind, cap)}"
                )
        return None

    def reserve(self, worst: Amount, on_change: Callable[[], None] = lambda: None) -> Reservation:
        """A reservation: held, refused, or in line behind those that calls in flight make wait.

        One in line becomes held or refused by a later settlement, and `on_change` is called then.
        It is refused where it would have no room even if all in flight turned out free; from then
        on every other one is refused too, and `reached` says why.

        Raises:
            UsageError: `excess` says that there is no room for it in any case.
        """
        refused = self.excess(worst)
        if refused is not None:
            raise UsageError(refused)
        made = Reservation(worst, on_change)
        self._waiting.append(made)
        self._advance()
        return made

    def settle(self, reservation: Reservation, actual: Amount | None) -> None:
        """Count what a call took in place of what was reserved for it.

        Where nobody knows, since its connection was lost or its usage was not told, the worst
        stays counted: it may have been paid.
        """
        if reservation.state != "held":
            raise ValueError("only what is held can be settled, and only once")
        self._let_go(reservation)
        took = actual or reservation.worst
        is_assumed = False
        for kind in _KINDS:
            part = _part(took, kind)
            if part is None:
                part = _part(reservation.worst, kind)
            if part is None:
                self._unknown.add(kind)
                continue
            self._spent[kind] += part
            is_assumed = is_assumed or (kind != "calls" and _part(actual, kind) is None)
        self.assumed += is_assumed
        self._advance()

    def release(self, reservation: Reservation) -> None:
        """Give back what was reserved for a call that was not paid, or that waits no longer."""
        self._let_go(reservation)
        self._advance()

    def _let_go(self, reservation: Reservation) -> None:
        if reservation.state == "held":
            for kind in _KINDS:
                self._held[kind] -= _part(reservation.worst, kind) or 0
        elif reservation.state == "waiting":
            self._waiting.remove(reservation)
        reservation.state = "settled"

    def _advance(self) -> None:
        """Hold or refuse those whose turn it is."""
        while self._waiting:
            first = self._waiting[0]
            lacking = self._lacking(first.worst, with_held=False)
            if self.reached is None and lacking is not None:
                self.reached = self._refusal(lacking, first.worst)
            if self.reached is None:
                if self._lacking(first.worst, with_held=True) is not None:
                    return
                for kind in _KINDS:
                    self._held[kind] += _part(first.worst, kind) or 0
            self._waiting.popleft()
            first.state = "held" if self.reached is None else "refused"
            first.on_change()

    def _lacking(self, worst: Amount, *, with_held: bool) -> Kind | None:
        """What of it has no room."""
        for kind in _KINDS:
            cap = self._caps[kind]
            taken = self._spent[kind] + (self._held[kind] if with_held else 0)
            if cap is not None and taken + (_part(worst, kind) or 0) > cap:
                return kind
        return None

    def _refusal(self, kind: Kind, worst: Amount) -> BudgetReached:
        cap, part = self._caps[kind], _part(worst, kind)
        told = f"the budget of {_of(kind, cap or 0)} is reached"
        if kind != "calls":
            least = "up to " if self.assumed else ""
            told += f": {least}{_of(kind, self._spent[kind])} spent"
            told += f", and the next call may {_up_to(kind, part or 0)}"
        return BudgetReached(told, hint=_GO_ON)


def told_dollars(amount: Decimal) -> str:
    """An amount to the cent, or to three digits where it is less than a dollar.

    >>> told_dollars(Decimal("0.000481234")), told_dollars(Decimal(5)), told_dollars(Decimal(0))
    ('US$ 0.000481', 'US$ 5.00', 'US$ 0')
    """
    if not amount:
        return "US$ 0"
    return f"US$ {amount:,.{max(2, 2 - amount.adjusted())}f}"


def _decimal(number: Decimal | float | str) -> Decimal:
    """The number as it is written: 0.1 is a tenth, not what is nearest to it in binary."""
    try:
        exact = Decimal(str(number))
    except ArithmeticError:
        exact = Decimal("NaN")
    if not exact.is_finite():
        raise UsageError("max_cost is no number of US dollars")
    return exact


def _part(amount: Amount | None, kind: Kind) -> Decimal | int | None:
    if amount is None:
        return None
    match kind:
        case "cost":
            return amount.cost
        case "calls":
            return amount.calls
        case "tokens":
            return amount.tokens


def _of(kind: Kind, part: Decimal | int) -> str:
    if kind == "cost":
        return told_dollars(Decimal(part))
    return f"{part:,} {kind if part != 1 else kind[:-1]}"


def _up_to(kind: Kind, part: Decimal | int) -> str:
    return f"{'cost' if kind == 'cost' else 'take'} up to {_of(kind, part)}"
