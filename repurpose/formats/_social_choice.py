"""Which posts of an answer are published: those that say something, and not the same twice."""

from __future__ import annotations

from dataclasses import dataclass

from repurpose.checks.quality import sound_hashtags
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.formats._finishing import line_at, list_at, text_at
from repurpose.formats._social_schema import Wanted, keys_of
from repurpose.platforms import Platform
from repurpose.text.likeness import NEAR_COPY, likeness

__all__ = ["Given", "has_text", "posts_given"]


@dataclass(frozen=True, slots=True)
class Given:
    """A post of an answer that can be published."""

    text: str
    title: str
    hashtags: tuple[str, ...]
    unsound: tuple[str, ...]
    """Why some of its hashtags are none."""
    number: int
    """Which of its platform's posts it is, from 1."""


def has_text(answer: JsonObject, platform: Platform, wanted: Wanted) -> bool:
    """Whether the answer has a text for this platform."""
    keys = keys_of(platform, wanted.variants)
    return any(text_at(answer.get(key), "text") for _, key in keys)


def posts_given(
    answer: JsonObject, platform: Platform, wanted: Wanted, notes: list[str]
) -> list[Given]:
    """The posts for one platform that say something, and not the same as an earlier one."""
    kept: list[Given] = []
    for number, key in keys_of(platform, wanted.variants):
        post = answer.get(key)
        text, title = text_at(post, "text"), line_at(post, "title")
        if not text or (platform.title and not title):
            if wanted.variants > 1:
                notes.append(f"{platform.name}: variant {number} dropped, it is blank")
            continue
        like = next((each for each in kept if likeness(text, each.text) >= NEAR_COPY), None)
        if like is not None:
            notes.append(
                f"{platform.name}: variant {number} dropped,"
                f" it says almost the same as variant {like.number}"
            )
            continue
        tags, unsound = sound_hashtags(_texts_at(post, "hashtags"))
        kept.append(Given(text, title, tags, unsound, number))
    return kept


def _texts_at(given: JsonValue, key: str) -> list[str]:
    return [text for text in list_at(given, key) if isinstance(text, str)]
