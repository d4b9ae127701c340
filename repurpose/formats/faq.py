"""The FAQ: pairs of a question that a reader would ask and an answer from the source."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from repurpose.checks import MAX_PAIRS, capped
from repurpose.checks.quality import Prose
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.errors import UnusableOutput
from repurpose.formats._finishing import (
    capped_note,
    dropped_note,
    finished_text,
    line_at,
    list_at,
    schema_object,
    text_at,
)
from repurpose.formats.base import FinishContext, Finished, Format
from repurpose.resources import prompt_text
from repurpose.text.sentences import primary_language

__all__ = ["FaqAnswer", "FaqContent", "Pair", "PairAnswer", "build", "faq_json_ld"]

_LABELS: Mapping[str, tuple[str, str]] = {
    "ar": ("س:", "ج:"),
    "da": ("Spørgsmål:", "Svar:"),  # both begin with S
    "de": ("F:", "A:"),
    "es": ("P:", "R:"),
    "fi": ("K:", "V:"),
    "fr": ("Q :", "R :"),  # French sets a space before a colon
    "it": ("D:", "R:"),
    "ja": ("Q:", "A:"),
    "ko": ("질문:", "답변:"),
    "nb": ("Spørsmål:", "Svar:"),
    "nl": ("V:", "A:"),
    "no": ("Spørsmål:", "Svar:"),
    "pl": ("P:", "O:"),
    "pt": ("P:", "R:"),
    "ru": ("В:", "О:"),
    "sv": ("F:", "S:"),
    "tr": ("S:", "C:"),
    "zh": ("问：", "答："),
}
"""What stands before question and answer; `Q:` and `A:` in every other language."""

_UNSAFE_IN_HTML = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class PairAnswer(BaseModel):
    """One pair of a valid answer."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    question: str
    answer: str


class FaqAnswer(BaseModel):
    """A valid answer, with typed access; accepts what `schemas/faq.schema.json` does."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    pairs: list[PairAnswer]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its answer, neither of them blank."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class FaqContent:
    """A FAQ that can be published: 1 to 10 complete pairs."""

    pairs: tuple[Pair, ...]


def build() -> Format:
    """The FAQ format.

    Raises:
        UsageError: its prompt or schema file is missing.
    """
    return Format(
        name="faq",
        label="FAQ",
        version=1,
        task=prompt_text("faq"),
        schema=schema_object("faq"),
        declared=("pairs",),
        finish=_finish,
        prose=Prose(texts=("pairs.*.answer",), lines=("pairs.*.question",), most=MAX_PAIRS),
    )


def faq_json_ld(pairs: Sequence[Pair], language: str | None) -> str:
    """The pairs as schema.org `FAQPage`, safe inside a `script` element.

    No character that could end the element stands in it, and it decodes to the texts as they
    were. Source: schema.org/FAQPage; html.spec.whatwg.org, restrictions for script elements.

    >>> faq_json_ld([Pair("Is 1 < 2?", "Yes.")], "en").count("<")
    0
    """
    page: dict[str, JsonValue] = {"@context": "https://schema.org", "@type": "FAQPage"}
    if language:
        page["inLanguage"] = language
    page["mainEntity"] = [
        {
            "@type": "Question",
            "name": pair.question,
            "acceptedAnswer": {"@type": "Answer", "text": pair.answer},
        }
        for pair in pairs
    ]
    return json.dumps(page, ensure_ascii=False, indent=2).translate(_UNSAFE_IN_HTML)


def _finish(answer: JsonObject, context: FinishContext) -> Finished:
    """At most 10 pairs, each with a question and an answer."""
    given = list_at(answer, "pairs")
    read = [Pair(line_at(entry, "question"), text_at(entry, "answer")) for entry in given]
    complete = [pair for pair in read if pair.question and pair.answer]
    if not complete:
        raise UnusableOutput("the answer has no complete pair")
    kept = capped(complete, MAX_PAIRS)
    notes = dropped_note(len(given) - len(complete), "incomplete", "pair")
    notes += capped_note(len(complete), len(kept), "pair")
    fields: JsonObject = {
        "pairs": [{"question": pair.question, "answer": pair.answer} for pair in kept]
    }
    return finished_text(FaqContent(kept), fields, _plain(kept, context.language), notes)


def _plain(pairs: Sequence[Pair], language: str | None) -> str:
    """The pairs as plain text, labelled in the language of the text."""
    asks, answers = _LABELS.get(primary_language(language), ("Q:", "A:"))
    return "\n\n".join(f"{asks} {pair.question}\n{answers} {pair.answer}" for pair in pairs)
