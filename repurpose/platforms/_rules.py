"""A platform's rules, applied one by one; single posts and threads are made of the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repurpose.errors import UsageError
from repurpose.platforms import Platform
from repurpose.platforms.hashtags import MAX_HASHTAGS, hashtags_marked
from repurpose.text.counting import MEASURES, Measure, link_spans, mention_spans
from repurpose.text.trimming import trimmed

__all__ = ["Tail", "fitting_tags", "links_beyond", "marked", "measure_of", "postable", "tail_of"]

_NOT_POSTABLE = re.compile("[\ufeff\ufffe\uffff]")
"""X refuses posts with these (docs.x.com, counting characters); nobody else shows them."""
_LOOKALIKES = {"<": "‹", ">": "›"}


def measure_of(platform: Platform) -> Measure:
    """The length of a post in the platform's unit; or in the second one if that is scarcer.

    Of two limits, the larger share counts: with 300 graphemes and 3,000 bytes, 2,995 bytes are
    300 units. So a text fits both limits exactly if it fits the first by this measure.
    """
    first, also, limit = MEASURES[platform.unit], platform.also, platform.limit
    if also is None:
        return first
    second, most = MEASURES[also.unit], also.limit

    def nearer(text: str) -> int:
        return max(first(text), -(-second(text) * limit // most))

    return nearer


def postable(text: str, platform: Platform, notes: list[str]) -> str:
    """`text` with line feeds only, since X counts CR LF as two, and without refused characters.

    Look-alikes stand in for those: `‹` for `<`. What was replaced is added to `notes`.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _NOT_POSTABLE.sub("", text)
    refused = {sign: count for sign in platform.forbidden if (count := text.count(sign))}
    if refused:
        for sign in refused:
            text = text.replace(sign, _LOOKALIKES.get(sign, ""))
        notes.append(f"refuses {' '.join(refused)}: {sum(refused.values())} replaced")
    return text


def marked(body: str, platform: Platform, notes: list[str]) -> tuple[str, int, int]:
    """`body` with no more hashtags and mentions than allowed, and how many tags stay and go.

    Those beyond keep their word and lose their sign. Mentions that lost theirs are told in
    `notes`.
    """
    inside = unmarked = 0
    if platform.max_hashtags is not None:
        body, inside, unmarked = hashtags_marked(body, platform.max_hashtags)
    if platform.max_mentions is not None:
        spare = mention_spans(body)[platform.max_mentions :]
        for start, _ in reversed(spare):
            body = body[:start] + body[start + 1 :]
        if spare:
            notes.append(f"takes {platform.max_mentions} mentions: {len(spare)} lost their @")
    return body, inside, unmarked


def fitting_tags(
    tags: Sequence[str], platform: Platform, inside: int, room: int, measure: Measure
) -> tuple[str, ...]:
    """The first tags that fit `room` together, beside `inside` ones that stand in the body.

    One that is too long by itself does not block others.
    """
    most = MAX_HASHTAGS
    if platform.max_hashtags is not None:
        most = min(most, max(0, platform.max_hashtags - inside))
    kept = list(tags[:most])
    if not kept or measure(" ".join(kept)) <= room:
        return tuple(kept)
    kept = [tag for tag in tags if measure(tag) <= room][:most]
    while kept and measure(" ".join(kept)) > room:
        kept.pop()
    return tuple(kept)


def links_beyond(text: str, platform: Platform) -> list[str]:
    """What is wrong with the number of links, in words; nothing where it is allowed."""
    most = platform.max_links
    if most is None or (found := len(link_spans(text))) <= most:
        return []
    return [f"takes {most} links, not {found}"]


@dataclass(frozen=True, slots=True)
class Tail:
    """What stands after the body: link, hashtags, disclosure, in this order."""

    gap: str
    """What stands before the hashtags and the link."""
    link: str = ""
    hashtags: tuple[str, ...] = ()
    disclosure: str = ""
    """With the line breaks before it."""

    @property
    def text(self) -> str:
        """The tail as it is appended."""
        link = self.gap + self.link if self.link else ""
        tags = self.gap + " ".join(self.hashtags) if self.hashtags else ""
        return link + tags + self.disclosure

    def after(self, body: str) -> str:
        """The whole post."""
        return body + self.text if body else self.text.lstrip()

    def room(self, platform: Platform, measure: Measure) -> int:
        """What link and disclosure leave of the limit.

        Raises:
            UsageError: less than half.
        """
        fixed = replace(self, hashtags=()).text
        room = platform.limit - measure(fixed)
        if 2 * room < platform.limit:
            what = " and ".join(name for name in ("link", "disclosure") if getattr(self, name))
            raise UsageError(f"the {what} is too long for {platform.label}")
        return room


def tail_of(platform: Platform, link: str | None, disclosure: str | None) -> Tail:
    """A tail without hashtags, laid out as is usual on the platform."""
    is_line = platform.hashtags_after == "space"
    if not link and not disclosure:
        return Tail(" " if is_line else "\n\n")
    notice = trimmed(postable(disclosure or "", platform, []))
    return Tail(
        gap=" " if is_line else "\n\n",
        link=trimmed(postable(link or "", platform, [])),
        disclosure=("\n" if is_line else "\n\n") + notice if notice else "",
    )
