"""What each refusal, each exception of aiohttp and each of the openai client means, in our words.

No text of a provider enters a message: an error body may echo the prompt or the key. Only its
`code`, `type` and `param` do, and those only where they look like the short names they are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import aiohttp

from repurpose.core.profile import Profile
from repurpose.engines._gate import Fault, Final, Lost, RateLimited, retry_after
from repurpose.engines._openai_connections import StatusError
from repurpose.engines._profiles import GENERIC, ShapeRefused, weaker
from repurpose.errors import BrokenReply, EngineError, NeverStarted

__all__ = ["Party", "chain", "fault_of", "is_filtered", "refusal_in", "spoken_codes"]

_CODE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")

_NO_QUOTA = frozenset(
    {
        "access_terminated",
        "account_deactivated",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
        "insufficient_credits",
        "insufficient_quota",  # OpenAI sends it with 429, where waiting would never help
    }
)
_FILTERED = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}  # Azure, OpenAI
)
_TOO_LONG = frozenset(
    {
        "context_length_exceeded",  # OpenAI
        "context_window_exceeded",
        "exceed_context_size_error",  # llama.cpp
        "string_above_max_length",  # OpenAI
    }
)
_TOO_LONG_WORDS = ("context length", "context size", "context window", "maximum context")
"""Servers without a code for it (vLLM, LM Studio) say it in their message, which is only read."""

_UNKNOWN_MODEL = frozenset({"model_not_found", "model_not_available", "invalid_model"})
_PASSING = frozenset({408, 409})
"""Statuses below 500 that the openai client sends again too."""
_KEY_PART = 8
"""Characters of a key that are a part of it and no coincidence."""
_LONGEST_MESSAGE = 2000
"""Characters of a server's message that are read; what it means stands at its beginning."""
_LONGEST_CHAIN = 8
"""Exceptions looked through for a cause; instructor and an SDK together nest five."""

_UNREACHED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_BAD_ADDRESS = (aiohttp.InvalidURL,)
_BAD_CERTIFICATE = (aiohttp.ClientConnectorCertificateError,)
_DROPPED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError)
"""openai's bridge to aiohttp calls a dropped connection a connect timeout, so the cause counts."""
_CONNECTION = (aiohttp.ClientError, OSError)


@dataclass(frozen=True, slots=True)
class Party:
    """Who is spoken to and with what: the names that a message may hold."""

    server: str
    model: str
    key_variable: str
    timeout: float
    """Seconds for one request."""
    key: str | None = field(default=None, repr=False)
    profile: Profile = GENERIC
    """How it is spoken to."""
    interface: str = "chat completions"
    """What is asked for at its address."""


def fault_of(error: Exception, party: Party, now: datetime) -> Fault:
    """What follows from a foreign exception; every class of it has an answer."""
    refused = refusal_in(error)
    if refused is not None:
        return _status_fault(refused, party, now)
    lost = _classes("openai", "APIConnectionError")
    if isinstance(error, _classes("openai", "APIError")) and not isinstance(error, lost):
        return Final(BrokenReply(f"{party.server} answered in another shape than promised"))
    causes = tuple(chain(error))
    if _any(causes, _BAD_ADDRESS + _classes("httpx2", "UnsupportedProtocol", "InvalidURL")):
        return Final(
            NeverStarted(
                f"the address of {party.server} cannot be used",
                hint="check --base-url; it starts with http:// or https://",
            )
        )
    if _any(causes, _BAD_CERTIFICATE):
        return Final(
            NeverStarted(
                f"the certificate of {party.server} cannot be verified",
                hint="check --base-url, or name your own authority in SSL_CERT_FILE",
            )
        )
    if _any(causes, _UNREACHED + _classes("httpx2", "ConnectError")):
        return Lost("no connection", reached=False)
    connection = _CONNECTION + lost + _classes("httpx2", "HTTPError")
    if isinstance(error, connection) and _any(causes, _DROPPED):
        return Lost("the connection was lost")
    timeouts = _classes("httpx2", "TimeoutException") + _classes("openai", "APITimeoutError")
    if isinstance(error, (TimeoutError, *timeouts)):
        return Lost(f"no answer within {party.timeout:g} s")
    if isinstance(error, connection):
        return Lost("the connection was lost")
    return Final(EngineError(f"the openai client failed ({type(error).__name__})"))


def _classes(package: str, *names: str) -> tuple[type[Exception], ...]:
    """Exceptions of a package, if it is loaded: one that is not has raised nothing."""
    # Only other engines load these two, and openai takes most of a second.
    loaded = sys.modules.get(package)
    return tuple(getattr(loaded, name) for name in names) if loaded else ()


def refusal_in(error: BaseException) -> StatusError | None:
    """The status error that this is; those of the openai client tell the same."""
    if isinstance(error, StatusError):
        return error
    told: Any = error
    known = isinstance(error, _classes("openai", "APIStatusError"))
    return StatusError(told.status_code, told.response.headers, told.body) if known else None


def is_filtered(error: StatusError) -> bool:
    """Whether a content filter stopped the prompt, which is an answer and not a fault."""
    return bool(_names(error.body) & _FILTERED)


def spoken_codes(body: object, *, secret: str | None = None) -> str:
    """The names in an error object as ` (code ..., type ...)`, or nothing where none is safe.

    >>> spoken_codes({"code": "bad_thing", "type": "server_error", "message": "You wrote: ..."})
    ' (code bad_thing, type server_error)'
    """
    named = _named(body, secret)
    return f" ({', '.join(f'{kind} {name}' for kind, name in named)})" if named else ""


