"""An endpoint as an engine: what it is told, what comes of its answers, and what nobody learns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from repurpose.completion.base import CompletionOutcome
from repurpose.core.call import Call, Reply, Usage
from repurpose.core.endpoint import Callback, Endpoint, Poll, StatusMatch, Sync, Trace
from repurpose.core.exchange import Request, Response, WireError
from repurpose.core.source import Source
from repurpose.engines import endpoint as module
from repurpose.engines.endpoint import endpoint_engine
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
from scripted_endpoints import NEVER, ScriptedRendezvous, ScriptedWire, answer, text

TOKEN = "tok-4f9b2c7d1e8a6350"
SOURCE = Source("A ferry sank.", "ferry.md", "markdown")
WIRE = {"type": "object", "properties": {"headline": {"type": "string"}}}
CALL = Call(
    "brief", "Rules.", "<source_material>A ferry sank.</source_material>", WIRE, WIRE, SOURCE
)
FAILED = StatusMatch("state", ("failed", "canceled"))
POLL = Poll(status_path="/runs/{run_id}", done=StatusMatch("state", ("completed",)), failed=FAILED)
WRITER = Endpoint("writer", "http://agents.example:9000/v1/", body={"all": "{{prompt}}"})


@pytest.fixture
def engine_of(clock: Any, new_id: Callable[[], str]) -> Callable[..., Engine]:
    def made(endpoint: Endpoint = WRITER, wire: Any = None, **options: Any) -> Engine:
        options.setdefault("environment", {"WRITER_TOKEN": TOKEN})
        return endpoint_engine(endpoint, clock=clock, new_id=new_id, wire=wire, **options)

    return made


def asked(engine: Engine, call: Call = CALL) -> Reply:
    async def once() -> Reply:
        try:
            return await engine.answer(call)
        finally:
            await engine.close()

    return asyncio.run(once())


def body_of(request: Request) -> Any:
    assert request.body is not None
    return json.loads(request.body)  # noqa: TID251 - our own request


# --- what it is told ---------------------------------------------------------------------------


def told(engine_of: Any, template: Any, call: Call = CALL, **changes: Any) -> Any:
    wire = ScriptedWire(answer("Yes."))
    asked(engine_of(replace(WRITER, body=template, **changes), wire), call)
    return body_of(wire.sent[0])


def test_every_place_of_a_body_has_its_value(engine_of: Any) -> None:
    template = {name: f"{{{{{name}}}}}" for name in ("run_id", "system", "user", "format", "team")}
    template["attempt"] = "{{attempt}}"
    body = told(engine_of, template, keys={"team": "web"})
    assert body == {
        "run_id": "id0001",
        "system": "Rules.",
        "user": CALL.user,
        "format": "brief",
        "team": "web",
        "attempt": 1,
    }


def test_a_prompt_is_one_text_with_the_rules_before_the_block(engine_of: Any) -> None:
    body = told(engine_of, {"all": "{{prompt}}"})
    assert body == {"all": f"Rules.\n\n{CALL.user}"}


def test_a_schema_is_json_where_it_stands_alone_and_text_elsewhere(engine_of: Any) -> None:
    body = told(engine_of, {"alone": "{{schema}}", "within": "as {{schema}}"})
    assert body["alone"] == WIRE
    assert json.loads(body["within"].removeprefix("as ")) == WIRE  # noqa: TID251 - our own request


def test_a_format_without_a_schema_has_none(engine_of: Any) -> None:
    plain = replace(CALL, schema={}, wire={})
    assert told(engine_of, {"schema": "{{schema}}"}, plain) == {"schema": None}


def test_the_task_is_all_of_our_words_wherever_they_stand(engine_of: Any) -> None:
    shared = replace(CALL, user="<block/>\n\nSum it up.", task_from=10)
    assert told(engine_of, {"task": "{{task}}"}, shared) == {"task": "Rules.\n\nSum it up."}


def test_a_callback_address_is_left_alone_in_other_modes(engine_of: Any) -> None:
    assert told(engine_of, {"to": "{{callback_url}}"}) == {"to": "{{callback_url}}"}


def test_each_attempt_has_a_run_and_a_callback_address_of_its_own(engine_of: Any) -> None:
    wire = ScriptedWire(answer({}, 202), states=[answer({}, 202)])
    meeting = ScriptedRendezvous(["first", "second"])
    template = {"run": "{{run_id}}", "to": "{{callback_url}}"}
    endpoint = replace(WRITER, body=template, completion=Callback())
    engine = engine_of(endpoint, wire, rendezvous=meeting)

    async def twice() -> list[str]:
        again = replace(CALL, attempt=2)
        return [(await engine.answer(CALL)).text, (await engine.answer(again)).text]

    assert asyncio.run(twice()) == ["first", "second"]
    first, second = map(body_of, wire.sent)
    assert first["run"] != second["run"]
    assert first["to"] != second["to"]
    assert meeting.forgotten == ["key-1", "key-2"]


# --- what comes of its answers -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("result_path", "body", "reply"),
    [
        ("", {"headline": "Yes"}, '{"headline": "Yes"}'),
        ("", "Yes.", "Yes."),
        ("output.answer", {"output": {"answer": "Yes."}}, "Yes."),
        ("output", {"output": {"answer": "Jä"}}, '{"answer": "Jä"}'),
        ("choices.0.message.content", {"choices": [{"message": {"content": "Yes."}}]}, "Yes."),
        ("n", {"n": 0}, "0"),
        ("n", {"n": False}, "false"),
        ("n", {"n": None}, "null"),
    ],
)
def test_the_answer_is_what_stands_at_its_path(
    result_path: str, body: Any, reply: str, engine_of: Any
) -> None:
    endpoint = replace(WRITER, result_path=result_path)
    assert asked(engine_of(endpoint, ScriptedWire(answer(body)))).text == reply


@pytest.mark.parametrize("body", [{"out": "secret words"}, {"output": "secret words"}, [], "x"])
def test_a_path_that_leads_nowhere_is_named_and_the_body_is_not(body: Any, engine_of: Any) -> None:
    engine = engine_of(replace(WRITER, result_path="output.answer"), ScriptedWire(answer(body)))
    with pytest.raises(BrokenReply, match=r"writer .* output\.answer") as raised:
        asked(engine)
    assert "secret" not in f"{raised.value.message} {raised.value.hint}"
    assert "result_path" in (raised.value.hint or "")


def test_a_reply_knows_the_endpoints_own_id_else_ours(engine_of: Any) -> None:
    body = {"id": "agent-9", "text": "Yes."}
    endpoint = replace(WRITER, result_path="text")
    assert asked(engine_of(endpoint, ScriptedWire(answer(body)))).request_id == "id0001"
    returned = replace(endpoint, returned_id="id")
    assert asked(engine_of(returned, ScriptedWire(answer(body)))).request_id == "agent-9"


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({"in": 120, "out": 30}, Usage(120, 30)),
        ({"in": 0, "out": 30}, Usage(0, 30)),
        ({"in": "120", "out": True}, Usage()),
        ({"in": -1, "out": 1.5}, Usage()),
        ({}, Usage()),
    ],
)
def test_the_size_of_a_reply_is_read_where_it_is_a_count(
    counts: Any, usage: Usage, engine_of: Any
) -> None:
    paths = {"prompt_tokens": "usage.in", "completion_tokens": "usage.out"}
    endpoint = replace(WRITER, result_path="text", usage=paths)
    wire = ScriptedWire(answer({"text": "Yes.", "usage": counts}))
    assert asked(engine_of(endpoint, wire)).usage == usage


# --- three kinds of failure --------------------------------------------------------------------


def refused(engine: Engine) -> EngineError:
    with pytest.raises(EngineError) as raised:
        asked(engine)
    return raised.value


def test_a_submit_that_is_refused_never_started(engine_of: Any) -> None:
    page = "<html>" + "Bad gateway " * 100
    wire = ScriptedWire(text(page, 502, "text/html"))
    error = refused(engine_of(WRITER, wire))
    assert isinstance(error, NeverStarted)
    assert error.status == 502
    assert "<html>Bad gateway" in error.message
    assert len(error.message) < 400
    assert len(wire.sent) == 1


def test_a_submit_that_reaches_nobody_never_started(engine_of: Any) -> None:
    error = refused(engine_of(WRITER, ScriptedWire(WireError("no connection to agents.example"))))
    assert isinstance(error, NeverStarted)


def test_a_submit_that_is_lost_on_its_way_may_be_at_work_and_is_not_sent_again(
    engine_of: Any,
) -> None:
    lost = WireError("the connection to agents.example was lost", reached=True)
    wire = ScriptedWire(lost)
    error = refused(engine_of(WRITER, wire))
    assert isinstance(error, StillWorking)
    assert "may have begun" in (error.hint or "")
    assert len(wire.sent) == 1


def test_what_failed_is_told_by_its_state_and_by_nothing_else(engine_of: Any) -> None:
    state = {"state": "canceled", "error": "secret words"}
    error = refused(
        engine_of(replace(WRITER, completion=POLL), ScriptedWire(states=[answer(state)]))
    )
    assert isinstance(error, AgentFailed)
    assert error.message == 'endpoint writer failed: state is "canceled" (run id0001)'


def test_what_has_not_finished_is_told_with_the_seconds_and_what_is_known(
    engine_of: Any, clock: Any
) -> None:
    wire = ScriptedWire(states=[answer({"state": "running"})])
    error = refused(engine_of(replace(WRITER, completion=replace(POLL, timeout=12.5)), wire))
    assert isinstance(error, StillWorking)
    assert error.message.startswith("endpoint writer has not finished after 12.5 s: its state says")
    assert "timeout" in (error.hint or "")


def test_a_database_that_fails_while_a_delivery_is_waited_for_is_told(engine_of: Any) -> None:
    class Full(ScriptedRendezvous):
        async def ticket(self) -> Any:
            raise StoreError("the disk is full")

    endpoint = replace(WRITER, body="{{callback_url}}", completion=Callback())
    error = refused(engine_of(endpoint, ScriptedWire(), rendezvous=Full()))
    assert error.message == "the disk is full"


def outcome_of(status: str, **changes: Any) -> CompletionOutcome:
    return CompletionOutcome(status, "id0001", None, 3.0, **changes)  # type: ignore[arg-type]  # one of the three


def test_a_trace_that_failed_is_told_as_its_word(
    engine_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drive(*_: Any) -> CompletionOutcome:
        return outcome_of("failed", response={"info": "secret words"})

    monkeypatch.setattr(module, "member", lambda _: drive)
    traced = replace(WRITER, completion=Trace(source={"kind": "otlp"}), result_path="x")
    error = refused(engine_of(traced, ScriptedWire(), traces=object()))
    assert isinstance(error, AgentFailed)
    assert error.message == "endpoint writer failed, by its trace (run id0001)"


# --- secrets -----------------------------------------------------------------------------------


def secretive(header: str = "Bearer env:WRITER_TOKEN", **changes: Any) -> Endpoint:
    return replace(WRITER, headers={"Authorization": header, "X-Team": "web"}, **changes)


@pytest.mark.parametrize("environment", [{}, {"WRITER_TOKEN": " "}])
def test_a_secret_that_is_not_set_is_named_before_anything_is_sent(
    environment: Mapping[str, str], engine_of: Any
) -> None:
    with pytest.raises(UsageError, match="endpoint writer needs WRITER_TOKEN in the environment"):
        engine_of(secretive(), environment=environment)


def test_a_secret_with_a_line_break_is_refused_and_not_shown(engine_of: Any) -> None:
    with pytest.raises(UsageError, match="WRITER_TOKEN holds a character") as raised:
        engine_of(secretive(), environment={"WRITER_TOKEN": f"{TOKEN}\nx"})
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ({"auth": {"token": "env:WRITER_TOKEN"}}, {"auth": {"token": TOKEN}}),
        (["Bearer env:WRITER_TOKEN", 1], [f"Bearer {TOKEN}", 1]),
        ("see env:WRITER_TOKEN in the manual", "see env:WRITER_TOKEN in the manual"),
        ({"token": "{{token}}"}, {"token": TOKEN}),
    ],
)
def test_a_secret_in_a_body_is_a_whole_text_or_a_key(
    template: Any, sent: Any, engine_of: Any
) -> None:
    body = told(engine_of, template, keys={"token": "env:WRITER_TOKEN"})
    assert body == sent


def test_the_secret_of_a_body_is_hidden_and_missed_like_that_of_a_header(engine_of: Any) -> None:
    endpoint = replace(WRITER, body={"token": "env:WRITER_TOKEN"})
    engine = engine_of(endpoint, ScriptedWire(text(f"unknown {TOKEN}", 403)))
    assert "unknown [hidden]" in refused(engine).message
    assert TOKEN not in f"{engine!r}{engine.parameters}"
    with pytest.raises(UsageError, match="endpoint writer needs WRITER_TOKEN in the environment"):
        engine_of(endpoint, environment={})


def test_the_source_cannot_name_a_variable(engine_of: Any) -> None:
    call = replace(CALL, system="env:WRITER_TOKEN", user="Bearer env:WRITER_TOKEN")
    body = told(engine_of, {"rules": "{{system}}", "text": "{{user}}"}, call)
    assert body == {"rules": "env:WRITER_TOKEN", "text": "Bearer env:WRITER_TOKEN"}


def test_a_refusal_that_repeats_our_secret_does_not_show_it(engine_of: Any) -> None:
    said = text(f"no such token: Bearer {TOKEN}", 401)
    error = refused(engine_of(secretive(), ScriptedWire(said)))
    assert isinstance(error, NeverStarted)
    assert error.status == 401
    assert "no such token: Bearer [hidden]" in error.message
    assert TOKEN not in f"{error.message}{error.hint}{error.__cause__!r}"


def test_an_answer_that_repeats_our_secret_is_kept_without_it(engine_of: Any) -> None:
    wire = ScriptedWire(answer({"headers": {"authorization": f"Bearer {TOKEN}"}}))
    assert asked(engine_of(secretive(), wire)).text == (
        '{"headers": {"authorization": "Bearer [hidden]"}}'
    )


def test_parameters_name_no_secret_and_not_its_variable(engine_of: Any) -> None:
    endpoint = secretive(base_url="http://me:hunter2@agents.example/v1?key=hunter3")
    engine = engine_of(endpoint)
    shown = f"{engine} {engine.parameters}"
    assert engine.parameters["endpoint"] == "http://agents.example/v1?…"
    for secret in (TOKEN, "hunter", "WRITER_TOKEN"):
        assert secret not in shown


def test_secrets_go_out_in_headers_and_others_with_the_request(
    engine_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, dict[str, str]]] = []

    class Noted(ScriptedWire):
        def __init__(self, base_url: str, headers: dict[str, str]) -> None:
            super().__init__(answer("Yes."))
            made.append((base_url, dict(headers)))

        async def close(self) -> None:
            """Nothing is open."""

        async def send(self, request: Request, timeout: float) -> Response:  # noqa: ASYNC109
            assert request.headers["x-team"] == "web"
            return await super().send(request, timeout)

    monkeypatch.setattr(module, "HttpWire", Noted)
    asked(engine_of(secretive()))
    assert made == [(WRITER.base_url, {"Authorization": f"Bearer {TOKEN}"})]


# --- what makes answers comparable -------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"body": {"all": "{{prompt}}!"}},
        {"result_path": "text"},
        {"path": "/other"},
        {"keys": {"team": "web"}},
        {"headers": {"X-Team": "web"}},
        {"base_url": "http://other.example"},
        {"completion": POLL},
    ],
)
def test_another_way_of_asking_has_other_parameters(
    changes: dict[str, Any], engine_of: Any
) -> None:
    assert engine_of(replace(WRITER, **changes)).parameters != engine_of(WRITER).parameters


@pytest.mark.parametrize("changes", [{"completion": Sync(5)}, {"lanes": 2}])
def test_patience_makes_no_other_answer(changes: dict[str, Any], engine_of: Any) -> None:
    assert engine_of(replace(WRITER, **changes)).parameters == engine_of(WRITER).parameters


def test_an_endpoint_is_an_engine_by_its_name(engine_of: Any) -> None:
    engine = engine_of(replace(WRITER, lanes=2))
    assert (engine.name, engine.model, engine.lanes) == ("endpoint", "writer", 2)
    assert engine.schema_in_prompt
    assert engine.provenance == "endpoint writer"


# --- lanes, loops, cancelling ------------------------------------------------------------------


class Counting(ScriptedWire):
    """Notes how many submits were on the way at once."""

    def __init__(self) -> None:
        super().__init__(answer("Yes."))
        self.most = self.now = 0

    async def send(self, request: Request, timeout: float) -> Response:  # noqa: ASYNC109
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return answer("Yes.")


@pytest.mark.parametrize(("lanes", "most"), [(None, 6), (2, 2), (1, 1)])
def test_no_more_submits_are_on_the_way_than_it_takes(
    lanes: int | None, most: int, engine_of: Any
) -> None:
    wire = Counting()
    engine = engine_of(replace(WRITER, lanes=lanes), wire)

    async def many() -> None:
        await asyncio.gather(*(engine.answer(CALL) for _ in range(6)))

    for _ in range(2):  # one event loop after another
        asyncio.run(many())
    assert wire.most == most


def test_a_cancelled_call_gives_its_lane_back(engine_of: Any) -> None:
    silent = ScriptedWire(NEVER)
    engine = engine_of(replace(WRITER, lanes=1), silent)

    async def cancelled() -> str:
        first = asyncio.ensure_future(engine.answer(CALL))
        await asyncio.sleep(0.005)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        silent.states = [answer("Yes.")]
        return (await engine.answer(CALL)).text

    assert asyncio.run(asyncio.wait_for(cancelled(), 2)) == "Yes."
    assert silent.open_requests == 0


def test_closing_lets_go_of_the_place_of_deliveries_too(engine_of: Any) -> None:
    closed: list[bool] = []

    class Closing(ScriptedRendezvous):
        async def close(self) -> None:
            closed.append(True)

    asyncio.run(engine_of(WRITER, ScriptedWire(), rendezvous=Closing()).close())
    assert closed == [True]


# --- traces ------------------------------------------------------------------------------------


def test_a_trace_source_that_is_not_there_is_named_with_those_that_are(engine_of: Any) -> None:
    endpoint = replace(WRITER, completion=Trace(source={"kind": "mlfow"}), result_path="x")
    with pytest.raises(UsageError, match="no trace source 'mlfow'") as raised:
        engine_of(endpoint)
    assert "mlflow" in (raised.value.hint or "")


def test_secrets_of_a_trace_source_are_hidden_as_well(
    engine_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Mapping[str, str]] = []

    def source(table: Any, *, wire_for: Any) -> object:
        sent.append(table["header"])
        return object()

    async def drive(*_: Any) -> CompletionOutcome:
        return outcome_of("timeout", diagnosis="answered 401: no such token sesame")

    members = {module.TRACES["mlflow"]: source}
    monkeypatch.setattr(module, "member", lambda where: members.get(where, drive))
    table = {"kind": "mlflow", "header": {"Authorization": "Bearer env:TRACES"}}
    endpoint = replace(WRITER, completion=Trace(source=table), result_path="x")
    engine = engine_of(endpoint, ScriptedWire(), environment={"TRACES": "sesame"})
    error = refused(engine)
    assert sent == [{"Authorization": "Bearer sesame"}]
    assert "sesame" not in f"{error.message}{engine!r}"
    assert "no such token [hidden]" in error.message


def test_the_secret_of_a_trace_source_is_missed_like_any_other(engine_of: Any) -> None:
    table = {"kind": "mlflow", "url": "http://a", "header": {"Authorization": "env:TRACES"}}
    endpoint = replace(WRITER, completion=Trace(source=table), result_path="x")
    with pytest.raises(UsageError, match="endpoint writer needs TRACES in the environment"):
        engine_of(endpoint)
