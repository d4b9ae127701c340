"""Every exception of the openai client and its transport means something, and tells nothing."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime
from typing import Any

import aiohttp
import httpx2
import openai
import pytest

from repurpose.engines._gate import Final, Lost, RateLimited
from repurpose.engines._openai_faults import Party, fault_of, spoken_codes
from repurpose.errors import BrokenReply, NeverStarted

KEY = "sk-test-4f9b2c7d1e8a6350"
USER = "Every evening the keeper climbed the stairs of Ardnamurchan."
SECRETS = re.compile(r"sk-test|4f9b2c7d|keeper|Ardnamurchan")
PARTY = Party("models.example", "small", "OPENAI_API_KEY", 120.0, KEY)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
REQUEST = httpx2.Request("POST", "https://models.example/v1/chat/completions")


def classes_of(module: Any) -> list[type[Exception]]:
    found = {
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Exception) and not issubclass(member, Warning)
    }
    return sorted(found, key=lambda member: member.__name__)


def raised(kind: type[Exception]) -> Exception:
    """An exception of this class, built as the client builds it where that is known."""
    if issubclass(kind, openai.APIStatusError):
        known = kind.__annotations__.get("status_code")
        number = re.search(r"\d{3}", str(known))
        status = int(number[0]) if number else 500
        response = httpx2.Response(status, request=REQUEST)
        if issubclass(kind, openai.OAuthError):
            return kind(response=response, body={"error": USER})
        return kind(USER, response=response, body={"message": USER, "code": KEY})
    error = kind.__new__(kind)
    error.args = (USER,)
    return error


NO_REQUEST_RAISES = {
    "openai": {
        "ContentFilterFinishReasonError",  # parsed replies and streams; we ask for neither
        "InvalidWebhookSignatureError",
        "LengthFinishReasonError",
        "OpenAIError",
        "WebSocketConnectionClosedError",
        "WebSocketQueueFullError",
        "_AmbiguousModuleClientUsageError",
    },
    "httpx2": {
        "CookieConflict",
        "RequestNotRead",  # these five are misuse of a response
        "ResponseNotRead",
        "StreamClosed",
        "StreamConsumed",
        "StreamError",
    },
    "aiohttp": {"EofStream", "WSMessageTypeError", "WebSocketError"},
}
"""What has no meaning for a completion, so its class name alone is told. A class that a new version
brings is in neither this table nor the mapping, and fails the test."""


@pytest.mark.parametrize("module", [openai, httpx2, aiohttp], ids=lambda module: module.__name__)
def test_no_exception_of_the_client_or_its_transport_is_forgotten(module: Any) -> None:
    faults = {kind.__name__: fault_of(raised(kind), PARTY, NOW) for kind in classes_of(module)}
    unmapped = {
        name
        for name, fault in faults.items()
        if isinstance(fault, Final) and "client failed" in fault.error.message
    }
    assert unmapped == NO_REQUEST_RAISES[module.__name__]
    told = [fault.error if isinstance(fault, Final) else fault for fault in faults.values()]
    assert not SECRETS.search(" ".join(map(str, told)))


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        (openai.APIConnectionError, Lost),
        (openai.APITimeoutError, Lost),
        (openai.RateLimitError, RateLimited),
        (openai.InternalServerError, Lost),
        (openai.ConflictError, Lost),
        (openai.AuthenticationError, NeverStarted),
        (openai.PermissionDeniedError, NeverStarted),
        (openai.NotFoundError, NeverStarted),
        (openai.BadRequestError, NeverStarted),
        (openai.UnprocessableEntityError, NeverStarted),
        (openai.APIResponseValidationError, BrokenReply),
        (httpx2.ReadError, Lost),
        (httpx2.RemoteProtocolError, Lost),
        (httpx2.DecodingError, Lost),
        (httpx2.UnsupportedProtocol, NeverStarted),
        (aiohttp.ClientPayloadError, Lost),
        (aiohttp.ServerDisconnectedError, Lost),
        (aiohttp.ClientConnectorCertificateError, NeverStarted),
        (TimeoutError, Lost),
        (ConnectionResetError, Lost),
    ],
)
def test_an_exception_means_what_sending_again_would_change(
    kind: type[Exception], outcome: type
) -> None:
    fault = fault_of(raised(kind), PARTY, NOW)
    assert isinstance(fault.error if isinstance(fault, Final) else fault, outcome)


@pytest.mark.parametrize(
    "cause", [aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, httpx2.ConnectError]
)
def test_a_server_that_was_not_reached_is_told_from_one_that_hung_up(cause: type) -> None:
    error = openai.APITimeoutError(request=REQUEST)
    error.__cause__ = raised(cause)
    unreached = fault_of(error, PARTY, NOW)
    error.__cause__ = raised(aiohttp.ServerDisconnectedError)
    assert unreached == Lost("no connection", reached=False)
    assert fault_of(error, PARTY, NOW) == Lost("the connection was lost")


@pytest.mark.parametrize(
    ("status", "fault"),
    [(408, Lost), (409, Lost), (429, RateLimited), (500, Lost), (529, Lost), (418, Final)],
)
def test_statuses_are_sorted_by_what_sending_again_would_change(status: int, fault: type) -> None:
    response = httpx2.Response(status, request=REQUEST)
    error = openai.APIStatusError("text", response=response, body=None)
    assert isinstance(fault_of(error, PARTY, NOW), fault)


@pytest.mark.parametrize("surprise", [AttributeError("x"), TypeError("x"), RecursionError("x")])
def test_a_surprise_is_an_engine_error_that_names_its_class_only(surprise: Exception) -> None:
    fault = fault_of(surprise, PARTY, NOW)
    assert isinstance(fault, Final)
    assert fault.error.message == f"the openai client failed ({type(surprise).__name__})"


@pytest.mark.parametrize(
    ("error", "spoken"),
    [
        (
            {"code": "a_code", "type": "a.type", "param": "p"},
            " (code a_code, type a.type, param p)",
        ),
        ({"code": 400, "type": None}, " (code 400)"),
        ({"code": KEY, "type": KEY[3:14], "param": f"x{KEY}"}, ""),
        ({"code": "You wrote this", "type": "naïve", "param": "x" * 65}, ""),
        ("a text", ""),
        (None, ""),
    ],
)
def test_only_short_names_of_an_error_body_are_spoken(error: object, spoken: str) -> None:
    assert spoken_codes(error, secret=KEY) == spoken


def test_a_context_that_is_too_small_is_understood_without_a_code() -> None:
    response = httpx2.Response(400, request=REQUEST)
    message = f"This model's maximum context length is 4096 tokens. {USER}"
    error = openai.BadRequestError(message, response=response, body={"message": message})
    fault = fault_of(error, PARTY, NOW)
    assert isinstance(fault, Final)
    assert fault.error.message == "the text is too long for small (status 400)"
