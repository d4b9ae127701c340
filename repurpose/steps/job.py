"""One format of one source, made ready: everything that can be refused has been checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from repurpose.core.call import Call
from repurpose.core.envelope import Envelope
from repurpose.core.json_types import JsonObject
from repurpose.core.outputs import resolve
from repurpose.core.paths import MISSING
from repurpose.core.policy import RetryPolicy
from repurpose.core.remembered import remembered
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.errors import FormatError, UnusableOutput
from repurpose.formats.base import FinishContext, Format
from repurpose.schema.validate import Validator, compile_schema
from repurpose.steps.request import first_call, output_language, with_earlier

__all__ = ["Job", "prepare", "with_results"]


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
    basis: str = ""
    """What a reader is told it was made from, where that is not the source itself."""
    refused: FormatError | None = None
    """Why no call may be made; the format fails with it, and its siblings go on."""
    plain: Call | None = None
    """The first call as it would be without its siblings, where `first` is laid out otherwise: a
    result is known by it, so that it is found again whatever else was asked for beside it."""
    steering: Steering = field(default=Steering())
    schema_in_prompt: bool = True

    @property
    def known_by(self) -> Call:
        """The call by which an equal result is found."""
        return self.first if self.plain is None else self.plain


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
    """A job for `format`, checked before any call; one with a blank prompt is a refused one.

    Raises:
        SchemaError: the format's schema is outside the subset.
        UsageError: a prompt cannot be rendered.
    """

    def made(asked: Format) -> Call:
        return first_call(
            asked,
            source,
            steering,
            output_tokens=output_tokens,
            schema_in_prompt=schema_in_prompt,
        )

    refused: FormatError | None = None
    try:
        first = made(format)
    except UnusableOutput as error:
        refused, first = error, made(replace(format, task=_NO_TASK, templated=False))
    return Job(
        format=format,
        first=first,
        validator=_validator_of(format),
        policy=policy,
        context=replace(context, language=output_language(source, steering)),
        finishing={**finishing, "format": format.rules} if format.rules else finishing,
        refused=refused,
        steering=steering,
        schema_in_prompt=schema_in_prompt,
    )


def with_results(job: Job, outputs: Mapping[str, Envelope]) -> Job:
    """The job with the results of other formats that it needs, each in a block of its call.

    Where one of those formats failed, or has nothing at the path, it is a refused job.
    """
    found: list[tuple[str, str]] = []
    for path in job.format.needs:
        name = path.partition(".")[0]
        if name not in outputs or outputs[name].status != 200:
            return replace(job, refused=FormatError(f"needs {name}, which failed"))
        value = resolve(outputs, path)
        if value is MISSING or value is None:
            return replace(job, refused=FormatError(f"needs {path}, which is not in the result"))
        found.append((path, value if isinstance(value, str) else _in_json(value)))
    if not found:
        return job
    plain = None if job.plain is None else with_earlier(job.plain, found)
    return replace(job, first=with_earlier(job.first, found), plain=plain)


def _in_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


_NO_TASK = "-"
"""Stands where a task would in a call that is never made."""


@remembered
def _validator_of(format: Format) -> Validator:
    """The judge of a format's answers."""
    return compile_schema(format.schema, format.name)
