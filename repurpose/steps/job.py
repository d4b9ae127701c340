"""One format of one source, made ready: everything that can be refused has been checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repurpose.core.call import Call
from repurpose.core.json_types import JsonObject
from repurpose.core.policy import RetryPolicy
from repurpose.core.remembered import remembered
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.formats.base import FinishContext, Format
from repurpose.schema.validate import Validator, compile_schema
from repurpose.steps.request import first_call, output_language

__all__ = ["Job", "prepare"]


@dataclass(frozen=True, slots=True)
class Job:
    """One format of one source, made ready: everything that can be refused has been checked."""

    format: Format
    first: Call
    validator: Validator
    policy: RetryPolicy
    context: FinishContext
    finishing: JsonObject
    """What post-validation depends on, for the idempotency key."""


def prepare(
    format: Format,
    source: Source,
    steering: Steering,
    *,
    policy: RetryPolicy,
    context: FinishContext,
    finishing: JsonObject,
    output_tokens: int | None = None,
    schema_in_prompt: bool = True,
) -> Job:
    """A job for `format`, checked before any call.

    Raises:
        SchemaError: the format's schema is outside the subset.
        UsageError: a prompt cannot be rendered.
    """
    return Job(
        format=format,
        first=first_call(
            format,
            source,
            steering,
            output_tokens=output_tokens,
            schema_in_prompt=schema_in_prompt,
        ),
        validator=_validator_of(format),
        policy=policy,
        context=replace(context, language=output_language(source, steering)),
        finishing=finishing,
    )


@remembered
def _validator_of(format: Format) -> Validator:
    """The judge of a format's answers."""
    return compile_schema(format.schema, format.name)
