"""From a source and a format to a call, and from a rejected answer to the call that repairs it.

What is always true here: nothing that comes from a source stands in a system prompt, but a
well-formed language code; and a user prompt is made of fenced blocks and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from repurpose.core.call import Call
from repurpose.core.finding import Finding
from repurpose.core.json_types import JsonObject
from repurpose.core.remembered import remembered
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

_SCHEMA_ELSEWHERE = "The JSON Schema is the one that your response is declared to have."
"""In place of the schema, where a server shows it to the model itself."""


def output_language(source: Source, steering: Steering) -> str | None:
    """The code of the language to write in: the editor's, else the source's, else None."""
    return steering.language or source.language


def first_call(
    format: Format,
    source: Source,
    steering: Steering,
    *,
    output_tokens: int | None = None,
    schema_in_prompt: bool = True,
) -> Call:
    """The first call of a format: its rules, its schema, and the fenced source.

    `output_tokens` is the budget of the reply; None takes the format's own. Without
    `schema_in_prompt` the prompt only names the schema, for a server that shows it itself.

    Raises:
        UnusableOutput: the task is blank, so there is nothing to ask for.
        UsageError: a prompt file is missing or names a place that nobody fills.
    """
    if not format.task.strip():
        raise UnusableOutput("the prompt is empty")
    wire = _wire_of(format.schema)
    return Call(
        format=format.name,
        system=_system(
            format.task.strip(),
            language_phrase(output_language(source, steering)),
            steering.lines(),
            _compact(wire) if schema_in_prompt else _SCHEMA_ELSEWHERE,
        ),
        user=_fenced(source.text, source.title, source.author, source.date),
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


@lru_cache(maxsize=64)  # the same for every source of a language, and large enough to matter
def _system(task: str, language: str, steering: str, schema: str) -> str:
    """The system prompt."""
    places = {
        "task": task,
        "boundary": BOUNDARY_RULE,
        "language": language,
        "steering": steering,
        "schema": schema,
    }
    return render(prompt_text("system"), places, name="system")


@lru_cache(maxsize=4)  # the formats of a source share its block, and are made one after another
def _fenced(text: str, title: str | None, author: str | None, date: str | None) -> str:
    """The user prompt of a source."""
    named = (("Title", title), ("Author", author), ("Date", date))
    return wrap(text, fields=[(name, value) for name, value in named if value])


_wire_of = remembered(wire_schema)


@remembered
def _compact(schema: JsonObject) -> str:
    """The schema as one line of JSON, in the order of its file."""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
