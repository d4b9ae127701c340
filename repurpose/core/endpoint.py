"""How an HTTP endpoint is asked, and how it tells that it has finished: values without a wire.

The names are those of the settings: one field here is one key of `[endpoints.NAME]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

from repurpose.core.json_types import JsonValue
from repurpose.core.paths import MISSING, at

__all__ = [
    "INTERVALS",
    "TIMEOUTS",
    "Callback",
    "Completion",
    "Endpoint",
    "Mode",
    "Poll",
    "Scalar",
    "StatusMatch",
    "Stream",
    "Sync",
    "Ticket",
    "Trace",
    "TraceState",
]

Mode = Literal["sync", "poll", "stream", "callback", "trace"]
Scalar: TypeAlias = str | int | float | bool | None

TIMEOUTS: Mapping[Mode, float] = MappingProxyType(
    {"sync": 600.0, "stream": 600.0, "poll": 120.0, "callback": 120.0, "trace": 120.0}
)
"""Seconds, of the whole wait, where nobody says otherwise."""
INTERVALS: Mapping[Mode, float] = MappingProxyType({"poll": 1.0, "trace": 2.0})
"""Seconds between two looks."""


@dataclass(frozen=True, slots=True)
class StatusMatch:
    """What a body must say at one place: `field` is a dot path, compared by type and value."""

    field: str
    one_of: tuple[Scalar, ...]

    def matches(self, body: object) -> bool:
        """Whether the body says one of these; `1`, `1.0`, `true` and `"1"` are four values.

        >>> StatusMatch("state", (0, False)).matches({"state": False})
        True
        >>> StatusMatch("state", (1,)).matches({"state": True})
        False
        """
        found = at(body, self.field)
        if found is MISSING:
            return False
        return any(type(found) is type(wanted) and found == wanted for wanted in self.one_of)


@dataclass(frozen=True, slots=True)
class Sync:
    """The response to the submit is the result."""

    mode: ClassVar[Mode] = "sync"
    timeout: float = TIMEOUTS["sync"]


@dataclass(frozen=True, slots=True)
class Poll:
    """A status address is asked until its body says done or failed."""

    mode: ClassVar[Mode] = "poll"
    status_path: str
    """`/runs/{id}/status`, under the base address."""
    done: StatusMatch
    failed: StatusMatch | None = None
    interval: float = INTERVALS["poll"]
    timeout: float = TIMEOUTS["poll"]
    status_method: str = "GET"
    status_body: JsonValue = field(default=None, repr=False)
    """A template as the endpoint's body is; for servers that are asked for a state by POST."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The response to the submit is a stream of events; the one that says done is the result."""

    mode: ClassVar[Mode] = "stream"
    done: StatusMatch
    failed: StatusMatch | None = None
    timeout: float = TIMEOUTS["stream"]


@dataclass(frozen=True, slots=True)
class Callback:
    """The endpoint posts to an address that it is given; without `done`, any post is the result."""

    mode: ClassVar[Mode] = "callback"
    done: StatusMatch | None = None
    failed: StatusMatch | None = None
    timeout: float = TIMEOUTS["callback"]


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace source knows when the work has ended, and what came of it."""

    mode: ClassVar[Mode] = "trace"
    source: Mapping[str, JsonValue] = field(repr=False)
    """`{kind = "mlflow", url = …}`; what else it needs is the business of that kind."""
    interval: float = INTERVALS["trace"]
    timeout: float = TIMEOUTS["trace"]


Completion: TypeAlias = Sync | Poll | Stream | Callback | Trace


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An HTTP endpoint that answers calls."""

    name: str
    base_url: str
    method: str = "POST"
    path: str = "/"
    """`/runs/{run_id}`; values are percent-encoded where they are put in."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """As configured: a secret is a reference, `Bearer env:WRITER_TOKEN`."""
    body: JsonValue = field(default=None, repr=False)
    """A template: texts in it hold places such as `{{system}}`."""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further places of the user's own, as in `{{workspace}}`."""
    result_path: str = ""
    """Where the answer stands in the result, as in `core.paths.text_at`; empty for all of it."""
    returned_id: str | None = None
    """Where the endpoint's own id stands in its first answer; None where ours is injected."""
    completion: Completion = field(default=Sync())
    lanes: int | None = None
    """The most calls it works on at once; None where it does not say."""
    usage: Mapping[str, str] = field(default_factory=dict)
    """Where in the result its size stands: `prompt_tokens`, `completion_tokens`, as paths."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to one delivery."""

    key: str
    """What deliveries are kept under. It is made of the address and does not lead back to it."""
    url: str = field(repr=False)
    """A capability: whoever knows it may deliver."""


@dataclass(frozen=True, slots=True)
class TraceState:
    """What a trace source knows of a run."""

    status: Literal["absent", "running", "done", "failed"]
    diagnosis: str | None = None
    """Why it is not done, in a few words of ours, where the source can tell."""
