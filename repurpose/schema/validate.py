"""Validation of answers: every defect as a finding that may stand in a prompt.

The judge is `jsonschema` (draft 2020-12) over the strict subset, with a type-strict reading:
5.0 is not an integer and 1 equals neither 1.0 nor true. Where a schema says `not`, `oneOf` or
`uniqueItems`, strictness could let something through that the standard refuses, so there an
answer must pass both readings: whatever is accepted here, every draft 2020-12 validator accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from jsonschema import ValidationError
from jsonschema.protocols import Validator as SchemaValidator

from repurpose.core.finding import Finding, FindingKind
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.schema._keywords import MAX_ERRORS, STANDARD, STRICT, Node
from repurpose.schema._paths import dot_path
from repurpose.schema._shape import ANNOTATIONS, children
from repurpose.schema.coerce import has_numbers, has_options
from repurpose.schema.subset import check_subset

__all__ = ["MAX_FINDINGS", "Validator", "compile_schema"]

MAX_FINDINGS = 10
"""More than ten corrections at once are not followed, and each costs tokens."""

_MAY_DIFFER = frozenset({"not", "oneOf", "uniqueItems"})
_KINDS: Mapping[object, FindingKind] = {"required": "missing_required", "type": "type_mismatch"}


class Validator:
    """A schema made ready to judge answers; build it once with `compile_schema`.

    Judging converts nothing, never raises on decoded JSON and takes time in proportion to the
    answer. Objects are dicts and arrays are lists, as `decode` makes them.
    """

    __slots__ = ("_readings", "has_numbers", "has_options", "name", "schema")

    def __init__(self, schema: JsonObject, name: str) -> None:
        check_subset(schema, name)
        self.schema = schema
        """The schema as it was given."""
        self.name = name
        self.has_numbers = has_numbers(schema)
        """Whether coercion has anything to do."""
        self.has_options = has_options(schema)
        """Whether null may stand for an absent property anywhere."""
        readings: list[SchemaValidator] = [STRICT(_bare(schema))]
        if _MAY_DIFFER & _keywords(schema):
            readings.append(STANDARD(_bare(schema)))
        self._readings = tuple(readings)

    def accepts(self, answer: JsonValue) -> bool:
        """Whether the answer has no defect."""
        return all(next(one.iter_errors(answer), None) is None for one in self._readings)

    def findings(self, answer: JsonValue) -> list[Finding]:
        """Every defect of the answer, in the order of the schema; empty for a valid answer.

        Ten at most, the first of each kind among them, and then one that counts the rest.
        Messages name the rule and quote nothing that the answer says; a key that the schema
        does not declare is named only where it is a short plain name.

        >>> memo = compile_schema(
        ...     {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        ...     "memo",
        ... )
        >>> memo.findings({"n": "many"})
        [Finding(kind='type_mismatch', path='n', message='must be an integer, is a string')]
        """
        for reading in self._readings:
            errors = list(islice(reading.iter_errors(answer), MAX_ERRORS + 1))
            if errors:
                return _shortened(errors)
        return []


def compile_schema(schema: JsonObject, name: str) -> Validator:
    """The validator of a schema that lies inside the strict subset.

    Raises:
        SchemaError: the schema is outside the subset; the line names it and the place.
    """
    return Validator(schema, name)


def _shortened(errors: list[ValidationError]) -> list[Finding]:
    """Ten findings and a count of the rest."""
    found = list(dict.fromkeys(map(_finding, errors)))
    if len(found) <= MAX_FINDINGS:
        return found
    firsts = {finding.kind: index for index, finding in reversed(list(enumerate(found)))}
    others = (index for index in range(len(found)) if index not in firsts.values())
    shown = sorted([*firsts.values(), *islice(others, MAX_FINDINGS - len(firsts))])
    kinds = [finding.kind for index, finding in enumerate(found) if index not in shown]
    count = f"{len(found) - MAX_FINDINGS}" if len(errors) <= MAX_ERRORS else "many"
    return [*(found[index] for index in shown), Finding(kinds[0], "", f"and {count} more")]


def _finding(error: ValidationError) -> Finding:
    return Finding(_KINDS.get(error.validator, "constraint"), dot_path(error.path), error.message)


def _bare(schema: Mapping[str, Any]) -> Node:
    """A copy as plain dicts and lists, without annotations.

    A user's `$id` and `$schema` could change how the library reads the schema.
    """
    bare = Node((key, value) for key, value in schema.items() if key not in ANNOTATIONS)
    for keyword in ("properties", "prefixItems", "anyOf", "oneOf", "allOf"):
        if keyword in bare:
            bare[keyword] = {} if keyword == "properties" else [None] * len(bare[keyword])
    for path, part in children(schema):
        target: Any = bare
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = _bare(part)  # type: ignore[arg-type]  # a schema, by check_subset
    for keyword in ("type", "enum", "const", "required"):
        if keyword in bare:
            bare[keyword] = _plain(bare[keyword])
    return bare


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A copy of a JSON value as dicts and lists, which is what equality compares."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _keywords(schema: Mapping[str, Any]) -> set[str]:
    """Every keyword that stands anywhere in a schema."""
    found = set(schema)
    for _, part in children(schema):
        found |= _keywords(part)  # type: ignore[arg-type]  # a schema, by check_subset
    return found
