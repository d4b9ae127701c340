"""How a provider's reply reads as a chat completion.

It is turned into the mapping that OpenAI's protocol would have sent, so that one reader with one
set of guards serves all providers. Nothing in it is trusted to be there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from repurpose.core.json_types import JsonObject
from repurpose.engines._instructor_providers import Dialect

__all__ = ["COMPLETIONS"]

Raw: TypeAlias = Any
"""What an SDK returned; its types promise more than the wire holds, so each field is checked."""


def _anthropic_completion(raw: Raw) -> object:
    if not hasattr(raw, "content"):
        return raw
    message = _plain(raw)
    blocks = _items(message.get("content"))
    text = "".join(_texts(blocks, "text", "text"))
    refused = message.get("stop_reason") == "refusal"
    told = _under(message, "stop_details", "explanation")
    usage = _mapping(message.get("usage"))
    cached = usage.get("cache_read_input_tokens")
    prompt = [usage.get("input_tokens"), cached, usage.get("cache_creation_input_tokens")]
    return {
        "id": message.get("id"),
        "model": message.get("model"),
        "choices": [
            {
                "finish_reason": _ANTHROPIC_FINISHES.get(
                    str(message.get("stop_reason")), message.get("stop_reason")
                ),
                "message": {
                    "content": "" if refused else text,
                    "refusal": (text or told) if refused else None,
                    "reasoning_content": "".join(_texts(blocks, "thinking", "thinking")),
                },
            }
        ]
        if isinstance(message.get("content"), list)
        else [],
        "usage": {
            "prompt_tokens": _sum(prompt),
            "completion_tokens": usage.get("output_tokens"),
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {
                "reasoning_tokens": _under(usage, "output_tokens_details", "thinking_tokens")
            },
        },
    }


_ANTHROPIC_FINISHES = {"model_context_window_exceeded": "length"}


def _google_completion(raw: Raw) -> object:
    # The envelope only. The answer is a string in it, and intake decodes that.
    reply = json.loads(raw.sdk_http_response.body)  # noqa: TID251 - refuses nothing, keeps all
    if not isinstance(reply, Mapping):
        return reply
    usage = _mapping(reply.get("usageMetadata"))
    thought = usage.get("thoughtsTokenCount")
    return {
        "error": reply.get("error"),
        "id": reply.get("responseId"),
        "model": reply.get("modelVersion"),
        "choices": _google_choices(reply),
        "usage": {
            "prompt_tokens": usage.get("promptTokenCount"),
            "completion_tokens": _sum([usage.get("candidatesTokenCount"), thought]),
            "prompt_tokens_details": {"cached_tokens": usage.get("cachedContentTokenCount")},
            "completion_tokens_details": {"reasoning_tokens": thought},
        },
    }


def _google_choices(reply: Mapping[str, Any]) -> list[object]:
    """The first candidate; a prompt that was blocked has none and says so elsewhere."""
    candidates = _items(reply.get("candidates"))
    if not candidates:
        blocked = _under(reply, "promptFeedback", "blockReason")
        return [{"finish_reason": "content_filter", "message": {}}] if blocked else []
    parts = _items(_under(candidates[0], "content", "parts"))
    spoken = [part for part in parts if part.get("thought") is not True]
    thoughts = [part for part in parts if part.get("thought") is True]
    reason = candidates[0].get("finishReason")
    return [
        {
            "finish_reason": _GOOGLE_FINISHES.get(str(reason), reason),
            "message": {
                "content": "".join(_texts(spoken, "text")),
                "reasoning_content": "".join(_texts(thoughts, "text")),
            },
        }
    ]


_GOOGLE_FINISHES = {"SPII": "content_filter", "LANGUAGE": "content_filter"}
"""What the reader of chat completions does not know already: FinishReason, Gemini API, 2026-11."""


def _cohere_completion(raw: Raw) -> object:
    if not hasattr(raw, "message"):
        return raw
    reply = _plain(raw)
    blocks = _items(_under(reply, "message", "content"))
    usage = _mapping(_under(reply, "usage", "tokens"))
    return {
        "id": reply.get("id"),
        "choices": [
            {
                "finish_reason": str(reply.get("finish_reason")).lower(),
                "message": {
                    "content": "".join(_texts(blocks, "text", "text")),
                    "reasoning_content": "".join(_texts(blocks, "thinking", "thinking")),
                }
                if isinstance(reply.get("message"), Mapping)
                else None,
            }
        ],
        "usage": {
            "prompt_tokens": _count(usage.get("input_tokens")),
            "completion_tokens": _count(usage.get("output_tokens")),
            "prompt_tokens_details": {
                "cached_tokens": _count(_under(reply, "usage", "cached_tokens"))
            },
        },
    }


def _chat_completion(raw: Raw) -> object:
    return _plain(raw) if hasattr(raw, "model_dump") else raw


COMPLETIONS: Mapping[Dialect, Callable[[Raw], object]] = {
    "anthropic": _anthropic_completion,
    "google": _google_completion,
    "mistral": _chat_completion,
    "cohere": _cohere_completion,
    "chat": _chat_completion,
}
"""What an SDK returned, as the body of a chat completion; `read_reply` says whether it is one."""


def _plain(raw: Raw) -> JsonObject:
    """An SDK's object as a mapping, fields that the SDK does not know included."""
    dumped: JsonObject = raw.model_dump(warnings=False)
    return dumped


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _under(fields: Mapping[str, Any], group: str, name: str) -> Any:  # noqa: ANN401 - not yet checked
    return _mapping(fields.get(group)).get(name)


def _texts(blocks: list[Mapping[str, Any]], name: str, kind: str | None = None) -> list[str]:
    """The strings called `name` in the blocks, or in those of one type."""
    wanted = (block for block in blocks if kind is None or block.get("type") == kind)
    return [value for block in wanted if isinstance(value := block.get(name), str)]


def _sum(counts: list[object]) -> int | None:
    """The sum of what was reported; None where nothing was."""
    known = [count for count in counts if isinstance(count, int) and not isinstance(count, bool)]
    return sum(known) if known else None


def _count(value: object) -> object:
    """A whole number that came as a float, as Cohere sends them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
