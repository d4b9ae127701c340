"""What is said to the Responses API, and how its response objects read.

Shapes as in OpenAI's reference (2026-11). A response is turned into the mapping that the chat
completions endpoint would have sent, so that one reader with one set of guards serves both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from repurpose.completion._answers import excerpt
from repurpose.core.call import Call, Reply
from repurpose.core.profile import Profile
from repurpose.engines._openai_faults import spoken_codes
from repurpose.engines._openai_reply import read_reply
from repurpose.engines._response_format import response_format
from repurpose.errors import AgentFailed

__all__ = ["ResponseObject", "failure_of", "reply_of", "response_body"]

ResponseObject: TypeAlias = Mapping[str, object]
"""A response as the server sent it; nothing in it is trusted to be there."""

_ECHO = 20
"""Characters of a prompt that stand in a server's message by no coincidence."""


def response_body(
    call: Call, model: str, profile: Profile, temperature: float | None
) -> dict[str, object]:
    """The body of a request for a response in the background.

    It is to be stored, since one that is not stored cannot be asked for later.
    """
    body: dict[str, object] = {
        "model": model,
        "instructions": call.system,
        "input": call.user,
        "background": True,
        "store": True,
        **profile.extra_body,
    }
    shape = response_format(call, profile).get("response_format")
    if isinstance(shape, Mapping):
        # What chat completions nest under `json_schema` stands beside `type` here.
        body["text"] = {"format": {"type": shape["type"], **shape.get("json_schema", {})}}
    if call.output_tokens is not None:
        body["max_output_tokens"] = call.output_tokens
    if temperature is not None:
        body["temperature"] = temperature
    return body


def reply_of(response: ResponseObject, *, server: str) -> Reply:
    """The reply in a response that is completed or incomplete; its text may be empty.

    What a model says on the way to its answer (`phase: commentary`) is no part of it.
    """
    usage = response.get("usage")
    told = usage if isinstance(usage, Mapping) else {}
    message = {
        "content": "".join(_parts(response, "message", "output_text", "text")),
        "refusal": "".join(_parts(response, "message", "refusal", "refusal")) or None,
        "reasoning": "".join(_parts(response, "reasoning", "reasoning_text", "text")),
    }
    completion = {
        "id": response.get("id"),
        "model": response.get("model"),
        "choices": [{"finish_reason": _finish_reason(response), "message": message}],
        "usage": {
            "prompt_tokens": told.get("input_tokens"),
            "completion_tokens": told.get("output_tokens"),
            "prompt_tokens_details": told.get("input_tokens_details"),
            "completion_tokens_details": told.get("output_tokens_details"),
        },
    }
    return read_reply(completion, server=server)


def failure_of(
    response: ResponseObject, call: Call, *, server: str, response_id: str, key: str | None
) -> AgentFailed:
    """That the server took the work and says that it came to nothing, with its own reason.

    Of its words at most 300 characters are shown; none where they repeat the prompt.
    """
    if response.get("status") == "cancelled":
        return AgentFailed(f"{response_id} was cancelled at {server}")
    error = response.get("error")
    said = _said(error, call, key)
    return AgentFailed(
        f"{server} failed to answer {response_id}{spoken_codes(error, secret=key)}"
        + (f": {said}" if said else "")
    )


def _said(error: object, call: Call, key: str | None) -> str:
    message = error.get("message") if isinstance(error, Mapping) else None
    if not isinstance(message, str):
        return ""
    if key:
        message = message.replace(key, "…")
    shown = excerpt(message.encode("utf-8", "replace"))
    prompt = " ".join(f"{call.system} {call.user}".split())
    pieces = (shown[at : at + _ECHO] for at in range(0, len(shown) - _ECHO + 1, _ECHO))
    return "" if any(piece in prompt for piece in pieces) else shown


def _finish_reason(response: ResponseObject) -> str:
    """In the words of chat completions; whatever else makes a response incomplete, it was cut."""
    if response.get("status") != "incomplete":
        return "stop"
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    return "content_filter" if reason == "content_filter" else "length"


def _parts(response: ResponseObject, item_type: str, part_type: str, field: str) -> Iterator[str]:
    """The texts of all parts of one type in output items of one type, in order."""
    for item in _mappings(response.get("output")):
        if item.get("type") != item_type or item.get("phase") == "commentary":
            continue
        for part in _mappings(item.get("content")):
            text = part.get(field)
            if part.get("type") == part_type and isinstance(text, str):
                yield text


def _mappings(value: object) -> Iterator[Mapping[str, object]]:
    items = value if isinstance(value, list) else []
    return (item for item in items if isinstance(item, Mapping))
