"""The two calls that show what a model server does with a schema, and what their replies mean.

The first asks, under a binding schema that does not stand in the prompt, for an object that the
schema forbids: whoever answers by the schema is held to it. A word that stands only in the schema
shows whether the model saw it. The second has the schema in its prompt and asks for words before
the JSON: whoever leaves them out is held to JSON. Everything here is a function of its arguments.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from repurpose.core.call import Call, Reply
from repurpose.core.json_types import JsonObject
from repurpose.core.source import Source
from repurpose.schema.answer import Accepted, read_answer
from repurpose.schema.intake import IntakeError, decode
from repurpose.schema.validate import compile_schema

__all__ = ["MOST_TOKENS", "Shown", "contrary_call", "prompted_call", "shown_by"]

MOST_TOKENS = 200
"""What a reply may cost; the answers that are asked for need a tenth of it."""

_WORD = "tangerine"
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "fruit": {"type": "string", "enum": ["medlar", "quince"]},
        "word": {"type": "string", "description": f"always the one word {_WORD}"},
    },
    "required": ["fruit", "word"],
    "additionalProperties": False,
}
_VALIDATOR = compile_schema(_SCHEMA, "probe")
_BY_SCHEMA = re.compile(r'\s*\{\s*"(?:fruit|word)"\s*:')
"""How a reply begins that is held to the schema, also where it was cut."""
_ONLY_REASONING = frozenset({"reasoning block removed"})

Kept = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What one reply shows about its server."""

    schema_kept: Kept
    """Whether the reply keeps to the schema; unknown where it ended too soon or was refused."""
    only_json: bool
    """Whether it is one JSON object with nothing before or after it."""
    word_known: bool
    """Whether it holds the word that stands in the schema alone."""
    cut: bool
    """Whether it ended at the limit of tokens."""


def contrary_call() -> Call:
    """A call whose prompt asks for what its schema forbids, and does not hold the schema."""
    return _call(
        "You do exactly as you are told.",
        'Answer with this JSON object and nothing else: {"colour": "red"}',
    )


def prompted_call() -> Call:
    """A call whose prompt holds the schema and asks for words before the JSON."""
    return _call(
        "You do exactly as you are told. You answer with the words Here it is: and after them"
        " one JSON object that matches this JSON Schema:\n\n" + json.dumps(_SCHEMA),
        "Begin.",
    )


def shown_by(reply: Reply) -> Shown:
    """What `reply`, to one of the two calls, shows; never raises, whatever the reply."""
    cut = reply.finish == "length"
    answer = read_answer(reply.text, _VALIDATOR, reasoning=reply.reasoning)
    if isinstance(answer, Accepted):
        return Shown(
            schema_kept="yes",
            only_json=set(answer.notes) <= _ONLY_REASONING,
            word_known=str(answer.answer["word"]).strip(" .").lower() == _WORD,
            cut=cut,
        )
    if cut and _BY_SCHEMA.match(reply.text):
        return Shown("yes", only_json=True, word_known=_WORD in reply.text, cut=cut)
    told = bool(reply.text.strip()) and not cut and reply.finish == "stop"
    return Shown(
        schema_kept="no" if told else "unknown",
        only_json=_is_object(reply.text),
        word_known=False,
        cut=cut,
    )


def _call(system: str, user: str) -> Call:
    return Call(
        format="probe",
        system=system,
        user=user,
        schema=_SCHEMA,
        wire=_SCHEMA,
        source=Source(text=user, origin="probe", kind="text"),
        output_tokens=MOST_TOKENS,
    )


def _is_object(text: str) -> bool:
    try:
        return isinstance(decode(text), dict)
    except IntakeError:
        return False
