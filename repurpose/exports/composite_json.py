"""A composite's payload as one JSON document; for programs, and to keep."""

from __future__ import annotations

import json

from repurpose.core.json_types import JsonObject
from repurpose.exports._composites import CompositeFacts

__all__ = ["composite_json"]


def composite_json(payload: JsonObject, _: CompositeFacts) -> str:
    """The payload with two spaces of indent, in the characters it was written in.

    It is as it was put together: nothing beside it, so that equal rows give equal bytes.
    """
    return json.dumps(payload, ensure_ascii=False, indent=2) + "\n"
