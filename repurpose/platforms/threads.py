"""One long text as several posts in a row, numbered, each within its platform's limits.

Nothing is lost and nothing said twice: the bodies in order are the text, white space aside. No
post is empty, and none breaks a sentence that would fit into a post of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from repurpose.core.record import Measures
from repurpose.errors import UsageError
from repurpose.platforms import PLATFORMS, Platform, platform_chosen
from repurpose.platforms._rules import (
    Tail,
    fitting_tags,
    links_beyond,
    marked,
    measure_of,
    postable,
    tail_of,
)
from repurpose.platforms.fitting import FittedPost, fit_post
from repurpose.platforms.hashtags import hashtags_apart, normalised_hashtags
from repurpose.text.counting import MEASURES, Measure, Span
from repurpose.text.cutting import break_place, closed
from repurpose.text.sentences import Segmenter, sentence_spans
from repurpose.text.trimming import trimmed

__all__ = ["DELIMITER", "thread", "thread_text"]

DELIMITER = "\n\n* * *\n\n"
"""What stands between the posts of a thread where they are written as one text."""

_FULL_ENOUGH = 0.6
"""A post may end with its paragraph where that fills so much of it."""
_LEAST_ROOM = 8
"""What disclosure and number must leave; no code point takes more in any unit."""


def thread(
    text: str,
    platform: str | Platform = "x",
    hashtags: Iterable[str] = (),
    *,
    link: str | None = None,
    disclosure: str | None = None,
    language: str | None = None,
    segmenter: Segmenter | None = None,
) -> tuple[FittedPost, ...]:
    r"""`text` as posts that `platform` accepts, in order; only one, without a number, if it fits.

    Posts end where a paragraph or a sentence does. A sentence that no post could hold is parted at
    a clause or a word, without an ellipsis. Each ends in a line such as `2/5`, which counts.
    Hashtags and `link` stand in the last post, or in one of their own where they do not fit; the
    disclosure stands in the first, since that may be the only one that is seen. Links, mentions
    and graphemes are parted only where they exceed a post.

    Raises:
        UsageError: an unknown platform, one without threads, or a link or disclosure that leaves
            less than half of the room.

    >>> [post.text for post in thread("One sentence. Another one here. And a third.", "x=30")]
    ['One sentence.\n\n1/3', 'Another one here.\n\n2/3', 'And a third.\n\n3/3']
    """
    chosen = platform_chosen(platform) if isinstance(platform, str) else platform
    if not chosen.thread:
        able = ", ".join(name for name, each in PLATFORMS.items() if each.thread)
        raise UsageError(f"{chosen.label} has no threads", hint=f"those that have: {able}")
    given = [hashtags] if isinstance(hashtags, str) else tuple(hashtags)
    alone = fit_post(
        text,
        given,
        chosen,
        language=language,
        segmenter=segmenter,
        link=link,
        disclosure=disclosure,
    )
    if not alone.measures.shortened:
        return (alone,)
    notes: list[str] = []
    body, ending = hashtags_apart(trimmed(postable(text, chosen, notes)))
    tail = tail_of(chosen, link, disclosure)
    first = replace(tail, link="")
    last = replace(
        tail,
        disclosure="",
        link="" if tail.link in body else tail.link,
        hashtags=normalised_hashtags([*given, *ending]),
    )
    sentences = sentence_spans(body, language, segmenter=segmenter)
    return _numbered(_Parts(body, sentences, chosen, first), last, notes)


def thread_text(posts: Iterable[FittedPost]) -> str:
    """The posts as one text, with a visible line between them."""
    return DELIMITER.join(post.text for post in posts)


def _number(place: object, count: object) -> str:
    """The line that a post of a thread ends in."""
    return f"\n\n{place}/{count}"


class _Parts:
    """A text, and how it is parted into posts."""

    def __init__(
        self, text: str, sentences: Sequence[Span], platform: Platform, first: Tail
    ) -> None:
        self.text = text
        self.platform = platform
        self.first = first
        """What the first post has beside its body."""
        self.measure = measure_of(platform)
        self.ends = [*(end for _, end in sentences[:-1]), len(text)]
        """Where its sentences end."""
        self.paragraph_ends = [
            end for (_, end), (start, _) in pairwise(sentences) if text.count("\n", end, start) > 1
        ]

    def of_at_most(self, digits: int) -> list[str] | None:
        """The bodies of the posts, whose number has so many digits; None where they are more.

        Raises:
            UsageError: what every post needs leaves no room for a text.
        """
        parts: list[str] = []
        start = 0
        while start < len(self.text):
            end = self._end(start, self._length(digits, first=not parts))
            if body := trimmed(self.text[start:end]):
                parts.append(body)
            if len(parts) >= 10**digits - 1 and end < len(self.text):  # one more for the hashtags
                return None
            start = end
        return parts

    def _length(self, digits: int, *, first: bool) -> Measure:
        """How long a post with some body is, its number and what the first one holds included."""
        number = _number("9" * digits, "9" * digits)
        tail = self.first if first else Tail(self.first.gap)
        return lambda body: self.measure(tail.after(body) + number)

    def _end(self, start: int, length: Measure) -> int:
        """Where the post that begins at `start` ends; `length` is that of a post with this body."""
        limit = self.platform.limit
        if limit - length("") < _LEAST_ROOM:
            raise UsageError(f"the limit of {self.platform.label} leaves no room for a thread")

        def fits(end: int) -> bool:
            return length(closed(trimmed(self.text[start:end]))) <= limit

        place = bisect_right(self.ends, start)
        last = _last_in_a_row(self.ends, place, fits)
        if last is None:
            return start + break_place(self.text[start : self.ends[place]], limit, length)
        end = self.ends[last]
        if end == len(self.text):
            return end
        near = self._paragraph_end(start, end)
        if near and length(self.text[start:near]) >= _FULL_ENOUGH * limit:
            return near
        following = trimmed(self.text[end : self.ends[last + 1]])
        if 2 * length(self.text[start:end]) < limit < length(following):
            broken = break_place(self.text[start : self.ends[last + 1]], limit, length)
            return max(end, start + broken)
        return end

    def _paragraph_end(self, start: int, end: int) -> int | None:
        """The last end of a paragraph in this stretch."""
        place = bisect_right(self.paragraph_ends, end) - 1
        return (
            self.paragraph_ends[place]
            if place >= 0 and self.paragraph_ends[place] > start
            else None
        )


def _last_in_a_row(ends: Sequence[int], first: int, fits: Callable[[int], bool]) -> int | None:
    """The index of the last end that fits, from `first` on; None where not even that one does.

    Tries the next 1, 2, 4… ends, then halves, so that what is measured stays in proportion to
    what fits.
    """
    good, step = first - 1, 1
    bad = len(ends)
    while good + step < len(ends):
        if not fits(ends[good + step]):
            bad = good + step
            break
        good, step = good + step, step * 2
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(ends[middle]):
            good = middle
        else:
            bad = middle
    return good if good >= first else None


def _numbered(parts: _Parts, last: Tail, notes: Sequence[str]) -> tuple[FittedPost, ...]:
    """The posts of a text that needs more than one, in order."""
    digits = 1
    while (bodies := parts.of_at_most(digits)) is None:
        digits += 1
    platform, gap = parts.platform, Tail(last.gap)
    placeholder = _number("9" * digits, "9" * digits)
    posts = [_Draft(body, gap).marked(platform) for body in bodies]
    posts[0] = replace(posts[0], tail=parts.first)
    if last.text:
        ended = posts[-1].ended_with(last, platform)
        if parts.measure(ended.text + placeholder) <= platform.limit:
            posts[-1] = ended
        else:
            posts.append(_Draft("", gap).ended_with(last, platform))
    posts[0] = replace(posts[0], notes=(*notes, *posts[0].notes))
    count = len(posts)
    return tuple(
        post.finished(platform, _number(place, count)) for place, post in enumerate(posts, 1)
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """A post of a thread before it is numbered."""

    body: str
    tail: Tail
    inside: int = 0
    """How many hashtags the body holds."""
    dropped: int = 0
    """How many hashtags it lost."""
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.tail.after(closed(self.body))

    def marked(self, platform: Platform) -> _Draft:
        """Without what is more than the platform takes in a post."""
        notes: list[str] = []
        body, inside, dropped = marked(self.body, platform, notes)
        return replace(self, body=body, inside=inside, dropped=dropped, notes=tuple(notes))

    def ended_with(self, last: Tail, platform: Platform) -> _Draft:
        """With the link, and as many of the hashtags as a post takes."""
        measure = measure_of(platform)
        room = last.room(platform, measure)
        kept = fitting_tags(last.hashtags, platform, self.inside, room // 2, measure)
        tail = replace(self.tail, link=last.link, hashtags=kept)
        return replace(self, tail=tail, dropped=self.dropped + len(last.hashtags) - len(kept))

    def finished(self, platform: Platform, number: str) -> FittedPost:
        """The post with its number."""
        text = self.text + number
        return FittedPost(
            text=text,
            body=self.body,
            hashtags=self.tail.hashtags,
            measures=Measures(
                length=MEASURES[platform.unit](text),
                unit=platform.unit,
                max_length=platform.limit,
                hashtags_dropped=self.dropped,
            ),
            notes=self.notes,
            over=tuple(links_beyond(text, platform)),
        )
