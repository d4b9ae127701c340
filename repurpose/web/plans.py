"""What a run would take, before it begins; and the plans that wait to be started."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from repurpose.api.inspecting import inspect_source
from repurpose.batch.estimating import Estimator
from repurpose.ports import BatchStore
from repurpose.web.faults import HttpFault
from repurpose.web.orders import Order

__all__ = ["Plan", "Plans", "planned"]

_KEPT_SECONDS = 3600.0
_MOST_KEPT = 32
_MOST_CHARACTERS = 40_000_000
"""Of all sources that wait together."""
_MOST_SIGHTS = 100


@dataclass(slots=True)
class Plan:
    """An order that waits, and the run that it became."""

    id: str
    order: Order
    kept_until: float
    run: str | None = None
    starting: Lock = field(default_factory=Lock)


class Plans:
    """The plans that were told and can be started."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._kept: dict[str, Plan] = {}
        self._lock = Lock()

    def keep(self, order: Order) -> str:
        """Keep a plan for an hour, unless many newer ones come; returns its id."""
        self.sweep()
        plan = Plan(secrets.token_hex(12), order, self._seconds() + _KEPT_SECONDS)
        with self._lock:
            self._kept[plan.id] = plan
            while len(self._kept) > 1 and self._is_full():
                self._kept.pop(next(iter(self._kept)))
        return plan.id

    def found(self, plan_id: str) -> Plan:
        """The plan.

        Raises:
            HttpFault: there is none of that id any more.
        """
        self.sweep()
        plan = self._kept.get(plan_id)
        if plan is None:
            raise HttpFault(404, "plan", "that plan is not there any more", hint="plan again")
        return plan

    def sweep(self) -> None:
        """Forget plans that waited for too long."""
        now = self._seconds()
        with self._lock:
            self._kept = {key: plan for key, plan in self._kept.items() if plan.kept_until > now}

    def __len__(self) -> int:
        return len(self._kept)

    def _is_full(self) -> bool:
        size = sum(len(plan.order.source.text) for plan in self._kept.values())
        return len(self._kept) > _MOST_KEPT or size > _MOST_CHARACTERS


def planned(order: Order, store: BatchStore) -> dict[str, object]:
    """What an order would take, and what of its source a person should look at first.

    A format whose result is stored already takes nothing. Without a model nothing is called.
    """
    source, making = order.source, order.making
    stored = [
        job.format.name
        for job in making.jobs(source, order.names)
        if not making.needs[job.format.name] and store.done_rows(making.key_of(job))
    ]
    seen = inspect_source(source)
    return {
        "source": {
            "title": source.title,
            "language": source.language,
            "characters": len(source.text),
            "kind": source.kind,
            "warnings": list(source.warnings),
            "suspicions": [
                f"{f'line {sight.line:,}' if sight.where == 'text' else sight.where}:"
                f" {sight.found.kind}: {sight.found.excerpt}"
                for sight in seen.suspicious[:_MOST_SIGHTS]
            ],
        },
        **_takes(order, [name for name in order.names if name not in stored], store),
        "model": making.engine.model,
        "stored": stored,
        "sections": [
            {"name": section.name, "label": section.label or section.name}
            for section in order.sections
        ],
    }


def _takes(order: Order, names: list[str], store: BatchStore) -> dict[str, object]:
    engine = order.making.engine
    if engine.extractive:
        none = {"low": 0, "expected": 0, "high": 0}
        return {"calls": 0, "tokens": none, "cost": {"expected": 0.0, "worst": 0.0}}
    estimator = Estimator(order.making, store.observed(engine.model, engine.name))
    takes = estimator.of(order.source, names)
    cases = {"low": takes.least, "expected": takes.expected, "high": takes.worst}
    costs = {"expected": takes.expected, "worst": takes.worst}
    return {
        "calls": round(takes.least.calls),
        "tokens": {name: round(case.tokens) for name, case in cases.items()},
        "cost": {
            name: None if case.unpriced else round(case.cost, 6) for name, case in costs.items()
        },
    }
