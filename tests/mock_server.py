"""A small OpenAI-compatible server on loopback that answers, or fails, as it is told.

    server.plan("429=0.2", "ok")                # every format: first a rate limit, then an answer
    server.plan("missing", "ok", schema="faq")  # one format only
    server.answers["faq"] = {"pairs": [...]}    # else an answer is made from the request's schema

The last step of a plan repeats. A request may bring its own plan in the model's name, such as
`mock:missing+ok`. Each plan is counted for each schema name. The steps:

    contents   ok fenced think prose malformed missing wrongtype extra dupkey surrogate empty null
               parts reasoning tool_calls refusal length content_filter nousage
    bodies     nochoices nomessage notobject errorbody html badjson partial
    no body    reset hang
    errors     any status (`503`, `429=2` with Retry-After: 2), quota context badschema unsupported
               filtered; their messages repeat key and prompt, as those of some servers do

A request with `"stream": true` is answered in events, whatever the plan, and `partial` cuts them
off. Further steps for such requests:

    streams    paused (the rest comes when the server is `released`), slow=SECONDS (before each
               event), silent (the first half, then nothing), ended (no finish, no [DONE]),
               nofinish (only [DONE]), nodone, cutlate (lost after the finish), lateerror (an
               error after the first half), unstreamed (one JSON body), unnamed (no content type)
    refusals   nostream, nousagewish: as OpenAI and Mistral refuse `stream` and `stream_options`

`/responses` is answered with the same contents, completed as soon as they are asked for.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REFUSAL = "I am sorry, but I will not help with that."
ECHO = "You wrote: "  # error bodies repeat the prompt, as some servers do
KEY_ECHO = "Incorrect API key provided: "  # and the key


@dataclass(frozen=True)
class Recorded:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    """With lower-case names."""
    body: Any


@dataclass(frozen=True)
class Answer:
    """A response to send; `cut` bytes of the body are promised but missing."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    events: tuple[bytes, ...] = ()
    """What a stream sends, in order; then the body is empty."""
    delay: float = 0.0
    """Seconds before each event."""
    holds: bool = False
    """Whether the second half of the events waits until the server is released."""
    ends: bool = True
    """Whether the stream ends as it should; else the connection is lost after the last event."""


