"""The newsletter: subject, preheader, a few paragraphs, and exactly one call to action."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from repurpose.checks import non_blank
from repurpose.checks.quality import Prose
from repurpose.core.json_types import JsonObject
from repurpose.errors import UnusableOutput
from repurpose.formats._finishing import (
    dropped_note,
    finished_text,
    line_at,
    list_at,
    schema_object,
)
from repurpose.formats.base import FinishContext, Finished, Format
from repurpose.resources import prompt_text

__all__ = ["NewsletterAnswer", "NewsletterContent", "build"]


class NewsletterAnswer(BaseModel):
    """A valid answer, with typed access; accepts what `schemas/newsletter.schema.json` does."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    subject: str
    preheader: str
    paragraphs: list[str]
    call_to_action: str = Field(alias="callToAction")


@dataclass(frozen=True, slots=True)
class NewsletterContent:
    """A newsletter that can be sent; nothing of it is blank."""

    subject: str
    preheader: str
    paragraphs: tuple[str, ...]
    call_to_action: str


def build() -> Format:
    """The newsletter format.

    Raises:
        UsageError: its prompt or schema file is missing.
    """
    return Format(
        name="newsletter",
        label="Newsletter",
        version=1,
        task=prompt_text("newsletter"),
        schema=schema_object("newsletter"),
        declared=("subject", "preheader", "paragraphs", "callToAction"),
        finish=_finish,
        prose=Prose(texts=("paragraphs.*", "callToAction"), lines=("subject", "preheader")),
    )


def _finish(answer: JsonObject, _: FinishContext) -> Finished:
    """All four parts, with blank paragraphs dropped."""
    given = list_at(answer, "paragraphs")
    content = NewsletterContent(
        subject=line_at(answer, "subject"),
        preheader=line_at(answer, "preheader"),
        paragraphs=non_blank(text for text in given if isinstance(text, str)),
        call_to_action=line_at(answer, "callToAction"),
    )
    fields: JsonObject = {
        "subject": content.subject,
        "preheader": content.preheader,
        "paragraphs": list(content.paragraphs),
        "callToAction": content.call_to_action,
    }
    lacking = [name for name, part in fields.items() if not part]
    if lacking:
        raise UnusableOutput(f"the answer lacks {', '.join(lacking)}")
    notes = dropped_note(len(given) - len(content.paragraphs), "blank", "paragraph")
    return finished_text(content, fields, _plain(content), notes)


def _plain(content: NewsletterContent) -> str:
    """The newsletter as plain text.

    Subject and preheader keep these names in every language, as fields of an e-mail do; they
    are for whoever sends it and are not part of what is read.
    """
    head = f"Subject: {content.subject}\nPreheader: {content.preheader}"
    return "\n\n".join((head, *content.paragraphs, content.call_to_action))
