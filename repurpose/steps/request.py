"""From a source and a format to a call, and from a rejected answer to the call that repairs it.

What is always true here: nothing that comes from a source stands outside of a fenced block, but a
well-formed language code; and nothing of ours stands inside of one. Mostly the task stands in the
system prompt, and a user prompt is made of blocks and nothing else. Where calls for one source
shall begin alike, the task stands behind the blocks, which then come first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from repurpose.core.call import Call
from repurpose.core.finding import Finding
from repurpose.core.json_types import JsonObject
from repurpose.core.remembered import remembered
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.core.template import SOURCE_PLACES, places_in, render
from repurpose.errors import UnusableOutput
from repurpose.formats.base import Format
from repurpose.resources import prompt_text
from repurpose.schema.wire import wire_schema
from repurpose.text.boundary import (
    BOUNDARY_RULE,
    EARLIER_RULE,
    STYLE_RULE,
    defuse,
    earlier_name,
    earlier_reference,
    forged_spans,
    wrap,
    wrap_earlier_result,
    wrap_previous_answer,
    wrap_style_samples,
)
from repurpose.text.language import language_phrase

__all__ = [
    "first_call",
    "larger_call",
    "output_language",
    "repair_call",
    "shared_call",
    "with_earlier",
]

_SCHEMA_ELSEWHERE = "The JSON Schema is the one that your response is declared to have."
"""In place of the schema, where a server shows it to the model itself."""
_SCHEMA_IN_FIELD = "The JSON Schema is that of the field `{name}` of your declared response."
"""The same where one schema serves several formats."""
_ONE_FIELD = "Put that object into the field `{name}`, and set every other field to null."


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
    `schema_in_prompt` the prompt only names the schema, for a server that shows it itself. A
    format whose answers are not structured has no schema, and nothing is sent as one. Earlier
    results that the format needs are added by `with_earlier`.

    Raises:
        UnusableOutput: the task is blank, so there is nothing to ask for.
        UsageError: a prompt file is missing or names a place that nobody fills.
    """
    language = language_phrase(output_language(source, steering))
    task = _task(format, language, steering, earlier_reference)
    wire = _wire_of(format.schema) if format.structured else {}
    schema = "" if not wire else _compact(wire) if schema_in_prompt else _SCHEMA_ELSEWHERE
    address = source.url if format.templated and "url" in places_in(format.task) else None
    return Call(
        format=format.name,
        system=_system(task, language, steering.lines(), schema, _rules(format, steering)),
        user=_blocks(source, steering, address),
        schema=format.schema if format.structured else {},
        wire=wire,
        source=source,
        output_tokens=format.output_tokens if output_tokens is None else output_tokens,
    )


def shared_call(
    plain: Call,
    format: Format,
    steering: Steering,
    *,
    schema_in_prompt: bool = True,
    wire: JsonObject | None = None,
) -> Call | None:
    """The same first call, laid out so that all calls for its source begin with the same letters.

    The system prompt is the same for every format and source, the user prompt begins with the
    blocks, and the task has the last word. `wire` is the schema that several formats share, where
    they must. None for a task that would not stand well there: one that reads as if it held a tag
    of a block, or whose source is shown with another beginning than for other formats.

    Raises:
        UsageError: a prompt file is missing or names a place that nobody fills.
    """
    source = plain.source
    blocks = _blocks(source, steering, None)
    language = language_phrase(output_language(source, steering))
    schema = _schema_words(plain, schema_in_prompt, is_wrapped=wire is not None)
    task = _task(format, language, steering, earlier_name)
    asked = _task_part(task, language, steering.lines(), schema)
    if asked is None or plain.user != blocks:
        return None
    return replace(
        plain,
        system=_house_rules(STYLE_RULE if steering.samples else ""),
        user=f"{blocks}\n\n{asked}",
        wire=plain.wire if wire is None else wire,
        shared_until=len(blocks),
        task_from=len(blocks) + 2,
    )


def _schema_words(plain: Call, schema_in_prompt: bool, *, is_wrapped: bool) -> str:
    """What a task says of the schema; nothing where no schema is sent."""
    if not plain.wire:
        return ""
    if not is_wrapped:
        return _compact(plain.wire) if schema_in_prompt else _SCHEMA_ELSEWHERE
    name = plain.format
    shown = _compact(plain.wire) if schema_in_prompt else _SCHEMA_IN_FIELD.format(name=name)
    return f"{shown} {_ONE_FIELD.format(name=name)}"