def _status_fault(error: StatusError, party: Party, now: datetime) -> Fault:
    status = error.status
    if status == 402 or _names(error.body) & _NO_QUOTA:
        return Final(_no_quota(error, party, status))
    wait = retry_after(error.headers, now)
    if status == 429:
        return RateLimited(status, wait)
    if status >= 500 or status in _PASSING:
        return Lost(f"status {status}", status=status, retry_after=wait)
    return Final(_refused(error, party, status))


def _no_quota(error: StatusError, party: Party, status: int) -> NeverStarted:
    return NeverStarted(
        f"the account at {party.server} has no quota left ({_facts(error, party, status)})",
        hint=f"check its plan and billing, or set another key in {party.key_variable}",
        status=status,
    )


def _refused(error: StatusError, party: Party, status: int) -> NeverStarted:
    reason = _reason(error, party, status)
    if reason is None and _about_shape(error):
        only_strict = "invalid_json_schema" in _names(error.body) or _says(error, ("strict",))
        following = weaker(party.profile, only_strict=only_strict)
        if following is not None:
            return _shape_refused(error, party, status, following)
    what, hint = reason or _unclear(party, status)
    return NeverStarted(f"{what} ({_facts(error, party, status)})", hint=hint, status=status)


def _shape_refused(
    error: StatusError, party: Party, status: int, following: Profile
) -> ShapeRefused:
    """For a server that takes no such `response_format`: names the profile that may do.

    Nothing weaker is tried by itself: its prompt would be another one, and its answers would
    need more repairs than the user was told of.
    """
    refused = "JSON mode" if party.profile.schema == "object" else "our JSON schema"
    return ShapeRefused(
        f"{party.model} at {party.server} does not take {refused} ({_facts(error, party, status)})",
        hint=f"add --profile {following.name}; repurpose doctor says what this server takes",
        status=status,
        next_profile=following,
    )


def _reason(error: StatusError, party: Party, status: int) -> tuple[str, str] | None:
    """What the server means by refusing, and what to do about it; None where it is not clear."""
    names = _names(error.body)
    if status == 401:
        if party.key:
            return f"{party.server} refused the API key", f"set a valid key in {party.key_variable}"
        return f"{party.server} wants an API key", f"set {party.key_variable}"
    if names & _UNKNOWN_MODEL:
        return f"{party.server} has no model {party.model}", "choose another --model"
    if 300 <= status < 400:
        return (
            f"{party.server} sends on to another address",
            "give the address that it sends on to as --base-url",
        )
    if status == 403:
        return (
            f"{party.server} does not allow this key to use {party.model}",
            f"use another --model, or set another key in {party.key_variable}",
        )
    if names & _TOO_LONG or status == 413 or _says(error, _TOO_LONG_WORDS):
        return (
            f"the text is too long for {party.model}",
            "use a --model with a larger context, or a shorter text",
        )
    if _is_about(error, "prompt_cache"):
        return f"{party.server} refused a field that is for its prompt cache", "add --cache off"
    return None


def _unclear(party: Party, status: int) -> tuple[str, str]:
    """For a refusal without a reason."""
    if status == 404:
        return (
            f"{party.server} has no model {party.model}, or no {party.interface} at this address",
            "check --model and --base-url; the address usually ends in /v1",
        )
    return f"{party.server} refused the request", "check --model and --base-url"


def _is_about(error: StatusError, *fields: str) -> bool:
    """Whether the server names one of these fields of the request, or a part of one."""
    body = error.body
    param = body.get("param") if isinstance(body, Mapping) else None
    return isinstance(param, str) and param.rpartition("].")[2].startswith(fields)


def _about_shape(error: StatusError) -> bool:
    body = error.body
    return (
        _is_about(error, "response_format", "text.format")
        or bool(_names(body) & {"invalid_json_schema"})
        # The last: OpenRouter's 404 where no provider takes the whole request.
        or _says(error, ("response_format", "json_schema", "json schema", "requested parameters"))
    )


def _facts(error: StatusError, party: Party, status: int) -> str:
    named = _named(error.body, party.key)
    codes = (f"{kind} {name}" for kind, name in named if name != str(status))
    return ", ".join([f"status {status}", *codes])


def _named(body: object, secret: str | None) -> list[tuple[str, str]]:
    if not isinstance(body, Mapping):
        return []
    named = []
    for kind in ("code", "type", "param"):
        value = body.get(kind)
        name = str(value) if isinstance(value, str | int) else ""
        if _CODE_NAME.fullmatch(name) and not _tells(name, secret):
            named.append((kind, name))
    return named


def _tells(name: str, secret: str | None) -> bool:
    """Whether a name gives away a part of the key that somebody could use."""
    if not secret:
        return False
    return secret in name or (len(name) >= _KEY_PART and name in secret)


def _names(body: object) -> frozenset[str]:
    """Code and type, whichever of them a server uses for it."""
    return frozenset(name for kind, name in _named(body, None) if kind != "param")


def _says(error: StatusError, words: tuple[str, ...]) -> bool:
    """Whether the server's own message holds one of `words`; the message goes no further."""
    body = error.body
    message = body.get("message") if isinstance(body, Mapping) else body
    said = message[:_LONGEST_MESSAGE].lower() if isinstance(message, str) else ""
    return any(word in said for word in words)


def chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and what caused it, nearest first."""
    link: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if link is None:
            return
        yield link
        link = link.__cause__


def _any(causes: tuple[BaseException, ...], classes: tuple[type[BaseException], ...]) -> bool:
    return any(isinstance(cause, classes) for cause in causes)
