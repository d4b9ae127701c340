"""How a kind of server is spoken to, as a value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.profile import SCHEMA_KINDS, Profile
from repurpose.errors import UsageError

PLAIN = Profile(
    name="mine",
    label="My server",
    schema="strict",
    schema_in_prompt=True,
    content_parts=False,
    cache="none",
    output_parameter="max_tokens",
    source="its manual",
    checked="2026-11-29",
)


@pytest.mark.parametrize("kind", ["object", "none"])
def test_without_a_schema_in_the_request_it_must_stand_in_the_prompt(kind: Any) -> None:
    with pytest.raises(UsageError, match="must stand in the prompt"):
        replace(PLAIN, schema=kind, schema_in_prompt=False)


@pytest.mark.parametrize("kind", SCHEMA_KINDS)
def test_another_kind_of_a_profile_always_has_the_schema_in_its_prompt(kind: Any) -> None:
    shown = replace(PLAIN, schema_in_prompt=False)
    asking = shown.asking(kind)
    assert asking.schema == kind
    assert asking.schema_in_prompt is (kind != "strict")
    assert asking.name == ("mine" if kind == "strict" else f"mine:{kind}")


def test_a_kind_is_replaced_and_not_added() -> None:
    assert PLAIN.asking("object").asking("none").name == "mine:none"


def test_what_is_sent_without_a_profile_needs_no_parameters() -> None:
    assert PLAIN.parameters == {}


@pytest.mark.parametrize(
    ("changes", "parameters"),
    [
        ({"schema": "object"}, {"schema": "object"}),
        (
            {"output_parameter": "max_completion_tokens"},
            {"output_parameter": "max_completion_tokens"},
        ),
        ({"extra_body": {"a": 1}}, {"extra_body": {"a": 1}}),
        ({"name": "other", "label": "Other", "advice": "None."}, {}),
    ],
)
def test_parameters_hold_what_changes_a_request_and_no_name(
    changes: dict[str, Any], parameters: dict[str, Any]
) -> None:
    assert replace(PLAIN, **changes).parameters == parameters
