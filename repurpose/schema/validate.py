"""Validation of answers: every defect as a finding that may stand in a prompt.

The judge is `jsonschema` (draft 2020-12) over the strict subset, with a type-strict reading:
5.0 is not an integer and 1 equals neither 1.0 nor true. Where a schema says `not`, `oneOf` or
`uniqueItems`, strictness could let something through that the standard refuses, so there an
answer must pass both readings: whatever is accepted here, every draft 2020-12 validator accepts.

Valid answers to everyday schemas are let through by a quicker judge, which a test holds to the
same verdicts; the library is imported when an answer has to be explained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from repurpose.core.finding import Finding
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.schema._fast import quick_judge
from repurpose.schema._shape import plain_copy
from repurpose.schema.coerce import has_numbers, has_options
from repurpose.schema.subset import check_subset

if TYPE_CHECKING:  # it imports jsonschema, which a process with valid answers never needs
    from repurpose.schema._reference import Reference

__all__ = ["MAX_FINDINGS", "Validator", "compile_schema"]

MAX_FINDINGS = 10
"""More than ten corrections at once are not followed, and each costs tokens."""


class Validator:
    """A schema made ready to judge answers; build it once with `compile_schema`.

    Judging converts nothing, never raises on decoded JSON and takes time in proportion to the
    answer. Objects are dicts and arrays are lists, as `decode` makes them.
    """

    __slots__ = ("_copy", "_quick", "_reference", "has_numbers", "has_options", "name", "schema")

    def __init__(self, schema: JsonObject, name: str) -> None:
        check_subset(schema, name)
        self.schema = schema
        """The schema as it was given."""
        self.name = name
        self.has_numbers = has_numbers(schema)
        """Whether coercion has anything to do."""
        self.has_options = has_options(schema)
        """Whether null may stand for an absent property anywhere."""
        self._copy = plain_copy(schema)
        self._quick = quick_judge(self._copy)
        self._reference: Reference | None = None

    def accepts(self, answer: JsonValue) -> bool:
        """Whether the answer has no defect."""
        return self._surely_valid(answer) or self._explaining().accepts(answer)

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
        if self._surely_valid(answer):
            return []
        return self._explaining().findings(answer, MAX_FINDINGS)

    def _surely_valid(self, answer: JsonValue) -> bool:
        return self._quick is not None and self._quick(answer)

    def _explaining(self) -> Reference:
        """The reference, made when it is first asked."""
        if self._reference is None:
            from repurpose.schema._reference import Reference  # noqa: PLC0415 - see above

            self._reference = Reference(self._copy)
        return self._reference


def compile_schema(schema: JsonObject, name: str) -> Validator:
    """The validator of a schema that lies inside the strict subset.

    Raises:
        SchemaError: the schema is outside the subset; the line names it and the place.
    """
    return Validator(schema, name)
