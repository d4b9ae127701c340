"""What environment variables say: `REPURPOSE_*`, one for each setting, and where keys stand."""

from __future__ import annotations

from collections.abc import Mapping

from repurpose.config._keys import KEYS, read_variable
from repurpose.engines._instructor_providers import provider_of
from repurpose.errors import UsageError

__all__ = ["key_variables", "limits_from", "listed", "values_from"]


def values_from(environment: Mapping[str, str]) -> dict[str, object]:
    """The settings that variables give, by dotted key; a blank one gives none.

    Raises:
        UsageError: a value that cannot be used; the message names the variable.
    """
    found: dict[str, object] = {}
    for key in KEYS.values():
        text = environment.get(key.environment) or ""
        if not text.strip():
            continue
        value, fault = read_variable(key, text)
        if fault:
            raise UsageError(f"{key.environment} {fault}")
        found[key.path] = tuple(value) if isinstance(value, list) else value
    return found


def limits_from(text: str) -> dict[str, dict[str, int]]:
    """What REPURPOSE_LIMITS says: `mastodon.limit=1000,instagram.max_hashtags=30`.

    Raises:
        UsageError: a part of it is no rule.
    """
    found: dict[str, dict[str, int]] = {}
    for each in listed(text):
        rule, _, number = (part.strip() for part in each.partition("="))
        platform, _, name = rule.partition(".")
        if not (name and number.isascii() and number.isdigit()):
            raise UsageError(
                f"REPURPOSE_LIMITS: {each!r} is no rule",
                hint="write mastodon.limit=1000 or instagram.max_hashtags=30",
            )
        found.setdefault(platform, {})[name] = int(number)
    return found


def listed(text: str) -> tuple[str, ...]:
    """The parts between commas."""
    return tuple(part for each in text.split(",") if (part := each.strip()))


def key_variables(model: object, url: object) -> tuple[str, ...]:
    """Where the key may stand; OPENAI_API_KEY unless the model is another provider's."""
    named = provider_of(model) if isinstance(model, str) and not url else None
    return named[0].keys or ("REPURPOSE_API_KEY",) if named else ("OPENAI_API_KEY",)
