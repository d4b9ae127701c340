"""From a source and a format to a call, and from a rejected answer to the call that repairs it.

What is always true here: nothing that comes from a source stands in a system prompt, but a
well-formed language code; and a user prompt is made of fenced blocks and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from repurpose.core.call import Call
from repurpose.core.finding import Finding
from repurpose.core.json_types import JsonObject
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.core.template import render
from repurpose.errors import UnusableOutput
from repurpose.formats.base import Format
from repurpose.resources import prompt_text
from repurpose.schema.wire import wire_schema
from repurpose.text.boundary import BOUNDARY_RULE, wrap, wrap_previous_answer
from repurpose.text.language import language_phrase

__all__ = ["first_call", "larger_call", "output_language", "repair_call"]


def output_language(source: Source, steering: Steering) -> str | None:
    """The code of the language to write in: the editor's, else the source's, else None."""
    return steering.language or source.language


def first_call(
    format: Format, source: Source, steering: Steering, *, output_tokens: int | None = None
) -> Call:
    """The first call of a format: its rules, its schema, and the fenced source.

    `output_tokens` is the budget of the reply; None takes the format's own.

    Raises:
        UnusableOutput: the task is blank, so there is nothing to ask for.
        UsageError: a prompt file is missing or names a place that nobody fills.
    """
    if not format.task.strip():
        raise UnusableOutput("the prompt is empty")
    wire = wire_schema(format.schema)
    system = render(
        prompt_text("system"),
        {
            "task": format.task.strip(),
            "boundary": BOUNDARY_RULE,
            "language": language_phrase(output_language(source, steering)),
            "steering": steering.lines(),
            "schema": _compact(wire),
        },
        name="system",
    )
    named = (("Title", source.title), ("Author", source.author), ("Date", source.date))
    return Call(
        format=format.name,
        system=system,
        user=wrap(source.text, fields=[(name, value) for name, value in named if value]),
        schema=format.schema,
        wire=wire,
        source=source,
        output_tokens=format.output_tokens if output_tokens is None else output_tokens,
    )


def repair_call(
    first: Call,
    *,
    attempt: int,
    findings: Sequence[Finding],
    rejected: str,
    output_tokens: int | None,
) -> Call:
    """The call that asks for the whole answer again.

    The findings are ours and go to the system prompt. The rejected answer is derived from the
    source, so it goes to the user prompt, defused and cut, in a block of its own.
    """
    told = "\n".join(f"- {finding}" for finding in findings)
    correction = render(prompt_text("repair"), {"findings": told}, name="repair")
    return replace(
        first,
        system=f"{first.system}\n\n{correction}",
        user=f"{first.user}\n\n{wrap_previous_answer(rejected)}",
        attempt=attempt,
        output_tokens=output_tokens,
    )


def larger_call(call: Call, *, attempt: int) -> Call | None:
    """The same call with twice the output budget, or None where the server sets the budget."""
    if call.output_tokens is None:
        return None
    return replace(call, attempt=attempt, output_tokens=2 * call.output_tokens)


def _compact(schema: JsonObject) -> str:
    """The schema as one line of JSON, in the order of its file."""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
