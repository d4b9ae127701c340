"""The executive summary: a list of sentences that a reader can act on."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from repurpose.checks import MAX_SENTENCES, capped, one_line
from repurpose.checks.quality import Prose
from repurpose.core.json_types import JsonObject
from repurpose.errors import UnusableOutput
from repurpose.formats._finishing import (
    capped_note,
    dropped_note,
    finished_text,
    list_at,
    schema_object,
)
from repurpose.formats.base import FinishContext, Finished, Format
from repurpose.resources import prompt_text
from repurpose.text.sentences import primary_language

__all__ = ["SummaryAnswer", "SummaryContent", "build"]

_UNSPACED = frozenset({"ja", "yue", "zh"})
"""Languages that put no space between sentences."""


class SummaryAnswer(BaseModel):
    """A valid answer, with typed access; accepts what `schemas/summary.schema.json` does."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    sentences: list[str]


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """A summary that can be published: 1 to 8 sentences."""

    sentences: tuple[str, ...]


def build() -> Format:
    """The summary format.

    Raises:
        UsageError: its prompt or schema file is missing.
    """
    return Format(
        name="summary",
        label="Summary",
        version=1,
        task=prompt_text("summary"),
        schema=schema_object("summary"),
        declared=("sentences",),
        finish=_finish,
        prose=Prose(texts=("sentences.*",), most=MAX_SENTENCES),
    )


def _finish(answer: JsonObject, context: FinishContext) -> Finished:
    """At most 8 sentences, each with something to read."""
    given = list_at(answer, "sentences")
    lines = [one_line(sentence) for sentence in given if isinstance(sentence, str)]
    readable = [line for line in lines if line]
    if not readable:
        raise UnusableOutput("the answer has no sentence")
    kept = capped(readable, MAX_SENTENCES)
    notes = dropped_note(len(given) - len(readable), "blank", "sentence")
    notes += capped_note(len(readable), len(kept), "sentence")
    between = "" if primary_language(context.language) in _UNSPACED else " "
    return finished_text(SummaryContent(kept), {"sentences": list(kept)}, between.join(kept), notes)