class MockServer:
    """The server; `url` is what a client calls its base URL."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        """By schema name: the JSON to answer with, or a string to answer with as it stands."""
        self.requests: list[Recorded] = []
        self.plans: dict[str | None, tuple[str, ...]] = {None: ("ok",)}
        self.asked = threading.Event()
        """Set by the first request."""
        self.released = threading.Event()
        """Set to end what hangs, and to answer what is held."""
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"mock": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._http.server_address[1]}"

    def plan(self, *steps: str, schema: str | None = None) -> None:
        """What the next requests meet, in order; without `schema` for every schema not planned."""
        self.plans[schema] = steps

    def reset(self) -> None:
        """Forget requests, plans and answers."""
        self.released.set()
        with self._lock:
            self.released = threading.Event()
            self.asked.clear()
            self.answers.clear()
            self.requests.clear()
            self.plans = {None: ("ok",)}
            self._counts.clear()

    def close(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer_to(self, request: Recorded) -> Answer | None:
        """The response, or None for a connection that ends without one."""
        with self._lock:
            self.requests.append(request)
            self.asked.set()
            step = self._step(request.body)
            waiting = self.released
        kind, _, argument = step.partition("=")
        if kind in ("hang", "hold"):
            waiting.wait(10)
        if kind == "hang":
            return None
        if kind == "reset":
            return None
        return self._made(kind, argument, request)

    def _step(self, body: Any) -> str:
        name = _shape(body)[0]
        _, own, plan = str(body.get("model")).partition("mock:")
        steps = tuple(plan.split("+")) if own else self.plans.get(name, self.plans[None])
        place = (name, "+".join(steps))
        self._counts[place] += 1
        return steps[min(self._counts[place], len(steps)) - 1]

    def _made(self, kind: str, argument: str, request: Recorded) -> Answer:
        if kind.isdigit() or kind in ERRORS:
            return _error(kind, argument, request)
        if kind in REFUSALS and REFUSALS[kind][0] in request.body:
            return Answer(REFUSALS[kind][1], json.dumps(REFUSALS[kind][2]).encode())
        if kind == "html":
            page = b"<!doctype html><html><body>Please log in</body></html>"
            return Answer(body=page, headers={"content-type": "text/html"})
        completion = self._completion(kind, request.body)
        if request.path.endswith("/responses"):
            return Answer(body=json.dumps(_as_response(completion)).encode())
        if request.body.get("stream") and kind != "unstreamed":
            wants_usage = bool(request.body.get("stream_options", {}).get("include_usage"))
            return _streamed(kind, argument, completion, wants_usage)
        whole = json.dumps(completion).encode()
        if kind == "badjson":
            return Answer(body=whole[: len(whole) // 2])
        if kind == "partial":
            return Answer(body=whole[: len(whole) // 2], cut=len(whole) - len(whole) // 2)
        return Answer(body=b"[1, 2]" if kind == "notobject" else whole)

    def _completion(self, kind: str, body: Any) -> dict[str, Any]:
        name, schema = _shape(body)
        answer = self.answers.get(name)
        sampled = sample(schema, schema) if answer is None else answer
        message, finish = _message(kind, sampled)
        completion: dict[str, Any] = {
            "id": "chatcmpl-mock",
            "object": "chat.completion",
            "created": 1,
            "model": "mock-model",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": 120,
                "completion_tokens": 45,
                "total_tokens": 165,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
        }
        if kind == "nousage":
            del completion["usage"]
        if kind == "nochoices":
            completion["choices"] = []
        if kind == "nomessage":
            completion["choices"][0]["message"] = None
        if kind == "errorbody":
            return {"error": {"code": 502, "message": ECHO + body["messages"][1]["content"]}}
        return completion


# --- contents ---------------------------------------------------------------------------------

SPOILED: dict[str, Callable[[dict[str, Any], str], str]] = {
    "fenced": lambda _, text: f"```json\n{text}\n```",
    "think": lambda _, text: f"<think>Let me see. {{Not}} this.</think>\n{text}",
    "prose": lambda _, text: f"Here is what you asked for:\n\n{text}\n\nI hope it helps.",
    "missing": lambda answer, _: json.dumps(dict(list(answer.items())[1:])),
    "wrongtype": lambda answer, _: json.dumps({**answer, next(iter(answer)): {"not": "this"}}),
    "extra": lambda answer, _: json.dumps({**answer, "undeclared": "value"}),
    "dupkey": lambda answer, text: (
        f'{{{json.dumps(next(iter(answer)))}: {json.dumps(next(iter(answer.values())))}, {text[1:]}'
    ),
    "malformed": lambda _, text: text[:-2],
    "length": lambda _, text: text[: len(text) // 2],
    "content_filter": lambda _, text: text[:5],
    "empty": lambda _, text: "",
    "surrogate": lambda _, text: text[:-1] + ', "half": "\ud83d"}',
}  # fmt: skip
"""By kind: the content in place of the good answer."""


def _message(kind: str, answer: Any) -> tuple[dict[str, Any], str]:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if kind in SPOILED:
        message["content"] = SPOILED[kind](answer, text)
    elif kind == "refusal":
        message.update(content=None, refusal=REFUSAL)
    elif kind in ("null", "tool_calls"):
        message["content"] = None
    elif kind == "parts":
        message["content"] = [
            {"type": "text", "text": text[:9]},
            {"type": "text", "text": text[9:]},
        ]
    elif kind == "reasoning":
        message.update(content="", reasoning_content=text)
    return message, kind if kind in ("length", "content_filter", "tool_calls") else "stop"


def _as_response(completion: dict[str, Any]) -> dict[str, Any]:
    """The same as a response in the background that is completed when it is accepted."""
    text = completion["choices"][0]["message"]["content"]
    usage = completion["usage"]
    return {
        "id": "resp_mock",
        "object": "response",
        "status": "completed",
        "model": completion["model"],
        "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}],
        "usage": {
            "input_tokens": usage["prompt_tokens"],
            "output_tokens": usage["completion_tokens"],
        },
    }


def sample(schema: Any, root: Any, seed: str = "answer") -> Any:
    """An instance of `schema`: whole sentences where it wants strings, the fewest items allowed."""
    if "$ref" in schema:
        return sample(_resolved(schema["$ref"], root), root, seed)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], root, seed)
    kind = schema.get("type", "object")
    return SAMPLERS[kind if isinstance(kind, str) else kind[0]](schema, root, seed)


SAMPLERS: dict[str, Callable[[Any, Any, str], Any]] = {
    "object": lambda schema, root, seed: {
        name: sample(inner, root, name) for name, inner in schema.get("properties", {}).items()
    },
    "array": lambda schema, root, seed: [
        sample(schema.get("items", {"type": "string"}), root, f"{seed} {place + 1}")
        for place in range(max(1, schema.get("minItems", 0)))
    ],
    "string": lambda schema, root, seed: f"Here stands the {seed} of it.",
    "integer": lambda schema, root, seed: schema.get("minimum", 1),
    "number": lambda schema, root, seed: schema.get("minimum", 1.5),
    "boolean": lambda schema, root, seed: True,
    "null": lambda schema, root, seed: None,
}


def _resolved(reference: str, root: Any) -> Any:
    found = root
    for part in reference.removeprefix("#").split("/")[1:]:
        found = found[part]
    return found


def _shape(body: Any) -> tuple[str, Any]:
    """The name and the schema that the answer shall have."""
    wanted = (body.get("response_format") or {}).get("json_schema") or {}
    wanted = wanted or body.get("text", {}).get("format", {})  # of the Responses interface
    return wanted.get("name", ""), wanted.get("schema", {"type": "object"})


# --- errors -----------------------------------------------------------------------------------

ERRORS: dict[str, tuple[int, str, str | None, str | None]] = {
    "429": (429, "requests", "rate_limit_exceeded", None),
    "quota": (429, "insufficient_quota", "insufficient_quota", None),
    "401": (401, "invalid_request_error", "invalid_api_key", None),
    "404": (404, "invalid_request_error", "model_not_found", "model"),
    "context": (400, "invalid_request_error", "context_length_exceeded", "messages"),
    "badschema": (400, "invalid_request_error", "invalid_json_schema", "response_format"),
    "unsupported": (400, "invalid_request_error", None, "response_format"),
    "filtered": (400, "invalid_request_error", "content_filter", "prompt"),
}
"""Status, type, code and parameter; any other number is an error with no names in it."""


def _error(kind: str, argument: str, request: Recorded) -> Answer:
    status, type_, code, param = ERRORS.get(kind) or (int(kind), "server_error", None, None)
    key = request.headers.get("authorization", "")
    echoed = f"{KEY_ECHO}{key}. {ECHO}{request.body['messages'][1]['content']}"
    error = {"message": echoed, "type": type_, "code": code, "param": param}
    headers = {"retry-after": argument} if argument else {}
    if 300 <= status < 400:
        headers["location"] = "http://127.0.0.1:9/v1/chat/completions"
    return Answer(status, json.dumps({"error": error}).encode(), headers)


REFUSALS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "nostream": (
        "stream",
        400,
        {
            "error": {
                "message": "Your organization must be verified to stream this model.",
                "type": "invalid_request_error",
                "param": "stream",
                "code": "unsupported_value",
            }
        },
    ),
    "nousagewish": (
        "stream_options",
        422,
        {
            "object": "error",
            "message": {
                "detail": [
                    {"type": "extra_forbidden", "loc": ["body", "stream_options", "include_usage"]}
                ]
            },
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        },
    ),
}
"""By kind: the field that is refused, the status and the body."""


# --- streams ----------------------------------------------------------------------------------

PIECE = 7
"""Characters of an answer in one event; an odd number that cuts words and escapes."""


def _streamed(kind: str, argument: str, completion: Any, wants_usage: bool) -> Answer:
    """The completion in events."""
    headers = {} if kind == "unnamed" else {"content-type": "text/event-stream"}
    chunks = [completion] if "error" in completion else list(_chunks(completion, wants_usage))
    lines = [json.dumps(chunk) for chunk in chunks]
    if kind in ("ended", "silent"):
        lines = lines[: len(lines) // 2]
    elif kind == "nofinish":
        lines = [*(line for line in lines if '"stop"' not in line), "[DONE]"]
    elif kind == "cutlate":
        lines = lines[:-1]
    elif kind == "lateerror":
        error = {"error": {"code": 502, "message": "the backend is gone"}}
        lines = [*lines[: len(lines) // 2], json.dumps(error)]
    elif kind == "notobject":
        lines = ["[1, 2]"]
    elif kind == "badjson":
        lines[-1] = lines[-1][: len(lines[-1]) // 2]
    elif kind != "nodone":
        lines.append("[DONE]")
    if kind == "partial":
        lines = lines[: len(lines) // 2]
    return Answer(
        headers=headers,
        events=tuple(f"data: {line}\n\n".encode() for line in lines),
        delay=float(argument) if kind == "slow" else 0.0,
        holds=kind in ("paused", "silent"),
        ends=kind not in ("partial", "cutlate"),
    )


def _chunks(completion: Any, wants_usage: bool) -> Iterator[dict[str, Any]]:
    frame = {name: completion[name] for name in ("id", "created", "model")}
    frame["object"] = "chat.completion.chunk"
    for choice in completion["choices"]:
        message = choice["message"]
        if message is not None:
            yield _chunk(frame, {"role": "assistant", "content": ""})
            for name, value in message.items():
                if name != "role" and value:
                    for piece in _cut(value):
                        yield _chunk(frame, {name: piece})
        yield _chunk(frame, None if message is None else {}, choice["finish_reason"])
    if not completion["choices"]:
        yield {**frame, "choices": []}
    if wants_usage and "usage" in completion:
        yield {**frame, "choices": [], "usage": completion["usage"]}


def _chunk(frame: dict[str, Any], delta: Any, finish: str | None = None) -> dict[str, Any]:
    return {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _cut(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [[part] for part in value]
    return [value[place : place + PIECE] for place in range(0, len(value), PIECE)]


# --- the wire ---------------------------------------------------------------------------------


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    mock: MockServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        headers["x-port"] = str(self.client_address[1])  # whether a connection is used again
        answer: Answer | None = Answer(404, b'{"error": {"message": "no such path"}}')
        if self.path in ("/v1/chat/completions", "/v1/responses"):
            answer = self.mock.answer_to(Recorded(self.path, headers, json.loads(raw)))  # noqa: TID251 - a test server reads its own client
        with contextlib.suppress(OSError):  # the client may be gone by now
            if answer is None:
                self._cut()
            elif answer.events:
                self._stream(answer)
            else:
                self._send(answer)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        headers = {"content-type": "application/json", "x-request-id": "req-mock", **answer.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body) + answer.cut))
        self.end_headers()
        self.wfile.write(answer.body)
        if answer.cut:
            self._cut()

    def _stream(self, answer: Answer) -> None:
        released = self.mock.released
        self.send_response(200)
        for name, value in {"x-request-id": "req-mock", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for place, event in enumerate(answer.events):
            if answer.holds and place == (len(answer.events) + 1) // 2:
                released.wait(10)
            if answer.delay:
                released.wait(answer.delay)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        if answer.holds:
            released.wait(10)
        if answer.ends:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._cut()

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
