"""Which requests and results are the same: hashes that a stored row or reply is found by."""

from __future__ import annotations

import json
from collections.abc import Mapping

from repurpose.core.call import Call
from repurpose.core.json_types import JsonValue
from repurpose.core.remembered import remembered
from repurpose.core.source import digest_of

__all__ = ["call_key", "idempotency_key"]

_LAYOUT = "1"
"""Raised when the way keys are made changes, so that old rows are not taken for equal."""


def call_key(
    call: Call, *, engine: str, model: str | None, parameters: Mapping[str, JsonValue]
) -> str:
    """Equal for requests that would be sent alike: a reply to one answers the other.

    64 hex digits over engine, model, parameters, prompts, schemas, source, budget and attempt.
    """
    return digest_of(
        _LAYOUT,
        engine,
        model or "",
        _canonical(parameters),
        call.format,
        call.system,
        call.user,
        _canonical_schema(call.schema),
        _canonical_schema(call.wire),
        call.source.digest,
        call.source.kind,
        call.source.url or "",
        str(call.output_tokens),
        str(call.attempt),
    )


def idempotency_key(
    first_call_key: str, *, version: int, finishing: Mapping[str, JsonValue]
) -> str:
    """Equal for results that would come out alike: a done row with it needs no call.

    `first_call_key` covers source, prompts, schema, engine, model and steering; `version` is
    the format's, and `finishing` is whatever post-validation is told, such as limits.
    """
    return digest_of(_LAYOUT, first_call_key, str(version), _canonical(finishing))


def _canonical(value: Mapping[str, JsonValue]) -> str:
    """One spelling for equal JSON objects, whatever the order of their keys."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


_canonical_schema = remembered(_canonical)  # every call of a format has the same two
