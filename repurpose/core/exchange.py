"""One HTTP exchange, as values. Nothing of it shows itself in a `repr`: it may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Request", "Response", "WireError"]


@dataclass(frozen=True, slots=True)
class Request:
    """A request, whole but for the headers that hold secrets: those are the wire's."""

    method: str
    url: str = field(repr=False)
    """Absolute. It may hold a capability, so it is for no message."""
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Response:
    """A response with its whole body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names in lower case."""
    body: bytes = field(default=b"", repr=False)


class WireError(Exception):
    """No response came: no connection, or one that broke. `str()` is safe to show and to store."""

    def __init__(self, message: str, *, reached: bool = False) -> None:
        super().__init__(message)
        self.reached = reached
        """Whether the request may have arrived, so that the work may have begun."""
