"""What is asked for: the schema and the prompt of social posts, made for the platforms wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.template import render
from repurpose.errors import UsageError
from repurpose.formats._finishing import schema_object
from repurpose.platforms import Platform
from repurpose.resources import prompt_text

__all__ = ["Wanted", "is_thread", "keys_of", "schema_for", "task_for"]

_POSTS_OF_A_THREAD = 6
"""About the longest thread that is read to its end; a guide for the writer, not a limit."""
_LONGEST_THREAD = 3000
"""Likewise, where one post alone may have thousands of characters."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which posts are wanted."""

    platforms: tuple[Platform, ...]
    threads: bool = False
    """Whether platforms that have threads get one."""
    variants: int = 1
    """How many posts there are for each platform to choose from."""

    def threaded(self, platform: Platform) -> bool:
        """Whether the post for this platform is a thread."""
        return self.threads and platform.thread


def keys_of(platform: Platform, variants: int) -> Iterator[tuple[int, str]]:
    """The keys of an answer for one platform, counted from 1: `x`, `x_2`, `x_3`.

    They stand beside each other, so that each is a post of its own for whoever reads an answer.
    """
    for number in range(1, variants + 1):
        yield number, platform.name if number == 1 else f"{platform.name}_{number}"


def task_for(wanted: Wanted) -> str:
    """What a writer is asked for."""
    threads = any(map(wanted.threaded, wanted.platforms))
    places = {
        "platforms": "\n".join(_prompt_line(platform, wanted) for platform in wanted.platforms),
        "threads": prompt_text("social-threads").strip() if threads else "",
        "variants": _variants_rule(wanted.variants),
    }
    return render(prompt_text("social"), places, name="social")


def _variants_rule(variants: int) -> str:
    if variants == 1:
        return ""
    rule = prompt_text("social-variants").strip()
    return render(rule, {"variants": str(variants)}, name="social-variants")


def _prompt_line(platform: Platform, wanted: Wanted) -> str:
    """What a writer must know about a platform; how to write one post is not said of a thread."""
    limit = f"at most {platform.limit_in_words}"
    kind, advice = "the post", f" {platform.advice}" if platform.advice else ""
    if wanted.threaded(platform):
        kind, advice = "a thread", ""
        limit = f"{_thread_in_words(platform)}; it is split into posts of {limit}"
    most = platform.max_hashtags
    title = f" Its title: at most {platform.title.in_words}." if platform.title else ""
    names = " and ".join(f"`{key}`" for _, key in keys_of(platform, wanted.variants))
    several = f", {wanted.variants} of them" if wanted.variants > 1 else ""
    return (
        f"- {names}, {kind} for {platform.label}{several}:"
        f" {limit}.{title}{_hashtags_in_words(most)}{advice}"
    )


def _hashtags_in_words(most: int | None) -> str:
    if most is None:
        return ""
    return f" At most {most} hashtag{'' if most == 1 else 's'}." if most else " No hashtags."


def _thread_in_words(platform: Platform) -> str:
    """How long a thread's whole text may be, in hundreds, a tenth left for breaks and numbers."""
    room = min(_LONGEST_THREAD, _POSTS_OF_A_THREAD * platform.limit * 9 // 10)
    unit = "bytes" if platform.unit == "utf8_bytes" else "characters"
    return f"at most {max(100, room // 100 * 100):,} {unit} in all"


def schema_for(wanted: Wanted) -> JsonObject:
    """The schema file with one post for each key that is wanted, and no other.

    Raises:
        UsageError: the file does not say what a post is.
    """
    whole = schema_object("social")
    known = whole["properties"]
    if not isinstance(known, Mapping):
        raise UsageError("schemas/social.schema.json declares no posts")
    shape = next(iter(known.values()))
    posts: dict[str, JsonObject] = {}
    for platform in wanted.platforms:
        post = known.get(platform.name) or shape
        if not isinstance(post, Mapping):
            raise UsageError("schemas/social.schema.json does not say what a post is")
        for number, key in keys_of(platform, wanted.variants):
            posts[key] = _post_schema(post, platform, number, wanted)
    return {**whole, "properties": posts, "required": list(posts)}


def _post_schema(
    shape: Mapping[str, object], platform: Platform, number: int, wanted: Wanted
) -> JsonObject:
    """The shape of a post, with a title where the platform has one."""
    post: dict[str, object] = {**shape, "description": _described(platform, number, wanted)}
    properties, required = post["properties"], post["required"]
    if not isinstance(properties, Mapping) or not isinstance(required, Sequence):
        raise UsageError("schemas/social.schema.json does not say what a post is made of")
    if wanted.threaded(platform):
        properties = {**properties, "text": _THREAD}
    if platform.title:
        title = {
            "description": f"The title, on one line: at most {platform.title.in_words}.",
            "type": "string",
        }
        properties, required = {"title": title, **properties}, ["title", *required]
    return {**post, "properties": properties, "required": required}  # type: ignore[dict-item]  # parts of a decoded file


_THREAD: JsonObject = {
    "description": "The whole thread as plain text in paragraphs, without numbers and hashtags.",
    "$comment": "thread",  # for the engine that reads no prompt; never sent to a provider
    "type": "string",
}


def is_thread(post: JsonValue) -> bool:
    """Whether the schema of a post asks for a thread."""
    parts = post.get("properties") if isinstance(post, Mapping) else None
    text = parts.get("text") if isinstance(parts, Mapping) else None
    return isinstance(text, Mapping) and text.get("$comment") == _THREAD["$comment"]


def _described(platform: Platform, number: int, wanted: Wanted) -> str:
    kind = "thread" if wanted.threaded(platform) else "post"
    if wanted.variants == 1:
        return f"The {kind} for {platform.label}."
    return f"The {kind} for {platform.label}, {number} of {wanted.variants} to choose from."
