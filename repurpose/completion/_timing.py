"""How long a completion may still take, and what it came to in the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from repurpose.completion.base import CompletionOutcome
from repurpose.core.endpoint import Endpoint
from repurpose.core.json_types import JsonValue
from repurpose.ports import Clock

__all__ = ["Wait"]


class Wait:
    """One wait, from its submit on."""

    def __init__(self, endpoint: Endpoint, values: Mapping[str, JsonValue], clock: Clock) -> None:
        self._run_id = str(values["run_id"])
        self._timeout = endpoint.completion.timeout
        self._clock = clock
        self._began = clock.monotonic()
        self.remote_id: str | None = None
        """The endpoint's own id, as soon as it is known."""

    def left(self) -> float:
        """The seconds that are left; none, or fewer than none, when time is up."""
        return self._began + self._timeout - self._clock.monotonic()

    def over(
        self,
        status: Literal["done", "failed", "timeout"],
        response: JsonValue = None,
        *,
        diagnosis: str | None = None,
    ) -> CompletionOutcome:
        """How it ended, now."""
        return CompletionOutcome(
            status=status,
            run_id=self._run_id,
            remote_id=self.remote_id,
            elapsed=self._clock.monotonic() - self._began,
            response=response,
            diagnosis=diagnosis,
        )
