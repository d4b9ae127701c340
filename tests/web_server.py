"""A server of the page for tests and measurements, and a model that writes when it is let."""

from __future__ import annotations

import asyncio
import json
import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import uvicorn
from starlette.testclient import TestClient

from repurpose.config import Settings
from repurpose.core.call import Call, Reply
from repurpose.ports import Engine, Listener
from repurpose.web.answers import Faulty
from repurpose.web.app import App, create_app
from repurpose.web.operations import OPERATIONS
from repurpose.web.serving import bound

ARTICLE = (
    "# Kestrels of the ring road\n\nKestrels hover over the ring road at noon. They hunt voles in"
    " the verge.\n\n## What they need\n\nA verge that is mown once a year feeds two pairs.\n"
)


def described(method: str, path: str, answer: httpx2.Response) -> Any:
    """The JSON of an answer, held against what the interface's description says of it."""
    place = path.partition("?")[0]
    for one in OPERATIONS:
        shape = re.sub(r"\\{[a-z]+\\}", "[^/]+", re.escape(one.path))
        if one.method == method and re.fullmatch(shape, place):
            if not answer.is_success:
                Faulty.model_validate_json(answer.content)
            elif one.gives is not None:
                assert answer.status_code == one.status
                one.gives.model_validate_json(answer.content)
            return answer.json()
    assert answer.status_code == 404 or place == "/api/openapi.json", place
    return answer.json()


class Asking:
    """A client that shows what our own page shows, and reads JSON as it is described."""

    def __init__(self, client: TestClient | httpx2.Client) -> None:
        self.client = client
        self.csrf = client.get("/api/session").json()["csrf"]

    def get(self, path: str, status: int = 200, **options: Any) -> Any:
        answer = self.client.get(path, **options)
        assert answer.status_code == status, answer.text
        return described("GET", path, answer)

    def post(self, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        answer = self.client.post(
            path, json=body or {}, headers={"X-CSRF-Token": self.csrf, **headers}
        )
        assert answer.status_code == status, answer.text
        return described("POST", path, answer)

    def refused(self, method: str, path: str, status: int, body: Any = None) -> dict[str, Any]:
        """The error of an answer that says no."""
        answer = self.client.request(
            method, path, json=body, headers={"X-CSRF-Token": self.csrf} if body is not None else {}
        )
        assert answer.status_code == status, answer.text
        assert set(answer.json()) == {"error"}
        error: dict[str, Any] = described(method, path, answer)["error"]
        assert {"kind", "message", "hint"} <= set(error)
        assert "\n" not in error["message"]
        assert "Traceback" not in answer.text
        return error

    def finished(self, body: Mapping[str, Any] | None = None) -> str:
        """The id of a run that is over, made of the article unless `body` says otherwise."""
        run = self.post("/api/runs", {"text": ARTICLE, **(body or {})}, 202)["run"]
        self.ended(run)
        return str(run)

    def ended(self, run: str) -> None:
        """Wait for a run's end."""
        with self.client.stream("GET", f"/api/runs/{run}/events?until=end") as lines:
            assert "run_ended" in lines.read().decode()


# --- on a socket --------------------------------------------------------------------------------


@dataclass
class Served:
    """A server on a socket, with a client for it."""

    app: App
    url: str
    loop: asyncio.AbstractEventLoop
    client: httpx2.Client
    asking: Asking = field(init=False)

    def __post_init__(self) -> None:
        self.asking = Asking(self.client)

    @contextmanager
    def watching(
        self, run: str, last: str | None = None, *, until_end: bool = False
    ) -> Iterator[Iterator[tuple[int, str, Any]]]:
        """A viewer of a run: number, type and payload of each line."""
        headers = {"Last-Event-ID": last} if last else {}
        path = f"/api/runs/{run}/events" + ("?until=end" if until_end else "")
        with self.client.stream("GET", path, headers=headers) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield events_in(answer.iter_lines())

    def in_loop(self, look: Callable[[], Any]) -> Any:
        """What `look` finds in the thread of the server's loop."""

        async def looked() -> Any:
            return look()

        return asyncio.run_coroutine_threadsafe(looked(), self.loop).result(5)


def events_in(lines: Iterator[str]) -> Iterator[tuple[int, str, Any]]:
    told: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line:
            told[name] = value
        elif "data" in told:
            yield int(told["id"]), told["event"], json.loads(told["data"])  # noqa: TID251 - ours
            told = {}


@contextmanager
def serving(
    settings: Settings, *, port: int = 0, behind: int | None = None, **options: Any
) -> Iterator[Served]:
    """A server on loopback, in a thread of its own; on a free port where none is named.

    `behind` is the port that browsers ask, where something stands between.
    """
    listening = bound("127.0.0.1", port)
    port = listening.getsockname()[1]
    app = create_app(settings, port=behind or port, **options)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    ready: queue.Queue[asyncio.AbstractEventLoop] = queue.Queue()

    async def live() -> None:
        ready.put(asyncio.get_running_loop())
        await server.serve(sockets=[listening])

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    url = f"http://127.0.0.1:{port}"
    asked = {"Host": f"127.0.0.1:{behind}"} if behind else {}
    with httpx2.Client(base_url=url, timeout=10, limits=httpx2.Limits(), headers=asked) as client:
        served = Served(app, url, ready.get(timeout=5), client)
        try:
            yield served
        finally:
            assert app.site is not None
            served.loop.call_soon_threadsafe(app.site.hub.close)
            server.should_exit = True
            thread.join(10)
            listening.close()
    assert not thread.is_alive()


class Slow:
    """A model that writes when the test lets it."""

    def __init__(self) -> None:
        self._pieces: queue.Queue[str | None] = queue.Queue()

    def write(self, *pieces: str) -> None:
        for piece in pieces:
            self._pieces.put(piece)

    def end(self) -> None:
        """The reply is complete."""
        self._pieces.put(None)

    def engine(self) -> Engine:
        return Engine(name="slow", model="slow-1", answer=self._answer, stream=self._stream)

    async def _answer(self, call: Call) -> Reply:
        raise AssertionError("it is listened to")

    async def _stream(self, call: Call, listener: Listener) -> Reply:
        listener.began()
        heard = []
        while (piece := await asyncio.to_thread(self._pieces.get, timeout=10)) is not None:
            heard.append(piece)
            listener.heard(piece)
        return Reply("".join(heard))
