"""The quick judge says yes exactly where the reference finds nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.formats import FORMATS, format_named
from repurpose.schema._fast import quick_judge
from repurpose.schema._reference import Reference
from repurpose.schema.validate import compile_schema

Strategy = st.SearchStrategy[Any]

KEYS = st.sampled_from(["a", "b", "ä b"])
COUNTS = st.integers(0, 3)
NUMBERS = st.sampled_from([-1, 0, 1, 2, 10**20, -0.0, 0.5, 1.0, 2.0, 1e300])
TEXTS = st.text("ab1ä😀", max_size=4)
TYPES = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def keywords(**choices: Strategy) -> Strategy:
    return st.fixed_dictionaries({}, optional=choices)


def deeper(inner: Strategy) -> Strategy:
    return keywords(
        type=TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        properties=st.dictionaries(KEYS, inner, max_size=3),
        required=st.lists(KEYS, max_size=2, unique=True),
        additionalProperties=st.booleans() | inner,
        items=inner,
        minItems=COUNTS,
        maxItems=COUNTS,
        anyOf=st.lists(inner, min_size=1, max_size=2),
        title=st.just("Said and never checked"),
    )


LEAVES = keywords(
    type=TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
    enum=st.lists(TEXTS, min_size=1, max_size=3),
    const=TEXTS,
    minLength=COUNTS,
    maxLength=COUNTS,
    minimum=NUMBERS,
    maximum=NUMBERS,
    exclusiveMinimum=NUMBERS,
    exclusiveMaximum=NUMBERS,
)
SCHEMAS = st.recursive(LEAVES, deeper, max_leaves=6)


@settings(max_examples=150)
@given(SCHEMAS, VALUES)
def test_the_quick_judge_and_the_reference_agree(schema: Any, value: Any) -> None:
    judge = quick_judge(schema)
    assert judge is not None
    assert judge(value) == Reference(schema).accepts(value)


@pytest.mark.parametrize("name", FORMATS)
def test_every_built_in_format_has_a_quick_judge(name: str) -> None:
    assert quick_judge(format_named(name).schema) is not None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^a"},
        {"type": "array", "uniqueItems": True},
        {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 2}}},
        {"not": {"type": "string"}},
        {"oneOf": [{"type": "string"}]},
        {"enum": [1, "one"]},
        {"const": None},
        {"type": "array", "items": {"allOf": [{"type": "string"}]}},
        {"type": "array", "prefixItems": [{"type": "string"}]},
    ],
)
def test_what_only_the_reference_understands_has_none(schema: Any) -> None:
    assert quick_judge(schema) is None


def test_a_schema_that_changes_later_is_judged_as_it_was() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    validator = compile_schema(schema, "memo")
    schema["properties"]["a"]["type"] = "integer"
    assert validator.findings({"a": "text"}) == []
    assert validator.findings({"a": 1}) != []


def test_valid_answers_need_neither_validating_library() -> None:
    program = (
        "import sys\n"
        "from repurpose.formats.base import Format\n"
        "from repurpose.schema.validate import compile_schema\n"
        "one = compile_schema({'type': 'object', 'required': ['a']}, 'memo')\n"
        "assert one.findings({'a': 1}) == []\n"
        "print({'jsonschema', 'jsonschema_rs', 'pydantic_core'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("set()\n", "")
