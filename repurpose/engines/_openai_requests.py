"""Where an OpenAI-compatible server is, and what a call says to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from repurpose.core.call import Call
from repurpose.core.json_types import JsonValue
from repurpose.core.profile import Profile
from repurpose.engines._response_format import response_format
from repurpose.errors import UsageError

__all__ = ["OPENAI_URL", "Address", "chat_body", "comparable"]

OPENAI_URL = "https://api.openai.com/v1"
"""Where calls go when no other server is named."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where calls go, and what of that may be shown."""

    url: str = field(repr=False)
    """As given; it may hold a password or a key."""
    host: str
    """With its port, without user and password."""
    shown: str
    """Scheme, host and path."""

    @classmethod
    def of(cls, url: str) -> Address:
        """The address in `url`.

        Raises:
            UsageError: it is no http or https address.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                "the address of the model server cannot be used",
                hint="check --base-url; it starts with http:// or https://",
            )
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        host = name if port is None else f"{name}:{port}"
        return cls(url, host, f"{parts.scheme}://{host}{parts.path.rstrip('/')}")

    @property
    def endpoint(self) -> str:
        """Where a call is sent to."""
        return f"{self.url.rstrip('/')}/chat/completions"

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI itself, in any of its regions."""
        name = self.host.partition(":")[0]
        return name == "api.openai.com" or name.endswith(".api.openai.com")

    @property
    def unreachable_hint(self) -> str:
        """What to do where nobody answers."""
        if self.is_openai:
            return "check the network connection, or name another server with --base-url"
        return "check --base-url, and that the server is running"


def chat_body(
    call: Call, model: str, profile: Profile, temperature: float | None
) -> dict[str, object]:
    """The body of a request to the chat completions endpoint.

    Of a call that begins like its siblings, a cache that is told where is told. The fields for it
    change no answer.
    """
    is_marked = call.shared_until > 0 and profile.takes_mark(model)
    body: dict[str, object] = {
        "model": model,
        "messages": [
            {"role": "system", "content": call.system},
            {"role": "user", "content": _marked(call) if is_marked else call.user},
        ],
        **response_format(call, profile),
        **profile.extra_body,
    }
    if call.output_tokens is not None:
        body[profile.output_parameter] = call.output_tokens
    if temperature is not None:
        body["temperature"] = temperature
    if call.shared_until and profile.cache == "breakpoint":
        body["prompt_cache_key"] = call.source.digest
    if is_marked:
        body["prompt_cache_options"] = {"mode": "explicit"}
    return body


def _marked(call: Call) -> list[dict[str, object]]:
    """The user's message in two parts, the first one with a mark at its end.

    In explicit mode only what stands before a mark is written to the cache, and paid for
    (OpenAI, prompt caching guide, 2026-11; GPT-5.6 and later).
    """
    shared, own = call.user[: call.shared_until], call.user[call.shared_until :]
    mark = {"mode": "explicit"}
    return [
        {"type": "text", "text": shared, "prompt_cache_breakpoint": mark},
        {"type": "text", "text": own},
    ]


def comparable(
    address: Address, profile: Profile, temperature: float | None
) -> dict[str, JsonValue]:
    """What of a server and of how it is asked makes two answers comparable; holds no key."""
    parameters: dict[str, JsonValue] = {"endpoint": address.shown, **profile.parameters}
    return parameters if temperature is None else {**parameters, "temperature": temperature}
