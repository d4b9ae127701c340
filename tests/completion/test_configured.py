"""From a table of the settings to an endpoint, and what is refused with which keys named."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from repurpose.completion.configured import endpoint_from
from repurpose.core.endpoint import (
    Callback,
    Endpoint,
    Poll,
    StatusMatch,
    Stream,
    Sync,
    Trace,
)
from repurpose.errors import UsageError

WRITER = """
submit = "POST /runs/{run_id}"
base_url = "http://localhost:9000"
body = {instructions = "{{system}}", material = "{{user}}", callback = "{{callback_url}}", schema = "{{schema}}"}
result_path = "output.answer"
correlate = "returned:data.id"
header.Authorization = "env:WRITER_TOKEN"
completion = {mode = "poll", status_path = "/runs/{id}/status", done = {field = "state", one_of = ["completed"]}, failed = {field = "state", one_of = ["failed", "canceled"]}, interval = 1.0, timeout = 120}
"""  # noqa: E501 - an inline table of TOML stands on one line
DONE = {"field": "state", "equals": "completed"}
SOURCE = {"kind": "mlflow"}


def read(toml: str, name: str = "writer") -> Endpoint:
    return endpoint_from(name, tomllib.loads(toml))


def of(**changes: Any) -> Endpoint:
    return endpoint_from("writer", {"base_url": "http://localhost:9000", **changes})


def test_a_whole_declaration_is_read_key_by_key():
    endpoint = read(WRITER)

    assert endpoint == Endpoint(
        name="writer",
        base_url="http://localhost:9000",
        method="POST",
        path="/runs/{run_id}",
        headers={"Authorization": "env:WRITER_TOKEN"},
        body={
            "instructions": "{{system}}",
            "material": "{{user}}",
            "callback": "{{callback_url}}",
            "schema": "{{schema}}",
        },
        result_path="output.answer",
        returned_id="data.id",
        completion=Poll(
            status_path="/runs/{id}/status",
            done=StatusMatch("state", ("completed",)),
            failed=StatusMatch("state", ("failed", "canceled")),
            interval=1.0,
            timeout=120.0,
        ),
    )


def test_a_base_address_alone_is_a_synchronous_endpoint():
    endpoint = of()

    assert (endpoint.method, endpoint.path) == ("POST", "")
    assert endpoint.completion == Sync(timeout=600.0)
    assert endpoint.body == {
        "run_id": "{{run_id}}",
        "system": "{{system}}",
        "user": "{{user}}",
        "schema": "{{schema}}",
    }


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ({"mode": "sync"}, Sync(timeout=600.0)),
        (
            {"mode": "poll", "status_path": "/s", "done": DONE},
            Poll("/s", StatusMatch("state", ("completed",)), interval=1.0, timeout=120.0),
        ),
        (
            {"mode": "stream", "done": DONE},
            Stream(StatusMatch("state", ("completed",)), timeout=600.0),
        ),
        ({"mode": "callback"}, Callback(timeout=120.0)),
        (
            {"mode": "trace", "source": SOURCE},
            Trace(source=SOURCE, interval=2.0, timeout=120.0),
        ),
    ],
)
def test_each_mode_has_its_defaults(completion, expected):
    assert of(completion=completion, result_path="answer").completion == expected


@pytest.mark.parametrize(
    ("submit", "method", "path"),
    [
        ("POST /runs", "POST", "/runs"),
        ("/runs", "POST", "/runs"),
        ("put /runs/{run_id}", "PUT", "/runs/{run_id}"),
        ("POST", "POST", ""),
        ("", "POST", ""),
    ],
)
def test_a_submit_without_a_verb_is_a_post(submit, method, path):
    endpoint = of(submit=submit)

    assert (endpoint.method, endpoint.path) == (method, path)


@pytest.mark.parametrize("value", [False, 0, "", None, 1.5])
def test_false_and_zero_are_values_to_compare_with(value):
    # TOML has no null, Python programs have.
    match = {"field": "x", **({"one_of": [None]} if value is None else {"equals": value})}

    found = of(completion={"mode": "stream", "done": match}).completion.done.one_of

    assert found == (value,)
    assert type(found[0]) is type(value)


def test_a_state_may_be_asked_for_by_post_with_a_body():
    completion = {
        "mode": "poll",
        "status_path": "POST /rpc",
        "status_body": {"id": "{{id}}"},
        "done": DONE,
    }

    found = of(completion=completion).completion

    assert (found.status_method, found.status_path) == ("POST", "/rpc")
    assert found.status_body == {"id": "{{id}}"}


TRACED = {"mode": "trace", "source": SOURCE}
POLLED = {"mode": "poll", "status_path": "/s", "done": DONE}


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        (
            {"correlate": "returned:id", "completion": TRACED, "result_path": "a"},
            ["correlate", "completion.mode"],
        ),
        (
            {"completion": {"mode": "trace", "source": "inline"}, "result_path": "a"},
            ["source", "mode"],
        ),
        ({"completion": TRACED}, ["completion.mode", "result_path"]),
        ({"completion": {"mode": "trace"}, "result_path": "a"}, ["mode", "source"]),
        (
            {"completion": {"mode": "trace", "source": {"url": "x"}}, "result_path": "a"},
            ["mode", "source", "kind"],
        ),
        ({"completion": {**TRACED, "done": DONE}, "result_path": "a"}, ["done", "mode"]),
        ({"completion": {"mode": "sync", "interval": 1}}, ["interval", "mode"]),
        ({"completion": {"mode": "stream", "done": DONE, "interval": 1}}, ["interval", "mode"]),
        ({"completion": {"mode": "callback", "status_path": "/s"}}, ["status_path", "mode"]),
        ({"completion": {**POLLED, "interval": 9, "timeout": 3}}, ["interval", "timeout"]),
        ({"completion": {**POLLED, "status_body": {}}}, ["status_body", "status_path"]),
        ({"completion": {"mode": "callback"}, "body": {"x": 1}}, ["mode", "callback_url", "body"]),
        (
            {"completion": {"mode": "stream", "done": {**DONE, "one_of": ["x"]}}},
            ["equals", "one_of"],
        ),
        ({"completion": {"mode": "stream", "done": {"field": "x"}}}, ["equals", "one_of"]),
        ({"completion": {"mode": "stream"}}, ["mode", "done"]),
        ({"completion": {"mode": "poll", "done": DONE}}, ["status_path"]),
        ({"completion": {"timeout": 5}}, ["mode"]),
        ({"header": {"X-Prompt": "{{system}}"}}, ["X-Prompt", "system", "body"]),
    ],
)
def test_what_cannot_go_together_is_refused_in_one_line_that_names_the_keys(changes, keys):
    with pytest.raises(UsageError) as error:
        of(**changes)

    message = str(error.value)
    assert message.startswith("endpoints.writer")
    assert "\n" not in message
    assert [key for key in keys if key not in message] == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"base_url": 7}, r"endpoints\.writer\.base_url must be a text"),
        ({"base_url": "localhost:9000"}, "base_url must be an http or https address"),
        ({"base_url": "http://"}, "base_url must be an http or https address"),
        ({"base_url": "http://a:b@h"}, "without password"),
        ({"base_url": "http://h?x=1"}, r"without password, \? and #"),
        ({"submit": "GET /runs"}, "submit must be a path, or one of POST"),
        ({"submit": "POST runs"}, "begins with /"),
        ({"submit": "POST /runs now"}, "without spaces"),
        ({"corelate": "injected"}, "unknown key 'corelate'"),
        ({"correlate": "returned:"}, "correlate must be"),
        ({"correlate": "mine"}, "correlate must be"),
        ({"completion": "sync"}, "completion must be a table"),
        ({"completion": {"mode": "pol"}}, "mode must be one of sync, poll, stream, callback"),
        ({"completion": {"mode": "sync", "timeout": 0}}, "timeout must be a number above 0"),
        ({"completion": {"mode": "sync", "timeout": -1}}, "timeout must be a number above 0"),
        ({"completion": {"mode": "sync", "timeout": True}}, "timeout must be a number above 0"),
        ({"completion": {"mode": "sync", "timeout": float("inf")}}, "timeout must be a number"),
        ({"completion": {"mode": "sync", "timeout": 90_000}}, "up to 86400"),
        ({"completion": {"mode": "sync", "timeout": "5"}}, "timeout must be a number"),
        ({"completion": {"mode": "stream", "done": "x"}}, "done must be a table"),
        ({"completion": {"mode": "stream", "done": {"field": "x", "one_of": []}}}, "one_of must"),
        ({"completion": {"mode": "stream", "done": {"field": "x", "one_of": "ab"}}}, "one_of must"),
        ({"completion": {"mode": "stream", "done": {"field": "x", "equals": {}}}}, "compared"),
        ({"completion": {"mode": "stream", "done": {"equals": 1}}}, "field is missing"),
        ({"keys": {"run_id": "x"}}, "run_id is a place of ours"),
        ({"keys": {"a-b": "x"}}, "cannot be a place"),
        ({"keys": {"team": 5}}, r"endpoints\.writer\.keys\.team must be a text"),
        ({"header": {"Host": "x"}}, "no header that can be set"),
        ({"header": {"X Y": "x"}}, "no header that can be set"),
        ({"header": {"X": "a\r\nY: b"}}, "one line of plain ASCII"),
        ({"body": {"at": __import__("datetime").date(2026, 1, 1)}}, r"body\.at must be JSON"),
        ({"body": {"x": [float("nan")]}}, r"body\.x\.0 must be JSON"),
        ({"concurrency": 0}, "concurrency must be a whole number from 1"),
        ({"usage": {"tokens": "x"}}, "unknown key 'tokens'"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_its_whole_name(changes, said):
    with pytest.raises(UsageError, match=said) as error:
        of(**changes)
    assert str(error.value).startswith("endpoints.writer")
    assert "\n" not in str(error.value)


def test_an_unknown_key_is_told_with_the_nearest_known_one():
    with pytest.raises(UsageError) as error:
        of(corelate="injected")
    assert error.value.hint == "did you mean correlate?"


def test_without_a_base_address_there_is_no_endpoint():
    with pytest.raises(UsageError, match="base_url is missing"):
        endpoint_from("writer", {})


@pytest.mark.parametrize("name", ["", "a b", "a:b", "ä", "x" * 61])
def test_a_name_that_cannot_be_given_on_the_command_line_is_refused(name):
    with pytest.raises(UsageError, match="the name may hold"):
        endpoint_from(name, {"base_url": "http://h"})


def test_returned_ids_are_fine_in_every_mode_but_trace():
    for completion in (POLLED, {"mode": "stream", "done": DONE}, {"mode": "callback"}, {}):
        assert of(correlate="returned:data.id", completion=completion).returned_id == "data.id"


def test_a_callback_endpoint_without_a_body_is_sent_the_address():
    assert of(completion={"mode": "callback"}).body["callback_url"] == "{{callback_url}}"


def test_an_endpoint_shows_neither_headers_nor_body():
    shown = repr(of(header={"X-Team": "hidden"}, body={"token": "hidden"}))

    assert "hidden" not in shown
