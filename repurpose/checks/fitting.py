"""What is done to every valid answer before it is published: trim, drop, cap, cut.

Upper bounds are code here, not prompt, because a model that is asked for 280 writes 300. Lower
bounds stand in prompts only; nothing here pads or rejects a short text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import regex

from repurpose.core.record import Measures
from repurpose.errors import UsageError
from repurpose.platforms import Platform
from repurpose.text.counting import MEASURES, Measure
from repurpose.text.cutting import Cut, cut
from repurpose.text.sentences import Segmenter

__all__ = [
    "MAX_HASHTAGS",
    "MAX_PAIRS",
    "MAX_SENTENCES",
    "FittedPost",
    "capped",
    "fit_post",
    "non_blank",
    "normalised_hashtags",
    "one_line",
    "trimmed",
]

MAX_SENTENCES: Final = 8
MAX_PAIRS: Final = 10
MAX_HASHTAGS: Final = 30
"""The longest list of hashtags we keep, whatever the platform; platforms may allow fewer."""

_T = TypeVar("_T")

_EDGES = "".join(c for c in map(chr, range(0x3001)) if c.isspace()) + "\u200b\u2060\ufeff"
"""White space, of which U+3000 is the last, and what a reader cannot tell from nothing."""

_NOT_POSTABLE = {0xFEFF: None, 0xFFFE: None, 0xFFFF: None}
"""X refuses posts with these (docs.x.com, counting characters); nobody else shows them."""

_LETTERS = r"\p{L}\p{Nd}_"
_JOINED = r"(?:[\p{Mn}\p{Mc}--[\uFE00-\uFE0F]]|[\u200C\u200D](?=\p{L}))"
"""What belongs to the letter before it: vowel signs, accents, and joiners inside a word."""
_TAG = rf"(?:[{_LETTERS}]{_JOINED}*+)"
_TAG_PARTS = regex.compile(rf"{_TAG}++", regex.VERSION1)
_TAG_BREAKS = regex.compile(r"[\s#＃]++")
_HASHTAG = regex.compile(
    rf"(?<![{_LETTERS}\p{{M}}&/])[#＃](?=[\p{{Nd}}_]*+\p{{L}}){_TAG}++", regex.VERSION1
)
"""A hashtag inside a text. `#1` is none on any platform, nor is the end of `page.html#part`."""
_WORDS = regex.compile(r"\S++")
_CLOSING = frozenset(".!?…。！？｡؟।\"'”’»)）」』")
"""What the text before a block of hashtags ends with, if the block is not part of a sentence."""


@dataclass(frozen=True, slots=True)
class FittedPost:
    """A post that its platform accepts."""

    text: str
    """What is published: body, hashtags, disclosure."""
    body: str
    """The text without hashtags and disclosure; cut where that was needed."""
    hashtags: tuple[str, ...]
    """The hashtags that stand after the body, each with its `#`."""
    measures: Measures
    """Of `text`, in the platform's unit."""


def trimmed(text: str) -> str:
    """`text` without white space and invisible characters at both ends.

    >>> trimmed("  First. ")
    'First.'
    """
    return text.strip(_EDGES)


def one_line(text: str) -> str:
    r"""`text` trimmed, with each line break in it replaced by one space.

    For what has to stay on its line: a subject, a question, a sentence of a list.

    >>> one_line(" A subject\r\nBcc: everyone ")
    'A subject Bcc: everyone'
    """
    return " ".join(line for line in map(trimmed, text.splitlines()) if line)


def non_blank(texts: Iterable[str]) -> tuple[str, ...]:
    """`texts` trimmed, without those that have nothing to read."""
    return tuple(text for text in map(trimmed, texts) if text)


def capped(items: Sequence[_T], limit: int) -> tuple[_T, ...]:
    """The first `limit` items; a model's best come first."""
    return tuple(items[:limit])


def normalised_hashtags(items: Iterable[str]) -> tuple[str, ...]:
    """`items` as hashtags: one `#`, then letters, digits and underscores, each tag once.

    An item may hold several. What differs in case only counts as the same, and the first
    spelling wins. Whatever a platform would end the tag at is left out: `AI-driven` would
    become `#AI` there.

    >>> normalised_hashtags(["AI-driven", "growth #Leipzig", "#Growth", "#-!"])
    ('#AIdriven', '#growth', '#Leipzig')
    """
    found: dict[str, str] = {}
    for item in items:
        for word in _TAG_BREAKS.split(unicodedata.normalize("NFC", item)):
            tag = "".join(_TAG_PARTS.findall(word))
            if tag.strip("_"):
                found.setdefault(tag.casefold(), f"#{tag}")
    return tuple(found.values())


