"""A call without a shape: no engine asks its server for JSON then."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from repurpose.core.call import Call
from repurpose.core.source import Source
from repurpose.engines._instructor_requests import REQUESTS, Asking
from repurpose.engines._profiles import profile_named
from repurpose.engines._response_format import response_format

CALL = Call("notes", "Write.", "Bees.", {}, {}, Source("Bees.", "-", "text"))
SHAPED = replace(CALL, wire={"type": "object", "properties": {"a": {"type": "string"}}})
PROFILE = profile_named("openai")


def test_a_chat_server_is_asked_for_a_response_format_only_where_there_is_a_shape() -> None:
    assert response_format(CALL, PROFILE) == {}
    assert "response_format" in response_format(SHAPED, PROFILE)


@pytest.mark.parametrize("dialect", REQUESTS)
def test_no_dialect_speaks_of_json_where_there_is_no_shape(dialect: str) -> None:
    asking = Asking(profile=PROFILE, temperature=None, seconds=60)
    plain, shaped = (
        json.dumps(REQUESTS[dialect](call, asking), default=str)  # type: ignore[index]  # its own keys
        for call in (CALL, SHAPED)
    )
    assert "json" not in plain
    assert "json" in shaped
