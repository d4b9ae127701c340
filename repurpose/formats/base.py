"""What a format is: a task for a model, a shape, and what becomes of a valid answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from repurpose.checks.quality import EVERY_STRING, Prose
from repurpose.core.json_types import JsonObject
from repurpose.core.policy import RetryOverrides
from repurpose.core.record import Measures
from repurpose.core.voice import Voice
from repurpose.platforms import Platform
from repurpose.text.sentences import Segmenter

__all__ = ["Finish", "FinishContext", "Finished", "Format", "Piece"]


@dataclass(frozen=True, slots=True)
class FinishContext:
    """What post-validation may know beside the answer."""

    language: str | None = None
    """The language of the text: the one asked for, else the source's."""
    platforms: Mapping[str, Platform] = field(default_factory=dict)
    """The platforms to write for, by name, in the order wanted."""
    segmenter: Segmenter | None = None
    """What finds sentence ends; None for the default."""
    voice: Voice | None = None
    """Whose words are banned, whose names are spelled how, and what stands under each text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One text of a format, ready to publish; it becomes one row."""

    variant: str
    """`default`, or the platform's name."""
    text: str
    content: JsonObject
    measures: Measures


@dataclass(frozen=True, slots=True)
class Finished:
    """The content of a format after post-validation."""

    content: object
    """The typed result, such as `FaqContent`."""
    fields: JsonObject
    """The same as declared fields: what the envelope's data holds."""
    pieces: tuple[Piece, ...]
    notes: tuple[str, ...] = ()
    """What was changed, one line each, for an editor: `12 pairs, the first 10 kept`."""
    disclosed: bool = False
    """Whether the texts have the voice's disclaimer already; else it is put under each."""


Finish = Callable[[JsonObject, FinishContext], Finished]
"""From a valid answer to publishable content. Raises `UnusableOutput` where nothing is left."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of text we produce, whole: nothing else has to be known to run it."""

    name: str
    """Lower-case letters, digits and `-`; the key in rows, envelopes and file names."""
    label: str
    """What a person reads: `FAQ`, `Social posts`."""
    version: int
    """Raised when the same answer would give another content; part of the idempotency key."""
    task: str
    """What the model is asked for, as plain text with named places."""
    schema: JsonObject
    """The full schema of the answer, inside the strict subset."""
    declared: tuple[str, ...]
    """The fields of its envelope's data, in order."""
    finish: Finish
    prose: Prose = EVERY_STRING
    """Which fields of an answer people read, and how; those are checked for their quality."""
    retry: RetryOverrides = field(default=RetryOverrides())
    extra: Literal["reject", "drop"] = "reject"
    """What happens to undeclared keys of an answer."""
    output_tokens: int | None = None
    """The output budget of its calls in tokens; None leaves it to the server."""
    coerce: bool = True
    """Whether a numeric text may stand for a declared number, where nothing is lost by it."""
    structured: bool = True
    """Whether an answer has to be JSON of the schema. If not, the reply is the text, unchecked."""
    templated: bool = False
    """Whether `task` has the named places of `repurpose.core.template` and earlier results."""
    needs: tuple[str, ...] = ()
    """Earlier results that the task speaks of, as dot paths: `faq.pairs.0.question`."""
    rules: JsonObject = field(default_factory=dict)
    """What else decides what becomes of an answer; part of the idempotency key."""
