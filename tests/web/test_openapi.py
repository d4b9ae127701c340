"""The description of the interface: valid, and true."""

from __future__ import annotations

import re
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from repurpose.web.operations import OPERATIONS, Operation
from repurpose.web.pages import PAGES


@pytest.fixture(scope="module")
def told(standing: Any) -> dict[str, Any]:
    document: dict[str, Any] = standing.client.get("/api/openapi.json").json()
    return document


def test_the_description_is_valid(told: dict[str, Any]) -> None:
    assert told["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(told).validate()


def test_what_is_described_is_what_is_served(told: dict[str, Any], standing: Any) -> None:
    served = {
        (method, route.path)
        for route in standing.client.app.app.routes
        for method in getattr(route, "methods", None) or ()
        if method not in ("HEAD", "OPTIONS") and route.path.startswith("/api/")
    }
    described = {
        (method.upper(), path) for path, methods in told["paths"].items() for method in methods
    }
    assert served - {("GET", "/api/openapi.json")} == described
    pages = {route.path for route in standing.client.app.app.routes}
    assert set(PAGES) <= pages


def test_names_of_operations_are_unique(told: dict[str, Any]) -> None:
    names = [one["operationId"] for methods in told["paths"].values() for one in methods.values()]
    assert len(set(names)) == len(names) == len(OPERATIONS)


@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: one.name)
def test_an_operation_is_described_in_full(told: dict[str, Any], one: Operation) -> None:
    described = told["paths"][one.path][one.method.lower()]
    assert described["summary"]
    places = [each["name"] for each in described["parameters"] if each["in"] == "path"]
    assert places == re.findall(r"\{([a-z]+)\}", one.path)
    assert ("requestBody" in described) == (one.method == "POST")
    assert str(one.status) in described["responses"]
    assert (one.handle is None) != (one.take is None)


@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: one.name)
def test_every_operation_can_be_asked_and_refuses_what_it_does_not_know(
    standing: Any, one: Operation
) -> None:
    path = re.sub(r"\{[a-z]+\}", "ffff", one.path)
    body = {"odd": 1} if one.body is not None else None
    answer = standing.client.request(
        one.method, path, json=body, headers={"X-CSRF-Token": standing.csrf}
    )
    if one.body is not None:
        assert answer.status_code == 422
        body = dict.fromkeys(one.body.model_json_schema().get("required", []), "a") | body
        again = standing.client.request(
            one.method, path, json=body, headers={"X-CSRF-Token": standing.csrf}
        )
        assert "odd: is not known" in again.json()["error"]["message"]
    elif "{" in one.path:
        assert answer.status_code == 404
    else:
        assert answer.status_code in (200, 415)


@pytest.mark.parametrize(
    "one", [one for one in OPERATIONS if one.method == "POST"], ids=lambda one: one.name
)
def test_every_operation_that_changes_something_needs_the_secret(
    standing: Any, one: Operation
) -> None:
    path = re.sub(r"\{[a-z]+\}", "ffff", one.path)
    answer = standing.client.post(path, json={})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "csrf")


def test_reading_changes_nothing(told: dict[str, Any]) -> None:
    methods = {method for methods in told["paths"].values() for method in methods}
    assert methods == {"get", "post"}
