"""The social posts: one per platform or several to choose from, each within its limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from repurpose.checks.quality import Prose
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Measures
from repurpose.errors import UnusableOutput, UsageError
from repurpose.formats._social_choice import Given, has_text, posts_given
from repurpose.formats._social_schema import Wanted, is_thread, keys_of, schema_for, task_for
from repurpose.formats.base import FinishContext, Finished, Format, Piece
from repurpose.platforms import (
    DEFAULT_PLATFORMS,
    FittedPost,
    Platform,
    chosen_platforms,
    fit_post,
    keyed,
    thread,
)
from repurpose.platforms.threads import thread_text

__all__ = [
    "DEFAULT_PLATFORMS",
    "MAX_VARIANTS",
    "Post",
    "PostAnswer",
    "SocialAnswer",
    "SocialContent",
    "ThreadPost",
    "asked_for",
    "build",
]

MAX_VARIANTS = 5
"""The most posts for one platform in one answer; small models lose count beyond."""


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
class ThreadPost:
    """One post of a thread, ready to publish."""

    text: str
    """With its number, and in the last one the hashtags."""
    length: int
    """In the unit of the whole."""


@dataclass(frozen=True, slots=True)
class Post:
    """A post that its platform accepts."""

    text: str
    """What is published, hashtags included; of a thread, all posts with a line between them."""
    hashtags: tuple[str, ...]
    """The hashtags that end the text, each with its `#`."""
    length: int
    """Of the whole text, or of a thread's longest post, in `unit`."""
    max_length: int
    unit: str
    shortened: bool
    """Whether words of the answer were cut off."""
    cut_mode: Literal["none", "sentence", "word"]
    hashtags_dropped: int
    """How many hashtags of the answer were more than the platform takes, or did not fit."""
    title: str | None = None
    """What stands over the post, where the platform has titles."""
    title_length: int | None = None
    """In the unit of the platform's titles."""
    posts: tuple[ThreadPost, ...] = ()
    """The posts of a thread, in order; empty where none was asked for."""


@dataclass(frozen=True, slots=True)
class SocialContent:
    """Posts that can be published, by variant, in the order asked for.

    A variant is a platform's name; the second and third post for it are `x.2` and `x.3`.
    """

    posts: Mapping[str, Post]


def build(
    platforms: Sequence[str | Platform] = DEFAULT_PLATFORMS,
    *,
    threads: bool = False,
    variants: int = 1,
) -> Format:
    """The social format for these platforms, in this order; a platform named twice counts once.

    A name may carry an option or a limit: `x=premium`, `mastodon=1000`. With `threads`, platforms
    that have threads get one. With `variants`, each gets so many posts to choose from.

    Raises:
        UsageError: a platform is unknown, none is named, the number of variants is not 1 to 5,
            or a prompt or schema file is missing.
    """
    chosen: dict[str, Platform] = {}
    for each in platforms:
        chosen |= chosen_platforms([each]) if isinstance(each, str) else {each.name: each}
    if not chosen:
        raise UsageError("social posts need at least one platform")
    if not 1 <= variants <= MAX_VARIANTS:
        raise UsageError(f"{variants} variants cannot be asked for: give 1 to {MAX_VARIANTS}")
    wanted = Wanted(tuple(chosen.values()), threads, variants)

    def finish(answer: JsonObject, context: FinishContext) -> Finished:
        ruling = [context.platforms.get(each.name, each) for each in wanted.platforms]
        return _finish(answer, replace(wanted, platforms=tuple(ruling)), context)

    return Format(
        name="social",
        label="Social posts",
        version=2,
        task=task_for(wanted),
        schema=schema_for(wanted),
        declared=tuple(key for each in wanted.platforms for _, key in keys_of(each, variants)),
        finish=finish,
        prose=Prose(texts=("*.text",), lines=("*.title",), apart=True),
    )


def asked_for(schema: JsonObject) -> tuple[tuple[str, ...], bool, int]:
    """The options of `build` that gave this schema: platforms, threads, variants.

    Raises:
        UsageError: it names a platform that is unknown by now.
    """
    posts = schema.get("properties")
    keys = list(posts) if isinstance(posts, Mapping) else []
    found = [keyed(key) for key in keys]
    threads = isinstance(posts, Mapping) and any(map(is_thread, posts.values()))
    names = dict.fromkeys(platform.name for platform, _ in found)
    return tuple(names), threads, max((number for _, number in found), default=1)


