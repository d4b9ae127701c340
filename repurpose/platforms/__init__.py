"""What each platform lets through, and any text made to fit it.

    from repurpose.platforms import fit

    post = fit("We open in May. " * 30, "x", ["growth"])
    print(post.text, post.measures.length, "of", post.measures.max_length)

Limits are facts about the world that change without notice, so they stand in `limits.toml`,
each with its source and the day it was checked, and nowhere in code. Importing this package reads
that table and nothing else; `fit` and `thread` bring the counters and the segmenter when first
used.
"""

from __future__ import annotations

import difflib
import importlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.errors import UsageError

if TYPE_CHECKING:
    from repurpose.platforms.fitting import FittedPost, fit, fit_post
    from repurpose.platforms.hashtags import normalised_hashtags
    from repurpose.platforms.threads import thread

__all__ = [
    "DEFAULT_PLATFORMS",
    "PLATFORMS",
    "FittedPost",
    "Limit",
    "Platform",
    "changed",
    "chosen_platforms",
    "fit",
    "fit_post",
    "keyed",
    "normalised_hashtags",
    "platform_chosen",
    "platform_named",
    "thread",
    "variant_label",
]

_HOMES = {
    "FittedPost": "repurpose.platforms.fitting",
    "fit": "repurpose.platforms.fitting",
    "fit_post": "repurpose.platforms.fitting",
    "normalised_hashtags": "repurpose.platforms.hashtags",
    "thread": "repurpose.platforms.threads",
}
"""Where each name lives that is loaded when it is first used."""

_UNIT_WORDS: Mapping[str, str] = {
    "code_points": "characters",
    "graphemes": "characters",
    "mastodon": "characters, where a link counts as 23",
    "utf16": "characters, where an emoji counts as two or more",
    "utf8_bytes": "bytes, where an accented letter counts as two or more and an emoji as four",
    "x_weighted": (
        "characters, where an emoji or a Chinese, Japanese or Korean character counts as two"
        " and a link as 23"
    ),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """How long something may be."""

    limit: int
    unit: str
    """A key of `repurpose.text.counting.MEASURES`."""

    @property
    def in_words(self) -> str:
        """The limit for somebody who does not know our units: `3,000 characters, where ...`."""
        return f"{self.limit:,} {_UNIT_WORDS.get(self.unit, self.unit)}"


@dataclass(frozen=True, slots=True)
class Platform:
    """One place to post to, with the rules that it enforces."""

    name: str
    """The key in answers, rows and `--platforms`: lower-case letters, digits and `_`."""
    label: str
    limit: int
    """The longest post, hashtags included, in `unit`."""
    unit: str
    """code_points, utf16, utf8_bytes, graphemes, mastodon or x_weighted."""
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
    also: Limit | None = None
    """A second limit that holds at the same time: Bluesky counts graphemes and bytes."""
    title: Limit | None = None
    """The limit of the title that goes with the post; None where the platform has none."""
    max_hashtags: int | None = None
    """The most hashtags that the platform accepts in a post; None where no rule is known."""
    max_mentions: int | None = None
    max_links: int | None = None
    forbidden: str = ""
    """Characters that the platform refuses."""
    thread: bool = False
    """Whether a long text may go out as several posts in a row."""
    enforced: bool = True
    """Whether the platform refuses what is longer; else the limit is what readers see of it."""
    post: bool = True
    """Whether it is a post, and not a field of something else."""
    options: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict, hash=False)
    """Named changes to these rules, such as a paid account's limit."""

    @property
    def rules(self) -> JsonObject:
        """What decides how a text is fitted, without rules that it does not have."""
        limits: dict[str, JsonValue] = {
            name: [limit.limit, limit.unit]
            for name, limit in (("also", self.also), ("title", self.title))
            if limit
        }
        counted = {name: getattr(self, name) for name in _COUNTED}
        given = {name: most for name, most in counted.items() if most is not None}
        told: dict[str, JsonValue] = {"limit": self.limit, "unit": self.unit, **limits, **given}
        if self.forbidden:
            told["forbidden"] = self.forbidden
        if not self.enforced:
            told["enforced"] = False
        return told

    @property
    def limit_in_words(self) -> str:
        """The limit of the text for somebody who does not know our units."""
        return Limit(self.limit, self.unit).in_words


