"""Reads what an OpenAI-compatible server sent; nothing in it is trusted to be there.

The shape is that of OpenAI's chat completion object; what other servers do differently (content
as a list of parts, reasoning in a field of its own, other finish reasons) is read too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from repurpose.core.call import Finish, Reply, Usage
from repurpose.engines._openai_faults import spoken_codes
from repurpose.errors import BrokenReply

__all__ = ["decoded", "error_object", "read_reply"]

_FINISHES: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",  # Anthropic's and Gemini's name
    "model_length": "length",  # Mistral: the context is full
    "content_filter": "content_filter",
    "safety": "content_filter",  # Gemini
    "prohibited_content": "content_filter",  # Gemini
    "blocklist": "content_filter",  # Gemini
    "recitation": "content_filter",  # Gemini
    "refusal": "refusal",  # Anthropic
}
"""By lower-case finish reason. Any other one is `stop`: the answer itself then has to hold."""

_MOST_TOKENS = 2**53
"""A larger count is no count, and a database would refuse it."""

_LONGEST_NAME = 200
"""Characters kept of a model's name or an id; real ones have fewer than 100."""


def decoded(content: bytes, *, server: str, status: int, kind: str) -> object:
    """The JSON of a response's body; `kind` is what its header calls it.

    Raises:
        BrokenReply: it is none.
    """
    try:
        body: object = json.loads(content)  # noqa: TID251 - the server's frame around an answer
    except (ValueError, RecursionError) as error:
        start = content[:200].lstrip().lower()
        if start.startswith(b"<") or "html" in kind:
            raise BrokenReply(
                f"{server} answered with a web page, not with JSON (status {status})",
                hint="check --base-url; it usually ends in /v1",
                status=status,
            ) from error
        raise BrokenReply(
            f"{server} answered with a body that is not JSON (status {status})", status=status
        ) from error
    return body


def error_object(content: bytes) -> object:
    """What a refusal says: its error object, or its text where it holds none."""
    text = content.decode("utf-8", "replace").strip()
    try:
        told: object = json.loads(text)  # noqa: TID251 - only codes are read, and nothing is kept
    except (ValueError, RecursionError):
        return text
    return told.get("error", told) if isinstance(told, dict) else told


def read_reply(body: object, *, server: str, request_id: str | None = None) -> Reply:
    """The reply in a decoded response body; its text may be empty and is not checked.

    Raises:
        BrokenReply: there is no choice with a message in it.
    """
    if not isinstance(body, Mapping):
        raise BrokenReply(f"{server} answered with JSON that is not an object", status=200)
    choice = _first_choice(body, server)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise BrokenReply(f"{server} answered without a message", status=200)
    text, refusal = _content(message)
    return Reply(
        text=text,
        finish="refusal" if refusal else _finish(choice.get("finish_reason")),
        refusal=refusal or None,
        reasoning=_reasoning(message),
        usage=_usage(body.get("usage")),
        model=_name(body.get("model")),
        request_id=_name(request_id) or _name(body.get("id")),
    )


def _first_choice(body: Mapping[str, object], server: str) -> Mapping[str, object]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    failed = isinstance(first, Mapping) and first.get("finish_reason") == "error"  # OpenRouter
    if isinstance(first, Mapping) and not failed:
        return first
    error = (first if isinstance(first, Mapping) else body).get("error")
    if failed or error:
        raise BrokenReply(
            f"{server} sent an error in place of an answer{spoken_codes(error)}", status=200
        )
    raise BrokenReply(f"{server} answered without any choice", status=200)


def _content(message: Mapping[str, object]) -> tuple[str, str]:
    """The text and the refusal, each empty where there is none."""
    content = message.get("content")
    refusal = _text(message.get("refusal"))
    if not isinstance(content, list):
        return _text(content), refusal
    parts = [part for part in content if isinstance(part, Mapping)]
    return "".join(_texts(parts, "text")), refusal or "".join(_texts(parts, "refusal"))


def _reasoning(message: Mapping[str, object]) -> str | None:
    """Reasoning in a field of its own: DeepSeek's and vLLM's name for it, then OpenRouter's."""
    told = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    return told or None


def _texts(parts: list[Mapping[str, object]], kind: str) -> Iterator[str]:
    return (_text(part.get(kind)) for part in parts if part.get("type") in (kind, f"output_{kind}"))


def _finish(reason: object) -> Finish:
    return _FINISHES.get(reason.lower(), "stop") if isinstance(reason, str) else "stop"


def _usage(usage: object) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    cached = _tokens(_under(usage, "prompt_tokens_details", "cached_tokens"))
    if cached is None:
        cached = _tokens(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
    return Usage(
        prompt_tokens=_tokens(usage.get("prompt_tokens")),
        completion_tokens=_tokens(usage.get("completion_tokens")),
        cached_tokens=cached,
        reasoning_tokens=_tokens(_under(usage, "completion_tokens_details", "reasoning_tokens")),
        cache_write_tokens=_tokens(_under(usage, "prompt_tokens_details", "cache_write_tokens")),
    )


def _under(fields: Mapping[str, object], group: str, name: str) -> object:
    inner = fields.get(group)
    return inner.get(name) if isinstance(inner, Mapping) else None


def _tokens(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < _MOST_TOKENS else None


def _name(value: object) -> str | None:
    return _text(value)[:_LONGEST_NAME] or None


def _text(value: object) -> str:
    """The string, or an empty one where it is none.

    Half of a surrogate pair cannot be stored, so it is written as the escape that it came as:
    inside JSON that means the same, and intake refuses it.
    """
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
