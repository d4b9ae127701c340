"""What two calls to a model server showed, as lines that say what was found and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from repurpose.api._probe import MOST_TOKENS, Shown
from repurpose.config import Settings
from repurpose.core.call import Reply
from repurpose.core.profile import Profile, SchemaKind
from repurpose.engines._profiles import ShapeRefused
from repurpose.errors import EngineError

__all__ = [
    "Asked",
    "Diagnosis",
    "State",
    "of_advice",
    "of_endpoint",
    "of_second",
    "of_strict_schema",
    "of_usage",
]

State = Literal["ok", "note", "fault"]

_SECOND_NAMES = {"schema": "lax schema", "object": "JSON mode", "none": "no response_format"}
"""What the second call is about, by the way it asks."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at."""

    name: str
    state: State
    """`note` where a run works but could do better, `fault` where it would fail."""
    found: str
    advice: str | None = None
    """What to do about it, or None where there is nothing to do."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that was answered."""

    reply: Reply
    shown: Shown
    seconds: float


def of_endpoint(settings: Settings, profile: Profile, first: Asked | EngineError) -> Diagnosis:
    """That the server spoke, how fast, and as what kind it was asked."""
    chosen = "named by you" if settings.profile else "chosen by the address"
    facts = f"profile {profile.name} ({profile.label}), {chosen}"
    if isinstance(first, EngineError):
        return Diagnosis("endpoint", "ok", f"{settings.model} was reached; {facts}")
    named = f" as {first.reply.model}" if first.reply.model not in (None, settings.model) else ""
    answered = f"{settings.model} answered{named} in {first.seconds:.2f} s"
    return Diagnosis("endpoint", "ok", f"{answered}; {facts}")


def of_strict_schema(first: Asked | EngineError, profile: Profile) -> Iterator[Diagnosis]:
    """What the first call showed."""
    name = "strict schema"
    if isinstance(first, EngineError):
        yield Diagnosis(name, "note", f"refused: {first.message}")
        return
    match first.shown.schema_kept:
        case "no":
            yield Diagnosis(name, "note", "taken and not kept: the server passes over it")
        case "unknown":
            yield Diagnosis(name, "note", f"not to be told: {_why(first)}")
        case "yes":
            cut = f"; the reply went on to the limit of {MOST_TOKENS} tokens"
            yield Diagnosis(
                name,
                "note" if first.shown.cut else "ok",
                f"kept, against what the prompt asked for{cut if first.shown.cut else ''}",
            )
            yield _of_sight(first.shown, profile)


def _of_sight(shown: Shown, profile: Profile) -> Diagnosis:
    name = "schema seen by the model"
    if shown.word_known:
        return Diagnosis(name, "ok", "yes, without standing in the prompt")
    if profile.schema_in_prompt:
        return Diagnosis(name, "ok", f"no; profile {profile.name} puts it into the prompt")
    return Diagnosis(
        name, "note", f"no, and profile {profile.name} does not put it into the prompt"
    )


def of_second(second: Asked | EngineError, kind: SchemaKind) -> Iterator[Diagnosis]:
    """What the second call showed."""
    name = _SECOND_NAMES[kind]
    if isinstance(second, EngineError):
        refused = isinstance(second, ShapeRefused)  # the profile's line says what to do
        told = f"refused: {second.message}" if refused else second.message
        yield Diagnosis(name, "note", told, None if refused else second.hint)
        return
    shown, seconds = second.shown, f"answered in {second.seconds:.2f} s"
    if shown.schema_kept == "unknown":
        yield Diagnosis(name, "note", f"not to be told: {_why(second)}")
        return
    if kind == "schema":
        kept = "kept" if shown.schema_kept == "yes" else "taken and not kept"
        yield Diagnosis(name, "ok" if kept == "kept" else "note", f"{kept}; {seconds}")
        return
    if kind == "object":
        held = "the answer was JSON alone" if shown.only_json else "not enforced"
        yield Diagnosis(name, "ok" if shown.only_json else "note", f"{held}; {seconds}")
    yield _of_prompted_schema(shown, "" if kind == "object" else f"; {seconds}")


def _of_prompted_schema(shown: Shown, more: str) -> Diagnosis:
    name = "schema in the prompt"
    if shown.schema_kept == "yes":
        return Diagnosis(name, "ok", f"kept by the model itself{more}")
    advice = "where no schema is enforced, expect repairs, or use a larger --model"
    return Diagnosis(name, "note", f"not kept by the model itself{more}", advice)


def _why(asked: Asked) -> str:
    """Why a reply shows nothing."""
    reply = asked.reply
    if reply.finish in ("refusal", "content_filter"):
        return "the model or its filter refused"
    if asked.shown.cut:
        return f"the reply was cut at {MOST_TOKENS} tokens, reasoning included"
    return "the reply was empty"


def of_usage(answered: list[Asked]) -> Iterator[Diagnosis]:
    """Whether replies say what they cost."""
    if not answered:
        return
    usage = answered[-1].reply.usage
    if usage.prompt_tokens is None:
        yield Diagnosis("usage", "note", "not reported: the token counts of runs stay empty")
        return
    cached = "reported" if usage.cached_tokens is not None else "not reported"
    tokens = f"{usage.prompt_tokens} tokens in, {usage.completion_tokens} out"
    yield Diagnosis("usage", "ok", f"reported ({tokens}); cached tokens {cached}")


def of_advice(profile: Profile) -> list[Diagnosis]:
    """What a user of such a server should know."""
    size = profile.context_tokens
    told = f"Its context is {size:,} tokens unless you set more. " if size else ""
    told += profile.advice
    return [Diagnosis(f"about {profile.label}", "note", told)] if told else []
