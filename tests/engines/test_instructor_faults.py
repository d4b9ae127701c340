"""Every exception of instructor and of the SDKs means something, and tells nothing."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from repurpose.engines._gate import Final, Lost, RateLimited
from repurpose.engines._instructor_faults import fault_of
from repurpose.engines._openai_faults import Party
from repurpose.errors import BrokenReply, EngineError, NeverStarted

KEY = "sk-test-4f9b2c7d1e8a6350"
USER = "Every evening the keeper climbed the stairs of Ardnamurchan."
SECRETS = re.compile(r"sk-test|4f9b2c7d|keeper|Ardnamurchan")
PARTY = Party("Somebody", "small", "SOME_API_KEY", 120.0, KEY)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
REQUEST = httpx2.Request("POST", "https://models.example/v1/messages")


class Told(Exception):  # noqa: N818 - stands for the exception of any SDK
    """An exception with whatever attributes a test gives it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(USER)
        for name, value in attributes.items():
            setattr(self, name, value)


def raised(kind: type[Exception], status: int) -> Exception:
    """An exception of this class as nobody's constructor would refuse it."""
    error = kind.__new__(kind)
    error.args = (USER,)
    if hasattr(kind, "status_code") or "Status" in str(kind.__mro__):
        for name, value in {
            "status_code": status,
            "response": httpx2.Response(status, request=REQUEST),
            "body": {"error": {"message": USER, "code": KEY}},
        }.items():
            setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    "module",
    [
        "instructor.core.exceptions",
        "anthropic",
        "google.genai.errors",
        "mistralai.client.errors",
        "groq",
        "httpx",
        "httpx2",
    ],
)
def test_no_exception_tells_its_text(module: str) -> None:
    loaded = pytest.importorskip(module, reason="not installed")
    kinds = [
        kind
        for _, kind in inspect.getmembers(loaded, inspect.isclass)
        if issubclass(kind, Exception) and not issubclass(kind, Warning)
    ]
    assert kinds
    for kind in kinds:
        fault = fault_of(raised(kind, 400), PARTY, NOW)
        error = fault.error if isinstance(fault, Final) else None
        assert not SECRETS.search(f"{fault} {error} {error and error.hint}"), kind


def test_instructors_own_exception_is_judged_by_its_cause_and_never_rendered() -> None:
    errors = pytest.importorskip("instructor.core.exceptions", reason="instructor is not installed")

    class Unreadable(errors.InstructorRetryException):  # type: ignore[name-defined, misc]
        def __str__(self) -> str:
            raise AssertionError("its text is a document with every message and answer in it")

    wrapped = Unreadable(USER, n_attempts=1, total_usage=0, last_completion=USER)
    wrapped.__cause__ = Told(status_code=429, headers={"Retry-After": "3"}, body=None)
    assert fault_of(wrapped, PARTY, NOW) == RateLimited(429, 3.0)
    wrapped.__cause__ = json.JSONDecodeError("text", "<html>", 0)
    assert isinstance(fault_of(wrapped, PARTY, NOW), Final)


@pytest.mark.parametrize(
    ("attributes", "fault"),
    [
        ({"status_code": 429, "headers": {"retry-after": "3"}, "body": {}}, RateLimited(429, 3.0)),
        ({"status_code": 503, "body": USER}, Lost("status 503", status=503)),
        ({"status_code": 529, "body": {"error": USER}}, Lost("status 529", status=529)),
        ({"status_code": 408}, Lost("status 408", status=408)),
    ],
)
def test_a_status_is_read_whichever_sdk_says_it(attributes: dict[str, Any], fault: object) -> None:
    assert fault_of(Told(**attributes), PARTY, NOW) == fault


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, '{"message": "Unauthorized"}', "Somebody refused the API key (status 401)"),
        (
            404,
            {"error": {"type": "not_found_error", "message": USER}},
            "Somebody has no model small (status 404, code model_not_found, type not_found_error)",
        ),
        (
            400,
            {"detail": "prompt is too long: 9 > 8"},
            "the text is too long for small (status 400, code context_length_exceeded)",
        ),
        (
            400,
            {"error": {"message": f"Bad. You wrote: {'x' * 400} schema"}},
            "Somebody refused the request (status 400)",
        ),
        (
            400,
            {"error": {"code": KEY, "message": USER}},
            "Somebody refused the request (status 400)",
        ),
        (400, "no JSON at all", "Somebody refused the request (status 400)"),
        (400, "[" * 100_000, "Somebody refused the request (status 400)"),
        (400, None, "Somebody refused the request (status 400)"),
    ],
)
def test_a_refusal_is_told_in_our_words_and_the_short_names_of_the_provider(
    status: int, body: object, message: str
) -> None:
    fault = fault_of(Told(status_code=status, body=body), PARTY, NOW)
    assert isinstance(fault, Final)
    assert isinstance(fault.error, NeverStarted)
    assert fault.error.message == message
    assert "--base-url" not in str(fault.error.hint)


@pytest.mark.parametrize(
    ("module", "name", "fault"),
    [
        ("httpx", "ConnectError", Lost("no connection", reached=False)),
        ("httpx", "ReadError", Lost("the connection was lost")),
        ("httpx", "RemoteProtocolError", Lost("the connection was lost")),
        ("httpx", "ReadTimeout", Lost("no answer within 120 s")),
        ("httpx", "SomethingNew", Lost("the connection was lost")),
        ("anthropic", "APIConnectionError", Lost("the connection was lost")),
        ("anthropic", "APITimeoutError", Lost("no answer within 120 s")),
        ("mistralai.client.errors", "NoResponseError", Lost("the connection was lost")),
    ],
)
def test_a_lost_connection_is_known_by_its_name_without_importing_its_library(
    module: str, name: str, fault: object
) -> None:
    kind = type(name, (Exception,), {"__module__": module})
    assert fault_of(kind(USER), PARTY, NOW) == fault


def test_a_reply_that_an_sdk_does_not_understand_is_a_broken_one() -> None:
    for error in (
        Told(status_code=200, body=USER),
        type("ValidationError", (ValueError,), {})(USER),
        json.JSONDecodeError("text", USER, 0),
    ):
        fault = fault_of(error, PARTY, NOW)
        assert isinstance(fault, Final)
        assert isinstance(fault.error, BrokenReply)


@pytest.mark.parametrize("surprise", [AttributeError(USER), TypeError(USER), RecursionError(USER)])
def test_a_surprise_is_an_engine_error_that_names_its_class_only(surprise: Exception) -> None:
    fault = fault_of(surprise, PARTY, NOW)
    assert isinstance(fault, Final)
    assert type(fault.error) is EngineError
    assert fault.error.message == f"the client for Somebody failed ({type(surprise).__name__})"


def test_choosing_a_model_loads_no_sdk() -> None:
    script = "import sys, repurpose.config; print({'instructor', 'openai'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout == "set()\n"
