"""Small servers on loopback that speak the interfaces of providers, and fail as they are told.

Anthropic's Messages API and Gemini's generateContent whole; of Mistral's, Groq's and Cohere's
chat interfaces what an engine reads.

    server.plan("429=2", "ok")     # first a rate limit, then an answer; the last step repeats
    server.answer = {"pairs": []}  # what a good reply holds; a string is sent as it stands

The steps, the same for all:

    contents   ok missing extra dupkey surrogate fenced refusal length filtered empty nousage
               thinking unknown
    bodies     nochoices notobject html badjson partial
    no body    reset hang
    errors     any status (`503`, `429=2` with Retry-After: 2), wait (429, the time in the body),
               overloaded key model context quota schema redirect; their messages repeat key and
               prompt, as those of some servers do

Shapes: docs.claude.com/en/api/messages and /api/errors, ai.google.dev/api/generate-content and
/gemini-api/docs/troubleshooting, November 2026.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REFUSAL = "I am sorry, but I will not help with that."
THOUGHT = "First I look at the keeper."


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    """With lower-case names."""
    body: Any


@dataclass(frozen=True)
class Sent:
    """A response; `cut` bytes of the body are promised but missing."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0


class ProviderServer:
    """A server for one provider; `url` is what its SDK calls the base URL."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.answer: Any = None
        self.requests: list[Asked] = []
        self.steps: tuple[str, ...] = ("ok",)
        self.released = threading.Event()
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"server_of": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def plan(self, *steps: str) -> None:
        """What the next requests meet, in order."""
        self.steps = steps

    def reset(self) -> None:
        """Forget requests, plan and answer."""
        self.released.set()
        with self._lock:
            self.released = threading.Event()
            self.requests.clear()
            self.steps = ("ok",)
            self.answer = None

    def close(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer_to(self, request: Asked) -> Sent | None:
        """The response, or None for a connection that ends without one."""
        with self._lock:
            self.requests.append(request)
            step = self.steps[min(len(self.requests), len(self.steps)) - 1]
            waiting = self.released
        kind, _, argument = step.partition("=")
        if kind == "hang":
            waiting.wait(10)
        if kind in ("hang", "reset"):
            return None
        if kind == "html":
            page = b"<!doctype html><html><body>Please log in</body></html>"
            return Sent(body=page, headers={"content-type": argument or "text/html"})
        if kind == "redirect":
            return Sent(308, b"{}", {"location": f"{self.url}/elsewhere"})
        if kind.isdigit() or kind in self.wire.errors:
            return self._error(kind, argument, request)
        if kind == "notobject":
            return Sent(body=b"[1, 2]")
        whole = json.dumps(self.wire.reply(kind, self._text(kind))).encode()
        if kind in ("badjson", "partial"):
            half = len(whole) // 2
            return Sent(body=whole[:half], cut=len(whole) - half if kind == "partial" else 0)
        return Sent(body=whole)

    def _text(self, kind: str) -> str:
        answer = self.answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return SPOILED[kind](answer, text) if kind in SPOILED else text

    def _error(self, kind: str, argument: str, request: Asked) -> Sent:
        status, names = self.wire.errors.get(kind) or (int(kind), {})
        key = next((request.headers[n] for n in KEY_HEADERS if n in request.headers), "")
        said = names.get("message", "Something is wrong.")
        message = f"{said} Your key {key}. You wrote: {json.dumps(request.body)}"
        body = self.wire.error(status, {**names, "message": message})
        return Sent(
            status, json.dumps(body).encode(), {"retry-after": argument} if argument else {}
        )


KEY_HEADERS = ("x-api-key", "x-goog-api-key", "authorization")

SPOILED: dict[str, Callable[[dict[str, Any], str], str]] = {
    "missing": lambda answer, _: json.dumps(dict(list(answer.items())[1:])),
    "extra": lambda answer, _: json.dumps({**answer, "undeclared": "value"}),
    "dupkey": lambda answer, text: (
        f"{{{json.dumps(next(iter(answer)))}: {json.dumps(next(iter(answer.values())))}, {text[1:]}"
    ),
    "surrogate": lambda _, text: text[:-1] + ', "half": "\ud83d"}',
    "fenced": lambda _, text: f"```json\n{text}\n```",
    "length": lambda _, text: text[: len(text) // 2],
    "empty": lambda _, text: "",
}
"""By kind: the text in place of the good answer."""


@dataclass(frozen=True)
class Wire:
    """How one provider writes replies and errors."""

    reply: Callable[[str, str], Any]
    error: Callable[[int, dict[str, Any]], Any]
    errors: dict[str, tuple[int, dict[str, Any]]]
    """By step: the status and the names in the error."""


# --- Anthropic --------------------------------------------------------------------------------


def _message(kind: str, text: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text[:9]}] if text else []
    if text[9:]:
        blocks.append({"type": "text", "text": text[9:]})
    message: dict[str, Any] = {
        "id": "msg_mock",
        "type": "message",
        "role": "assistant",
        "model": "claude-mock-1",
        "content": blocks,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 50,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 6,
            "output_tokens": 45,
            "output_tokens_details": {"thinking_tokens": 7},
        },
    }
    if kind == "length":
        message["stop_reason"] = "max_tokens"
    elif kind == "refusal":
        message.update(content=[{"type": "text", "text": REFUSAL}], stop_reason="refusal")
    elif kind == "filtered":
        details = {"type": "refusal", "category": "bio", "explanation": REFUSAL}
        message.update(content=[], stop_reason="refusal", stop_details=details)
    elif kind == "nousage":
        del message["usage"]
    elif kind == "thinking":
        blocks.insert(0, {"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"})
    elif kind == "unknown":
        blocks.insert(0, {"type": "hologram", "shape": 3})
        message["stop_reason"] = "newly_invented"
    elif kind == "nochoices":
        del message["content"]
    return message


ANTHROPIC = Wire(
    reply=_message,
    error=lambda status, names: {
        "type": "error",
        "error": {"type": "api_error", **names},
        "request_id": "req_mock",
    },
    errors={
        "wait": (429, {"type": "rate_limit_error"}),
        "overloaded": (529, {"type": "overloaded_error", "message": "Overloaded"}),
        "key": (401, {"type": "authentication_error", "message": "invalid x-api-key"}),
        "model": (404, {"type": "not_found_error", "message": "model: claude-mock"}),
        "context": (
            400,
            {
                "type": "invalid_request_error",
                "message": "prompt is too long: 9 tokens > 8 maximum",
            },
        ),
        "quota": (
            400,
            {"type": "invalid_request_error", "message": "Your credit balance is too low"},
        ),
        "schema": (
            400,
            {"type": "invalid_request_error", "message": "output_config.format: not supported"},
        ),
    },
)


# --- Gemini -----------------------------------------------------------------------------------


def _generated(kind: str, text: str) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text[:9]}, {"text": text[9:]}]
    candidate: dict[str, Any] = {
        "content": {"role": "model", "parts": parts},
        "finishReason": "STOP",
        "index": 0,
    }
    reply: dict[str, Any] = {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": 120,
            "candidatesTokenCount": 38,
            "thoughtsTokenCount": 7,
            "cachedContentTokenCount": 64,
            "totalTokenCount": 165,
        },
        "modelVersion": "gemini-mock-1",
        "responseId": "resp_mock",
    }
    if kind == "length":
        candidate["finishReason"] = "MAX_TOKENS"
    elif kind == "refusal":  # Gemini has no refusal; this is how it declines
        reply["candidates"] = [{"finishReason": "SAFETY", "index": 0}]
    elif kind == "filtered":
        del reply["candidates"]
        reply["promptFeedback"] = {"blockReason": "PROHIBITED_CONTENT"}
    elif kind == "nousage":
        del reply["usageMetadata"]
    elif kind == "thinking":
        parts.insert(0, {"text": THOUGHT, "thought": True})
    elif kind == "unknown":
        candidate["finishReason"] = "CONTINUATION"
        candidate["continuationToken"] = "more"
        reply["newlyInvented"] = {"shape": 3}
    elif kind == "nochoices":
        reply["candidates"] = []
    return reply


GEMINI = Wire(
    reply=_generated,
    error=lambda status, names: {
        "error": {"code": status, "status": "INTERNAL", **names},
    },
    errors={
        "wait": (
            429,
            {
                "status": "RESOURCE_EXHAUSTED",
                "details": [
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "9s"}
                ],
            },
        ),
        "overloaded": (503, {"status": "UNAVAILABLE", "message": "The model is overloaded."}),
        "key": (400, {"status": "INVALID_ARGUMENT", "message": "API key not valid."}),
        "model": (404, {"status": "NOT_FOUND", "message": "models/gemini-mock is not found"}),
        "context": (
            400,
            {
                "status": "INVALID_ARGUMENT",
                "message": "The input token count (9) exceeds the maximum number allowed (8).",
            },
        ),
        "quota": (402, {"status": "FAILED_PRECONDITION", "message": "Enable billing."}),
        "schema": (
            400,
            {"status": "INVALID_ARGUMENT", "message": "Unknown name at response_json_schema"},
        ),
    },
)


# --- chat completions, and what Cohere made of them -------------------------------------------

_CHAT_FINISHES = {"length": "length", "filtered": "content_filter"}
_CHAT_ERRORS: dict[str, tuple[int, dict[str, Any]]] = {
    "wait": (429, {"type": "rate_limited", "code": "1300"}),
    "overloaded": (503, {"type": "service_tier_capacity_exceeded", "code": "3505"}),
    "key": (401, {"message": "Unauthorized"}),
    "model": (404, {"type": "invalid_model", "code": "1500"}),
    "context": (
        400,
        {"type": "invalid_request", "message": "Too many tokens, the context length is 8."},
    ),
    "quota": (402, {"message": "No credits."}),
    "schema": (400, {"type": "invalid_request", "message": "response_format is not supported"}),
}


def _completion(kind: str, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    completion: dict[str, Any] = {
        "id": "cmpl_mock",
        "object": "chat.completion",
        "created": 1,
        "model": "chat-mock-1",
        "choices": [
            {"index": 0, "message": message, "finish_reason": _CHAT_FINISHES.get(kind, "stop")}
        ],
        "usage": {
            "prompt_tokens": 120,
            "completion_tokens": 45,
            "total_tokens": 165,
            "prompt_tokens_details": {"cached_tokens": 64},
        },
    }
    if kind == "refusal":
        message.update(content=None, refusal=REFUSAL)
    elif kind == "nochoices":
        completion["choices"] = []
    return completion


def _cohere(kind: str, text: str) -> dict[str, Any]:
    return {
        "id": "resp_mock",
        "finish_reason": "MAX_TOKENS" if kind == "length" else "COMPLETE",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        "usage": {
            "billed_units": {"input_tokens": 100.0, "output_tokens": 40.0},
            "tokens": {"input_tokens": 120.0, "output_tokens": 45.0},
            "cached_tokens": 64.0,
        },
    }


GROQ = Wire(
    reply=_completion, error=lambda status, names: {"error": dict(names)}, errors=_CHAT_ERRORS
)
MISTRAL = Wire(
    reply=_completion,
    error=lambda status, names: {"object": "error", "param": None, **names},
    errors=_CHAT_ERRORS,
)
COHERE = Wire(
    reply=_cohere,
    error=lambda status, names: {"id": "err_mock", "message": names["message"]},
    errors=_CHAT_ERRORS,
)


# --- the wire ---------------------------------------------------------------------------------


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server_of: ProviderServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        sent = self.server_of.answer_to(Asked(self.path, headers, json.loads(raw)))  # noqa: TID251 - a test server reads its own client
        with contextlib.suppress(OSError):  # the client may be gone by now
            if sent is None:
                self._cut()
            else:
                self._send(sent)

    def _send(self, sent: Sent) -> None:
        self.send_response(sent.status)
        for name, value in {"content-type": "application/json", **sent.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(sent.body) + sent.cut))
        self.end_headers()
        self.wfile.write(sent.body)
        if sent.cut:
            self._cut()

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
