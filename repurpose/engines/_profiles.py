"""The known profiles, which one serves an address, and what to try where a server refuses one.

The facts stand in `profiles.toml`, each with its source and the day it was checked.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from repurpose.core.profile import SCHEMA_KINDS, Profile
from repurpose.errors import NeverStarted, UsageError

__all__ = [
    "GENERIC",
    "PROFILES",
    "ShapeRefused",
    "profile_chosen",
    "profile_for",
    "profile_named",
    "weaker",
]


class ShapeRefused(NeverStarted):
    """The server does not take the `response_format` that the profile asks for."""

    def __init__(self, message: str, *, hint: str, status: int, next_profile: Profile) -> None:
        super().__init__(message, hint=hint, status=status)
        self.next_profile = next_profile
        """What may work instead."""


def _profiles() -> Mapping[str, Profile]:
    """The entries of the data file, in its order."""
    raw = (files("repurpose.engines") / "profiles.toml").read_text(encoding="utf-8")
    found = {}
    for name, entry in tomllib.loads(raw).items():
        found[name] = Profile(name=name, **{**entry, **_tuples(entry)})
    return MappingProxyType(found)


def _tuples(entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The lists of an entry, as values that nobody changes."""
    return {name: tuple(value) for name, value in entry.items() if isinstance(value, list)}


PROFILES: Mapping[str, Profile] = _profiles()
"""Every profile we know, by name."""

GENERIC = PROFILES["generic"]
"""For a server that nobody told us about."""


def profile_named(choice: str) -> Profile:
    """The profile called `NAME`, or with another way of asking for the shape, `NAME:KIND`.

    Raises:
        UsageError: there is none; the message names the nearest and lists the known ones.

    >>> profile_named("ollama").schema
    'schema'
    >>> profile_named("OpenRouter:object").name
    'openrouter:object'
    """
    name, colon, kind = choice.strip().casefold().partition(":")
    if name not in PROFILES:
        nearest = difflib.get_close_matches(name, PROFILES, n=1)
        meant = f"; did you mean {nearest[0]}?" if nearest else ""
        raise UsageError(f"no profile {name!r}{meant}", hint=f"choose from {', '.join(PROFILES)}")
    profile = PROFILES[name]
    if not colon:
        return profile
    for known in SCHEMA_KINDS:
        if kind == known:
            return profile.asking(known)
    raise UsageError(
        f"profile {choice!r}: {kind!r} is no way to ask for a shape",
        hint=f"write {name}:KIND with one of {', '.join(SCHEMA_KINDS)}",
    )


def profile_for(host: str) -> Profile:
    """The profile that serves `host`, with its port where it has one; `generic` for any other.

    >>> profile_for("localhost:11434").name
    'ollama'
    >>> profile_for("eu.api.openai.com").name
    'openai'
    >>> profile_for("models.example:8000").name
    'generic'
    """
    whole = host.casefold()
    names = {whole, whole.rpartition(":")[0] or whole}
    for profile in PROFILES.values():
        if any(fnmatchcase(name, pattern) for pattern in profile.hosts for name in names):
            return profile
    return GENERIC


def profile_chosen(choice: str | None, host: str) -> Profile:
    """The profile that somebody named, else the one that serves `host`.

    Raises:
        UsageError: there is none with that name.
    """
    return profile_named(choice) if choice else profile_for(host)


def weaker(profile: Profile, *, only_strict: bool = False) -> Profile | None:
    """The next way of asking that a server may take which refused this one, or None.

    `only_strict` says that the server objects to what `strict` demands, and not to a schema;
    else one that refuses the strict schema refuses the lax one too, and `object` comes next.
    """
    match profile.schema:
        case "strict":
            return profile.asking("schema" if only_strict else "object")
        case "schema":
            return profile.asking("object")
        case "object":
            return profile.asking("none")
        case "none":
            return None
