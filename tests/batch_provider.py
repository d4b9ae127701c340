"""A provider's files and batches on loopback, which do what a test says and nothing by themselves.

    provider.answer(batch, {...})        # the batch is over: completed, output shuffled
    provider.batches[0]["status"] = ...  # or whatever else its owner makes of it
    provider.faults["POST /batches"] = ["503", "lost"]   # for the next requests of this kind

Faults are a status (`503`), `lost` (it is done, and the connection is cut before the answer),
`cut` (the first half of the body, with the length of the whole) or `html`.
"""

from __future__ import annotations

import email
import email.policy
import json
import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "sk-batch-7d1e8a63504f9b2c"
ANSWERED = {"prompt_tokens": 1000, "completion_tokens": 100}


class BatchProvider:
    """The server; `url` is what a client calls its base URL."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: list[dict[str, Any]] = []
        self.faults: dict[str, list[str]] = {}
        """By `METHOD /first-part`: the faults of the next such requests, in their order."""
        self.counts: Counter[str] = Counter()
        self.page = 100
        """Batches in one answer to a list."""
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.on: Callable[[str], None] = lambda _: None
        """Told of each request when it was done and not answered yet."""
        self._lock = threading.RLock()
        handler = type("Handler", (_Handler,), {"provider": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    # --- what a test does

    def lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """The requests of a batch."""
        content = self.files[batch["input_file_id"]]
        return [json.loads(line) for line in content.split(b"\n") if line]  # noqa: TID251 - ours

    def ids(self, batch: dict[str, Any]) -> list[str]:
        return [line["custom_id"] for line in self.lines(batch)]

    def end(
        self,
        batch: dict[str, Any],
        *,
        answers: Iterable[dict[str, Any]] = (),
        errors: Iterable[dict[str, Any]] = (),
        status: str = "completed",
        tail: bytes = b"",
        counts: bool = True,
    ) -> None:
        """The batch is over, with these lines in its two files, in any order."""
        answers, errors = list(answers), list(errors)
        for name, lines in (("output_file_id", answers), ("error_file_id", errors)):
            random.Random(7).shuffle(lines)
            if lines or (tail and name == "output_file_id"):
                content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
                batch[name] = self.keep(content + (tail if name == "output_file_id" else b""))
        batch["status"] = status
        if counts:
            total = len(self.ids(batch))
            batch["request_counts"] = {
                "total": total,
                "completed": len(answers),
                "failed": total - len(answers),
            }

    def answer(self, batch: dict[str, Any], reply: Callable[[dict[str, Any]], str]) -> None:
        """The batch is completed: each request with what `reply` makes of its line."""
        self.end(batch, answers=[answered(line, reply(line)) for line in self.lines(batch)])

    def refuse(self, batch: dict[str, Any], *faults: dict[str, Any]) -> None:
        """The batch failed its validation."""
        batch["status"] = "failed"
        batch["errors"] = {"object": "list", "data": list(faults)}

    def keep(self, content: bytes) -> str:
        with self._lock:
            file_id = f"file-{len(self.files) + 1}"
            self.files[file_id] = content
        return file_id

    # --- what a client does

    def served(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        """The JSON or bytes to answer with, or a status."""
        parts = urlsplit(path)
        name, _, rest = parts.path.removeprefix("/v1/").partition("/")
        if headers.get("authorization") != f"Bearer {KEY}":
            return 401
        match method, name, rest:
            case "POST", "files", "":
                purpose, content = _uploaded(headers["content-type"], body)
                return {"id": self.keep(content)} if purpose == "batch" else 400
            case "GET", "files", _:
                return self.files.get(rest.removesuffix("/content"), 404)
            case "POST", "batches", "":
                return self._created(json.loads(body))  # noqa: TID251 - a test's client
            case "GET", "batches", "":
                return self._listed(parse_qs(parts.query))
            case "GET", "batches", _:
                return next((each for each in self.batches if each["id"] == rest), 404)
        return 404

    def _created(self, asked: dict[str, Any]) -> Any:
        if asked["input_file_id"] not in self.files:
            return 404
        with self._lock:
            number = len(self.batches) + 1
            batch = {
                "id": f"batch_{number}",
                "object": "batch",
                "endpoint": asked["endpoint"],
                "input_file_id": asked["input_file_id"],
                "completion_window": asked["completion_window"],
                "metadata": asked["metadata"],
                "status": "validating",
                "created_at": 1_800_000_000 + number,
                "output_file_id": None,
                "error_file_id": None,
                "errors": None,
                "request_counts": {"total": 0, "completed": 0, "failed": 0},
            }
            self.batches.append(batch)
        return batch

    def _listed(self, marks: dict[str, list[str]]) -> Any:
        newest = list(reversed(self.batches))
        ids = [each["id"] for each in newest]
        start = ids.index(marks["after"][0]) + 1 if "after" in marks else 0
        shown = newest[start : start + self.page]
        more = start + self.page < len(newest)
        return {"object": "list", "data": shown, "has_more": more}


def answered(line: dict[str, Any], text: str, **changes: Any) -> dict[str, Any]:
    """A line of an output file."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": line["body"]["model"],
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        ],
        "usage": ANSWERED,
        **changes,
    }
    response = {"status_code": 200, "request_id": f"req_{line['custom_id']}", "body": body}
    return {
        "id": "batch_req_1",
        "custom_id": line["custom_id"],
        "response": response,
        "error": None,
    }


def failed(line: dict[str, Any], status: int, **error: Any) -> dict[str, Any]:
    """A line of an error file: a request that was sent and refused."""
    body = {"error": {"message": "You wrote: a secret", **error}}
    response = {"status_code": status, "request_id": "req_1", "body": body}
    return {
        "id": "batch_req_1",
        "custom_id": line["custom_id"],
        "response": response,
        "error": None,
    }


def unsent(line: dict[str, Any], code: str) -> dict[str, Any]:
    """A line of an error file: a request that was never sent."""
    return {
        "id": "batch_req_1",
        "custom_id": line["custom_id"],
        "response": None,
        "error": {"code": code, "message": "This request could not be executed."},
    }


def _uploaded(kind: str, body: bytes) -> tuple[str, bytes]:
    """Purpose and content of a form."""
    message = email.message_from_bytes(
        b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body, policy=email.policy.HTTP
    )
    fields = {
        str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True)
        for part in message.iter_parts()  # type: ignore[attr-defined]  # policy.HTTP makes it one
    }
    return fields["purpose"].decode(), fields["file"]


class _Handler(BaseHTTPRequestHandler):
    provider: BatchProvider
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for its second packet

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self) -> None:
        provider = self.provider
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self._body(headers)
        kind = f"{self.command} /{urlsplit(self.path).path.split('/')[2]}"
        provider.counts[kind] += 1
        provider.seen.append((f"{self.command} {self.path}", headers, body))
        faults = provider.faults.get(kind, [])
        fault = faults.pop(0) if faults else ""
        if fault.isdigit():
            self._send(int(fault), b'{"error": {"message": "no", "code": "told_so"}}')
            return
        made = provider.served(self.command, self.path, headers, body)
        provider.on(kind)
        if fault == "lost":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif isinstance(made, int):
            self._send(made, b'{"error": {"message": "no", "code": "none_such"}}')
        elif fault == "html":
            self._send(200, b"<html>hello</html>")
        else:
            content = made if isinstance(made, bytes) else json.dumps(made).encode()
            self._send(200, content, cut=fault == "cut")

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(headers.get("content-length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, status: int, content: bytes, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.close_connection = True
