"""Asks a configured model server twice, and says which profile serves it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from repurpose.api._diagnosis import (
    Asked,
    Diagnosis,
    of_advice,
    of_endpoint,
    of_second,
    of_strict_schema,
    of_usage,
)
from repurpose.api._probe import Shown, contrary_call, prompted_call, shown_by
from repurpose.api.adapters import SystemClock
from repurpose.config import Settings
from repurpose.core.call import Call
from repurpose.core.profile import SCHEMA_KINDS, Profile, SchemaKind
from repurpose.core.table import member
from repurpose.engines import ENGINES
from repurpose.engines._profiles import PROFILES, ShapeRefused, profile_for, profile_named
from repurpose.errors import EngineError, RepurposeError, StillWorking
from repurpose.ports import Engine

__all__ = ["probed"]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What two calls showed about the ways of asking for a shape."""

    strongest: SchemaKind | None
    """The strongest one that the server keeps to; None where that could not be told."""
    refused: frozenset[SchemaKind] = frozenset()
    """Those that it answers with an error."""
    schema_shown: bool = True
    """Whether the server shows a schema to the model."""
    untried: SchemaKind | None = None
    """What may work where the first call was refused and the second showed nothing."""


class _ImpatientClock(SystemClock):
    """Real time for one request: a wait before a second one ends the call instead."""

    async def sleep(self, seconds: float) -> None:
        """Raise what the wait would have been for."""
        raise StillWorking(
            "the server limits the rate just now", hint="try again in a minute", status=429
        )


async def probed(settings: Settings) -> tuple[Diagnosis, ...]:
    """What the configured server does with a schema; it is sent two requests at most.

    Never raises: an error is a diagnosis too.
    """
    try:
        ready = settings.checked_for_model()
        return tuple(await _examined(ready, _profile(ready)))
    except RepurposeError as error:
        return (Diagnosis("endpoint", "fault", error.message, error.hint),)


async def _examined(settings: Settings, profile: Profile) -> list[Diagnosis]:
    first = await _ask(settings, profile.asking("strict"), contrary_call())
    if isinstance(first, EngineError) and not isinstance(first, ShapeRefused):
        raise first
    found = [of_endpoint(settings, profile, first), *of_strict_schema(first, profile)]
    kind = _second_kind(first)
    second: Asked | EngineError | None = None
    if kind is not None:
        call = contrary_call() if kind == "schema" else prompted_call()
        second = await _ask(settings, profile.asking(kind), call)
        found += of_second(second, kind)
    answered = [asked for asked in (first, second) if isinstance(asked, Asked)]
    found += of_usage(answered)
    found.append(_fitting(profile, _evidence(first, kind, second)))
    return found + of_advice(profile)


async def _ask(settings: Settings, profile: Profile, call: Call) -> Asked | EngineError:
    """One request, and what its reply shows."""
    clock = _ImpatientClock()
    engine: Engine = member(ENGINES["openai"])(
        model=settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key,
        key_variable=settings.key_variable,
        timeout=settings.timeout,
        transport_budget=1,
        profile=profile.name,
        clock=clock,
    )
    began = clock.monotonic()
    try:
        reply = await engine.answer(call)
    except EngineError as error:
        return error
    finally:
        await engine.close()
    return Asked(reply, shown_by(reply), clock.monotonic() - began)


def _second_kind(first: Asked | EngineError) -> SchemaKind | None:
    """What the second call asks for, or None where it would show nothing more."""
    if isinstance(first, ShapeRefused):
        return first.next_profile.schema
    if isinstance(first, EngineError) or first.shown.schema_kept == "unknown":
        return None
    return "none" if first.shown.schema_kept == "yes" else "object"


def _evidence(
    first: Asked | EngineError, kind: SchemaKind | None, second: Asked | EngineError | None
) -> _Evidence:
    if isinstance(first, Asked) and first.shown.schema_kept == "yes":
        return _Evidence("strict", schema_shown=first.shown.word_known)
    refused: frozenset[SchemaKind] = frozenset()
    if isinstance(first, ShapeRefused):
        refused = frozenset({"strict"} if kind == "schema" else {"strict", "schema"})
    if isinstance(second, ShapeRefused) and kind is not None:
        return _Evidence(second.next_profile.schema, refused | {kind})
    untried = kind if refused else None
    if not isinstance(second, Asked):
        return _Evidence(None, refused, untried=untried)
    return _Evidence(_kept_kind(second.shown, kind), refused, untried=untried)


def _kept_kind(shown: Shown, kind: SchemaKind | None) -> SchemaKind | None:
    """The way of asking that the second reply speaks for."""
    if kind == "schema":
        return "schema" if shown.schema_kept == "yes" else "none"
    if shown.schema_kept == "unknown":
        return None
    return "object" if shown.only_json else "none"


def _fitting(profile: Profile, evidence: _Evidence) -> Diagnosis:
    """Whether the profile fits, and which one does."""
    name = f"profile {profile.name}"
    is_refused = profile.schema in evidence.refused
    strongest = evidence.strongest or (evidence.untried if is_refused else None)
    if strongest is None:
        advice = "choose one with --profile NAME:KIND, or use another --model"
        return Diagnosis(name, "note", "two calls did not show whether it fits", advice)
    wanted = _wanted(profile, strongest, schema_shown=evidence.schema_shown)
    if wanted.name == profile.name:
        return Diagnosis(name, "ok", "fits this server")
    advice = f"add --profile {wanted.name}, or set REPURPOSE_PROFILE={wanted.name}"
    if is_refused:
        return Diagnosis(name, "fault", "the server refuses what it asks for", advice)
    return Diagnosis(name, "note", f"{wanted.name} fits this server better", advice)


def _wanted(profile: Profile, strongest: SchemaKind, *, schema_shown: bool) -> Profile:
    """The profile to use where `strongest` is what the server keeps to."""
    promised, kept = SCHEMA_KINDS.index(profile.schema), SCHEMA_KINDS.index(strongest)
    enforces, unused = strongest in ("strict", "schema"), profile.schema in ("object", "none")
    if kept > promised or (enforces and unused):
        return profile.asking(strongest)
    if enforces and not schema_shown and not profile.schema_in_prompt:
        return PROFILES["generic"]
    return profile


def _profile(settings: Settings) -> Profile:
    """The profile that a run with these settings would use."""
    if settings.profile:
        return profile_named(settings.profile)
    if settings.base_url is None:
        return PROFILES["openai"]
    try:
        return profile_for(urlsplit(settings.base_url).netloc.rpartition("@")[2])
    except ValueError:
        return PROFILES["generic"]  # the engine refuses the address in its own words
