"""The social posts: one per platform, each within what that platform lets through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from repurpose.checks import fit_post
from repurpose.checks.quality import Prose, sound_hashtags
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Measures
from repurpose.core.template import render
from repurpose.errors import UnusableOutput, UsageError
from repurpose.formats._finishing import list_at, schema_object, text_at
from repurpose.formats.base import FinishContext, Finished, Format, Piece
from repurpose.platforms import Platform, platform_named
from repurpose.resources import prompt_text

__all__ = ["DEFAULT_PLATFORMS", "Post", "PostAnswer", "SocialAnswer", "SocialContent", "build"]

DEFAULT_PLATFORMS = ("linkedin", "x", "instagram")


class PostAnswer(BaseModel):
    """One post of a valid answer."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    text: str
    hashtags: list[str]


class SocialAnswer(BaseModel):
    """A valid answer for the three default platforms, with typed access.

    Accepts what `schemas/social.schema.json` does.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    linkedin: PostAnswer
    x: PostAnswer
    instagram: PostAnswer


@dataclass(frozen=True, slots=True)
class Post:
    """A post that its platform accepts."""

    text: str
    """What is published, hashtags included."""
    hashtags: tuple[str, ...]
    """The hashtags that end the text, each with its `#`."""
    length: int
    """Of the whole text, in `unit`."""
    max_length: int
    unit: str
    shortened: bool
    """Whether words of the answer were cut off."""
    cut_mode: Literal["none", "sentence", "word"]
    hashtags_dropped: int
    """How many hashtags of the answer were more than the platform takes, or did not fit."""


@dataclass(frozen=True, slots=True)
class SocialContent:
    """Posts that can be published, by platform, in the order asked for."""

    posts: Mapping[str, Post]


def build(platforms: Sequence[str] = DEFAULT_PLATFORMS) -> Format:
    """The social format for these platforms, in this order; a platform named twice counts once.

    Raises:
        UsageError: a platform is unknown, none is named, or a prompt or schema file is missing.
    """
    chosen = {platform.name: platform for platform in map(platform_named, platforms)}
    if not chosen:
        raise UsageError("social posts need at least one platform")

    def finish(answer: JsonObject, context: FinishContext) -> Finished:
        given = {name: context.platforms.get(name, known) for name, known in chosen.items()}
        return _finish(answer, given, context)

    lines = "\n".join(_prompt_line(platform) for platform in chosen.values())
    return Format(
        name="social",
        label="Social posts",
        version=2,
        task=render(prompt_text("social"), {"platforms": lines}, name="social"),
        schema=_schema_for(list(chosen.values())),
        declared=tuple(chosen),
        finish=finish,
        prose=Prose(texts=("*.text",), apart=True),
    )


def _prompt_line(platform: Platform) -> str:
    """What a writer must know about a platform."""
    most = platform.max_hashtags
    hashtags = "" if most is None else f" At most {most} hashtag{'' if most == 1 else 's'}."
    advice = f" {platform.advice}" if platform.advice else ""
    return (
        f"- `{platform.name}`, the post for {platform.label}:"
        f" at most {platform.limit_in_words}.{hashtags}{advice}"
    )


def _schema_for(platforms: Sequence[Platform]) -> JsonObject:
    """The schema file with one post for each of these platforms, and no other."""
    whole = schema_object("social")
    known = whole["properties"]
    if not isinstance(known, Mapping):
        raise UsageError("schemas/social.schema.json declares no posts")
    shape = next(iter(known.values()))
    return {
        **whole,
        "properties": {p.name: known.get(p.name) or _post_schema(shape, p) for p in platforms},
        "required": [platform.name for platform in platforms],
    }


def _post_schema(shape: JsonValue, platform: Platform) -> JsonObject:
    """The shape of a post, described for a platform that the schema file does not name."""
    if not isinstance(shape, Mapping):
        raise UsageError("schemas/social.schema.json does not say what a post is")
    return {**shape, "description": f"The post for {platform.label}."}


def _finish(
    answer: JsonObject, platforms: Mapping[str, Platform], context: FinishContext
) -> Finished:
    """One fitted post per platform; a single blank one leaves none, so no half set is stored."""
    lacking = [f'no "{name}"' for name in platforms if not text_at(answer.get(name), "text")]
    if lacking:
        raise UnusableOutput(f"the answer has {' and '.join(lacking)} post")
    tags = {name: sound_hashtags(_texts_at(answer[name], "hashtags")) for name in platforms}
    posts = {
        name: _post(answer[name], tags[name][0], platform, context)
        for name, platform in platforms.items()
    }
    fields: dict[str, JsonValue] = {name: _as_json(post) for name, post in posts.items()}
    return Finished(
        content=SocialContent(posts),
        fields=fields,
        pieces=tuple(_piece(name, post) for name, post in posts.items()),
        notes=tuple(
            note for name, post in posts.items() for note in _notes(name, post, tags[name][1])
        ),
    )


def _texts_at(given: JsonValue, key: str) -> list[str]:
    return [text for text in list_at(given, key) if isinstance(text, str)]


def _post(
    given: JsonValue, hashtags: Sequence[str], platform: Platform, context: FinishContext
) -> Post:
    """The post as the platform accepts it."""
    fitted = fit_post(
        text_at(given, "text"),
        hashtags,
        platform,
        language=context.language,
        segmenter=context.segmenter,
    )
    return Post(
        text=fitted.text,
        hashtags=fitted.hashtags,
        length=fitted.measures.length,
        max_length=platform.limit,
        unit=platform.unit,
        shortened=fitted.measures.shortened,
        cut_mode=fitted.measures.cut_mode,
        hashtags_dropped=fitted.measures.hashtags_dropped,
    )


def _as_json(post: Post) -> JsonObject:
    """The post as declared fields."""
    return {
        "text": post.text,
        "hashtags": list(post.hashtags),
        "length": post.length,
        "max_length": post.max_length,
        "unit": post.unit,
        "shortened": post.shortened,
        "cut_mode": post.cut_mode,
        "hashtags_dropped": post.hashtags_dropped,
    }


def _piece(name: str, post: Post) -> Piece:
    """The post as one row of its own."""
    measures = Measures(
        length=post.length,
        unit=post.unit,
        max_length=post.max_length,
        shortened=post.shortened,
        cut_mode=post.cut_mode,
        hashtags_dropped=post.hashtags_dropped,
    )
    return Piece(variant=name, text=post.text, content=_as_json(post), measures=measures)


def _notes(name: str, post: Post, unsound: Sequence[str]) -> list[str]:
    """What was changed to make the post fit, for an editor; and why hashtags were no hashtags."""
    notes = [f"{name}: {reason}" for reason in unsound]
    if post.shortened:
        where = "a sentence end" if post.cut_mode == "sentence" else "a word"
        notes.append(f"{name}: shortened at {where} to {post.length:,} of {post.max_length:,}")
    if dropped := post.hashtags_dropped:
        notes.append(f"{name}: {dropped} hashtag{'' if dropped == 1 else 's'} dropped")
    return notes
