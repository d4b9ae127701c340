"""One schema for the answers of several formats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from repurpose.core.json_types import JsonObject
from repurpose.formats import FORMATS, format_named
from repurpose.schema.answer import Accepted, Rejected, read_answer
from repurpose.schema.union import SHARED_NAME, inner_answer, is_shared, shared_schema
from repurpose.schema.validate import compile_schema
from repurpose.schema.wire import check_strict, wire_schema


def closed(**properties: Any) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


MEMO = closed(text={"type": "string"})
NOTE = closed(text={"type": "string"}, stars={"type": "integer"})
BUILT_IN = [(name, wire_schema(format_named(name).schema)) for name in FORMATS]


def test_the_built_in_formats_share_a_schema_that_strict_mode_takes() -> None:
    schema = shared_schema(BUILT_IN)
    assert schema is not None
    check_strict(schema, SHARED_NAME)
    assert schema["required"] == list(FORMATS)


def test_equal_formats_give_the_same_object_whatever_the_source() -> None:
    again = [(name, wire_schema(format_named(name).schema)) for name in FORMATS]
    assert shared_schema(BUILT_IN) is shared_schema(again)


def test_formats_that_begin_with_the_same_field_share_one_too() -> None:
    schema = shared_schema([("memo", MEMO), ("note", NOTE)])
    assert schema is not None
    check_strict(schema, SHARED_NAME)


@pytest.mark.parametrize(
    "wires",
    [
        [],
        [("memo", MEMO)],
        # Their own field names are those of the formats, so nobody could tell which it is.
        [("memo", closed(memo={"type": "string"}, note={"type": "string"})), ("note", NOTE)],
        [("memo", {"type": "object"}), ("note", NOTE)],
    ],
    ids=["none", "one", "not to be told apart", "not strict"],
)
def test_there_is_none_where_it_would_not_be_of_use(wires: list[tuple[str, JsonObject]]) -> None:
    assert shared_schema(wires) is None


def test_a_shared_schema_is_told_from_a_formats_own() -> None:
    both = shared_schema([("memo", MEMO), ("note", NOTE)])
    assert both is not None
    assert is_shared("memo", MEMO, both)
    assert not is_shared("memo", MEMO, MEMO)
    assert not is_shared("memo", {}, {})
    named_like_it = closed(memo={"type": "string"})
    assert not is_shared("memo", named_like_it, wire_schema(named_like_it))


@pytest.mark.parametrize("extra", ["reject", "drop"])
def test_a_formats_own_field_is_its_answer(extra: Any) -> None:
    reply = json.dumps({"memo": {"text": "Bees dance."}, "note": None})
    read = read_answer(reply, compile_schema(MEMO, "memo"), extra=extra, within="memo")
    assert isinstance(read, Accepted)
    assert read.answer == {"text": "Bees dance."}


@pytest.mark.parametrize("extra", ["reject", "drop"])
@pytest.mark.parametrize("schema", [MEMO, {**MEMO, "required": []}], ids=["required", "optional"])
def test_an_answer_of_another_format_is_rejected(schema: JsonObject, extra: Any) -> None:
    reply = json.dumps({"memo": None, "note": {"text": "Bees dance.", "stars": 3}})
    read = read_answer(reply, compile_schema(schema, "memo"), extra=extra, within="memo")
    assert isinstance(read, Rejected)
    assert read.findings


def test_an_answer_without_a_field_around_it_is_judged_as_it_is() -> None:
    assert inner_answer({"text": "Bees dance."}, "memo") == {"text": "Bees dance."}
    read = read_answer('{"text": "Bees."}', compile_schema(MEMO, "memo"), within="memo")
    assert isinstance(read, Accepted)


@pytest.mark.parametrize("reply", ["[]", "null", "3", '{"memo": [1]}', '{"memo": "text"}', "{}"])
def test_anything_else_is_rejected_and_raises_nothing(reply: str) -> None:
    read = read_answer(reply, compile_schema(MEMO, "memo"), within="memo")
    assert isinstance(read, Rejected)
