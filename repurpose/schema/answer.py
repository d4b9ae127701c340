"""From a reply's text to a valid answer, or to the findings that say why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from repurpose.core.finding import Finding, Validation
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.schema.coerce import Coerced, Dropped, coerce, drop_undeclared, without_null_options
from repurpose.schema.intake import IntakeError, take_in
from repurpose.schema.union import inner_answer
from repurpose.schema.validate import Validator

__all__ = ["Accepted", "Answer", "Rejected", "read_answer"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A valid answer, and what was done to get it."""

    answer: JsonObject
    coerced: tuple[str, ...] = ()
    """The dot paths of numeric texts that became numbers."""
    dropped: tuple[str, ...] = ()
    """The dot paths of undeclared keys that were left out."""
    notes: tuple[str, ...] = ()
    """What was passed over around the JSON, one line each."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a reply is no valid answer."""

    findings: tuple[Finding, ...]
    """At least one, ten at most, and one that counts the rest."""

    @property
    def message(self) -> str:
        """The findings in one line."""
        return Validation(self.findings).message

    @property
    def missing_required(self) -> tuple[str, ...]:
        """The dot paths of required fields that are absent or null."""
        return Validation(self.findings).missing_required

    @property
    def type_mismatched(self) -> tuple[str, ...]:
        """The dot paths of values of another type than declared."""
        return Validation(self.findings).type_mismatched


Answer: TypeAlias = Accepted | Rejected


def read_answer(
    reply_text: str,
    validator: Validator,
    *,
    reasoning: str | None = None,
    coerce_numbers: bool = True,
    extra: Literal["reject", "drop"] = "reject",
    within: str | None = None,
) -> Answer:
    """The valid answer that a reply holds, or what is wrong with it.

    Taken in, then coerced, then freed of undeclared keys where `extra` is `drop`, then
    validated. A function of its arguments alone: the same reply gives the same result, always.
    Never raises, whatever the reply.

    `reasoning` is looked at only where the reply is blank. `within` names the field that holds the
    answer, where the reply is of a schema that several formats share.
    """

    def prepared(value: JsonValue) -> tuple[Coerced, Dropped]:
        if within is not None:
            value = inner_answer(value, within)
        if validator.has_options:
            value = without_null_options(value, validator.schema)
        converts = coerce_numbers and validator.has_numbers
        coerced = coerce(value, validator.schema) if converts else Coerced(value)
        if extra == "reject":
            return coerced, Dropped(coerced.answer)
        return coerced, drop_undeclared(coerced.answer, validator.schema)

    def validates(value: JsonValue) -> bool:
        return validator.accepts(prepared(value)[1].answer)

    try:
        taken = take_in(reply_text, validates=validates, reasoning=reasoning)
    except IntakeError as error:
        return Rejected((error.finding,))
    coerced, dropped = prepared(taken.value)
    answer = dropped.answer
    findings = validator.findings(answer)
    if findings or not isinstance(answer, dict):
        return Rejected(tuple(findings))
    return Accepted(answer, coerced.coerced, dropped.dropped, taken.notes)
