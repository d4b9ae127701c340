"""What is wrong with an answer, found out as a run finds it out, without a call."""

from __future__ import annotations

import json
from typing import Literal

from repurpose.core.finding import Validation
from repurpose.core.json_types import JsonObject
from repurpose.schema.answer import Rejected, read_answer
from repurpose.schema.validate import compile_schema

__all__ = ["validate"]


def validate(
    answer: JsonObject | str,
    schema: JsonObject,
    *,
    coerce: bool = True,
    extra: Literal["reject", "drop"] = "reject",
) -> Validation:
    """Whether an answer is of the shape that `schema` declares, and if not, where not.

    An answer is an object, or a text as a model replies: JSON, perhaps in a code fence. The steps
    are those of a run: numeric texts become the declared numbers unless `coerce` is false,
    undeclared keys go where `extra` is `drop`, then what is left is validated.

    Raises:
        SchemaError: the schema is outside the strict subset.

    >>> offer = {"type": "object", "properties": {"price": {"type": "number"}},
    ...     "required": ["price"], "additionalProperties": False}
    >>> validate({"price": "15.83"}, offer).answer, validate({"price": "15,83"}, offer).message
    ({'price': 15.83}, 'price: must be a number, is a string')
    >>> validate("{}", offer).missing_required
    ('price',)
    """
    validator = compile_schema(schema, "given")
    text = answer if isinstance(answer, str) else json.dumps(answer)
    read = read_answer(text, validator, coerce_numbers=coerce, extra=extra)
    if isinstance(read, Rejected):
        return Validation(read.findings)
    return Validation((), read.answer, read.coerced, read.dropped)
