"""The rules that every segmenter works under: which of its ends stand, and where exactly.

They take one line, so no sentence goes over a line break. Offsets are code points of the line.
Each rule looks at a bounded stretch around an end, so a line costs time in proportion to its
length.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Literal, NamedTuple

import regex

from repurpose.text._abbreviations import vocabulary
from repurpose.text._asides import asides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from repurpose.text._abbreviations import Vocabulary

__all__ = ["ends_with_stop", "refined_ends"]

# An end in whatever language it stands: CJK, danda, Arabic, Urdu, Armenian, Ethiopic, Burmese.
_SURE = regex.compile(r"(?V1)[\u037e\p{STerm}--[!?.‼⁇⁈⁉‽․﹒﹖﹗．\u104a]]")
_CLOSERS = (
    r"(?:\]\([^\s()]{0,300}+\)"  # the rest of a Markdown link
    r"""|["'”’»«“)\]}」』）】》〉〕｝＂*_~`\u202c\u2069\u200e\u200f\u061c]|\[\d{1,3}\]|[¹²³⁰-⁹])*+"""
    r"(?:[ \u00a0\u202f]»(?=\s|$))?+"
)
_EMOJI = (
    r"(?:[\p{Emoji_Presentation}--\p{RI}]|\p{RI}\p{RI}|[\p{Emoji}--[0-9#*]]\uFE0F)"
    r"[\p{M}\p{Emoji_Modifier}\u200D]*+"
)


def _stop_pattern(more: str, end: str = "") -> regex.Pattern[str]:
    mark = rf"[\p{{STerm}}…‥\u037e{more}--[\u104a]]++"
    return regex.compile(rf"(?V1)(?P<mark>{mark})(?P<closers>{_CLOSERS})(?:{_EMOJI})*+{end}")


_GREEK_QUESTION_MARK = ";"
_STOP = _stop_pattern("")
_STOP_GREEK = _stop_pattern(_GREEK_QUESTION_MARK)
_LAST_STOP = _stop_pattern("", "$")
_LAST_STOP_GREEK = _stop_pattern(_GREEK_QUESTION_MARK, "$")
_NEXT = regex.compile(
    r"""(?V1)(?P<gap>\s*+)["'“‘„«»(\[{「『（【《〈¿¡*_~`>\-–—]*+\s?+(?P<word>[\w'’\p{M}]{0,40}+)(?P<stop>\.?)"""
)
_BEFORE = regex.compile(r"(?:(?<!\w)\w{1,2}\.[ \u00a0\u202f]?)*+[\w\-°º]++(?:\.[\w\-]++)*+$")
_DOTTED = regex.compile(r"(?:\p{L}{1,2}\.-?)+\p{L}{1,2}|\p{Lu}")
_CONTRACTION = regex.compile("['’]")
_ROMAN = regex.compile(r"\p{Lu}|[IVXLC]+")
_MARKER = regex.compile(
    # 1.  • 2.  b.  iv.  Step 3.
    r"[\W_]*+(?:\d{1,3}|\p{L}|[ivxIVX]{1,4}|\p{Lu}\p{L}+ \d{1,3})\.\)?"
)
_INNER_MARKER = regex.compile(r"[:;]\s\(?(?:\d{1,2}|\p{L})\.\)?$")
_ITEM = regex.compile(
    r"(?:^\s*+|(?<=[^\s,;:]\s))"
    r"(?:(?P<bullet>[•▪◦‣●■✔☑✅❌➤▶]\uFE0F?\s?)?+(?P<number>\d{1,2}|[a-z])(?P<sign>\.\)|[.)])"
    r"|(?P<bullet>[•▪◦‣●■✔☑✅❌➤▶])(?P<sign>)(?P<number>)\uFE0F?)(?=\s+\S)"
)
_UNSPACED = regex.compile(
    r"[\u2E80-\u31FF\u3400-\u9FFF\uF900-\uFAFF\uFF00-\uFFEF\U00020000-\U0003FFFF]"
)
_QUOTATIVE = ("と", "って")  # Japanese: what stands in brackets is said, the sentence goes on

_WORD_REACH = 30  # no abbreviation is longer
_MARKER_REACH = 40
_CONTEXT = 100  # so far before an end the one before it may decide about it

