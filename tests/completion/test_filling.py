"""Places in bodies, headers and paths, and the address that comes of base and path."""

from __future__ import annotations

import pytest

from repurpose.completion._filling import address, filled, request_for
from repurpose.core.endpoint import Endpoint

VALUES = {"run_id": "r1", "task": 'say "hi" {{run_id}}', "schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{run_id}}", "r1"),
        ("run {{run_id}} of {{run_id}}", "run r1 of r1"),
        ("{{unknown}} and {run_id}", "{{unknown}} and {run_id}"),
        ({"{{run_id}}": "{{run_id}}"}, {"{{run_id}}": "r1"}),
        ([1, 2.5, True, None, ["{{run_id}}"]], [1, 2.5, True, None, ["r1"]]),
        ("{{schema}}", {"type": "object"}),
        ("as JSON: {{schema}}", 'as JSON: {"type":"object"}'),
        ("{{ run_id }}", "{{ run_id }}"),
    ],
)
def test_places_are_filled_at_any_depth_and_everything_else_stays(template, expected):
    assert filled(template, VALUES) == expected


def test_what_is_put_in_is_not_looked_at_again():
    assert filled("{{task}}", VALUES) == 'say "hi" {{run_id}}'


@pytest.mark.parametrize("base", ["http://w.test/api", "http://w.test/api/"])
@pytest.mark.parametrize("path", ["/runs", "runs"])
def test_base_and_path_are_joined_by_one_slash(base, path):
    assert address(Endpoint("w", base), path, {}) == "http://w.test/api/runs"


def test_without_a_path_the_base_is_the_address_as_it_is():
    assert address(Endpoint("w", "http://w.test/hook/abc"), "", {}) == "http://w.test/hook/abc"


@pytest.mark.parametrize("path", ["/runs/{run_id}/{other}", "/runs/{{run_id}}/{other}"])
def test_a_path_takes_both_kinds_of_places_and_leaves_unknown_ones(path):
    assert address(Endpoint("w", "http://w.test"), path, VALUES) == "http://w.test/runs/r1/{other}"


def test_values_in_a_path_are_percent_encoded():
    values = {"task": "ä/b c?d=1&e#f%2F"}

    found = address(Endpoint("w", "http://w.test"), "/t/{task}?q={task}", values)

    quoted = "%C3%A4%2Fb%20c%3Fd%3D1%26e%23f%252F"
    assert found == f"http://w.test/t/{quoted}?q={quoted}"


def test_headers_that_name_a_secret_are_left_to_the_wire():
    endpoint = Endpoint(
        "w",
        "http://w.test",
        headers={"Authorization": "Bearer env:TOKEN", "Idempotency-Key": "{{run_id}}"},
    )

    request = request_for(endpoint, VALUES, method="POST", path="/", body={"a": 1})

    assert request.headers["idempotency-key"] == "r1"
    assert "authorization" not in request.headers
    assert request.headers["content-type"] == "application/json"


def test_a_request_shows_neither_address_nor_headers_nor_body():
    endpoint = Endpoint("w", "http://w.test/secret-path", headers={"X-Team": "secret-team"})

    shown = repr(request_for(endpoint, {}, method="POST", path="/", body="secret-body"))

    assert "secret" not in shown
