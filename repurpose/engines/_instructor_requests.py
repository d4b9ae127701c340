"""How each provider is asked: what its SDK takes as keyword arguments.

The schema in it is our own, never one that a library made from a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from repurpose.core.call import Call
from repurpose.core.profile import Profile
from repurpose.engines._instructor_providers import Dialect
from repurpose.engines._response_format import json_schema, response_format, schema_name

__all__ = ["REQUESTS", "Asking"]

_ANTHROPIC_TOKENS = 8192
"""Anthropic wants a limit with every request. Ten times what a built-in format needs, and no model
that takes a schema allows less."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What all calls of an engine have in common."""

    profile: Profile
    """For the dialect `chat`."""
    temperature: float | None
    seconds: float
    """For one request. Only told to SDKs whose own limit would else be shorter than ours."""


def _anthropic_request(call: Call, asking: Asking) -> dict[str, object]:
    """Messages API with structured output (`output_config.format`, Claude docs, 2026-11).

    Not a forced tool: the SDK would decode its arguments, and a doubled key would be lost.
    """
    shape = {"output_config": {"format": {"type": "json_schema", "schema": call.wire}}}
    return {
        "messages": _messages(call),
        "max_tokens": call.output_tokens or _ANTHROPIC_TOKENS,
        **(shape if call.wire else {}),
        "extra_headers": _caller(call),
        # In `extra_body`, since the newer SDKs have no parameter of that name any more.
        **({} if (heat := asking.temperature) is None else {"extra_body": {"temperature": heat}}),
    }


def _google_request(call: Call, asking: Asking) -> dict[str, object]:
    """Gemini's generateContent with `responseJsonSchema`, and the body back as it came.

    The system prompt stands in `config`: instructor refuses a system message with two braces in
    it, taking it for a template. `should_return_http_response` keeps the SDK from parsing the
    reply, which refuses what it does not know, and from asking on by itself
    (`automatic_continuation`).
    """
    shape = {
        "response_mime_type": "application/json",
        "response_json_schema": _without_const(call.wire),
    }
    return {
        "messages": [{"role": "user", "content": call.user}],
        "config": {
            "system_instruction": call.system,
            **(shape if call.wire else {}),
            "should_return_http_response": True,
            "http_options": {"headers": _caller(call)},
            **_given(max_output_tokens=call.output_tokens, temperature=asking.temperature),
        },
    }


def _mistral_request(call: Call, asking: Asking) -> dict[str, object]:
    """Chat completions; without `timeout_ms` its client gives up after five seconds."""
    return {
        "messages": _messages(call),
        **({"response_format": json_schema(call, strict=True)} if call.wire else {}),
        "timeout_ms": int(asking.seconds * 1000),
        "http_headers": _caller(call),
        **_given(max_tokens=call.output_tokens, temperature=asking.temperature),
    }


def _cohere_request(call: Call, asking: Asking) -> dict[str, object]:
    """Chat v2, whose `json_object` takes a schema beside it (Cohere docs, 2026-11)."""
    shape = {"response_format": {"type": "json_object", "json_schema": call.wire}}
    return {
        "messages": _messages(call),
        **(shape if call.wire else {}),
        "request_options": {
            "max_retries": 0,
            "timeout_in_seconds": int(asking.seconds) + 1,
            "additional_headers": _caller(call),
        },
        **_given(max_tokens=call.output_tokens, temperature=asking.temperature),
    }


def _chat_request(call: Call, asking: Asking) -> dict[str, object]:
    """Chat completions, as the provider's profile has them."""
    profile = asking.profile
    tokens = {profile.output_parameter: call.output_tokens}
    return {
        "messages": _messages(call),
        "extra_headers": _caller(call),
        **response_format(call, profile),
        **_given(temperature=asking.temperature, extra_body=dict(profile.extra_body) or None),
        **_given(**tokens),
    }


REQUESTS: Mapping[Dialect, Callable[[Call, Asking], dict[str, object]]] = {
    "anthropic": _anthropic_request,
    "google": _google_request,
    "mistral": _mistral_request,
    "cohere": _cohere_request,
    "chat": _chat_request,
}
"""The keyword arguments of a call, without the model."""


def _messages(call: Call) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": call.system},
        {"role": "user", "content": call.user},
    ]


def _caller(call: Call) -> dict[str, str]:
    return {"X-Repurpose-Caller": f"repurpose.{schema_name(call.format)}"}


def _given(**parameters: object) -> dict[str, object]:
    """The parameters that somebody set."""
    return {name: value for name, value in parameters.items() if value is not None}


def _without_const(schema: Any) -> Any:  # noqa: ANN401 - a schema or any part of one
    """The schema with each `const` as an enum of one, the only form that Gemini knows."""
    if isinstance(schema, list):
        return [_without_const(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {name: _without_const(part) for name, part in schema.items()}
    if "const" in plain and not isinstance(schema["const"], Mapping):
        plain["enum"] = [plain.pop("const")]
    return plain