_EMPTY_ASIDE = frozenset("([（")  # a mark right after it stands for itself: [...] (!) (?)

Kind = Literal["upper", "lower", "digit", "token", "other", "none"]


class _Follower(NamedTuple):
    """What comes after a stop."""

    start: int
    """Where the next character that is no space stands."""
    word: str
    kind: Kind
    dotted: bool
    """Whether a full stop follows the word at once."""


class _Stop(NamedTuple):
    """A mark that may end a sentence, with what belongs to it."""

    begin: int
    mark: str
    closers: str
    end: int
    """After closing quotes and brackets, references and emoji that touch."""
    sure: bool


class _Line:
    """One line and its copy in which tokens are letters, so that no rule looks into them."""

    def __init__(self, text: str, masked: str, language: str) -> None:
        self.text = text
        self.masked = masked
        self.words: Vocabulary = vocabulary(language)
        self.pattern = _STOP_GREEK if language == "el" else _STOP
        self.asides = asides(masked)

    def stops(self) -> Iterator[_Stop]:
        for found in self.pattern.finditer(self.masked):
            mark = found["mark"]
            sure = _SURE.search(mark) is not None or ";" in mark
            yield _Stop(found.start(), mark, found["closers"], found.end(), sure)

    def follower(self, position: int) -> _Follower:
        found = _NEXT.match(self.masked, position)
        if found is None:  # pragma: no cover - every part may be empty
            return _Follower(position, "", "none", dotted=False)
        start = found.start("word")
        word = found["word"]
        is_token = self.text[start : start + 1] != self.masked[start : start + 1]
        kind: Kind = "token" if is_token else _kind(word)
        return _Follower(found.end("gap"), word, kind, dotted=bool(found["stop"]))

    def word_before(self, start: int, begin: int) -> str:
        """The word that a stop at `begin` ends, with the dotted parts before it: `z. B`."""
        found = _BEFORE.search(self.masked[max(start, begin - _WORD_REACH) : begin])
        return found.group() if found else ""

    def starts_sentence(self, follower: _Follower) -> bool:
        """Whether it is a word that seldom follows within a sentence, contracted or not."""
        word = _CONTRACTION.split(follower.word, maxsplit=1)[0]
        initial = follower.dotted and len(word) <= 2  # "A." may be the next one of "J. A. Roe"
        return word in self.words.starters and not initial

    def in_aside(self, stop: _Stop) -> bool:
        index = bisect_right(self.asides, (stop.begin, 0)) - 1
        return index >= 0 and stop.end <= self.asides[index][1]


def refined_ends(
    text: str,
    masked: str,
    proposed: Sequence[int],
    language: str,
    within: tuple[int, int] | None = None,
) -> list[int]:
    """Where sentences end inside a line, in order; the end of the line is not among them.

    `proposed` holds the ends a segmenter found in `masked`, in order. Those that fall into a
    number, an abbreviation or a quotation are dropped; clear ones that it missed are added.

    Only ends `within` a stretch are complete, for somebody who needs no others.
    """
    first, last = within or (0, len(text))
    line = _Line(text, masked, language)
    items = _item_starts(masked, ordinals=line.words.ordinals)
    ends: list[int] = []
    start = 0
    for stop in line.stops():
        if stop.end < first - _CONTEXT and not items:
            continue
        follower = line.follower(stop.end)
        if follower.start >= len(text):
            break
        while items and items[-1] <= stop.begin:
            start = items.pop()
            ends.append(start)
        if _is_proposed(line, stop, follower, proposed) and _stands(line, start, stop, follower):
            ends.append(stop.end)
            start = stop.end
            if start > last:
                break
    return [*ends, *reversed(items)]


def _item_starts(masked: str, *, ordinals: bool) -> list[int]:
    """Where the second and later items of a list within the line begin, last one first.

    Only in a line that begins with the first item, and only while the marks are alike and
    count on: `1) Ship 2) Rest`, `• Ship • Rest`. Where `2.` may be "second", it is no mark.
    """
    first = _ITEM.match(masked)
    if first is None or (ordinals and first["sign"] == "."):
        return []
    starts: list[int] = []
    bullet, number, sign = first.group("bullet", "number", "sign")
    for found in _ITEM.finditer(masked, first.end()):
        if found["sign"] != sign or bool(found["bullet"]) != bool(bullet):
            continue
        if number and found["number"] != _next_number(number):
            continue
        number = found["number"]
        starts.append(found.start())
    return starts[::-1]


