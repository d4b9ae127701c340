"""A service on loopback that writes texts, with one address for each way of telling the end."""

from __future__ import annotations

import asyncio
import itertools
import json
import queue
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from repurpose.schema.intake import decode

GOLDEN = Path(__file__).resolve().parent.parent / "fixtures" / "replies"
PLANS = ("fine", "invalid", "fails", "silent")
"""A right answer, one that is no valid one, work that failed, and work that never ends."""


def written_for(asked: Any) -> str:
    """The JSON that answers a schema, wherever in `asked` it stands, as JSON or in a prompt."""
    text = json.dumps(asked).replace('\\"', '"')
    for name, part in (("summary", '"sentences"'), ("faq", '"pairs"')):
        if part in text:
            return (GOLDEN / name / "golden.json").read_text(encoding="utf-8")
    raise AssertionError("neither a summary nor an FAQ is asked for")


@dataclass
class Workflow:
    """Does what it is asked, or as it is planned, and notes what came."""

    traces: Path | None = None
    """Where it writes its traces, each a line, as a collector's file exporter does."""
    url: str = ""
    plans: deque[str] = field(default_factory=deque)
    """What becomes of the next jobs, in order; every other one is `fine`."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the submits."""
    headers: list[dict[str, str]] = field(default_factory=list)
    """The headers of the submits, by name in lower case."""
    paths: list[str] = field(default_factory=list)
    """Method and path of every request."""
    refusal: str = "not for you"
    held: int = 0
    """How many requests it has open just now."""
    acknowledged: list[int] = field(default_factory=list)
    """How its posts to a callback address were answered."""
    _jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    _looks: Counter[str] = field(default_factory=Counter)
    _work: set[asyncio.Task[None]] = field(default_factory=set)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def reset(self) -> None:
        """Forget what was planned and seen."""
        for kept in (self.plans, self.asked, self.headers, self.paths, self.acknowledged):
            kept.clear()
        self.refusal = "not for you"

    def app(self) -> web.Application:
        """The service, ready to be served."""
        app = web.Application(middlewares=[self._noted], client_max_size=16 * 2**20)
        app.router.add_post("/write", self.sync)
        app.router.add_post("/jobs", self.start)
        app.router.add_get("/jobs/{job}", self.look)
        app.router.add_post("/events", self.events)
        app.router.add_post("/lines", self.lines)
        app.router.add_post("/webhook/write", self.webhook)
        app.router.add_post("/invoke", self.invoke)
        app.router.add_post("/refused", self.refused)
        return app

    async def sync(self, request: web.Request) -> web.Response:
        """The response is the answer; a failure has a status that says so."""
        state = self._planned()
        await self._unless_silent(state)
        if state == "fails":
            return web.json_response({"error": "out of ink"}, status=500)
        text = _text(state, await _body(request))
        return web.json_response({"output": decode(text) if state == "fine" else text})

    async def start(self, request: web.Request) -> web.Response:
        """A job with a number of its own; its state is told elsewhere."""
        job = f"job/{next(self._numbers)}"
        self._jobs[job] = _ended(self._planned(), await _body(request))
        return web.json_response({"job": {"id": job}}, status=202)

    async def look(self, request: web.Request) -> web.Response:
        """The state of a job, which is over when it is looked at for the second time."""
        job = request.match_info["job"]
        if job not in self._jobs:
            raise web.HTTPNotFound
        self._looks[job] += 1
        over = self._looks[job] > 1 and self._jobs[job]["state"] != "working"
        return web.json_response(self._jobs[job] if over else {"state": "working"})

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events."""
        return await self._streamed(request, "text/event-stream", "data: {}\r\n\r\n")

    async def lines(self, request: web.Request) -> web.StreamResponse:
        """A line of JSON for each event."""
        return await self._streamed(request, "application/x-ndjson", "{}\n")

    async def webhook(self, request: web.Request) -> web.Response:
        """Posts what came of it to the address in the body, after a word in between."""
        over = _ended(self._planned(), await _body(request))
        told = str((await _body(request))["reply_to"])
        self._background(self._post(told, {"state": "working"}, over))
        return web.Response(text="Workflow was started", status=202)

    async def invoke(self, request: web.Request) -> web.Response:
        """Says in its trace that it is over; the response itself is held back."""
        assert self.traces is not None
        asked, state = await _body(request), self._planned()
        if state != "silent":
            span = _span(asked["run"], _text(state, asked), failed=state == "fails")
            with self.traces.open("a", encoding="utf-8") as file:
                file.write(json.dumps(span) + "\n")
        await asyncio.Event().wait()
        raise AssertionError

    async def refused(self, request: web.Request) -> web.Response:
        """Takes nothing, and repeats what it was sent, as servers do."""
        told = {"sent": self.headers[-1].get("authorization"), "to": self.asked[-1]["reply_to"]}
        return web.json_response({"error": self.refusal, **told}, status=403)

    # --- what the addresses share ---------------------------------------------------------------

    @web.middleware
    async def _noted(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        self.paths.append(f"{request.method} {request.rel_url.raw_path}")
        if request.method == "POST":
            self.asked.append(await _body(request))
            self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.held += 1
        try:
            return await handler(request)
        finally:
            self.held -= 1

    def _planned(self) -> str:
        return self.plans.popleft() if self.plans else "fine"

    async def _unless_silent(self, state: str) -> None:
        if state == "silent":
            await asyncio.Event().wait()

    async def _streamed(self, request: web.Request, kind: str, shape: str) -> web.StreamResponse:
        state = self._planned()
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        for event in ({"state": "working"}, _ended(state, await _body(request))):
            await response.write(shape.replace("{}", json.dumps(event)).encode())
        await self._unless_silent(state)
        return response

    def _background(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _post(self, url: str, *bodies: dict[str, Any]) -> None:
        async with aiohttp.ClientSession() as session:
            for body in bodies:
                async with session.post(url, json=body) as answer:
                    self.acknowledged.append(answer.status)


async def _body(request: web.Request) -> dict[str, Any]:
    return dict(decode(await request.text()))  # type: ignore[arg-type]  # ours are objects


def _text(state: str, asked: Any) -> str:
    return "Here you are!" if state == "invalid" else written_for(asked)


def _ended(state: str, asked: Any) -> dict[str, Any]:
    """What is told at the end."""
    if state == "silent":
        return {"state": "working"}
    if state == "fails":
        return {"state": "failed", "reason": "out of ink"}
    return {"state": "completed", "output": {"text": _text(state, asked)}}


def _span(run: str, answer: str, *, failed: bool) -> dict[str, Any]:
    """One trace with one span, as OTLP has it in JSON."""
    span = {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "name": "write",
        "kind": 2,
        "startTimeUnixNano": "1796025600000000000",
        "endTimeUnixNano": "1796025601000000000",
        "attributes": [
            {"key": "repurpose.run_id", "value": {"stringValue": run}},
            {"key": "output", "value": {"stringValue": answer}},
        ],
        "status": {"code": 2, "message": "out of ink"} if failed else {"code": 1},
    }
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [span]}]}]}


@contextmanager
def workflow(traces: Path | None = None) -> Iterator[Workflow]:
    """The service, on a free port of loopback, in a thread of its own."""
    service = Workflow(traces)
    ready: queue.Queue[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = queue.Queue()

    async def live() -> None:
        runner = web.AppRunner(
            service.app(), access_log=None, shutdown_timeout=0, handler_cancellation=True
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        over = asyncio.Event()
        ready.put((asyncio.get_running_loop(), over))
        await over.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    loop, over = ready.get(timeout=5)
    try:
        yield service
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
    assert not thread.is_alive()
