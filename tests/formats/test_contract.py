"""The schema file and the typed class of a format accept and refuse exactly the same."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ValidationError

from repurpose.formats import FORMATS, format_named
from repurpose.formats.base import FinishContext, Format
from repurpose.formats.faq import FaqAnswer
from repurpose.formats.newsletter import NewsletterAnswer
from repurpose.formats.social import SocialAnswer
from repurpose.formats.summary import SummaryAnswer
from repurpose.schema.subset import check_subset
from repurpose.schema.validate import compile_schema

CLASSES: dict[str, type[BaseModel]] = {
    "summary": SummaryAnswer,
    "faq": FaqAnswer,
    "social": SocialAnswer,
    "newsletter": NewsletterAnswer,
}
BUILT = {name: format_named(name) for name in FORMATS}
VALIDATORS = {name: compile_schema(BUILT[name].schema, name) for name in FORMATS}

every_format = pytest.mark.parametrize("format", BUILT.values(), ids=list(BUILT))
every_name = pytest.mark.parametrize("name", FORMATS)

STRAYS = st.sampled_from(
    [None, True, False, 0, 1, 1.5, -0.0, "", "1", "text", [], ["text"], [None], {}, {"text": "a"}]
)


def instances(schema: Any) -> st.SearchStrategy[Any]:
    """Valid instances of a schema that uses objects, arrays and strings only."""
    match schema["type"]:
        case "object":
            properties = schema["properties"].items()
            return st.fixed_dictionaries({name: instances(sub) for name, sub in properties})
        case "array":
            return st.lists(instances(schema["items"]), max_size=3)
        case "string":
            return st.text(max_size=10)
        case other:
            raise AssertionError(f"the sampler does not know {other}")


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a decoded JSON value."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    return [found for key in keys for found in [(value, key), *places(value[key])]]


@st.composite
def mutants(draw: st.DrawFn, schema: Any) -> Any:
    """An instance with one to three places dropped, added, nulled or replaced."""
    value = [draw(instances(schema))]  # in a list, so that the whole can be replaced too
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(places(value)))
        match draw(st.sampled_from(["drop", "null", "replace", "add"])):
            case "drop" if container is not value:
                del container[key]
            case "null":
                container[key] = None
            case "replace":
                container[key] = copy.deepcopy(draw(STRAYS))
            case _ if isinstance(container[key], dict):
                extra = draw(st.sampled_from(["extra", "Text", "call_to_action", "facebook", ""]))
                container[key][extra] = copy.deepcopy(draw(STRAYS))
            case _ if isinstance(container[key], list):
                container[key].append(copy.deepcopy(draw(STRAYS)))
        assume(value)
    return value[0]


def class_accepts(name: str, answer: object) -> bool:
    try:
        CLASSES[name].model_validate(answer)
    except ValidationError:
        return False
    return True


def file_accepts(name: str, answer: Any) -> bool:
    return not VALIDATORS[name].findings(answer)


@every_name
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_file_and_class_accept_the_same_instances(name: str, data: st.DataObject) -> None:
    answer = data.draw(instances(BUILT[name].schema))
    assert file_accepts(name, answer)
    assert class_accepts(name, answer)


@every_name
@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_file_and_class_refuse_the_same_mutants(name: str, data: st.DataObject) -> None:
    answer = data.draw(mutants(BUILT[name].schema))
    assert file_accepts(name, answer) == class_accepts(name, answer)


@every_name
def test_dropping_any_key_of_a_golden_reply_fails(name: str, root: Path) -> None:
    golden = [reply(root, name, "golden")]
    for index, (container, _) in enumerate(places(golden)):
        mutant = copy.deepcopy(golden)
        parent, key = places(mutant)[index]
        if isinstance(container, dict):
            del parent[key]
            assert not file_accepts(name, mutant[0]), key
            assert not class_accepts(name, mutant[0]), key


def reply(root: Path, name: str, kind: str) -> Any:
    file = root / "fixtures" / "replies" / name / f"{kind}.json"
    return json.loads(file.read_text(encoding="utf-8"))  # noqa: TID251 - our own fixture


@every_format
def test_a_schema_is_inside_the_subset(format: Format) -> None:
    check_subset(format.schema, format.name)


@every_format
def test_a_schema_is_valid_by_the_standard(format: Format) -> None:
    Draft202012Validator.check_schema(format.schema)


@every_format
def test_no_schema_sets_a_lower_bound_above_one_or_a_length(format: Format) -> None:
    """Lower bounds stand in prompts, upper bounds are cut in code; neither is refused."""
    written = json.dumps(format.schema)
    for keyword in ("minItems", "maxItems", "minLength", "maxLength"):
        assert keyword not in written


@every_name
def test_a_golden_reply_is_valid(name: str, root: Path) -> None:
    golden = reply(root, name, "golden")
    assert file_accepts(name, golden)
    assert class_accepts(name, golden)


@every_format
def test_a_golden_reply_is_published_as_it_is(format: Format, root: Path) -> None:
    finished = format.finish(reply(root, format.name, "golden"), FinishContext(language="en"))
    assert finished.notes == ()
    assert tuple(finished.fields) == format.declared
    assert all(piece.text for piece in finished.pieces)
    assert not any(piece.measures.shortened for piece in finished.pieces)


@every_name
@pytest.mark.parametrize("kind", ["missing_key", "wrong_type", "extra_key"])
def test_a_bad_reply_is_refused(name: str, kind: str, root: Path) -> None:
    bad = reply(root, name, kind)
    assert not file_accepts(name, bad)
    assert not class_accepts(name, bad)


@pytest.mark.parametrize(
    ("kind", "finding"),
    [
        ("missing_key", "missing_required"),
        ("wrong_type", "type_mismatch"),
        ("extra_key", "constraint"),
    ],
)
@every_name
def test_a_bad_reply_is_bad_for_one_reason(name: str, kind: str, finding: str, root: Path) -> None:
    findings = VALIDATORS[name].findings(reply(root, name, kind))
    assert [found.kind for found in findings] == [finding]


@every_format
def test_fields_are_plain_json(format: Format, root: Path) -> None:
    finished = format.finish(reply(root, format.name, "golden"), FinishContext())
    decoded = json.loads(json.dumps(finished.fields))  # noqa: TID251 - our own text
    assert decoded == finished.fields
