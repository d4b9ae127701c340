"""How a chat completions server is asked for a schema."""

from __future__ import annotations

import re

from repurpose.core.call import Call
from repurpose.core.profile import Profile
from repurpose.schema.union import SHARED_NAME, is_shared

__all__ = ["json_schema", "response_format", "schema_name"]

_NO_NAME_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
"""Characters, all of `[A-Za-z0-9_-]`: OpenAI, structured outputs, 2026-11."""


def response_format(call: Call, profile: Profile) -> dict[str, object]:
    """What the body says about the shape: an item `response_format`, or nothing."""
    if not call.wire:
        return {}
    match profile.schema:
        case "strict":
            wanted = json_schema(call, strict=True)
        case "schema":
            wanted = json_schema(call, strict=False)
        case "object":
            wanted = {"type": "json_object"}
        case "none":
            return {}
    return {"response_format": wanted}


def json_schema(call: Call, *, strict: bool) -> dict[str, object]:
    """Our own wire schema under its name; `strict` asks for constrained decoding.

    The name is the format's, but for a schema that formats share: with another name it would be
    another beginning of the prompt.
    """
    shared = is_shared(call.format, call.schema, call.wire)
    named: dict[str, object] = {"name": SHARED_NAME if shared else schema_name(call.format)}
    if strict:
        named["strict"] = True
    named["schema"] = call.wire
    return {"type": "json_schema", "json_schema": named}


def schema_name(format: str) -> str:
    """The format's name in the characters that providers allow."""
    return _NO_NAME_CHARACTER.sub("_", format)[:_LONGEST_NAME] or "answer"
