"""Which requests are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.call import Call
from repurpose.core.keys import call_key, idempotency_key
from repurpose.core.source import Source

SOURCE = Source(text="Text.", origin="a.md", kind="text")
CALL = Call("faq", "system", "user", {"type": "object"}, {"type": "object"}, SOURCE)


def key(call: Call = CALL, **changes: Any) -> str:
    engine: dict[str, Any] = {"engine": "openai", "model": "m", "parameters": {"t": 0, "u": 1}}
    return call_key(call, **(engine | changes))


@pytest.mark.parametrize(
    "changed",
    [
        replace(CALL, system="other"),
        replace(CALL, user="other"),
        replace(CALL, schema={"type": "array"}),
        replace(CALL, wire={"type": "array"}),
        replace(CALL, format="summary"),
        replace(CALL, attempt=2),
        replace(CALL, output_tokens=10),
        replace(CALL, source=replace(SOURCE, text="Text!")),
        replace(CALL, source=replace(SOURCE, url="https://example.com/")),
        replace(CALL, source=replace(SOURCE, kind="markdown")),
    ],
)
def test_any_change_of_the_request_is_another_key(changed: Call) -> None:
    assert key(changed) != key()


@pytest.mark.parametrize(
    "change", [{"engine": "other"}, {"model": "n"}, {"model": None}, {"parameters": {"t": 1}}]
)
def test_any_change_of_the_engine_is_another_key(change: dict[str, Any]) -> None:
    assert key(**change) != key()


def test_neither_the_order_of_parameters_nor_the_path_of_the_file_matters() -> None:
    assert key(parameters={"u": 1, "t": 0}) == key()
    assert key(replace(CALL, source=replace(SOURCE, origin="b.md"))) == key()


def test_text_moved_from_one_prompt_to_the_other_is_another_key() -> None:
    assert key(replace(CALL, system="systemu", user="ser")) != key()


def test_a_result_depends_on_the_version_and_on_what_finishes_it() -> None:
    base = idempotency_key("k", version=1, finishing={"limit": 280})
    assert base != idempotency_key("k", version=2, finishing={"limit": 280})
    assert base != idempotency_key("k", version=1, finishing={"limit": 281})