_COUNTED = ("max_hashtags", "max_mentions", "max_links")
_OVERRIDABLE = frozenset({"limit", *_COUNTED})


def _platforms() -> Mapping[str, Platform]:
    """The entries of the limits file, in its order."""
    raw = (files(__name__) / "limits.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {name: _platform(name, entry) for name, entry in tomllib.loads(raw).items()}
    )


def _platform(name: str, entry: Mapping[str, object]) -> Platform:
    nested = {
        key: Limit(**value)
        for key in ("also", "title")
        if isinstance(value := entry.get(key), dict)
    }
    return Platform(name=name, **{**entry, **nested})  # type: ignore[arg-type]  # a test reads all


DEFAULT_PLATFORMS = ("linkedin", "x", "instagram")
"""Those that posts are made for where nobody chooses."""
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


def changed(platform: Platform, rules: Mapping[str, JsonValue]) -> Platform:
    """The platform under a user's own rules: `limit`, `max_hashtags`, `max_mentions`, `max_links`.

    Raises:
        UsageError: another rule, or a number that cannot be one.

    >>> changed(platform_named("mastodon"), {"limit": 1000}).limit
    1000
    """
    for rule, number in rules.items():
        if rule not in _OVERRIDABLE:
            raise UsageError(
                f"{platform.name}: {rule!r} cannot be changed",
                hint=f"what can be changed: {', '.join(sorted(_OVERRIDABLE))}",
            )
        least = 20 if rule == "limit" else 0  # room for a few words and an ellipsis
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise UsageError(f"{platform.name}: {rule} = {number!r} is no number from {least} up")
    return replace(platform, **rules)  # type: ignore[arg-type]  # checked above


def platform_chosen(named: str) -> Platform:
    """The platform that a user means: `x`, `x=premium` for an option, `mastodon=1000` for a limit.

    Raises:
        UsageError: a platform or option that is not known.

    >>> platform_chosen("mastodon=1000").limit
    1000
    """
    name, equals, choice = (part.strip() for part in named.partition("="))
    platform = platform_named(name)
    return _with_choice(platform, choice) if equals else platform


def chosen_platforms(names: Iterable[str]) -> dict[str, Platform]:
    """The named platforms in order, each as `platform_chosen` reads it.

    A platform named twice counts once, as it was named last.

    Raises:
        UsageError: a platform or option that is not known, or one that is no post.

    >>> chosen_platforms(["x=premium", "mastodon"])["x"].limit
    25000
    """
    chosen: dict[str, Platform] = {}
    for platform in map(platform_chosen, names):
        if not platform.post:
            raise UsageError(
                f"{platform.name} is a field of the newsletter, not a post",
                hint="count and shorten it with: repurpose fit",
            )
        chosen[platform.name] = platform
    return chosen


def keyed(key: str) -> tuple[Platform, int]:
    """The platform that a key of an answer stands for, and which of its posts, from 1.

    Raises:
        UsageError: the platform is unknown.

    >>> [(platform.name, number) for platform, number in map(keyed, ["x_2", "tiktok_photo"])]
    [('x', 2), ('tiktok_photo', 1)]
    """
    name, _, number = key.rpartition("_")
    if name in PLATFORMS and number.isdecimal():
        return PLATFORMS[name], int(number)
    return platform_named(key), 1


def variant_label(variant: str) -> str:
    """What a person reads for a row's variant; one that is no platform's stays as it is.

    >>> variant_label("x"), variant_label("x.2"), variant_label("default")
    ('X', 'X, variant 2', 'default')
    """
    name, dot, number = variant.partition(".")
    if name not in PLATFORMS:
        return variant
    return PLATFORMS[name].label + (f", variant {number}" if dot else "")


def _with_choice(platform: Platform, choice: str) -> Platform:
    """The platform under one of its own options, or with a limit given as a number."""
    if choice in platform.options:
        return changed(platform, platform.options[choice])
    if choice.isascii() and choice.isdigit():
        return changed(platform, {"limit": int(choice)})
    options = ", ".join(f"{platform.name}={option}" for option in platform.options)
    known = f"{options}, or a number" if options else f"a number, such as {platform.name}=1000"
    raise UsageError(f"{platform.name} has no option {choice!r}", hint=f"choose {known}")


def __getattr__(name: str) -> object:
    """Load a public name's module when the name is first used (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
