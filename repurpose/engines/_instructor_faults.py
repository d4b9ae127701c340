"""What each SDK's exceptions mean: told as OpenAI's servers would, and judged where theirs are.

An SDK's exception becomes the status error, or the transport error, that the same event is where
no SDK stands between. So all providers share one judgement of what is worth another request, and
one promise that no text of a provider, of a source or of an answer gets into a message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import aiohttp
import httpx2

from repurpose.engines._gate import Fault, Final
from repurpose.engines._openai_connections import StatusError
from repurpose.engines._openai_faults import Party, chain, refusal_in
from repurpose.engines._openai_faults import fault_of as judged
from repurpose.errors import BrokenReply, EngineError, NeverStarted

__all__ = ["fault_of", "status_error"]

_LONGEST_MESSAGE = 400
"""Characters of a provider's message that are read, where it says what it means; later it may
repeat the request. It goes no further."""

_MEANINGS: tuple[tuple[str, str], ...] = (
    ("credit balance", "insufficient_quota"),  # Anthropic, with status 400
    ("prompt is too long", "context_length_exceeded"),  # Anthropic
    ("input token count", "context_length_exceeded"),  # Google
    ("too many tokens", "context_length_exceeded"),  # Cohere
    ("too large for model", "context_length_exceeded"),  # Mistral
    ("context length", "context_length_exceeded"),
    ("context window", "context_length_exceeded"),
    ("api key not valid", "invalid_api_key"),  # Google, with status 400
    ("output_config", "invalid_json_schema"),
    ("response_json_schema", "invalid_json_schema"),
    ("response_format", "invalid_json_schema"),
    ("json_schema", "invalid_json_schema"),
    ("schema", "invalid_json_schema"),
)
"""By words in a provider's message: the code that OpenAI has for it."""

_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_WAIT_HEADERS = ("retry-after", "retry-after-ms")


class _TranslatedError(StatusError):
    """A refusal of another provider, told in OpenAI's codes."""


def fault_of(error: Exception, party: Party, now: datetime) -> Fault:
    """What follows from an exception of instructor or of any SDK; every class has an answer."""
    refused = status_error(error)
    if refused is not None:
        return _refusal(refused, party, now)
    links = tuple(chain(error))
    broken = next((fault for link in links if (fault := _broken(link, party))), None)
    if broken is not None:
        return broken
    for link in links:
        lost = _transport_error(link)
        if lost is not None:
            return _without_address(judged(lost, party, now), party)
    return Final(EngineError(f"the client for {party.server} failed ({type(error).__name__})"))


def status_error(error: Exception) -> StatusError | None:
    """The refusal in this exception or in what caused it, told as OpenAI's servers tell one.

    The cause, since instructor puts an exception of its own around the SDK's, whose `str` is a
    document with every message and answer in it. It is never asked for that.
    """
    for link in chain(error):
        status = _status(link)
        if status is not None and status >= 300:
            return refusal_in(link) or _translated(link, status)
    return None


def _refusal(error: StatusError, party: Party, now: datetime) -> Fault:
    code = error.body.get("code") if isinstance(error.body, Mapping) else None
    if isinstance(error, _TranslatedError) and code == "invalid_json_schema":
        status = error.status
        return Final(
            NeverStarted(
                f"{party.model} at {party.server} does not take our JSON schema (status {status})",
                hint="use a --model with structured outputs",
                status=status,
            )
        )
    return _without_address(judged(error, party, now), party)


def _translated(error: BaseException, status: int) -> StatusError:
    """An SDK's status error, with the provider's words for things turned into OpenAI's."""
    told = _error_object(error)
    meant = _meant(told, status)
    if meant == "invalid_api_key":
        status = 401
    body = {"code": meant, "type": told.get("type") or told.get("status")}
    return _TranslatedError(status, _waits(error, told), body)


