"""The lines of a batch's files, and what a provider tells of a batch; nothing in it is trusted.

The shapes are those of OpenAI's batch guide and reference (2026-11): a request line is
`{custom_id, method, url, body}`, an answer `{id, custom_id, response, error}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from repurpose.core.call import Reply
from repurpose.core.provider_batch import Answered, Lost, Outcome, Refusal
from repurpose.engines._gate import Final
from repurpose.engines._openai_connections import StatusError
from repurpose.engines._openai_faults import Party, fault_of, is_filtered, spoken_codes
from repurpose.engines._openai_reply import read_reply
from repurpose.errors import BrokenReply, EngineError, NeverStarted

__all__ = ["ENDPOINT", "LineFault", "Told", "line_of", "outcome_of", "told_from"]

ENDPOINT = "/v1/chat/completions"
"""What every line is for. A fixed word of the interface, also where a server's path is another."""

_LONGEST = 200
"""Characters kept of a provider's id or status; real ones have fewer than 70."""
_MOST_FAULTS = 1000
"""Faults of lines that are read; OpenAI tells fewer."""


@dataclass(frozen=True, slots=True)
class LineFault:
    """Why a batch was refused, and by which of its lines."""

    line: int | None
    """From 1, or None where it is about the whole file."""
    codes: str
    """` (code ..., param ...)`, or nothing."""
    code: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """What a provider tells of a batch."""

    batch_id: str
    status: str
    output_file_id: str | None = None
    error_file_id: str | None = None
    completed: int | None = None
    """Requests that were answered; None where it does not say."""
    ours: str | None = None
    """Our id of it, from its metadata."""
    faults: tuple[LineFault, ...] = ()


def line_of(call_id: str, body: str) -> bytes:
    """A request as a line of the file; `body` is the JSON that a live call would send."""
    head = json.dumps({"custom_id": call_id, "method": "POST", "url": ENDPOINT})
    # The body goes in as it is: a line break within it would be an escape.
    return f'{head[:-1]}, "body": {body}}}\n'.encode()


def told_from(body: object, server: str, metadata_key: str) -> Told:
    """What a batch object says.

    Raises:
        BrokenReply: it has no id or no status.
    """
    fields = body if isinstance(body, Mapping) else {}
    batch_id, status = _name(fields.get("id")), _name(fields.get("status"))
    if batch_id is None or status is None:
        raise BrokenReply(f"{server} answered without a batch", status=200)
    metadata, counts, errors = (
        _object(fields.get(name)) for name in ("metadata", "request_counts", "errors")
    )
    faults = errors.get("data")
    return Told(
        batch_id,
        status,
        _name(fields.get("output_file_id")),
        _name(fields.get("error_file_id")),
        _count(counts.get("completed")),
        _name(metadata.get(metadata_key)),
        tuple(_line_fault(each) for each in faults[:_MOST_FAULTS])
        if isinstance(faults, list)
        else (),
    )


def outcome_of(line: bytes, party: Party, now: datetime) -> Outcome | None:
    """What a line of an output or error file comes to; None where it is no such line.

    A status is judged as that of a live call: 4xx is final, 429 and 5xx are sent again.
    """
    try:
        entry = json.loads(line)  # noqa: TID251 - the provider's frame around an answer
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, Mapping):
        return None
    call_id = entry.get("custom_id")
    if not isinstance(call_id, str) or not call_id:
        return None
    response = entry.get("response")
    if isinstance(response, Mapping):
        return _of_response(call_id, response, party, now)
    return Lost(call_id, f"not answered{spoken_codes(entry.get('error'))}")


def _of_response(
    call_id: str, response: Mapping[str, object], party: Party, now: datetime
) -> Outcome:
    status, body = _count(response.get("status_code")), response.get("body")
    request_id = _name(response.get("request_id"))
    if status is None:
        return Lost(call_id, "not answered")
    if 200 <= status < 300:
        try:
            reply = read_reply(body, server=party.server, request_id=request_id)
        except BrokenReply as error:
            return _refused(call_id, error)
        return Answered(call_id, reply)
    told = body.get("error", body) if isinstance(body, Mapping) else body
    refused = StatusError(status, {}, told)
    if is_filtered(refused):
        return Answered(call_id, Reply("", finish="content_filter", request_id=request_id))
    match fault_of(refused, party, now):
        case Final(final):
            return _refused(call_id, final)
        case _:
            return Lost(call_id, f"status {status}")


def _refused(call_id: str, error: EngineError) -> Refusal:
    paid = not isinstance(error, NeverStarted)
    return Refusal(call_id, error.message, error.kind, error.hint, paid=paid)


def _line_fault(entry: object) -> LineFault:
    fields = _object(entry)
    line = _count(fields.get("line"))
    return LineFault(line or None, spoken_codes(fields), _name(fields.get("code")))


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _name(value: object) -> str | None:
    """A short text as providers use for ids; None where it is none."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > _LONGEST:
        return None
    return value or None


def _count(value: object) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**31 else None  # type: ignore[operator, return-value]
