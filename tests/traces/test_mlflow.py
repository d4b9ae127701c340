"""Traces of an MLflow server, with a scripted wire in its place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from repurpose.core.endpoint import TraceState
from repurpose.core.exchange import Request, Response, WireError
from repurpose.core.json_types import JsonValue
from repurpose.core.paths import at
from repurpose.errors import UsageError
from repurpose.ports.endpoints import Streaming, TraceSource
from repurpose.traces.mlflow import mlflow_traces

URL = "http://127.0.0.1:5000"
SEARCH = "/api/3.0/mlflow/traces/search"
GET = "/api/3.0/mlflow/traces/get"
FILE = "/ajax-api/2.0/mlflow/get-trace-artifact"
BY_NAME = "/api/2.0/mlflow/experiments/get-by-name"


class Server:
    """Answers each path with the next of its answers, or with the last one again."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Any]] = {}
        self.asked: list[Request] = []
        self.base_url = ""
        self.headers: Mapping[str, str] = {}

    def on(self, path: str, *answers: object) -> Server:
        self.answers[path] = list(answers)
        return self

    def wire_for(self, base_url: str, headers: Mapping[str, str]) -> Server:
        self.base_url, self.headers = base_url, headers
        return self

    async def send(self, request: Request, timeout: float) -> Response:  # noqa: ASYNC109
        assert timeout > 0
        self.asked.append(request)
        waiting = self.answers[urlsplit(request.url).path]
        answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Response):
            return answer
        return Response(200, body=json.dumps(answer).encode())

    def stream(self, request: Request, timeout: float) -> AbstractAsyncContextManager[Streaming]:
        raise AssertionError("a trace is not streamed")

    def source(self, **table: object) -> TraceSource:
        given: dict[str, Any] = {"kind": "mlflow", "url": URL, **table}
        return mlflow_traces(given, wire_for=self.wire_for)


def found(state: str = "OK", place: str | None = "TRACKING_STORE") -> dict[str, Any]:
    tags = {"mlflow.trace.spansLocation": place} if place else {}
    return {"traces": [{"trace_id": "tr-1", "state": state, "tags": tags}]}


def attribute(name: str, **value: object) -> dict[str, object]:
    return {"key": name, "value": value}


ROOT = {
    "span_id": "aaa",
    "name": "write",
    "start_time_unix_nano": 1,
    "end_time_unix_nano": 9,
    "status": {"code": "STATUS_CODE_OK"},
    "attributes": [
        attribute("mlflow.spanInputs", string_value='{"topic": "bees"}'),
        attribute(
            "mlflow.spanOutputs",
            kvlist_value={"values": [attribute("answer", string_value="Bees like roofs.")]},
        ),
    ],
}
CHILD = {"span_id": "bbb", "parent_span_id": "aaa", "name": "think", "start_time_unix_nano": 2}


def state(source: TraceSource, key: str = "run1") -> TraceState:
    return asyncio.run(source.state(key))


def record(source: TraceSource, key: str = "run1") -> JsonValue:
    return asyncio.run(source.record(key))


def refused(status: int, code: str = "", text: str = "") -> Response:
    body = json.dumps({"error_code": code, "message": text}) if code else text
    return Response(status, body=body.encode())


@pytest.mark.parametrize(
    ("said", "meant"),
    [("OK", "done"), ("ERROR", "failed"), ("IN_PROGRESS", "running"), ("STATE_NEW", "running")],
)
def test_the_state_of_the_trace_is_the_state_of_the_run(said: str, meant: str) -> None:
    assert state(Server().on(SEARCH, found(said)).source()).status == meant


def test_a_trace_that_has_not_ended_says_so() -> None:
    running = state(Server().on(SEARCH, found("IN_PROGRESS")).source())
    assert running.diagnosis == "the trace is still in progress"


def test_a_run_without_a_trace_is_absent_and_the_diagnosis_names_where_its_id_was_looked_for() -> (
    None
):
    absent = state(Server().on(SEARCH, {}).source())
    assert absent.status == "absent"
    assert absent.diagnosis == "MLflow has no trace with tags.repurpose.run_id of this run yet"


