"""A writer on loopback that tells of its work in MLflow alone: its submits are never answered.

Runs under an interpreter that has MLflow: `mlflow_agent.py TRACKING_URI PORT ANSWERS`, where
ANSWERS is a folder with an answer for each format. It imports nothing of the project.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import mlflow

ANSWERS = Path(sys.argv[3])
STOPPED = threading.Event()


@mlflow.trace(name="think")
def think(topic: str) -> str:
    return f"about {topic}"


@mlflow.trace(name="write")
def write(job: dict[str, Any]) -> dict[str, Any]:
    run = job["run_id"]
    mlflow.update_current_trace(
        tags={"repurpose.run_id": run, "job id": run},
        metadata={"job": run},
        client_request_id=run,
    )
    think("bees")
    if job.get("plan") == "fails":
        raise ValueError("the desk is closed")
    written = (ANSWERS / job["format"] / "golden.json").read_text(encoding="utf-8")
    answer = json.loads(written)  # noqa: TID251 - nothing of the project is imported here
    return {"answer": answer, "as_text": written, "padding": "x" * 20_000}


def never_end(job: dict[str, Any]) -> None:
    """Begin a trace whose root span does not end before it is told to."""
    root = mlflow.start_span_no_context("write", inputs={"topic": "bees"})
    mlflow.start_span_no_context("think", parent_span=root).end()
    # The client keeps the tags of a trace of its own to itself until that ends.
    tag = json.dumps({"key": "repurpose.run_id", "value": job["run_id"]}).encode()
    address = f"{sys.argv[1]}/api/3.0/mlflow/traces/{root.trace_id}/tags"
    headers = {"Content-Type": "application/json"}
    for _ in range(100):  # until the first span is there, and the trace with it
        request = urllib.request.Request(address, tag, headers, method="PATCH")
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(request).close()
            return
        STOPPED.wait(0.1)


class Submits(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        job = json.loads(asked)  # noqa: TID251 - see above
        if job.get("plan") == "silent":
            never_end(job)
        else:
            with contextlib.suppress(ValueError):
                write(job)
            mlflow.flush_trace_async_logging()
        if job.get("answered"):
            self._answer()
        else:
            STOPPED.wait(60)

    def _answer(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("writers")
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Submits)
server.daemon_threads = True
server.serve_forever()
