"""Whether a source fits into a model's context, and what it takes where it does not.

All sizes are estimates in tokens. What decides whether a call is made keeps the estimate's error in
hand; what is only told does not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from repurpose.core.call import Call
from repurpose.core.policy import RetryPolicy
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.formats.base import FinishContext, Format
from repurpose.steps.briefs import BRIEF, MOST_POINTS, Point, brief_format, composed
from repurpose.steps.job import Job, prepare
from repurpose.steps.parts import Part
from repurpose.text.tokens import IN_HAND, token_weight

__all__ = ["Briefing", "Foreseen", "Window", "foreseen"]

_LEAST_REPLY = 1_024
"""Half as much again as the longest answer of a built-in format."""
_MOST_REPLY = 16_384
"""Twice what a full brief takes; the rest is for reasoning, and for what servers set by default."""
_REPLY_SHARE = 8
_BRIEF_SHARE = 4
"""The part of a context kept free for a reply; notes on a text grow with it."""
_LONGEST_PART = 100_000
"""Of a longer part, the points that one reply holds would tell too little."""
_FRAME = 16
"""What servers put around two messages."""

_TOKENS_A_POINT = 90
_TOKENS_FOR_A_POINT = 400
"""Of the text, as the prompt asks for it: 300 words."""
_WIRE = 1.4  # a reply in JSON, in terms of the text that is composed from it
_TOKENS_AN_ANSWER = 700
_MERGED = 3  # how many points become one, as the prompt asks for it


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a source fits into a call to one model."""

    tokens: int
    """Prompt and reply together."""
    largest_reply: int | None = None
    """What the model may answer at most; None where that is not known."""
    schema_in_prompt: bool = True
    """Whether the prompt holds the schema; else the server adds it."""

    def fits(self, call: Call, factor: float = 1.0) -> bool:
        """Whether the call has room for its prompt, were it longer than estimated, and a reply."""
        return self.spare(call, factor) >= _weight(call.source.text)

    def spare(self, call: Call, factor: float = 1.0) -> int:
        """The tokens of source text that such a call has room for; below 0 where there is none.

        `factor` is the model's own, from `corrected_factor`; the result is in estimated tokens,
        without it.
        """
        left = (self.tokens - self._reply(call)) / (IN_HAND * factor)
        spare = math.floor(left - self.overhead(call))
        return min(spare, _LONGEST_PART) if call.format == BRIEF else spare

    def overhead(self, call: Call) -> float:
        """The tokens of a call beside its source's text: rules, schema, fence, title."""
        return self.prompt(call) - _weight(call.source.text)

    def prompt(self, call: Call) -> float:
        """The tokens of all that a call sends."""
        blocks, task = call.user, ""
        if call.task_from:  # what the formats share is weighed once
            blocks, task = call.user[: call.shared_until], call.user[call.shared_until :]
        sent = token_weight(call.system) + _weight(blocks) + token_weight(task) + _FRAME
        return sent if self.schema_in_prompt else sent + token_weight(json.dumps(call.wire))

    def _reply(self, call: Call) -> int:
        """What is kept free for the reply."""
        if call.output_tokens is not None:
            return call.output_tokens
        share = _BRIEF_SHARE if call.format == BRIEF else _REPLY_SHARE
        wanted = min(max(_LEAST_REPLY, self.tokens // share), self.tokens // 4, _MOST_REPLY)
        return min(wanted, self.largest_reply or wanted)


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a long source is read with."""

    source: Source
    window: Window
    formats: Callable[[Source], Sequence[Job]]
    """From a source to the jobs of the run's formats."""
    policy: RetryPolicy
    """How often each part may be asked for again."""
    finish: FinishContext
    output_tokens: int | None = None
    """The budget of a reply; None leaves it to the server."""

    def room(self, factor: float = 1.0) -> int:
        """The tokens that a part may have, where the model counts `factor` for each of ours."""
        return self.window.spare(self.part_job(Part(0, 0, ""), "").first, factor)

    def part_job(self, part: Part, label: str) -> Job:
        """What asks for the points of a part."""
        return self._job(
            brief_format("brief", self.source, part.start, part.end, label=label), part.text
        )

    def merge_job(self, points: Sequence[Point], label: str) -> Job:
        """What asks for fewer points than these."""
        start = min(point.place.start for point in points)
        end = max(point.place.end for point in points)
        text = composed(self.source, points).text
        # The model is asked for a third; that it is at most half does not depend on the model.
        format = brief_format(
            "merge", self.source, start, end, label=label, most=(len(points) + 1) // 2
        )
        return self._job(format, text)

    def _job(self, format: Format, text: str) -> Job:
        # The editor's wishes are for the formats; so one brief serves all languages and readers.
        read = replace(self.source, text=text, blocks=(), url=None, hidden=0, warnings=())
        return prepare(
            format,
            read,
            Steering(),
            policy=self.policy,
            context=self.finish,
            finishing={},
            output_tokens=self.output_tokens,
            schema_in_prompt=self.window.schema_in_prompt,
        )


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a run from a brief will take, if no answer has to be asked for again."""

    calls: int
    tokens: int
    """Prompts and replies together."""


def foreseen(
    window: Window, parts: Sequence[Call], known: int, formats: Sequence[Call]
) -> Foreseen:
    """The calls and tokens for `parts`, of which `known` were read before, and then the formats.

    The calls of `formats` are those for the whole source; they will hold the brief in its place.
    """
    if not parts or not formats:
        return Foreseen(0, 0)
    notes = [_notes(token_weight(part.source.text)) for part in parts]
    prompts = [window.prompt(part) for part in parts]
    share = 1 - known / len(parts)
    calls = len(parts) - known
    tokens = share * (sum(prompts) + _WIRE * sum(notes))
    brief = sum(notes)
    room = min(window.spare(call) for call in formats)
    group = max(window.spare(parts[0]), 1)
    while brief > room > 0:
        groups = math.ceil(brief / group)
        calls += groups
        tokens += brief + groups * window.overhead(parts[0]) + _WIRE * brief / _MERGED
        brief /= _MERGED
    for call in formats:
        calls += 1
        tokens += window.overhead(call) + brief + _TOKENS_AN_ANSWER
    return Foreseen(calls, round(tokens))


# The formats of a source share its text and its fence, which may be megabytes.
_weight = lru_cache(maxsize=4)(token_weight)


def _notes(tokens: float) -> float:
    """What the notes on so much text come to, as the text that formats are given."""
    return _TOKENS_A_POINT * min(MOST_POINTS, math.ceil(tokens / _TOKENS_FOR_A_POINT))
