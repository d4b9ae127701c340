"""The judge that every other one is measured by: `jsonschema` with our reading of the keywords.

Importing this module loads that library, so `validate` does it when an answer has to be explained.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from jsonschema import ValidationError
from jsonschema.protocols import Validator as SchemaValidator

from repurpose.core.finding import Finding, FindingKind
from repurpose.core.json_types import JsonValue
from repurpose.schema._keywords import MAX_ERRORS, STANDARD, STRICT, Node
from repurpose.schema._paths import dot_path
from repurpose.schema._shape import ANNOTATIONS, Schema, children, plain_copy

__all__ = ["Reference"]

_MAY_DIFFER = frozenset({"not", "oneOf", "uniqueItems"})
_KINDS: Mapping[object, FindingKind] = {"required": "missing_required", "type": "type_mismatch"}


class Reference:
    """A schema of the strict subset, ready to say what is wrong with an answer."""

    __slots__ = ("_readings",)

    def __init__(self, schema: Schema) -> None:
        readings: list[SchemaValidator] = [STRICT(_bare(schema))]
        if _MAY_DIFFER & _keywords(schema):
            readings.append(STANDARD(_bare(schema)))
        self._readings = tuple(readings)

    def accepts(self, answer: JsonValue) -> bool:
        """Whether the answer has no defect."""
        return all(next(one.iter_errors(answer), None) is None for one in self._readings)

    def findings(self, answer: JsonValue, most: int) -> list[Finding]:
        """Every defect in the order of the schema; `most` of them, and one that counts the rest."""
        for reading in self._readings:
            errors = list(islice(reading.iter_errors(answer), MAX_ERRORS + 1))
            if errors:
                return _shortened(errors, most)
        return []


def _shortened(errors: list[ValidationError], most: int) -> list[Finding]:
    """The first findings, the first of each kind among them, and a count of the rest."""
    found = list(dict.fromkeys(map(_finding, errors)))
    if len(found) <= most:
        return found
    firsts = {finding.kind: index for index, finding in reversed(list(enumerate(found)))}
    others = (index for index in range(len(found)) if index not in firsts.values())
    shown = sorted([*firsts.values(), *islice(others, most - len(firsts))])
    kinds = [finding.kind for index, finding in enumerate(found) if index not in shown]
    count = f"{len(found) - most}" if len(errors) <= MAX_ERRORS else "many"
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
            bare[keyword] = plain_copy(bare[keyword])
    return bare


def _keywords(schema: Mapping[str, Any]) -> set[str]:
    """Every keyword that stands anywhere in a schema."""
    found = set(schema)
    for _, part in children(schema):
        found |= _keywords(part)  # type: ignore[arg-type]  # a schema, by check_subset
    return found
