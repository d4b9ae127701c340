"""How long a text is, in the units that platforms count in.

Every measure takes a text and returns a whole number; 0 for the empty text. Each costs time in
proportion to the length of the text, whatever it holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

import regex

from repurpose.text._links import Span, link_spans

__all__ = [
    "MEASURES",
    "Measure",
    "Span",
    "code_points",
    "grapheme_starts",
    "graphemes",
    "link_spans",
    "mastodon_length",
    "mention_spans",
    "token_spans",
    "unbreakable_spans",
    "utf8_bytes",
    "utf16_units",
    "weighted_length",
]

Measure = Callable[[str], int]
"""Takes a text, returns its length in some unit."""

# `\X` alone looks back to the start of a run of regional indicators at each of them, so pairs
# are taken first: 100,000 of them cost 30 seconds otherwise.
_GRAPHEME = regex.compile(r"\p{RI}\p{RI}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+|\X")
# Characters that are one grapheme each beside each other: letters and signs of Latin, Greek,
# Cyrillic, Hebrew, Arabic, kana and ideographs. What surrounds others is looked at with them, since
# a mark joins what is before it and a prefix what is after it. Most texts are nine tenths plain.
_PLAIN = (
    "\x00-\x0c\x0e-\x7f\xa0-\xa8\xaa-\xac\xaf-\u02ff\u0370-\u0482\u048a-\u052f\u05d0-\u05ea"
    "\u0620-\u064a\u2010-\u2027\u2030-\u203b\u203d-\u2048\u20a0-\u20bf\u3000-\u3029\u3041-\u3096"
    "\u309b-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff9d"
)
_KNOTS = re.compile(rf"(?s)[^{_PLAIN}]++(?:.[^{_PLAIN}]++)*+.?")  # but for the character before
_MANY_MARKS = regex.compile(r"\p{M}{30}")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")

# twitter-text configuration v3, as shown at docs.x.com/fundamentals/counting-characters.
_LINK_WEIGHT = 23
_EMOJI_WEIGHT = 2
_HEAVY_WEIGHT = 2
_HEAVY = re.compile("[^\u0000-\u10ff\u2000-\u200d\u2010-\u201f\u2032-\u2037]")

# One emoji as a reader sees it (UTS #51). Digits, `#`, `*`, copyright and registered signs are
# emoji only with a sign that says so. At most four parts are joined: no emoji has more, and an
# endless chain is not one for X either.
_TONE = r"(?:(?<=\p{Emoji_Modifier_Base})\p{Emoji_Modifier}|\uFE0F)?+"
_EMOJI = regex.compile(
    r"(?V1)[0-9#*]\uFE0F?\u20E3"
    r"|\p{RI}\p{RI}"
    r"|\U0001F3F4[\U000E0020-\U000E007E]{1,16}+\U000E007F"
    rf"|(?:[\p{{Emoji}}--[0-9#*\u00A9\u00AE]]|[\u00A9\u00AE](?=\uFE0F))(?!\uFE0E){_TONE}"
    rf"(?:\u200D[\p{{Emoji}}--[0-9#*]]{_TONE}){{0,3}}+"
)

_NO_SPACES = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
)
_ADDRESS = re.compile(
    rf"(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9+.\-]{{1,15}}://|mailto:|www\.)[^\s\u200b<>\"“”„«»{_NO_SPACES}]++"
)
_AFTER_ADDRESS = ".,;:!?'’\"*_~`()[]{}…"
_NAME = rf"[\w--[{_NO_SPACES}]]++"
_MAIL = regex.compile(
    rf"(?V1)(?<![A-Za-z0-9_.+\-])(?:{_NAME}|[.+\-]++)++@{_NAME}(?:[.\-]{_NAME})++"
)
_MENTION = regex.compile(
    rf"(?V1)(?<![A-Za-z0-9_@＠/])[@＠]{_NAME}(?:[.\-]{_NAME})*+(?:@{_NAME}(?:[.\-]{_NAME})*+)?+"
)
_HASHTAG = regex.compile(
    r"(?<![A-Za-z0-9_&])[#＃][\w\u00b7\u05be\u05f3\u05f4\u0f0b\u200c\u200d\u301c\uff5e]++(?:\.\d++)*+"
)
_WEB = re.compile(r"(?i)https?://")
_REMOTE = re.compile(r"(?<![\w@/.])(@\w{1,100})@[\w][\w.\-]{0,250}\w(?![\w@])")
_NUMBER = re.compile(
    r"\d++(?:[.,:/٫٬·'’．，\-–]\d++|[\u00a0\u2009\u202f]\d{3}(?!\d))*+[%‰％]?"
    "[十百千万萬亿億兆]*+"
)
_CURRENCY = frozenset("$€£¥￥₹")


def code_points(text: str) -> int:
    """The number of Unicode code points, as Python counts.

    >>> code_points("🇵🇹")
    2
    """
    return len(text)


def utf16_units(text: str) -> int:
    """The number of UTF-16 code units, as JavaScript, Java and most platforms' editors count.

    Never smaller than code points or graphemes, so it is the safe unit where none is published.

    >>> utf16_units("a🎉")
    3
    """
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for _ in _ASTRAL.finditer(text))


def utf8_bytes(text: str) -> int:
    """The number of bytes of the UTF-8 form; a lone surrogate counts three.

    >>> utf8_bytes("Größe")
    7
    """
    return len(text.encode("utf-8", "surrogatepass"))


def graphemes(text: str) -> int:
    """The number of extended grapheme clusters (UAX #29): what a reader calls characters.

    >>> graphemes("👨‍👩‍👧‍👦 नमस्ते")
    5
    """
    if text.isascii():
        return len(text) - text.count("\r\n")
    count = len(text)
    for start, end in _knots(text):
        count += len(_GRAPHEME.findall(text, start, end)) - (end - start)
    return count


def grapheme_starts(text: str) -> list[int]:
    """The offset of each grapheme cluster, in text order; empty for the empty text.

    >>> grapheme_starts("e\u0301a")
    [0, 2]
    """
    if text.isascii() and "\r\n" not in text:
        return list(range(len(text)))
    starts: list[int] = []
    position = 0
    for start, end in _knots(text):
        starts.extend(range(position, start))
        starts.extend(knot.start() for knot in _GRAPHEME.finditer(text, start, end))
        position = end
    starts.extend(range(position, len(text)))
    return starts


def _knots(text: str) -> Iterator[Span]:
    """The stretches in which a grapheme may be more than one code point."""
    done = 0
    for found in _KNOTS.finditer(text):
        start, end = found.span()
        yield max(done, start - 1), end
        done = end


def weighted_length(text: str) -> int:
    """The length as X counts it (twitter-text 3): what the limit of 280 is about.

    Counted after NFC. A link is 23 whatever its length, an emoji 2 whatever it is made of, a
    code point of the Latin to Georgian blocks or of the common punctuation 1, any other 2.
    Source: docs.x.com/fundamentals/counting-characters and twitter-text configuration v3.

    Emoji newer than the tables of the reference libraries count 2, as X documents; those
    libraries say more. Hosts are links by the current list of top-level domains.

    >>> weighted_length("日本 https://example.com/a/very/long/path/indeed 🙋🏽")
    31
    """
    text = _composed(text)
    weight = position = 0
    for start, end in link_spans(text):
        weight += _plain_weight(text[position:start]) + _LINK_WEIGHT
        position = end
    return weight + _plain_weight(text[position:])


def mastodon_length(text: str) -> int:
    """The length as Mastodon counts it: graphemes, a link 23, of `@user@host` only `@user`.

    A host without `http://` or `https://` before it is no link there. Source:
    docs.joinmastodon.org/user/posting.

    >>> mastodon_length("@ana@social.example https://example.com/a/very/long/path example.com")
    40
    """
    links = [span for span in link_spans(text) if _WEB.match(text, span[0])]
    length = position = 0
    for start, end in links:
        length += graphemes(_REMOTE.sub(r"\1", text[position:start])) + _LINK_WEIGHT
        position = end
    return length + graphemes(_REMOTE.sub(r"\1", text[position:]))


def _composed(text: str) -> str:
    """The NFC form, in pieces of at most 30 combining marks (UAX #15, Stream-Safe Text Format).

    Python sorts marks by insertion: 40,000 of them on one letter cost 6 seconds in one piece.
    """
    if text.isascii():
        return text
    ends = [found.end() for found in _MANY_MARKS.finditer(text)]
    bounds = [0, *ends, len(text)]
    return "".join(unicodedata.normalize("NFC", text[start:end]) for start, end in pairwise(bounds))


def _plain_weight(text: str) -> int:
    """The weight of a text without links."""
    if text.isascii() and "\u20e3" not in text:
        return len(text)
    rest, emoji = _EMOJI.subn("", text)
    light = len(_HEAVY.sub("", rest))
    return emoji * _EMOJI_WEIGHT + light + (len(rest) - light) * _HEAVY_WEIGHT


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "code_points": code_points,
        "utf16": utf16_units,
        "utf8_bytes": utf8_bytes,
        "graphemes": graphemes,
        "mastodon": mastodon_length,
        "x_weighted": weighted_length,
    }
)
"""Each measure by the name of its unit, as the platform table spells it."""


def token_spans(text: str) -> list[Span]:
    """Addresses, e-mail addresses, mentions and hashtags: offsets, in order, without overlap.

    Punctuation that follows a token is no part of it.

    >>> text = "Ask @dr.smith, or read https://example.com/a?b=c.d. #AI"
    >>> [text[start:end] for start, end in token_spans(text)]
    ['@dr.smith', 'https://example.com/a?b=c.d', '#AI']
    """
    return list(_tokens(text))


@lru_cache(maxsize=1)  # a text that is cut is asked about twice in a row
def _tokens(text: str) -> tuple[Span, ...]:
    spans = link_spans(text)
    if "://" in text or "www." in text or "mailto:" in text:
        for found in _ADDRESS.finditer(text):
            start = found.start()
            spans.append((start, start + len(found.group().rstrip(_AFTER_ADDRESS))))
    if "@" in text or "＠" in text:
        for pattern in (_MAIL, _MENTION):
            spans.extend(found.span() for found in pattern.finditer(text))
    if "#" in text or "＃" in text:
        spans.extend(found.span() for found in _HASHTAG.finditer(text))
    return tuple(_merged(spans))


def mention_spans(text: str) -> list[Span]:
    """The mentions: `@name` and `@name@server`, but not the end of an address.

    >>> text = "Ask @dr.smith, not a@example.com or https://example.com/@her."
    >>> [text[start:end] for start, end in mention_spans(text)]
    ['@dr.smith']
    """
    if "@" not in text and "＠" not in text:
        return []
    return [found.span() for found in _MENTION.finditer(text)]


def unbreakable_spans(text: str) -> list[Span]:
    """What no cut may go through: the tokens of `token_spans`, and numbers such as 12.5 or 1,000.

    A number takes its currency sign, per cent sign and CJK power of ten with it, and groups of
    three digits joined by a no-break or thin space. Offsets in text order, without overlap.

    >>> text = "Up 12.5% to €1,000"
    >>> [text[start:end] for start, end in unbreakable_spans(text)]
    ['12.5%', '€1,000']
    """
    numbers = (found.span() for found in _NUMBER.finditer(text))
    with_currency = (
        (start - (text[start - 1 : start] in _CURRENCY), end) for start, end in numbers
    )
    return _merged([*token_spans(text), *with_currency])


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The same coverage in order, spans that overlap made one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
