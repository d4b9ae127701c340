"""The engines that runs of this process ask, one for each model, all within one budget."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from repurpose.api._asked_again import engine_again
from repurpose.api.adapters import engine_for
from repurpose.api.budgeting import budget_for, budgeted
from repurpose.config import Settings
from repurpose.core.record import Run
from repurpose.ports import Engine

__all__ = ["Engines"]

_MOST = 16
"""Models that are remembered; a forgotten one's connections close with the worker's loop."""


class Engines:
    """Makes each engine once, so that its pace and its connections are shared by all runs."""

    def __init__(self, settings: Settings, given: Engine | None) -> None:
        self._given = given
        self._budget = budget_for(settings)
        self._made: dict[tuple[str | None, str | None], Engine] = {}
        self._lock = Lock()

    def chosen(self, settings: Settings) -> Engine:
        """The engine that these settings choose.

        Raises:
            UsageError: there is none, or a cap cannot be held with it.
        """
        key = (settings.engine, settings.model)
        return self._held(key, settings, lambda: engine_for(settings))

    def again(self, settings: Settings, run: Run) -> Engine:
        """The engine that makes a part of a stored run again.

        Raises:
            UsageError: the run's model cannot be asked.
        """
        if settings.model or settings.engine or run.model is None:
            key = (settings.engine, settings.model)
        else:
            key = (run.engine, run.model)
        return self._held(key, settings, lambda: engine_again(settings, run))

    async def close(self) -> None:
        """Close their connections; in the loop that asked them. A given one stays its owner's."""
        with self._lock:
            made = list(self._made.values())
            self._made.clear()
        for engine in made if self._given is None else ():
            await engine.close()

    def _held(
        self, key: tuple[str | None, str | None], settings: Settings, make: Callable[[], Engine]
    ) -> Engine:
        with self._lock:
            if self._given is not None:
                key = ("", None)
            if key not in self._made:
                while len(self._made) >= _MOST:
                    self._made.pop(next(iter(self._made)))
                self._made[key] = self._within_budget(self._given or make(), settings)
            return self._made[key]

    def _within_budget(self, engine: Engine, settings: Settings) -> Engine:
        if self._budget is None:
            return engine
        return budgeted(
            engine,
            self._budget,
            prices=settings.prices,
            output_tokens=settings.output_tokens,
        )