@pytest.mark.parametrize(
    ("table", "condition"),
    [
        ({}, "tags.`repurpose.run_id` = 'run1'"),
        ({"key": "tags.job id"}, "tags.`job id` = 'run1'"),
        ({"key": "metadata.job"}, "metadata.`job` = 'run1'"),
        ({"key": "client_request_id"}, "client_request_id = 'run1'"),
        ({"key": "span.attributes.job.id"}, "span.attributes.job.id LIKE '%run1%'"),
    ],
)
def test_the_latest_trace_with_the_run_id_is_looked_for(
    table: dict[str, object], condition: str
) -> None:
    server = Server().on(SEARCH, {})
    state(server.source(**table))
    (request,) = server.asked
    assert (request.method, request.url) == ("POST", URL + SEARCH)
    asked = json.loads(request.body or b"")  # noqa: TID251 - a request of ours
    assert asked == {
        "locations": [
            {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}},
        ],
        "filter": condition,
        "max_results": 1,
        "order_by": ["timestamp_ms DESC"],
    }


@pytest.mark.parametrize("experiment", ["12", 12])
def test_an_experiment_in_digits_is_an_id(experiment: object) -> None:
    server = Server().on(SEARCH, found())
    assert state(server.source(experiment=experiment)).status == "done"
    assert b'"experiment_id":"12"' in (server.asked[0].body or b"")


def test_an_experiment_by_name_is_asked_for_until_it_is_there_and_then_no_more() -> None:
    missing = refused(404, "RESOURCE_DOES_NOT_EXIST", "no such")
    server = Server().on(BY_NAME, missing, {"experiment": {"experiment_id": "7"}})
    source = server.on(SEARCH, found("IN_PROGRESS")).source(experiment="the writers")
    assert state(source) == TraceState("absent", 'MLflow has no experiment "the writers" yet')
    assert state(source).status == "running"
    assert state(source).status == "running"
    paths = [urlsplit(request.url).path for request in server.asked]
    assert paths == [BY_NAME, BY_NAME, SEARCH, SEARCH]
    query = parse_qs(urlsplit(server.asked[0].url).query)
    assert query == {"experiment_name": ["the writers"]}
    assert b'"experiment_id":"7"' in (server.asked[2].body or b"")


def test_the_record_holds_what_went_into_the_root_span_and_what_came_out_of_it() -> None:
    trace = {"trace": {"trace_info": {}, "spans": [CHILD, ROOT]}}
    server = Server().on(SEARCH, found()).on(GET, trace)
    read = record(server.source())
    assert at(read, "response.answer") == "Bees like roofs."
    assert at(read, "request") == {"topic": "bees"}
    assert at(read, "info.trace_id") == "tr-1"
    assert at(read, "spans.0.name") == "think"
    assert at(read, "spans.1.status") == "ok"
    query = parse_qs(urlsplit(server.asked[-1].url).query)
    assert query == {"trace_id": ["tr-1"], "allow_partial": ["true"]}


def test_an_answer_that_is_a_json_text_is_read() -> None:
    outputs = attribute("mlflow.spanOutputs", string_value='{"answer": [1, 2]}')
    trace = {"trace": {"spans": [{**ROOT, "attributes": [outputs]}]}}
    read = record(Server().on(SEARCH, found()).on(GET, trace).source())
    assert at(read, "response.answer.1") == 2


def test_an_answer_that_is_plain_text_stays_a_text() -> None:
    outputs = attribute("mlflow.spanOutputs", string_value="Bees, mostly.")
    trace = {"trace": {"spans": [{**ROOT, "attributes": [outputs]}]}}
    read = record(Server().on(SEARCH, found()).on(GET, trace).source())
    assert at(read, "response") == "Bees, mostly."


@pytest.mark.parametrize("place", [None, "ARTIFACT_REPO"])
def test_spans_that_are_kept_in_a_file_are_read_from_there(place: str | None) -> None:
    span = {"name": "write", "parent_span_id": None, "span_id": "aaa"}
    written = {"mlflow.spanOutputs": '{"answer": "Roofs."}', "mlflow.spanType": '"AGENT"'}
    server = Server().on(SEARCH, found(place=place))
    server.on(FILE, {"spans": [{**span, "attributes": written}]})
    read = record(server.source())
    assert at(read, "response.answer") == "Roofs."
    assert at(read, "attributes.mlflow.spanType") == "AGENT"
    assert parse_qs(urlsplit(server.asked[-1].url).query) == {"request_id": ["tr-1"]}