def _meant(told: Mapping[str, Any], status: int) -> object:
    """OpenAI's code for it. Other statuses than 400 have one meaning, whatever else is said."""
    if status == 404:  # nothing but the model is asked for by name
        return "model_not_found"
    code = told.get("code")
    if status != 400:
        return code
    message = str(told.get("message") or told.get("detail"))[:_LONGEST_MESSAGE].lower()
    return next((meaning for words, meaning in _MEANINGS if words in message), code)


def _status(error: BaseException) -> int | None:
    """The HTTP status in an exception: most SDKs say `status_code`, Google's `code`.

    `code` is looked at for Google's only: aiohttp puts 400 there for a body that was cut off.
    """
    of_google = type(error).__module__.partition(".")[0] == "google"
    value = getattr(error, "code" if of_google else "status_code", None)
    if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600:
        return value
    return None


def _error_object(error: BaseException) -> Mapping[str, Any]:
    """What the provider said, under whichever name its SDK keeps it."""
    said = getattr(error, "body", None)
    said = getattr(error, "details", None) if said is None else said
    if isinstance(said, str | bytes):
        try:
            said = json.loads(said)  # noqa: TID251 - only codes are read, and nothing is kept
        except (ValueError, RecursionError):
            return {"message": said[:_LONGEST_MESSAGE]}
    if not isinstance(said, Mapping):
        return {}
    inner = said.get("error")
    return inner if isinstance(inner, Mapping) else said


def _waits(error: BaseException, told: Mapping[str, Any]) -> dict[str, str]:
    """The headers that say how long to wait; Google's servers say it in the body."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    headers = getattr(error, "headers", None) if headers is None else headers
    given = {str(name).lower(): str(value) for name, value in dict(headers or {}).items()}
    found = {name: given[name] for name in _WAIT_HEADERS if name in given}
    details = told.get("details")
    for detail in details if isinstance(details, list) and not found else []:
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        seconds = _SECONDS.fullmatch(delay) if isinstance(delay, str) else None
        if seconds:
            return {"retry-after": seconds[1]}
    return found


def _broken(error: BaseException, party: Party) -> Final | None:
    """For a reply that came whole and is none."""
    status = _status(error)
    if isinstance(error, json.JSONDecodeError):
        what = (
            "with a web page, not with JSON"
            if _is_page(error.doc)
            else "with a body that is not JSON"
        )
    elif (status is not None and status < 300) or type(error).__name__ in _OTHER_SHAPES:
        what = "in another shape than promised"
    else:
        return None
    return Final(BrokenReply(f"{party.server} answered {what} (status 200)", status=200))


_OTHER_SHAPES = {
    "APIResponseValidationError",
    "UnknownApiResponseError",
    "ValidationError",
    "PydanticSerializationError",
    "ParsingError",
}
"""By class name, so that no SDK has to be imported: pydantic's, instructor's and those of SDKs."""


def _is_page(text: str) -> bool:
    return text.lstrip()[:1] == "<"


def _transport_error(error: BaseException) -> Exception | None:
    """The same event as an exception of a library that we know, or None for none."""
    if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL | aiohttp.ClientError | OSError):
        return error
    package, name = type(error).__module__.partition(".")[0], type(error).__name__
    if package in ("httpx", "httpcore"):  # httpx2 is their successor and kept their names
        return _namesake(name)
    if error.__cause__ is None and error.__context__ is None:
        if name == "APITimeoutError":
            return TimeoutError()
        if name in ("APIConnectionError", "NoResponseError"):
            return ConnectionError()
    return None


def _namesake(name: str) -> Exception:
    known = getattr(httpx2, name, None)
    if isinstance(known, type) and issubclass(known, httpx2.TransportError):
        return known("")
    return httpx2.TransportError("")


def _without_address(fault: Fault, party: Party) -> Fault:
    """The fault without advice about `--base-url`, which these providers are not chosen by."""
    if isinstance(fault, Final) and "--base-url" in (fault.error.hint or ""):
        fault.error.hint = f"check --model, and whether {party.server} changed its interface"
    return fault
