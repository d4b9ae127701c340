"""A call, its reply, and what the reply cost: the values between a format and an engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from repurpose.core.json_types import JsonObject
from repurpose.core.source import Source

__all__ = ["Call", "Finish", "Quote", "Reply", "Usage"]

Finish = Literal["stop", "length", "refusal", "content_filter"]


@dataclass(frozen=True, slots=True)
class Call:
    """One request to an engine: two prompts and the shape that the answer must have."""

    format: str
    """The format's name, such as `faq`; a model is told it as the schema's name."""
    system: str
    """Our rules and the editor's wishes; holds nothing that comes from the source."""
    user: str
    """Introduced, fenced blocks, and from `task_from` on, where that is set, what is asked for."""
    schema: JsonObject
    """The full schema, which the answer is validated against; empty where it is plain text."""
    wire: JsonObject
    """What a provider is sent: the full schema without the keywords that providers refuse.

    Empty where the answer is plain text: then nothing is asked for in JSON. One schema for all
    formats of a source, where a server counts the schema to the beginning of a prompt.
    """
    source: Source
    """What the user prompt was made from, for engines that read it themselves."""
    attempt: int = 1
    """1 for the first call of a format, 2 for its first repair."""
    output_tokens: int | None = None
    """The most tokens the reply may have; None leaves it to the server."""
    shared_until: int = 0
    """Where in `user` ends what all calls for the source begin with, so that a server's cache
    finds it again; 0 where they do not begin alike."""
    task_from: int = 0
    """Where in `user` the task begins, behind blocks; 0 where it stands in `system`."""

    @property
    def instructions(self) -> str:
        """Our words and the editor's, wherever they stand: all of a first call that is no data."""
        return f"{self.system}\n\n{self.user[self.task_from :]}" if self.task_from else self.system

    @property
    def caller(self) -> str:
        """Who is calling, for attribution at a provider: `repurpose.faq`."""
        return f"repurpose.{self.format}"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply reported about its size, in tokens; None where it reported nothing."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    """The part of the prompt that came from the provider's prefix cache."""
    reasoning_tokens: int | None = None
    """The part of the completion that was reasoning and is not in the text."""
    cache_write_tokens: int | None = None
    """The part of the prompt that was written to the provider's prefix cache."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Where in the source a passage stands, word for word.

    `text` is the passage without markup; `Source.text[start:end]` is the same with it.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What an engine answered, before anything was checked."""

    text: str
    finish: Finish = "stop"
    refusal: str | None = None
    """The model's own words of refusal; kept with the call, never shown as a result."""
    reasoning: str | None = None
    """Reasoning that came in a field of its own. Intake reads it only where `text` is empty."""
    usage: Usage = field(default=Usage())
    model: str | None = None
    """The model that answered, as the server names it."""
    request_id: str | None = None
    requests: int = 1
    """How many times it was sent: 1, and one more for each lost connection or rate limit."""
    quotes: tuple[Quote, ...] = ()
    """The passages that the answer took from the source, where the engine knows them."""
