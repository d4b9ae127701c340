"""A composite as it is stored."""

from __future__ import annotations

from dataclasses import dataclass

from repurpose.core.json_types import JsonObject

__all__ = ["ComposedRecord"]


@dataclass(frozen=True, slots=True)
class ComposedRecord:
    """What was put together from a run's rows, once."""

    run_id: str
    name: str
    """Of the composite."""
    version: int
    status: int
    """200, or 400 where a section was dropped."""
    message: str
    payload: JsonObject
    """As `repurpose.core.compose` makes it."""
    created_at: str
    """ISO 8601, UTC."""
