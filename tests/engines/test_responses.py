"""Responses in the background, asked for until they end, against a server of the test's own."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest
from aiohttp import web

from repurpose.core.call import Call, Reply, Usage
from repurpose.core.source import Source
from repurpose.engines import _responses_server
from repurpose.engines.responses import responses_engine
from repurpose.errors import (
    AgentFailed,
    BrokenReply,
    EngineError,
    NeverStarted,
    StillWorking,
    StoreError,
    UsageError,
)
from repurpose.ports import Engine

KEY = "sk-test-4f9b2c7d1e8a6350"
SYSTEM = "You write short texts about lighthouses."
USER = "Every evening the keeper climbed the stairs of Ardnamurchan."
TEXT = '{"headline": "The last keeper"}'
WIRE: Any = {
    "type": "object",
    "properties": {"headline": {"type": "string"}},
    "required": ["headline"],
    "additionalProperties": False,
}
CALL = Call("brief", SYSTEM, USER, WIRE, WIRE, Source(USER, "keeper.md", "markdown"))
ID = "resp_68f0c2"
T = TypeVar("T")


def state(status: str, **more: Any) -> dict[str, Any]:
    return {"id": ID, "object": "response", "status": status, "output": [], **more}


def message(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts), **more}


def said(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


QUEUED = state("queued")
WORKING = state("in_progress")
DONE = state(
    "completed",
    model="small-2026-11-01",
    output=[{"type": "reasoning", "summary": []}, message(said(TEXT[:9]), said(TEXT[9:]))],
    usage={
        "input_tokens": 210,
        "input_tokens_details": {"cached_tokens": 128, "cache_write_tokens": 64},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 12},
        "total_tokens": 240,
    },
)


def error_body(message: str = "no", **named: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": None, "param": None, "code": None, **named}}


Answer = dict[str, Any] | tuple[int, Any] | str | None
"""A body, a status with one, a text that is no JSON, or None for a connection that is closed."""


@dataclass
class Server:
    """Answers a submit with the first answer, and looks with the others; the last one repeats."""

    answers: list[Answer]
    headers: dict[str, str] = field(default_factory=dict)
    cancels: Callable[[], Coroutine[Any, Any, None]] | None = None
    """Awaited before a cancellation is answered."""
    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    url: str = ""

    def paths(self) -> list[str]:
        return [f"{method} {path}" for method, path, _, _ in self.requests]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        looked = sum(not path.endswith("/cancel") for _, path, _, _ in self.requests)
        self.requests.append(
            (request.method, request.path, headers, json.loads(raw) if raw else None)  # noqa: TID251 - our own request
        )
        if request.path.endswith("/cancel"):
            if self.cancels:
                await self.cancels()
            return web.json_response(state("cancelled"))
        answer = self.answers[min(looked, len(self.answers) - 1)]
        if answer is None:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        if isinstance(answer, str):
            return web.Response(text=answer, content_type="text/html")
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        return web.json_response(body, status=status, headers=self.headers)


@asynccontextmanager
async def served(server: Server) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server.url
    finally:
        await runner.cleanup()


def with_engine(
    server: Server, clock: Any, use: Callable[[Engine], Coroutine[Any, Any, T]], **options: Any
) -> T:
    """What `use` comes to with an engine at a running server."""

    async def used() -> T:
        async with served(server) as url:
            settings = {"model": "small", "api_key": KEY, "jitter": lambda: 0.0, **options}
            engine = responses_engine(base_url=url, clock=clock, **settings)
            try:
                return await use(engine)
            finally:
                await engine.close()

    return asyncio.run(used())


def ask(
    clock: Any,
    *answers: Answer,
    call: Call = CALL,
    headers: dict[str, str] | None = None,
    **options: Any,
) -> tuple[Reply | EngineError, Server]:
    """What a call led to at a server that answers so, and the server."""
    server = Server(list(answers), headers or {})

    async def asked(engine: Engine) -> Reply | EngineError:
        try:
            return await engine.answer(call)
        except EngineError as error:
            return error

    return with_engine(server, clock, asked, **options), server


def replied(clock: Any, *answers: Answer, **options: Any) -> Reply:
    outcome, _ = ask(clock, *answers, **options)
    assert isinstance(outcome, Reply), outcome
    return outcome


# --- what is sent -----------------------------------------------------------------------------


def test_a_submit_asks_for_a_stored_response_in_the_background_with_our_own_schema(
    clock: Any,
) -> None:
    _, server = ask(clock, DONE, call=replace(CALL, output_tokens=900), temperature=0.2)
    method, path, headers, body = server.requests[0]
    assert (method, path) == ("POST", "/v1/responses")
    assert body == {
        "model": "small",
        "instructions": SYSTEM,
        "input": USER,
        "background": True,
        "store": True,
        "text": {
            "format": {"type": "json_schema", "name": "brief", "strict": True, "schema": WIRE}
        },
        "max_output_tokens": 900,
        "temperature": 0.2,
    }
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["x-repurpose-caller"] == "repurpose.brief"


def test_plain_text_is_asked_for_without_a_shape(clock: Any) -> None:
    _, server = ask(clock, DONE, call=replace(CALL, schema={}, wire={}))
    assert "text" not in server.requests[0][3]


def test_a_profile_says_how_the_shape_is_asked_for(clock: Any) -> None:
    _, server = ask(clock, DONE, profile="generic:object")
    assert server.requests[0][3]["text"] == {"format": {"type": "json_object"}}


def test_the_engine_tells_what_makes_its_answers_comparable_and_no_secret(clock: Any) -> None:
    engine = responses_engine(
        model="small", clock=clock, api_key=KEY, base_url="http://u:pw@localhost:1/v1"
    )
    assert (engine.name, engine.model) == ("responses", "small")
    assert engine.parameters["endpoint"] == "http://localhost:1/v1"
    assert KEY not in repr(engine)
    assert "pw" not in repr(engine.parameters)


def test_at_openai_itself_the_prompt_need_not_hold_the_schema(clock: Any) -> None:
    engine = responses_engine(model="gpt-5", clock=clock, api_key=KEY)
    assert engine.parameters["endpoint"] == "https://api.openai.com/v1"
    assert not engine.schema_in_prompt


@pytest.mark.parametrize(
    "wrong", [{"timeout": 0}, {"api_key": "sk-ä"}, {"base_url": "ftp://x"}, {"profile": "nobody"}]
)
def test_what_no_call_could_be_made_with_is_refused_at_once(
    clock: Any, wrong: dict[str, Any]
) -> None:
    with pytest.raises(UsageError):
        responses_engine(model="small", clock=clock, **wrong)


# --- how it ends ------------------------------------------------------------------------------


def test_the_state_is_asked_for_each_second_until_the_response_is_completed(clock: Any) -> None:
    outcome, server = ask(clock, QUEUED, WORKING, WORKING, DONE)
    assert outcome == Reply(
        TEXT,
        usage=Usage(210, 30, cached_tokens=128, reasoning_tokens=12, cache_write_tokens=64),
        model="small-2026-11-01",
        request_id=ID,
    )
    assert server.paths() == ["POST /v1/responses"] + [f"GET /v1/responses/{ID}"] * 3
    assert clock.slept == [1.0, 1.0, 1.0]


def test_a_response_that_is_completed_at_once_is_not_asked_for_again(clock: Any) -> None:
    outcome, server = ask(clock, DONE)
    assert isinstance(outcome, Reply)
    assert (outcome.text, server.paths()) == (TEXT, ["POST /v1/responses"])


def test_what_a_model_says_on_the_way_is_no_part_of_the_answer(clock: Any) -> None:
    output = [
        message(said("I will look at the dates first."), phase="commentary"),
        message(said(TEXT), phase="final_answer"),
        {"type": "web_search_call", "content": "not a list"},
        "not an item",
    ]
    assert replied(clock, QUEUED, state("completed", output=output)).text == TEXT


def test_reasoning_stands_in_a_field_of_its_own(clock: Any) -> None:
    thought = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm."}]}
    reply = replied(clock, QUEUED, state("completed", output=[thought, message(said(TEXT))]))
    assert (reply.text, reply.reasoning) == (TEXT, "Hm.")


def test_a_refusal_is_the_models_own_words(clock: Any) -> None:
    refused = message({"type": "refusal", "refusal": "I will not."})
    reply = replied(clock, QUEUED, state("completed", output=[refused]))
    assert (reply.finish, reply.refusal, reply.text) == ("refusal", "I will not.", "")


@pytest.mark.parametrize(
    ("details", "finish"),
    [
        ({"reason": "max_output_tokens"}, "length"),
        ({"reason": "content_filter"}, "content_filter"),
        ({"reason": "another"}, "length"),
        (None, "length"),
    ],
)
def test_an_incomplete_response_says_what_cut_it(clock: Any, details: Any, finish: str) -> None:
    cut = state("incomplete", incomplete_details=details, output=[message(said(TEXT[:9]))])
    reply = replied(clock, QUEUED, cut)
    assert (reply.finish, reply.text) == (finish, TEXT[:9])


@pytest.mark.parametrize("output", [None, [], "text", [{"type": "message"}], [{"type": None}]])
def test_a_completed_response_without_a_message_is_an_empty_reply(clock: Any, output: Any) -> None:
    assert replied(clock, QUEUED, state("completed", output=output)).text == ""


def test_a_failed_response_is_the_agents_failure_with_its_reason(clock: Any) -> None:
    error = {"code": "server_error", "message": "The model had\nan error. " + "x" * 900}
    outcome, server = ask(clock, QUEUED, state("failed", error=error), DONE)
    assert isinstance(outcome, AgentFailed)
    start = f"failed to answer {ID} (code server_error): The model had an error. xxx"
    assert start in outcome.message
    assert len(outcome.message) < 420
    assert len(server.requests) == 2


@pytest.mark.parametrize("message", [f"You wrote: {USER}", f"{SYSTEM} is not allowed"])
def test_a_reason_that_repeats_the_prompt_is_not_shown(clock: Any, message: str) -> None:
    failed = state("failed", error={"code": "invalid_prompt", "message": message})
    outcome, _ = ask(clock, QUEUED, failed)
    assert isinstance(outcome, AgentFailed)
    assert outcome.message.endswith(f"failed to answer {ID} (code invalid_prompt)")


def test_a_reason_never_shows_the_key(clock: Any) -> None:
    failed = state("failed", error={"code": KEY, "message": f"the key {KEY} is over"})
    outcome, _ = ask(clock, QUEUED, failed)
    assert isinstance(outcome, AgentFailed)
    assert outcome.message.endswith(f"failed to answer {ID}: the key … is over")


def test_a_response_that_somebody_cancelled_is_a_failure(clock: Any) -> None:
    outcome, _ = ask(clock, QUEUED, state("cancelled"))
    assert isinstance(outcome, AgentFailed)
    assert f"{ID} was cancelled at " in outcome.message


def test_a_response_that_is_not_done_in_time_is_told_to_stop(clock: Any) -> None:
    outcome, server = ask(clock, QUEUED, WORKING, timeout=5.0)
    assert isinstance(outcome, StillWorking)
    assert outcome.message.endswith("was in_progress after 5 s, and was told to stop")
    assert f"{ID} at 127.0.0.1:" in outcome.message
    assert server.paths().count(f"POST /v1/responses/{ID}/cancel") == 1
    assert clock.seconds == pytest.approx(5.0)


# --- a submit that is not accepted ------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "says", "hint"),
    [
        ((401, error_body(code="invalid_api_key")), "refused the API key", "OPENAI_API_KEY"),
        ((403, error_body()), "does not allow this key to use small", "another --model"),
        ((404, error_body(code="model_not_found")), "has no model small (", "--model"),
        ((404, error_body()), "has no model small, or no responses at this address", "--base-url"),
        ((400, error_body(param="background")), "refused the request (status 400, param", "--mod"),
        ((400, error_body(code="context_length_exceeded")), "too long for small", "larger context"),
        ((400, error_body(param="text.format.schema")), "does not take our JSON schema", "object"),
        ((429, error_body(code="insufficient_quota")), "no quota left", "billing"),
        ((429, error_body()), "takes no more requests just now (status 429)", "later"),
        ((503, error_body()), "did not take the request (status 503)", "later"),
        ((301, {}), "sends on to another address", "--base-url"),
    ],
)
def test_a_refused_submit_never_started_and_is_not_sent_again(
    clock: Any, answer: Answer, says: str, hint: str
) -> None:
    outcome, server = ask(clock, answer, DONE)
    assert isinstance(outcome, NeverStarted)
    assert says in outcome.message
    assert hint in (outcome.hint or "")
    assert outcome.status == answer[0]  # type: ignore[index]  # all are pairs
    assert server.paths() == ["POST /v1/responses"]


def test_a_rate_limit_says_when_to_try_again_and_holds_the_next_call_back(clock: Any) -> None:
    server = Server([(429, error_body()), DONE], {"retry-after": "7"})

    async def twice(engine: Engine) -> Reply:
        with pytest.raises(NeverStarted) as raised:
            await engine.answer(CALL)
        assert raised.value.hint == "try again in 7 s, or keep below its limit with --rpm"
        return await engine.answer(CALL)

    assert with_engine(server, clock, twice).text == TEXT
    assert sum(clock.slept) >= 7.0


def test_a_prompt_that_a_filter_stops_is_an_answer_and_no_fault(clock: Any) -> None:
    reply = replied(clock, (400, error_body(code="content_filter")))
    assert (reply.finish, reply.text) == ("content_filter", "")


def test_where_nobody_listens_the_call_never_started(clock: Any) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        engine = responses_engine(model="small", clock=clock, base_url=url)
        with pytest.raises(NeverStarted, match="no server answers at 127") as raised:
            asyncio.run(engine.answer(CALL))
    assert "--base-url" in (raised.value.hint or "")


def test_a_submit_whose_answer_is_lost_may_be_worked_on_and_is_not_sent_again(clock: Any) -> None:
    outcome, server = ask(clock, None, DONE)
    assert isinstance(outcome, StillWorking)
    assert "did not say whether it took the request" in outcome.message
    assert server.paths() == ["POST /v1/responses"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("<html>Log in</html>", "a web page"),
        ((200, ["no", "object"]), "not an object"),
        ((200, {"object": "chat.completion"}), "without the id"),
        ((200, {**QUEUED, "id": "../x y"}), "without the id"),
    ],
)
def test_what_is_no_response_breaks_the_promise(clock: Any, answer: Answer, says: str) -> None:
    outcome, server = ask(clock, answer, DONE)
    assert isinstance(outcome, BrokenReply)
    assert says in outcome.message
    assert len(server.requests) == 1


# --- a state that cannot be told ---------------------------------------------------------------


def test_a_state_that_cannot_be_told_just_now_is_asked_for_again(clock: Any) -> None:
    trouble: list[Answer] = [(500, {}), (429, {}), (408, {}), None, "<html>", (200, [1]), WORKING]
    outcome, server = ask(clock, QUEUED, *trouble, DONE)
    assert isinstance(outcome, Reply)
    assert outcome.text == TEXT
    assert server.paths().count("POST /v1/responses") == 1


def test_a_wait_that_the_server_asks_for_is_kept_to(clock: Any) -> None:
    ask(clock, QUEUED, (503, {}), DONE, headers={"retry-after": "9"})
    assert 9.0 in clock.slept


@pytest.mark.parametrize(
    ("status", "says", "hint"),
    [(404, "does not know", "limited time"), (401, "refuses to tell", "OPENAI_API_KEY")],
)
def test_a_state_that_is_refused_for_good_ends_the_wait(
    clock: Any, status: int, says: str, hint: str
) -> None:
    outcome, server = ask(clock, QUEUED, (status, error_body(f"{KEY} {USER}")), DONE)
    assert isinstance(outcome, AgentFailed)
    assert says in outcome.message
    assert hint in (outcome.hint or "")
    assert KEY not in outcome.message
    assert outcome.status == status
    assert len(server.requests) == 2


# --- cancelling -------------------------------------------------------------------------------


async def cancelled(engine: Engine, waiting: asyncio.Event) -> float:
    """Cancel a call while it waits; the seconds that its end took."""
    working = asyncio.ensure_future(engine.answer(CALL))
    await waiting.wait()
    began = asyncio.get_running_loop().time()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    return asyncio.get_running_loop().time() - began


class Standing:
    """A clock whose sleepers are woken by nothing but a cancellation."""

    def __init__(self, clock: Any) -> None:
        self.now, self.monotonic = clock.now, clock.monotonic
        self.asleep = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.asleep.set()
        await asyncio.Event().wait()


def test_a_call_that_is_cancelled_ends_at_once_and_stops_its_response(clock: Any) -> None:
    server, standing = Server([QUEUED, WORKING]), Standing(clock)

    async def stopped(engine: Engine) -> float:
        return await cancelled(engine, standing.asleep)

    assert with_engine(server, standing, stopped) < 1.0
    assert server.paths() == ["POST /v1/responses", f"POST /v1/responses/{ID}/cancel"]


def test_a_server_that_does_not_stop_a_response_holds_nobody_up(
    clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _responses_server._CANCEL_SECONDS <= 2.0
    monkeypatch.setattr(_responses_server, "_CANCEL_SECONDS", 0.05)

    async def never() -> None:
        await asyncio.sleep(30)

    server, standing = Server([QUEUED, WORKING], cancels=never), Standing(clock)

    async def stopped(engine: Engine) -> float:
        return await cancelled(engine, standing.asleep)

    assert 0.04 < with_engine(server, standing, stopped) < 1.0


# --- webhooks ---------------------------------------------------------------------------------


class Meeting:
    """A rendezvous that tells at given moments, and of which a test knows who waited."""

    def __init__(self, clock: Any, *told_at: float, broken: bool = False) -> None:
        self.clock, self.told_at, self.broken = clock, list(told_at), broken
        self.waited: list[tuple[str, float]] = []
        self.forgotten: list[str] = []
        self.closed = 0

    async def ticket(self) -> Any:
        raise AssertionError("a webhook comes to an address that is known already")

    async def wait(self, key: str, timeout: float) -> bytes | None:  # noqa: ASYNC109 - of the port
        self.waited.append((key, timeout))
        await asyncio.sleep(0)
        if self.broken:
            raise StoreError("the database is locked")
        until = self.clock.seconds + timeout
        if self.told_at and self.told_at[0] <= until:
            self.clock.seconds = max(self.clock.seconds, self.told_at.pop(0))
            return b'{"type": "response.completed"}'
        self.clock.seconds = until
        return None

    def forget(self, key: str) -> None:
        self.forgotten.append(key)
        if self.broken:
            raise StoreError("the database is locked")

    async def close(self) -> None:
        self.closed += 1


def test_a_webhook_ends_the_wait_with_one_look_at_the_response(clock: Any) -> None:
    meeting = Meeting(clock, 12.5)
    outcome, server = ask(clock, QUEUED, DONE, rendezvous=meeting)
    assert isinstance(outcome, Reply)
    assert outcome.text == TEXT
    assert server.paths() == ["POST /v1/responses", f"GET /v1/responses/{ID}"]
    assert meeting.waited == [(f"openai:{ID}", 30.0)]
    assert clock.seconds == 12.5
    assert meeting.forgotten == [f"openai:{ID}"]
    assert meeting.closed == 1


def test_a_webhook_that_is_lost_costs_half_a_minute_at_most(clock: Any) -> None:
    outcome, server = ask(clock, QUEUED, WORKING, DONE, rendezvous=Meeting(clock))
    assert isinstance(outcome, Reply)
    assert clock.seconds == 60.0
    assert len(server.requests) == 3


def test_a_last_look_before_time_is_up_finds_what_a_lost_webhook_told_of(clock: Any) -> None:
    outcome, _ = ask(clock, QUEUED, DONE, rendezvous=Meeting(clock), timeout=20.0)
    assert isinstance(outcome, Reply)
    assert clock.seconds == pytest.approx(19.0)


def test_time_is_up_for_a_webhook_too(clock: Any) -> None:
    meeting = Meeting(clock)
    outcome, server = ask(clock, QUEUED, WORKING, rendezvous=meeting, timeout=40.0)
    assert isinstance(outcome, StillWorking)
    assert clock.seconds == pytest.approx(40.0)
    assert server.paths()[-1] == f"POST /v1/responses/{ID}/cancel"
    assert meeting.forgotten == [f"openai:{ID}"]


def test_a_webhook_that_is_ahead_of_the_state_is_followed_by_looks_each_second(clock: Any) -> None:
    meeting = Meeting(clock, 5.0)
    outcome, _ = ask(clock, QUEUED, WORKING, (500, {}), DONE, rendezvous=meeting)
    assert isinstance(outcome, Reply)
    assert clock.slept == [1.0, 1.0]


def test_a_webhook_that_tells_of_a_failure_fails(clock: Any) -> None:
    failed = state("failed", error={"code": "server_error", "message": "It broke."})
    outcome, _ = ask(clock, QUEUED, failed, rendezvous=Meeting(clock, 3.0))
    assert isinstance(outcome, AgentFailed)


def test_a_store_that_fails_makes_no_paid_reply_be_lost(clock: Any) -> None:
    outcome, _ = ask(clock, QUEUED, DONE, rendezvous=Meeting(clock, broken=True))
    assert isinstance(outcome, Reply)
    assert clock.slept == [30.0]


def test_a_cancelled_wait_for_a_webhook_forgets_it_and_stops_the_response(clock: Any) -> None:
    meeting = Meeting(clock)
    server, waiting = Server([QUEUED]), asyncio.Event()

    async def wait(key: str, timeout: float) -> bytes | None:  # noqa: ASYNC109 - of the port
        waiting.set()
        await asyncio.Event().wait()
        return None

    meeting.wait = wait  # type: ignore[method-assign]

    async def stopped(engine: Engine) -> float:
        return await cancelled(engine, waiting)

    assert with_engine(server, clock, stopped, rendezvous=meeting) < 1.0
    assert meeting.forgotten == [f"openai:{ID}"]
    assert server.paths()[-1] == f"POST /v1/responses/{ID}/cancel"


# --- secrets ----------------------------------------------------------------------------------


def test_no_log_line_holds_prompt_answer_or_key(
    clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ask(clock, QUEUED, (500, error_body(USER)), DONE)
    ask(clock, (400, error_body(f"{KEY}: {USER}")))
    ask(clock, QUEUED, DONE, rendezvous=Meeting(clock, broken=True))
    logged = "\n".join(
        record.getMessage() for record in caplog.records if "repurpose" in record.name
    )
    assert logged
    for secret in (KEY, "lighthouse", "keeper"):
        assert secret not in logged