def _finish(answer: JsonObject, wanted: Wanted, context: FinishContext) -> Finished:
    """The fitted posts; a platform without any leaves none, so that no half set is stored."""
    notes: list[str] = []
    given = {each.name: posts_given(answer, each, wanted, notes) for each in wanted.platforms}
    lacking = [
        f'no "{each.name}"' for each in wanted.platforms if not has_text(answer, each, wanted)
    ]
    if lacking:
        raise UnusableOutput(f"the answer has {' and '.join(lacking)} post")
    untitled = [f'"{name}"' for name, posts in given.items() if not posts]
    if untitled:
        raise UnusableOutput(f"the answer has no title for the {' and '.join(untitled)} post")
    posts: dict[str, Post] = {}
    fields: dict[str, JsonValue] = {}
    for platform in wanted.platforms:
        for (number, key), each in zip(
            keys_of(platform, wanted.variants), given[platform.name], strict=False
        ):
            variant = platform.name if number == 1 else f"{platform.name}.{number}"
            post, told = _post(each, platform, wanted, context)
            posts[variant] = post
            fields[key] = _as_json(post)
            notes += [f"{variant}: {note}" for note in (*each.unsound, *told)]
    return Finished(
        content=SocialContent(posts),
        fields=fields,
        pieces=tuple(_piece(variant, post) for variant, post in posts.items()),
        notes=tuple(notes),
        disclosed=True,
    )


def _post(
    given: Given, platform: Platform, wanted: Wanted, context: FinishContext
) -> tuple[Post, list[str]]:
    """The post as the platform accepts it, and what was changed, for an editor."""
    if wanted.threaded(platform):
        return _thread(given, platform, context)
    voice = context.voice
    fitted = fit_post(
        voice.without_notice(given.text) if voice else given.text,
        given.hashtags,
        platform,
        language=context.language,
        segmenter=context.segmenter,
        disclosure=voice.notice if voice else None,
        title=given.title if platform.title else None,
    )
    measures, heading = fitted.measures, fitted.title_measures
    post = Post(
        text=fitted.text,
        hashtags=fitted.hashtags,
        length=measures.length,
        max_length=platform.limit,
        unit=platform.unit,
        shortened=measures.shortened,
        cut_mode=measures.cut_mode,
        hashtags_dropped=measures.hashtags_dropped,
        title=fitted.title,
        title_length=heading.length if heading else None,
    )
    return post, [*_cut_notes(measures), *_cut_notes(heading, "title "), *_also(fitted)]


def _thread(given: Given, platform: Platform, context: FinishContext) -> tuple[Post, list[str]]:
    """The post as a thread; a short one is a thread of one."""
    voice = context.voice
    fitted = thread(
        voice.without_notice(given.text) if voice else given.text,
        platform,
        given.hashtags,
        language=context.language,
        segmenter=context.segmenter,
        disclosure=voice.notice if voice else None,
    )
    dropped = sum(each.measures.hashtags_dropped for each in fitted)
    post = Post(
        text=thread_text(fitted),
        hashtags=fitted[-1].hashtags,
        length=max(each.measures.length for each in fitted),
        max_length=platform.limit,
        unit=platform.unit,
        shortened=False,
        cut_mode="none",
        hashtags_dropped=dropped,
        posts=tuple(ThreadPost(each.text, each.measures.length) for each in fitted),
    )
    told = [note for each in fitted for note in _also(each)]
    return post, [*_dropped_note(dropped), *told]


def _as_json(post: Post) -> JsonObject:
    """The post as declared fields; those of titles and threads only where there are any."""
    fields: dict[str, JsonValue] = {
        "text": post.text,
        "hashtags": list(post.hashtags),
        "length": post.length,
        "max_length": post.max_length,
        "unit": post.unit,
        "shortened": post.shortened,
        "cut_mode": post.cut_mode,
        "hashtags_dropped": post.hashtags_dropped,
    }
    if post.title is not None:
        fields = {"title": post.title, "title_length": post.title_length, **fields}
    if post.posts:
        fields["posts"] = [{"text": each.text, "length": each.length} for each in post.posts]
    return fields


def _piece(variant: str, post: Post) -> Piece:
    """The post as one row of its own, its title as the first paragraph.

    The measures are those of the post without its title, which has a limit of its own.
    """
    measures = Measures(
        length=post.length,
        unit=post.unit,
        max_length=post.max_length,
        shortened=post.shortened,
        cut_mode=post.cut_mode,
        hashtags_dropped=post.hashtags_dropped,
    )
    text = f"{post.title}\n\n{post.text}" if post.title else post.text
    return Piece(variant=variant, text=text, content=_as_json(post), measures=measures)


def _cut_notes(measures: Measures | None, what: str = "") -> Iterator[str]:
    """What was cut off, and how many hashtags went."""
    if measures is None:
        return
    if measures.shortened:
        where = "a sentence end" if measures.cut_mode == "sentence" else "a word"
        yield f"{what}shortened at {where} to {measures.length:,} of {measures.max_length:,}"
    yield from _dropped_note(measures.hashtags_dropped)


def _dropped_note(dropped: int) -> list[str]:
    return [f"{dropped} hashtag{'' if dropped == 1 else 's'} dropped"] if dropped else []


def _also(fitted: FittedPost) -> tuple[str, ...]:
    """What else was changed, and what is more than the platform takes or shows."""
    return (*fitted.notes, *fitted.over)
