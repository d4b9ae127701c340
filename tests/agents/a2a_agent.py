"""An A2A agent on loopback, built with the protocol's own SDK: a writer that tests can plan.

It speaks JSON-RPC as version 1.0 of the protocol has it: `SendMessage`, `SendStreamingMessage`,
`GetTask`, and push notifications to an address that comes with the message.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from a2a.helpers import new_data_part, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from endpoint_servers import written_for
from repurpose.schema.intake import decode
from repurpose.web.serving import bound

PLANS = ("fine", "data", "pieces", "invalid", "slow", "fails", "rejects", "silent", "mute")
"""Text, JSON, text in three parts, an answer that is no valid one, text after a while; a task that
failed or was not wanted; one that stays at work for ever; and no sign of life at all."""


@dataclass
class Writer(AgentExecutor):
    """Writes what the schema in the message asks for, or does as planned."""

    plans: deque[str] = field(default_factory=deque)
    """What becomes of the next messages, in order; every other one is answered."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The messages, as the protocol has them in JSON."""
    delay: float = 0.15
    """What `slow` waits, in seconds."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        plan = self.plans.popleft() if self.plans else "fine"
        assert context.message is not None
        message = MessageToDict(context.message)
        self.asked.append(message)
        if plan == "mute":
            await asyncio.Event().wait()
        task = context.current_task or new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        await self._end(plan, updater, message)

    async def _end(self, plan: str, updater: TaskUpdater, message: dict[str, Any]) -> None:
        if plan == "silent":
            await asyncio.Event().wait()
        if plan in ("fails", "rejects"):
            said = updater.new_agent_message([new_text_part("The quota is used up.")])
            await (updater.failed(said) if plan == "fails" else updater.reject(said))
            return
        if plan == "slow":
            await asyncio.sleep(self.delay)
        text = "Here you are!" if plan == "invalid" else written_for(message["parts"])
        if plan == "data":
            parts = [new_data_part(decode(text))]
        else:
            size = len(text) // 3 + 1 if plan == "pieces" else len(text)
            parts = [new_text_part(text[at : at + size]) for at in range(0, len(text), size)]
        await updater.add_artifact(parts, name="answer", last_chunk=True)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


@dataclass
class Agent:
    """The agent as it is reached, and what it saw."""

    url: str
    """The address of its JSON-RPC interface."""
    writer: Writer
    server: uvicorn.Server | None = None
    headers: list[dict[str, str]] = field(default_factory=list)
    """Those of each request, by name in lower case."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """Those of each request: with a `method`, such as `SendMessage` or `GetTask`."""

    @property
    def methods(self) -> list[str]:
        """What each request asked for, in order."""
        return [body["method"] for body in self.bodies]

    def reset(self) -> None:
        """Forget what was planned and seen."""
        for kept in (self.writer.plans, self.writer.asked, self.headers, self.bodies):
            kept.clear()

    @property
    def open_connections(self) -> int:
        """How many connections clients hold open just now."""
        assert self.server is not None
        return len(self.server.server_state.connections)


@contextmanager
def a2a_agent() -> Iterator[Agent]:
    """The agent, on a free port of loopback, in a thread of its own."""
    listening = bound("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    agent = Agent(url, Writer())
    app = _Watched(_app(agent), agent)
    agent.server = server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, log_level="critical", timeout_graceful_shutdown=0)
    )
    ready: queue.Queue[bool] = queue.Queue()

    async def live() -> None:
        ready.put(True)
        await server.serve(sockets=[listening])

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    ready.get(timeout=5)
    try:
        yield agent
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
    assert not thread.is_alive()


def _app(agent: Agent) -> Starlette:
    card = AgentCard(
        name="Writer",
        description="Writes texts from a source.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=agent.url, protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="write", name="Write", description="Writes.", tags=["writing"])],
    )
    configurations = InMemoryPushNotificationConfigStore()
    client = httpx.AsyncClient(trust_env=False)
    handler = DefaultRequestHandler(
        agent_executor=agent.writer,
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=configurations,
        push_sender=BasePushNotificationSender(client, configurations),
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> Any:
        async with client:
            yield

    return Starlette(
        routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")],
        lifespan=lifespan,
    )


@dataclass
class _Watched:
    """Notes the headers and the body of each request before the SDK sees it."""

    app: ASGIApp
    agent: Agent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            body = await Request(scope, receive).body()
            self.agent.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
            self.agent.bodies.append(dict(decode(body.decode())))  # type: ignore[arg-type]  # objects, in JSON-RPC
            receive = _again(body, receive)
        await self.app(scope, receive, send)


def _again(body: bytes, receive: Receive) -> Receive:
    given = False

    async def received() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return received