@pytest.mark.parametrize(
    "answer",
    [{"trace": {"spans": [CHILD]}}, {"trace": {}}, refused(404, "RESOURCE_DOES_NOT_EXIST")],
)
def test_there_is_no_record_while_the_root_span_is_not_there(answer: object) -> None:
    assert record(Server().on(SEARCH, found()).on(GET, answer).source()) is None


def test_a_trace_that_failed_has_a_record_without_its_spans() -> None:
    server = Server().on(SEARCH, found("ERROR")).on(GET, {"trace": {}})
    assert at(record(server.source()), "info.state") == "ERROR"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (refused(401, text="You are not authenticated"), "MLflow answered 401: see header"),
        (refused(403, "PERMISSION_DENIED", "no"), "MLflow answered 403 PERMISSION_DENIED: see"),
        (refused(404, text="<html>"), "MLflow answered 404: is url the address of an MLflow 3"),
        (refused(400, "INVALID_PARAMETER_VALUE", "secret"), "400 INVALID_PARAMETER_VALUE"),
        (refused(503, text="busy"), "MLflow answered 503"),
        (Response(200, body=b"<html>hello"), "what answered does not speak as MLflow does"),
        (Response(200, body=b"[1]"), "what answered does not speak as MLflow does"),
        (TimeoutError(), "MLflow did not answer within 30 s"),
        (WireError("no connection to 127.0.0.1:5000"), "no connection to 127.0.0.1:5000"),
    ],
)
def test_a_server_that_cannot_be_asked_is_one_clear_line(answer: object, message: str) -> None:
    source = Server().on(SEARCH, answer).source()
    with pytest.raises(WireError) as caught:
        state(source)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(WireError):
        record(source)


def test_headers_are_sent_as_they_are_given_and_show_themselves_nowhere() -> None:
    server = Server().on(SEARCH, refused(401))
    header = {"Authorization": "Bearer t0psecret", "X-Team": "desk"}
    source = server.source(header=header)
    assert server.base_url == URL
    assert server.headers == header
    with pytest.raises(WireError) as caught:
        state(source)
    assert "t0psecret" not in f"{caught.value}{source!r}"


def test_a_slash_at_the_end_of_the_address_makes_no_difference() -> None:
    server = Server().on("/tracking" + SEARCH, found())
    assert state(server.source(url=f"{URL}/tracking/")).status == "done"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"url": None}, "completion.source: url is missing"),
        ({"url": "ftp://x"}, "completion.source.url must be an http or https address"),
        ({"url": "http://u:pw@x"}, "completion.source.url must be an address without password"),
        ({"url": "http://x/?a=b"}, "completion.source.url must be an address without password, ?"),
        ({"url": "http://[x"}, "completion.source.url must be an http or https address"),
        ({"experimnt": "x"}, "completion.source: unknown key 'experimnt'"),
        ({"experiment": True}, "completion.source.experiment must be a text"),
        ({"key": "run_id"}, "completion.source.key must be tags.NAME"),
        ({"key": "tags.a' OR 'b"}, "completion.source.key must be tags.NAME"),
        ({"key": "tags.run_id"}, "MLflow takes tags.run_id for a field of its own"),
        ({"header": "x"}, "completion.source.header must be a table"),
        ({"header": {"A b": "x"}}, "completion.source.header: 'A b' is no header that can be set"),
        ({"header": {"A": "x\ny"}}, "completion.source.header.A must be one line"),
    ],
)
def test_a_table_that_cannot_work_is_refused_with_its_key(
    table: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Server().source(**table)
    assert message in str(caught.value)
    assert "pw" not in str(caught.value)


def test_a_run_id_that_would_change_the_question_is_not_asked_for() -> None:
    server = Server().on(SEARCH, found())
    with pytest.raises(WireError):
        state(server.source(), "x' OR '1'='1")
    assert server.asked == []
