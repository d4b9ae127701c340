"""The loop around one format: ask, look, and at most a few times ask again with what was wrong.

Pure and synchronous: a generator that yields calls and is sent replies. The shell around it
does the waiting, so the same loop serves every engine, and a test needs no event loop.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from repurpose.checks.quality import Assignment, Review, review
from repurpose.core.call import Call, Quote, Reply
from repurpose.core.finding import Finding
from repurpose.core.policy import RetryPolicy
from repurpose.errors import CutShort, FormatError, InvalidAnswer, Refused, UnusableOutput
from repurpose.formats.base import FinishContext, Finished, Format
from repurpose.schema.answer import Accepted, Answer, Rejected, read_answer
from repurpose.schema.intake import said
from repurpose.schema.union import is_shared
from repurpose.schema.validate import Validator
from repurpose.steps.request import larger_call, repair_call
from repurpose.steps.voicing import disclosed, voiced
from repurpose.text.boundary import INTRODUCTIONS

__all__ = ["Conversation", "Settled", "converse", "read_reply"]

_FINDINGS_SHOWN = 3
"""How many findings a row's message names; the repair prompt and the calls hold the others."""


@dataclass(frozen=True, slots=True)
class Settled:
    """How a format ended: with content or with an error, never with both."""

    attempts: int
    """Replies that were looked at; equals the calls made."""
    finished: Finished | None = None
    error: FormatError | None = None
    coerced: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What was wrong with the last answer, where that is why it ended."""


Conversation = Generator[Call, Reply, Settled]
"""Yields the next call, is sent its reply, and returns how it ended."""


def converse(
    format: Format,
    first: Call,
    validator: Validator,
    policy: RetryPolicy,
    context: FinishContext,
) -> Conversation:
    """Ask for `format` until an answer is valid and usable, or until `policy` says stop.

    Yields at most `policy.max_attempts` calls. A refusal is final. A reply cut at the token
    limit is asked for again only where the output budget can be raised. Connection faults are
    the engine's and are never seen here.
    """
    loop = _Loop(format, first, validator, policy, context)
    turn: Call | Settled = first
    while isinstance(turn, Call):
        reply = yield turn
        turn = loop.after(turn, reply)
    return turn


@dataclass(frozen=True, slots=True)
class _Loop:
    """Everything that decides what follows a reply."""

    format: Format
    first: Call
    validator: Validator
    policy: RetryPolicy
    context: FinishContext

    def after(self, call: Call, reply: Reply) -> Call | Settled:
        """The next call, or the end."""
        match reply.finish:
            case "refusal":
                return Settled(call.attempt, error=Refused("the model refused to answer"))
            case "content_filter":
                return Settled(
                    call.attempt, error=Refused("the provider's content filter stopped the answer")
                )
            case "length":
                return self._after_cut(call)
            case "stop":
                return self._after_answer(call, reply)

    def _after_cut(self, call: Call) -> Call | Settled:
        larger = larger_call(call, attempt=call.attempt + 1) if self._may_follow(call) else None
        if larger is not None:
            return larger
        spoken = "" if call.output_tokens is None else f" of {call.output_tokens} tokens"
        error = CutShort(
            f"the reply was cut at the output limit{spoken}",
            hint="raise --max-output-tokens, or use a model with a larger output limit",
        )
        return Settled(call.attempt, error=error)

    def _after_answer(self, call: Call, reply: Reply) -> Call | Settled:
        read = read_reply(self.format, self.validator, reply, call)
        match read:
            case Rejected(findings):
                invalid = InvalidAnswer(_told(findings))
                return self._again_or(invalid, findings, call, reply)
            case Accepted():
                return self._after_valid(read, call, reply)

    def _after_valid(self, read: Accepted, call: Call, reply: Reply) -> Call | Settled:
        said = voiced(
            read.answer,
            self.context.voice,
            prose=self.format.prose,
            validator=self.validator,
            quoted=bool(reply.quotes),
        )
        read = replace(read, answer=said.answer)
        try:
            finished = self.format.finish(read.answer, self.context)
        except UnusableOutput as error:
            finding = Finding("unusable", "", error.message)
            return self._again_or(error, (finding,), call, reply)
        quality = self._reviewed(read, reply)
        wrong = (*said.unusable, *quality.unusable)
        if wrong:
            unusable = UnusableOutput(_told(wrong))
            return self._again_or(unusable, (*wrong, *quality.notes), call, reply)
        return Settled(
            call.attempt,
            finished=disclosed(finished, self.context.voice),
            coerced=read.coerced,
            dropped=read.dropped,
            notes=(*read.notes, *finished.notes, *said.notes, *map(str, quality.notes)),
            quotes=reply.quotes,
        )

    def _reviewed(self, read: Accepted, reply: Reply) -> Review:
        """What an editor would say about a valid answer that has something to publish."""
        assignment = Assignment(
            instructions="\n".join((self.first.instructions, *INTRODUCTIONS)),
            source=self.first.source.text,
            language=self.context.language,
            quotes=tuple(quote.text for quote in reply.quotes),
            samples=self.context.voice.samples if self.context.voice else (),
        )
        return review(read.answer, self.format.prose, assignment)

    def _again_or(
        self, error: FormatError, findings: Sequence[Finding], call: Call, reply: Reply
    ) -> Call | Settled:
        repairs = self.format.structured and self.policy.repairs(findings)
        if not (repairs and self._may_follow(call)):
            return Settled(call.attempt, error=error, findings=tuple(findings))
        return repair_call(
            self.first,
            attempt=call.attempt + 1,
            findings=findings,
            rejected=reply.text,
            output_tokens=call.output_tokens,
        )

    def _may_follow(self, call: Call) -> bool:
        return call.attempt < self.policy.max_attempts


def read_reply(format: Format, validator: Validator, reply: Reply, call: Call) -> Answer:
    """The valid answer that a reply to this format's call holds, or what is wrong with it.

    Where the format's answers are not structured, what the reply says is the answer's one field.
    """
    if not format.structured:
        (field,) = format.declared
        return Accepted({field: said(reply.text)})
    return read_answer(
        reply.text,
        validator,
        reasoning=reply.reasoning,
        coerce_numbers=format.coerce,
        extra=format.extra,
        within=call.format if is_shared(call.format, call.schema, call.wire) else None,
    )


def _told(findings: Sequence[Finding]) -> str:
    """The findings as one readable line."""
    shown = "; ".join(str(finding) for finding in findings[:_FINDINGS_SHOWN])
    more = len(findings) - _FINDINGS_SHOWN
    return shown if more <= 0 else f"{shown}; and {more} more"
