"""A budget: what is spent and what is reserved never exceed a cap together."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.core.budget import Amount, Budget, Reservation
from repurpose.errors import BudgetReached, UsageError

TOKENS, WORST = "the budget of 2,000 tokens", "1,500 tokens"


def cents(count: int) -> Amount:
    return Amount(tokens=count * 10, cost=Decimal(count) / 100)


def test_the_worst_case_is_reserved_and_what_it_took_is_counted() -> None:
    budget = Budget(max_cost=1)
    call = budget.reserve(cents(60))
    assert call.state == "held"
    budget.settle(call, cents(5))
    assert budget.spent == Amount(1, 50, Decimal("0.05"))


def test_ten_times_a_tenth_is_one_exactly() -> None:
    budget = Budget(max_cost=1.0)
    for _ in range(10):
        budget.settle(budget.reserve(Amount(cost=Decimal("0.1"))), None)
    assert budget.spent.cost == 1
    assert budget.reached is None
    assert budget.reserve(Amount(cost=Decimal("0.000001"))).state == "refused"


def test_a_call_waits_while_those_in_flight_hold_what_it_needs() -> None:
    budget, told = Budget(max_cost=1), []
    first = budget.reserve(cents(60))
    second = budget.reserve(cents(60), lambda: told.append("its turn"))
    assert (second.state, told) == ("waiting", [])
    budget.settle(first, cents(10))
    assert (second.state, told) == ("held", ["its turn"])


def test_a_call_is_refused_where_those_in_flight_could_not_make_room() -> None:
    budget = Budget(max_cost=1)
    budget.settle(budget.reserve(cents(60)), cents(60))
    assert budget.reserve(cents(41)).state == "refused"
    assert isinstance(budget.reached, BudgetReached)
    assert budget.reached.exit_code == 5
    assert str(budget.reached) == (
        "the budget of US$ 1.00 is reached: US$ 0.600 spent, and the next call may cost up to"
        " US$ 0.410"
    )


def test_after_one_refusal_nothing_more_begins() -> None:
    budget = Budget(max_cost=1)
    busy = budget.reserve(cents(60))
    waiting = budget.reserve(cents(50))
    budget.settle(busy, cents(60))
    assert waiting.state == "refused"
    assert budget.reserve(cents(1)).state == "refused"


def test_those_that_wait_are_served_in_their_order() -> None:
    budget = Budget(max_cost=1)
    busy = budget.reserve(cents(60))
    large, small = budget.reserve(cents(80)), budget.reserve(cents(10))
    assert (large.state, small.state) == ("waiting", "waiting")
    budget.settle(busy, cents(1))
    assert (large.state, small.state) == ("held", "held")


def test_one_that_waits_no_longer_makes_room_for_the_next() -> None:
    budget = Budget(max_cost=1)
    budget.reserve(cents(60))
    large, small = budget.reserve(cents(80)), budget.reserve(cents(10))
    budget.release(large)
    assert (large.state, small.state) == ("settled", "held")


def test_an_answer_that_nobody_saw_stays_counted_at_its_worst() -> None:
    budget = Budget(max_cost=1)
    budget.settle(budget.reserve(cents(60)), None)
    assert (budget.spent, budget.assumed) == (cents(60), 1)
    assert budget.reserve(cents(60)).state == "refused"
    assert "up to US$ 0.600 spent" in str(budget.reached)


def test_a_part_that_the_usage_does_not_tell_stays_at_its_worst() -> None:
    budget = Budget(max_tokens=1000)
    budget.settle(budget.reserve(cents(60)), Amount(cost=Decimal("0.02")))
    assert budget.spent == Amount(1, 600, Decimal("0.02"))
    assert budget.assumed == 1


def test_what_was_not_paid_is_given_back() -> None:
    budget = Budget(max_cost=1, max_calls=1)
    budget.release(budget.reserve(cents(60)))
    assert budget.spent == Amount(0, 0, Decimal(0))
    assert budget.reserve(cents(60)).state == "held"


def test_an_unknown_cost_is_never_nothing() -> None:
    budget = Budget(max_calls=5)
    budget.settle(budget.reserve(Amount()), Amount())
    budget.settle(budget.reserve(Amount()), cents(3))
    assert budget.spent == Amount(2, None, None)


@pytest.mark.parametrize("cap", [{"max_cost": 1}, {"max_tokens": 1000}])
def test_a_call_of_unknown_size_never_passes_under_a_cap(cap: dict[str, int]) -> None:
    budget = Budget(**cap)  # type: ignore[arg-type]  # one of the caps
    assert budget.excess(Amount()) is not None
    with pytest.raises(UsageError, match="nobody knows"):
        budget.reserve(Amount())


def test_a_call_that_is_larger_than_the_whole_budget_does_not_end_it() -> None:
    budget = Budget(max_cost=1)
    assert budget.excess(cents(101)) == (
        "the call may cost up to US$ 1.01, and the whole budget is US$ 1.00"
    )
    with pytest.raises(UsageError):
        budget.reserve(cents(101))
    assert budget.reached is None


@pytest.mark.parametrize(
    ("budget", "worst", "told"),
    [
        (Budget(max_calls=1), Amount(), "the budget of 1 call is reached"),
        (
            Budget(max_tokens=2000),
            Amount(tokens=1500),
            f"{TOKENS} is reached: 1,500 tokens spent, and the next call may take up to {WORST}",
        ),
    ],
)
def test_each_cap_says_what_is_reached(budget: Budget, worst: Amount, told: str) -> None:
    budget.settle(budget.reserve(worst), worst)
    budget.reserve(worst)
    assert str(budget.reached) == told
    assert budget.reached is not None
    assert budget.reached.hint is not None


@pytest.mark.parametrize("cap", [-1, "many", float("nan"), float("inf")])
def test_a_cap_is_a_number_from_zero_up(cap: float | str) -> None:
    with pytest.raises(UsageError, match="max_cost"):
        Budget(max_cost=cap)


def test_a_reservation_is_settled_once() -> None:
    budget = Budget(max_cost=1)
    call = budget.reserve(cents(60))
    budget.settle(call, cents(5))
    with pytest.raises(ValueError, match="only once"):
        budget.settle(call, cents(5))


# --- the law: no interleaving of calls overshoots -------------------------------------------------


@dataclass(frozen=True)
class Step:
    """What happens next: a call asks, or one in flight ends as `end` says."""

    begins: bool
    worst: int
    took: float
    end: str
    which: int


steps = st.lists(
    st.builds(
        Step,
        begins=st.booleans(),
        worst=st.integers(0, 60),
        took=st.floats(0, 1),
        end=st.sampled_from(["answered", "lost", "refused", "cancelled"]),
        which=st.integers(0, 50),
    ),
    max_size=60,
)


@given(steps=steps, cap=st.integers(0, 100), calls=st.none() | st.integers(0, 12))
def test_no_order_of_parallel_calls_spends_more_than_the_cap(
    steps: list[Step], cap: int, calls: int | None
) -> None:
    budget = Budget(max_cost=Decimal(cap) / 100, max_tokens=cap * 10, max_calls=calls)
    open_calls: list[Reservation] = []
    for step in steps:
        if step.begins:
            if budget.excess(cents(step.worst)) is None:
                open_calls.append(budget.reserve(cents(step.worst)))
        elif open_calls:
            _end(budget, open_calls.pop(step.which % len(open_calls)), step)
        held = sum((each.worst.cost or 0 for each in open_calls if each.state == "held"), Decimal())
        spent = budget.spent
        assert (spent.cost or 0) + held <= Decimal(cap) / 100
        assert (spent.tokens or 0) <= cap * 10
        assert calls is None or spent.calls <= calls
        in_flight = any(each.state == "held" for each in open_calls)
        assert in_flight or all(each.state != "waiting" for each in open_calls)


def _end(budget: Budget, call: Reservation, step: Step) -> None:
    if call.state != "held" or step.end in ("refused", "cancelled"):
        budget.release(call)
    elif step.end == "lost":
        budget.settle(call, None)
    else:
        whole = int((call.worst.tokens or 0) / 10 * step.took)
        budget.settle(call, cents(whole))