def _next_number(number: str) -> str:
    return str(int(number) + 1) if number.isdecimal() else chr(ord(number) + 1)


def _is_proposed(line: _Line, stop: _Stop, follower: _Follower, proposed: Sequence[int]) -> bool:
    """Whether the segmenter ends a sentence here, or any reader would.

    Segmenters read a single letter as an initial ("plan B. It worked"), take "No." for a number
    and skip what they hold for a quotation.
    """
    index = bisect_right(proposed, stop.begin)
    if stop.sure or (index < len(proposed) and proposed[index] <= follower.start):
        return True
    if follower.start == stop.end:
        return line.text[stop.end] in "¿¡"
    if follower.kind != "upper":
        return False
    touched = stop.end > stop.begin + len(stop.mark)
    return touched or _trails_off(stop.mark) or line.starts_sentence(follower)


def _trails_off(mark: str) -> bool:
    return mark[-1] in "…‥" or mark.endswith("..")


def _stands(line: _Line, start: int, stop: _Stop, follower: _Follower) -> bool:
    if line.in_aside(stop) or line.masked[stop.begin - 1 : stop.begin] in _EMPTY_ASIDE:
        return False
    if stop.sure:
        return not (stop.closers and line.text.startswith(_QUOTATIVE, stop.end))
    if follower.start == stop.end and not _may_touch(line.text[stop.end]):
        return False
    if _is_marker(line.masked, start, stop.end):
        return False
    if stop.mark != "." or stop.closers:
        return follower.kind != "lower"
    return not _is_abbreviation(line, start, stop, follower)


def _may_touch(character: str) -> bool:
    """Whether a sentence may begin with this right after a stop, without a space."""
    return character in "¿¡#＃" or _UNSPACED.match(character) is not None


def _is_marker(masked: str, start: int, end: int) -> bool:
    """Whether a sentence would be no more than `1.`, `• 2.` or `Step 3.`, or end in `: 1.`."""
    if _INNER_MARKER.search(masked[max(start, end - _WORD_REACH) : end]):
        return True
    if end - start > _MARKER_REACH:
        return False
    return _MARKER.fullmatch(masked[start:end].strip()) is not None


def _is_abbreviation(line: _Line, start: int, stop: _Stop, follower: _Follower) -> bool:
    """Whether the full stop ends an abbreviation or an ordinal, and not the sentence too."""
    words, kind = line.words, follower.kind
    word = line.word_before(start, stop.begin)
    joined = "".join(word.split())
    last = word.split()[-1].casefold() if word else ""
    keys = {joined.casefold(), last}  # both `p. ex` and, in `Co. Ltd`, the last part alone
    if kind in {"none", "token"}:
        return not keys.isdisjoint(words.never)
    if follower.dotted and len(follower.word) <= 3 and joined.casefold() in words.parts:
        return True
    if keys & words.never or (kind != "digit" and keys & words.titles):
        return True
    goes_on = kind in {"lower", "digit"}
    named = kind == "upper" and not line.starts_sentence(follower)
    if words.ordinals and last.isdecimal() and len(last) <= 2:
        return kind == "lower" or (named and bool(words.starters))
    if keys & words.suffixes or _DOTTED.fullmatch(joined):
        return goes_on or named
    if keys & words.lower:
        return goes_on or (named and _ROMAN.fullmatch(follower.word) is not None)
    return False


def _kind(word: str) -> Kind:
    if not word:
        return "none"
    first = word[0]
    if first.isdecimal():
        return "digit"
    if first.islower():
        return "other" if word[1:2].isupper() else "lower"  # iPhone, eBay
    return "upper" if first.isupper() or first.istitle() else "other"


def ends_with_stop(text: str, language: str) -> bool:
    """Whether a text ends with the mark of a sentence, not with a line break alone.

    >>> ends_with_stop("He said “Go!”", "en"), ends_with_stop("A headline", "en")
    (True, False)
    """
    pattern = _LAST_STOP_GREEK if language == "el" else _LAST_STOP
    return pattern.search(text[-_MARKER_REACH:]) is not None
