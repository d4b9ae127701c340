"""The envelope that every step hands on, and the facts of a run that stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from repurpose.core.json_types import JsonObject, JsonValue

__all__ = ["Envelope", "EnvelopeStatus", "Meta", "retries_phrase"]

EnvelopeStatus = Literal[200, 400]


@dataclass(frozen=True, slots=True)
class Envelope:
    """`{status, message, data}`: 200 and declared fields, or 400 and a reason a person can read.

    >>> Envelope.success("FAQ done", {"pairs": [], "mood": 1}, declared=["pairs"]).data
    {'pairs': []}
    """

    status: EnvelopeStatus
    message: str
    data: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _is_status(self.status):
            raise ValueError(f"an envelope's status is 200 or 400, not {self.status!r}")

    @classmethod
    def of(cls, status: int, message: str, data: JsonObject) -> Envelope:
        """The envelope of three parts that came from elsewhere, each checked.

        Raises:
            ValueError: the status is neither 200 nor 400, the message no text, or the data no
                object.
        """
        if not _is_status(status):
            raise ValueError(f"an envelope's status is 200 or 400, not {status!r}")
        envelope = cls.from_object({"status": status, "message": message, "data": data})
        if envelope is None:
            raise ValueError("an envelope's message is a text and its data an object")
        return envelope

    @classmethod
    def success(cls, message: str, data: JsonObject, *, declared: Iterable[str]) -> Envelope:
        """A 200 envelope whose data holds the declared fields only."""
        return cls(200, message, {name: data[name] for name in declared if name in data})

    @classmethod
    def failure(cls, message: str) -> Envelope:
        """A 400 envelope; it has no data, so no half result can be taken for a whole one."""
        return cls(400, message, {})

    def to_map(self) -> dict[str, JsonValue]:
        """The envelope as a plain JSON object with exactly three keys."""
        return {"status": self.status, "message": self.message, "data": self.data}

    @classmethod
    def from_object(cls, value: object) -> Envelope | None:
        """The envelope that `value` is, or None for a look-alike.

        Business data such as `{"status": "draft", "data": []}` is none: it takes exactly the
        three keys, an integer status of 200 or 400, a text and an object.
        """
        match value:
            case Envelope():
                return value
            case {"status": int(status), "message": str(message), "data": Mapping() as data}:
                known = _is_status(status)
                return cls(status, message, data) if known and len(value) == 3 else None  # type: ignore[arg-type]  # narrowed by `known`
            case _:
                return None

    @classmethod
    def is_envelope(cls, value: object) -> bool:
        """Whether `value` is an envelope, as itself or as a map; a look-alike is none."""
        return cls.from_object(value) is not None


def _is_status(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in (200, 400)


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts of a run that stand beside the envelope and never inside its data."""

    run_id: str | None
    attempts: int
    """Calls made for this format; 0 where a finished row was reused."""
    elapsed_ms: int
    provenance: str
    """What wrote the text: `model gpt-4.1-mini`, or `extracted, no model`."""
    coerced: tuple[str, ...] = ()
    """Paths whose numeric text was converted to the declared number."""
    dropped: tuple[str, ...] = ()
    """Undeclared fields that were left out."""
    missing_required: tuple[str, ...] = ()
    """Paths of required fields that the last answer lacked; empty unless the format failed for it.

    Known while a run lasts, and not stored: `repurpose replay CALL` finds it out again.
    """
    type_mismatched: tuple[str, ...] = ()
    """Paths where the last answer held another type than declared; as `missing_required`."""
    notes: tuple[str, ...] = ()
    """What was changed after validation, one line each: capped lists, dropped entries, cuts."""
    reused_from: str | None = None
    """The run whose finished rows were reused without a call."""
    validated: bool = True
    """Whether the answer had to be of a declared shape; not so for a format without fields."""
    files: tuple[str, ...] = ()
    """Files that were written; a run writes none, since exports are made from the store."""


def retries_phrase(attempts: int) -> str:
    """` (1 retry)` for two attempts, ` (2 retries)` for three, nothing for one.

    >>> retries_phrase(2)
    ' (1 retry)'
    """
    retries = attempts - 1
    if retries < 1:
        return ""
    return f" ({retries} {'retry' if retries == 1 else 'retries'})"
