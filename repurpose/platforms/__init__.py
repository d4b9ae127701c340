"""What each platform lets through: limit, unit, hashtags, and where the rule comes from.

Limits are facts about the world that change without notice, so they stand in `limits.toml`,
each with its source and the day it was checked, and nowhere in code.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from repurpose.errors import UsageError

__all__ = ["PLATFORMS", "Platform", "platform_named"]

_UNIT_WORDS: Mapping[str, str] = {
    "code_points": "characters",
    "graphemes": "characters",
    "utf16": "characters, where an emoji counts as two or more",
    "utf8_bytes": "bytes, where an accented letter counts as two or more and an emoji as four",
    "x_weighted": (
        "characters, where an emoji or a Chinese, Japanese or Korean character counts as two"
        " and a link as 23"
    ),
}


@dataclass(frozen=True, slots=True)
class Platform:
    """One place to post to, with the rules that it enforces."""

    name: str
    """The key in answers, rows and `--platforms`: lower-case letters and digits."""
    label: str
    limit: int
    """The longest post, hashtags included, in `unit`."""
    unit: str
    """code_points, utf16, utf8_bytes, graphemes or x_weighted."""
    hashtags_after: Literal["blank line", "space"]
    """What stands between the text and its hashtags."""
    source: str
    """Where the rule comes from."""
    checked: str
    """The day on which the source was last read, as an ISO 8601 date."""
    confidence: str
    """How sure limit and unit are: `high`, or what is doubtful."""
    advice: str = ""
    """How to write for it, in whole sentences; part of the prompt."""
    max_hashtags: int | None = None
    """The most hashtags that the platform accepts in a post; None where no rule is known."""

    @property
    def limit_in_words(self) -> str:
        """The limit for somebody who does not know our units: `3,000 characters, where ...`."""
        return f"{self.limit:,} {_UNIT_WORDS.get(self.unit, self.unit)}"


def _platforms() -> Mapping[str, Platform]:
    """The entries of the limits file, in its order."""
    raw = (files(__name__) / "limits.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {name: Platform(name=name, **entry) for name, entry in tomllib.loads(raw).items()}
    )


PLATFORMS: Mapping[str, Platform] = _platforms()
"""Every platform we know, by name, in the order of the limits file."""


def platform_named(name: str) -> Platform:
    """The platform with this name, whatever its case.

    Raises:
        UsageError: there is none; the message names the nearest and lists the known ones.

    >>> platform_named("LinkedIn").limit
    3000
    """
    wanted = name.strip().casefold()
    if wanted in PLATFORMS:
        return PLATFORMS[wanted]
    nearest = difflib.get_close_matches(wanted, PLATFORMS, n=1)
    meant = f"did you mean {nearest[0]}? " if nearest else ""
    raise UsageError(f'unknown platform "{name}"; {meant}known: {", ".join(PLATFORMS)}')