def repair_call(
    first: Call,
    *,
    attempt: int,
    findings: Sequence[Finding],
    rejected: str,
    output_tokens: int | None,
) -> Call:
    """The call that asks for the whole answer again.

    The findings are ours and stand where the task stands, at its end. The rejected answer is
    derived from the source, so it goes to the user prompt, defused and cut, in a block of its own.
    Where calls begin alike, this one begins with the whole first one.
    """
    told = "\n".join(f"- {finding}" for finding in findings)
    correction = render(prompt_text("repair"), {"findings": told}, name="repair")
    user = f"{first.user}\n\n{wrap_previous_answer(rejected)}"
    system = first.system
    if first.task_from:
        user = f"{user}\n\n{defuse(correction).text}"
    else:
        system = f"{system}\n\n{correction}"
    return replace(first, system=system, user=user, attempt=attempt, output_tokens=output_tokens)


def larger_call(call: Call, *, attempt: int) -> Call | None:
    """The same call with twice the output budget, or None where the server sets the budget."""
    if call.output_tokens is None:
        return None
    return replace(call, attempt=attempt, output_tokens=2 * call.output_tokens)


def with_earlier(call: Call, results: Sequence[tuple[str, str]]) -> Call:
    """The call with earlier results by their dot paths, each in a block of its own.

    They were made from the source, so they go where the source goes, fenced and defused; a task
    that stands behind the blocks stays there.
    """
    blocks = [wrap_earlier_result(path, text) for path, text in results]
    if not call.task_from:
        return replace(call, user="\n\n".join([call.user, *blocks]))
    before, task = call.user[: call.task_from], call.user[call.task_from :]
    user = before + "\n\n".join([*blocks, task])
    return replace(call, user=user, task_from=len(user) - len(task))


def _task(
    format: Format, language: str, steering: Steering, reference: Callable[[str], str]
) -> str:
    """The task with its places filled: by the editor's wishes, else by words for where it stands.

    Nothing of the source is put in, nor of an earlier result, which `reference` speaks of, since
    that would make it a part of the instructions.
    """
    if not format.templated:
        return _not_blank(format.task.strip())
    places = {
        **SOURCE_PLACES,
        "language": language,
        "audience": " ".join((steering.audience or "").split()),
        "tone": " ".join((steering.tone or "").split()),
        **{path: reference(path) for path in format.needs},
    }
    return _not_blank(render(format.task, places, name=format.name))


def _not_blank(task: str) -> str:
    if not task:
        raise UnusableOutput("the prompt is empty")
    return task


def _rules(format: Format, steering: Steering) -> str:
    """What the blocks of the user prompt are, for those that it has."""
    earlier = EARLIER_RULE if format.needs else ""
    style = STYLE_RULE if steering.samples else ""
    return " ".join(rule for rule in (BOUNDARY_RULE, earlier, style) if rule)


@lru_cache(maxsize=4)  # a voice is the same for every format of a run
def _style(samples: tuple[str, ...]) -> tuple[str, ...]:
    """The block of samples, or none where there are none."""
    return (wrap_style_samples(samples),) if samples else ()


@lru_cache(maxsize=64)  # the same for every source of a language, and large enough to matter
def _system(task: str, language: str, steering: str, schema: str, boundary: str) -> str:
    """The system prompt; without a schema, it asks for the text itself."""
    places = {
        "task": task,
        "boundary": boundary,
        "language": language,
        "steering": steering,
    }
    if not schema:
        return render(prompt_text("system_plain"), places, name="system_plain")
    return render(prompt_text("system"), {**places, "schema": schema}, name="system")


@cache
def _house_rules(style_rule: str) -> str:
    """The system prompt of all calls that shall begin alike: the same for every format and text."""
    rules = " ".join(rule for rule in (BOUNDARY_RULE, EARLIER_RULE, style_rule) if rule)
    return render(prompt_text("shared"), {"boundary": rules}, name="shared")


@lru_cache(maxsize=64)  # see `_system`
def _task_part(task: str, language: str, steering: str, schema: str) -> str | None:
    """The end of a user prompt that begins with blocks; None where it reads as if it held a tag."""
    places = {"task": task, "language": language, "steering": steering}
    if schema:
        name, places = "shared_task", {**places, "schema": schema}
    else:
        name = "shared_text"
    asked = render(prompt_text(name), places, name=name)
    return None if forged_spans(asked) else asked


def _blocks(source: Source, steering: Steering, address: str | None) -> str:
    """The source's block, and that of the samples where there are any."""
    fenced = _fenced(source.text, source.title, source.author, source.date, address)
    return "\n\n".join([fenced, *_style(steering.samples)])


@lru_cache(maxsize=4)  # the formats of a source share its block, and are made one after another
def _fenced(
    text: str, title: str | None, author: str | None, date: str | None, address: str | None
) -> str:
    """The user prompt of a source."""
    named = (("Title", title), ("Author", author), ("Date", date), ("Address", address))
    return wrap(text, fields=[(name, value) for name, value in named if value])


_wire_of = remembered(wire_schema)


@remembered
def _compact(schema: JsonObject) -> str:
    """The schema as one line of JSON, in the order of its file."""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