def fit_post(
    text: str,
    hashtags: Sequence[str],
    platform: Platform,
    *,
    language: str | None,
    segmenter: Segmenter | None,
    disclosure: str | None = None,
) -> FittedPost:
    """A post of `text` and `hashtags` that `platform` accepts, whatever came in.

    The final string is measured, hashtags and disclosure included, and never exceeds the limit
    in the platform's unit. Hashtags take at most half of what the disclosure leaves; those that
    do not fit are dropped from the end, and the body is cut to the rest. `disclosure` is never
    cut; it is the post's last line.

    Hashtags that end the text in a block of their own join the others instead of standing there
    twice. Those inside a sentence stay, count towards the platform's maximum, and lose their `#`
    beyond it.

    Raises:
        UsageError: the disclosure alone takes more than half of the limit.
    """
    measure = MEASURES[platform.unit]
    notice = _notice(disclosure, platform)
    room = platform.limit - measure(notice)
    if 2 * room < platform.limit:
        raise UsageError(f"the disclosure is too long for {platform.label}")
    body, ending = _hashtags_apart(trimmed(_plain_breaks(text)))
    body, inside, unmarked = _marked_at_most(body, platform.max_hashtags)
    wanted = normalised_hashtags([*hashtags, *ending])
    kept = _fitting(wanted, _most_hashtags(platform, inside), room // 2, measure)
    tail = _hashtag_line(kept, platform) + notice
    piece = _cut_before(body, tail, platform, measure, language, segmenter)
    final = piece.text + tail
    return FittedPost(
        text=final,
        body=piece.text,
        hashtags=kept,
        measures=Measures(
            length=measure(final),
            unit=platform.unit,
            max_length=platform.limit,
            shortened=piece.mode != "none",
            cut_mode=piece.mode,
            hashtags_dropped=len(wanted) - len(kept) + unmarked,
        ),
    )


def _plain_breaks(text: str) -> str:
    """`text` with line feeds only, since X counts CR LF as two, and without unpostable ones."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_NOT_POSTABLE)


def _notice(disclosure: str | None, platform: Platform) -> str:
    """The disclosure as it is appended, or an empty text."""
    line = trimmed(_plain_breaks(disclosure or ""))
    if not line:
        return ""
    return f"\n{line}" if platform.hashtags_after == "space" else f"\n\n{line}"


def _hashtag_line(tags: Sequence[str], platform: Platform) -> str:
    """The hashtags as they are appended, or an empty text."""
    if not tags:
        return ""
    return (" " if platform.hashtags_after == "space" else "\n\n") + " ".join(tags)


def _most_hashtags(platform: Platform, inside: int) -> int:
    """How many may stand after a body that holds `inside` of them."""
    if platform.max_hashtags is None:
        return MAX_HASHTAGS
    return min(MAX_HASHTAGS, max(0, platform.max_hashtags - inside))


def _fitting(tags: Sequence[str], most: int, room: int, measure: Measure) -> tuple[str, ...]:
    """The first tags that together fit `room`; one that is alone too long does not block others."""
    kept = list(capped([tag for tag in tags if measure(tag) <= room], most))
    while kept and measure(" ".join(kept)) > room:
        kept.pop()
    return tuple(kept)


def _hashtags_apart(body: str) -> tuple[str, tuple[str, ...]]:
    """`body` without the block of hashtags that ends it, and these hashtags.

    A hashtag that is a word of the last sentence (`See you at #OpenDay`) is no block, and a body
    of hashtags alone is left as it is.
    """
    words = list(_WORDS.finditer(body))
    first = len(words)
    while first and _HASHTAG.fullmatch(body, *words[first - 1].span()):
        first -= 1
    if first in {0, len(words)}:
        return body, ()
    before, block = words[first - 1].end(), words[first].start()
    if "\n" not in body[before:block] and body[before - 1] not in _CLOSING:
        return body, ()
    return body[:before], tuple(word.group() for word in words[first:])


def _marked_at_most(body: str, most: int | None) -> tuple[str, int, int]:
    """`body` with at most `most` hashtags, how many it has, and how many lost their `#`."""
    marks = [match.start() for match in _HASHTAG.finditer(body)]
    spare = marks[most:] if most is not None else []
    starts = [0, *(mark + 1 for mark in spare)]
    parts = [body[start:end] for start, end in zip(starts, [*spare, len(body)], strict=True)]
    return "".join(parts), len(marks) - len(spare), len(spare)


def _cut_before(
    body: str,
    tail: str,
    platform: Platform,
    measure: Measure,
    language: str | None,
    segmenter: Segmenter | None,
) -> Cut:
    """`body` cut so that body and tail together fit.

    Lengths need not add up: X reads links across what was put together. So the sum is measured,
    and the allowance reduced until it fits.
    """
    allowance = platform.limit - measure(tail)
    while True:
        piece = cut(body, allowance, measure, language=language, segmenter=segmenter)
        excess = measure(piece.text + tail) - platform.limit
        if excess <= 0:
            return piece
        allowance -= excess
