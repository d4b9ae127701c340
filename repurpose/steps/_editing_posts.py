"""A post as a person wrote it: counted and judged by its platform's rules, and never cut."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import Measures
from repurpose.errors import UsageError
from repurpose.platforms import Limit, Platform
from repurpose.platforms._rules import links_beyond, marked, postable
from repurpose.platforms.hashtags import hashtags_apart, normalised_hashtags
from repurpose.platforms.threads import DELIMITER
from repurpose.text.counting import MEASURES
from repurpose.text.trimming import one_line, trimmed

__all__ = ["PostEdit", "edited_post", "is_post"]

PostEdit = tuple[str, JsonObject, Measures, tuple[str, ...]]
"""Text, content, measures and notes."""

_PARTED = re.compile(r"\n[ \t]*+\*[ \t]*+\*[ \t]*+\*[ \t]*+(?:\n|\Z)")
"""The line between the posts of a thread, however its stars are spaced."""
_NUMBER = re.compile(r"\n\s*+(\d{1,4})/(\d{1,4})\Z")
"""The line that ends a post of a thread."""


def is_post(content: JsonObject) -> bool:
    """Whether a row's content is that of a post."""
    return isinstance(content.get("text"), str) and {"hashtags", "unit"} <= content.keys()


def edited_post(written: str, platform: Platform, before: JsonObject) -> PostEdit:
    """The post that a person made of the one with the content `before`.

    Its first paragraph is its title where the platform has one. A thread stays a thread: a line
    of three stars parts its posts, and the numbers at their ends are brought up to date.

    Raises:
        UsageError: the platform would not take it; the message says by how much, or what in it.
    """
    notes: list[str] = []
    if before.get("posts"):
        return _thread(written, platform, notes)
    title, body = _titled(written, platform)
    body = _accepted(body, platform, notes)
    heading: dict[str, JsonValue] = {}
    if title is not None and platform.title is not None:
        length = _within(platform.title, title, f"the title for {platform.label}", platform, notes)
        heading = {"title": title, "title_length": length}
    measures = _measured([body], platform, notes)
    text = body if title is None else f"{title}\n\n{body}"
    return text, {**heading, **_fields(body, body, measures)}, measures, tuple(notes)


def _thread(written: str, platform: Platform, notes: list[str]) -> PostEdit:
    posts = [_accepted(part, platform, notes) for part in _PARTED.split(written) if trimmed(part)]
    posts = _numbered(posts, notes)
    measures = _measured(posts, platform, notes, "; part it with a line of * * *")
    text = DELIMITER.join(posts)
    length = MEASURES[platform.unit]
    parts: list[JsonValue] = [{"text": post, "length": length(post)} for post in posts]
    last = _NUMBER.sub("", posts[-1])
    content = {**_fields(text, last, measures), "posts": parts}
    return text, content, measures, tuple(notes)


def _numbered(posts: Sequence[str], notes: list[str]) -> list[str]:
    """The posts with the right numbers, where any of them has one."""
    if not any(map(_NUMBER.search, posts)):
        return list(posts)
    count = len(posts)
    bodies = [trimmed(_NUMBER.sub("", post)) for post in posts]
    if not all(bodies):
        raise UsageError("a post of the thread holds nothing but its number")
    if count == 1:
        made = bodies
    else:
        made = [f"{body}\n\n{place}/{count}" for place, body in enumerate(bodies, start=1)]
    if [_number_of(post) for post in made] != [_number_of(post) for post in posts]:
        notes.append("the posts of the thread are numbered anew")
    return made


def _number_of(post: str) -> tuple[str, ...]:
    found = _NUMBER.search(post)
    return found.groups() if found else ()


def _titled(written: str, platform: Platform) -> tuple[str | None, str]:
    """Title and body; no title where the platform has none."""
    if platform.title is None:
        return None, written
    title, _, body = written.partition("\n\n")
    if not trimmed(body) or "\n" in trimmed(title):
        raise UsageError(
            f"a post for {platform.label} begins with its title on one line, then an empty line,"
            " then the text"
        )
    return one_line(title), trimmed(body)


def _accepted(body: str, platform: Platform, notes: list[str]) -> str:
    """The body, which has nothing that the platform refuses; too many links are only noted."""
    told: list[str] = []
    body = trimmed(postable(body, platform, told))
    _, kept, unmarked = marked(body, platform, told)
    if unmarked:
        told.append(f"takes {platform.max_hashtags} hashtags, not {kept + unmarked}")
    if told:
        raise UsageError(f"{platform.label}: {'; '.join(map(_unchanged, told))}")
    notes += links_beyond(body, platform)
    return body


def _unchanged(note: str) -> str:
    """What a fitted text would have been changed for, without what would have been done.

    >>> _unchanged("refuses < >: 2 replaced"), _unchanged("takes 20 mentions: 1 lost their @")
    ('refuses < >', 'takes 20 mentions')
    """
    return note.partition(":")[0]


def _measured(
    posts: Sequence[str], platform: Platform, notes: list[str], advice: str = ""
) -> Measures:
    """The length of the longest of the posts, which all fit."""
    rules = [Limit(platform.limit, platform.unit), *([platform.also] if platform.also else [])]
    lengths: list[int] = []
    for place, post in enumerate(posts, start=1):
        what = platform.label if len(posts) == 1 else f"{platform.label}, post {place}"
        lengths += [_within(rule, post, what, platform, notes, advice) for rule in rules][:1]
    return Measures(length=max(lengths), unit=platform.unit, max_length=platform.limit)


def _within(
    rule: Limit, text: str, what: str, platform: Platform, notes: list[str], advice: str = ""
) -> int:
    """The length of a text that is within its limit; one that only shows less is noted."""
    length = MEASURES[rule.unit](text)
    over = length - rule.limit
    if over <= 0:
        return length
    if platform.enforced:
        raise UsageError(
            f"{what}: {over:,} too many; it has {length:,} of at most {rule.in_words}{advice}"
        )
    notes.append(f"{length:,} long, of which about {rule.limit:,} show")
    return length


def _fields(text: str, last: str, measures: Measures) -> JsonObject:
    """The declared fields of a post; `last` is what its hashtags end."""
    return {
        "text": text,
        "hashtags": list(normalised_hashtags(hashtags_apart(last)[1])),
        "length": measures.length,
        "max_length": measures.max_length,
        "unit": measures.unit,
        "shortened": measures.shortened,
        "cut_mode": measures.cut_mode,
        "hashtags_dropped": measures.hashtags_dropped,
    }
