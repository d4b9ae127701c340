"""What the five modes share: what they may touch, and the one thing that they all come to."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from repurpose.core.endpoint import Endpoint
from repurpose.core.json_types import JsonValue
from repurpose.ports import Clock
from repurpose.ports.endpoints import Rendezvous, TraceSource, Wire

__all__ = ["CompletionOutcome", "Drive", "Environment"]


@dataclass(frozen=True, slots=True)
class Environment:
    """All that a mode may touch."""

    wire: Wire
    """The endpoint's, which adds its secret headers."""
    clock: Clock
    rendezvous: Rendezvous | None = None
    traces: TraceSource | None = None


@dataclass(frozen=True, slots=True)
class CompletionOutcome:
    """How a completion ended; the same shape in every mode."""

    status: Literal["done", "failed", "timeout"]
    run_id: str
    """Ours."""
    remote_id: str | None
    """The endpoint's own id, where its first answer is searched for one."""
    elapsed: float
    """Seconds from the submit to the end."""
    response: JsonValue = field(default=None, repr=False)
    """What decided: a body, an event, a trace. Of a timeout None, or the last that was seen."""
    diagnosis: str | None = None
    """What is known about a timeout, in words of ours."""


Drive = Callable[
    [Endpoint, Mapping[str, JsonValue], Environment], Coroutine[Any, Any, CompletionOutcome]
]
"""Submits to an endpoint and waits until it has finished.

The mapping holds what the places of body and paths stand for; `run_id` is always among it, and
`callback_url` is added by the one mode that has it. Raises `NeverStarted` where the submit was not
accepted, `StillWorking` where its connection was lost, `AgentFailed` where its state is refused for
good, and `BrokenReply` where the endpoint does not speak as configured. A cancellation ends the
wait at once and lets go of every socket.
"""
