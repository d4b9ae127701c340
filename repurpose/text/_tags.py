"""Where a text holds something that reads as a tag of ours, or as a token of a chat template.

Patterns run over skeletons (see `_confusables`) of every reading (see `_escapes`). No repeat in
them can cross what starts another match more than a fixed number of times, so the time taken
grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repurpose.text._confusables import (
    ANGLE,
    CLOSERS,
    DEFUSED_CLOSE,
    DEFUSED_OPEN,
    HIDDEN,
    JOINER,
    LINE,
    OPENERS,
    SLASH,
    SOLID,
    any_of,
    letters,
    none_of,
    plain_letter,
    skeleton_of,
)
from repurpose.text._escapes import Reading, Span, readings
from repurpose.text._hits import Collection, Hit, Kind, defusing

__all__ = ["TagFinder"]

_MAX_ROUNDS = 8  # far more than any text met so far needed; bounds the cost of a hostile one
_BRACKETS = OPENERS + CLOSERS
_SPACE = any_of(" " + LINE + HIDDEN)
_ALL_BRACKETS = _BRACKETS + DEFUSED_OPEN + DEFUSED_CLOSE
# Between two letters of one word: any white space, and at most one sign ("s.o.u.r.c.e"). Signs
# that pass for a letter are left for the letter to match.
_GAP_SIGNS = "./:_"
_GAP = rf"{_SPACE}*+(?:[{_GAP_SIGNS}]{_SPACE}*+)?+"
# Between two words of a name: up to six signs or digits, besides any white space and joiners.
_LOOSE = any_of(" _" + LINE + HIDDEN)
_BETWEEN = rf"(?:{_LOOSE}*+{none_of(SOLID + ' _' + LINE + HIDDEN)}){{0,6}}{_LOOSE}*+"
# A namespace, read backwards: colon, then its letters.
_PREFIX = rf"(?:{_SPACE}*+:{_SPACE}*+{none_of(_ALL_BRACKETS + ': ' + SLASH)}*+)"


def _reach(brackets: str) -> re.Pattern[str]:
    """What may stand before a name, read backwards from it: brackets, slashes, one prefix."""
    run = any_of(brackets + DEFUSED_OPEN + SLASH + "! " + LINE + HIDDEN) + "*+"
    return re.compile(f"{run}(?:{_PREFIX}{run})?+")


_BEFORE = _reach(OPENERS)
_BEFORE_MIRRORED = _reach(_BRACKETS)
_BEFORE_PLAIN = re.compile(any_of(OPENERS + DEFUSED_OPEN + SLASH + " " + LINE + HIDDEN) + "*+")
_REST_OF_TAG = re.compile(f"{none_of(_BRACKETS)}{{0,80}}+{any_of(CLOSERS)}")


def _spaced(word: str) -> str:
    """A pattern for the letters of `word`, in any look, with gaps; `rn` for an m, `vv` for a w."""
    pairs = {"m": ("r", "n"), "w": ("v", "v")}
    parts = []
    for wanted in word:
        one = letters(wanted)
        if wanted in pairs:
            one = f"(?:{one}|{_GAP.join(map(letters, pairs[wanted]))})"
        parts.append(one)
    return _GAP.join(parts)


def _names_pattern(block: str, others: Sequence[str]) -> re.Pattern[str]:
    """The two words of any of the names, of which `block` may lack the second.

    All alternatives start with one look at the first letter: that is what makes a search fast.
    """
    first, second = block.split("_")
    alone = f"(?<={letters(first[0])})(?P<first>{_GAP}{_spaced(first[1:])})"
    alternatives = [f"{alone}(?P<second>{_BETWEEN}{_spaced(second)})?"]
    for name in others:
        first, second = name.split("_")
        alternatives.append(
            f"(?<={letters(first[0])}){_GAP}{_spaced(first[1:])}{_BETWEEN}{_spaced(second)}"
        )
    initials = "".join(name[0] for name in (block, *others))
    return re.compile(f"{letters(initials)}(?:{'|'.join(alternatives)})")


# Tags that fence or steer a prompt in other tools and chat formats.
_TOKEN_TAGS = (
    "assistant", "context", "document", "document_content", "documents", "end_of_turn", "function",
    "function_call", "function_calls", "function_result", "function_results", "human",
    "instruction", "instructions", "start_of_turn", "system", "system_prompt", "think", "thinking",
    "tool_call", "tool_calls", "tool_response", "tool_responses", "tool_result", "tool_results",
    "user", "user_input",
)  # fmt: skip
# Short names that are tokens only where the bracket closes at once: "a <s b" is none.
_TOKEN_MARKS = ("bos", "eos", "s")
_TOKEN_SQUARES = ("available_tools", "inst", "system_prompt", "tool_calls", "tool_results")


def _plain(names: Sequence[str]) -> str:
    """A pattern for any of `names` in letters of any look, hidden characters inside allowed."""
    hidden = f"{HIDDEN}*+"
    parts = (
        hidden.join(
            f"{any_of(JOINER + ' ')}?" if sign == "_" else plain_letter(sign) for sign in name
        )
        for name in sorted(names, key=len, reverse=True)
    )
    return f"(?:{'|'.join(parts)})"


_INSIDE_PIPES = none_of(_ALL_BRACKETS + "| " + LINE + HIDDEN)
_H = f"{HIDDEN}*+"
_HS = f"[{HIDDEN}{SLASH}]*+"  # slashes stand for the backslashes of escaped Markdown, too
_HSS = f"[{HIDDEN}{SLASH} ]*+"
_TOKEN = re.compile(
    "|".join((
        rf"<{_HS}\|(?:{_H}{_INSIDE_PIPES}){{1,64}}+{_H}\|{_HS}>",  # <|im_end|>
        rf"<{_H}<{_HSS}{_plain(['sys'])}{_HSS}>{_H}>",  # <<SYS>>
        rf"<{_HSS}{_plain((*_TOKEN_MARKS, *_TOKEN_TAGS))}{_HSS}>",  # </s>, < /system>
        rf"<{_HS}{_plain(_TOKEN_TAGS)}(?={_H}(?:[ {LINE}{SLASH}]|\Z))",  # <document index="1"
        rf"\[{_HSS}{_plain(_TOKEN_SQUARES)}{_HSS}\]",  # [/INST]
    ))
)  # fmt: skip


class TagFinder:
    """Finds the tags of given names, and the tokens of chat templates.

    `block` is a name whose first word alone, after a plain angle bracket, already reads as the
    tag; of `others` both words must be there. Names are two words joined by an underscore.
    """

    __slots__ = ("_names",)

    def __init__(self, block: str, others: Sequence[str]) -> None:
        self._names = _names_pattern(block, others)

    def hits(self, text: str) -> list[Hit]:
        """Everything in `text` that reads as a tag or token, in text order.

        Each bracket belongs to one hit, also where several readings of the text find it.
        """
        found = Collection()
        reading = Reading(text)
        for _ in range(_MAX_ROUNDS):
            before = len(found.owner)
            settled = self._collect(reading, found)
            if settled or len(found.owner) == before:
                break
            reading = Reading(text).substituted(defusing(found.hits))
        return sorted(found.hits, key=lambda hit: (hit.start, hit.end))

    def _collect(self, reading: Reading, found: Collection) -> bool:
        """Whether `found` now has all hits of `reading`, to which this adds.

        It has where there is nothing to decode. Else a bracket changed in one stage of decoding
        may be all that kept an earlier one from reading as a tag in another.
        """
        stages = 0
        for stage in readings(reading):
            stages += 1
            for hit in self._in_reading(stage):
                found.add(hit)
        return stages == 1

    def _in_reading(self, reading: Reading) -> Iterator[Hit]:
        skeleton = skeleton_of(reading.text)
        if not any(bracket in skeleton for bracket in _BRACKETS):
            return
        mirrored = skeleton[::-1]
        yield from _upright(reading, self._names, skeleton, mirrored)
        yield from _mirrored(reading, self._names, skeleton, mirrored)
        yield from _tokens(reading, skeleton)


def _upright(
    reading: Reading, names: re.Pattern[str], skeleton: str, mirrored: str
) -> Iterator[Hit]:
    """Tags written forwards: the brackets stand before the name."""
    for match in names.finditer(skeleton):
        start, end = match.span()
        before, wanted = _BEFORE, OPENERS
        if _lacks_second_word(match):
            if any(sign in match["first"] for sign in _GAP_SIGNS + " "):
                continue  # letters apart are a tag only where both words are there
            before, wanted = _BEFORE_PLAIN, ANGLE
        reach = _matched(before, mirrored, len(skeleton) - start)
        opening = [start - 1 - place for place, sign in enumerate(reach) if sign in wanted]
        if opening:
            rest = _REST_OF_TAG.match(skeleton, end)
            yield _hit("tag", reading, opening, (opening[-1], rest.end() if rest else end))


def _mirrored(
    reading: Reading, names: re.Pattern[str], skeleton: str, mirrored: str
) -> Iterator[Hit]:
    """Tags written backwards, as a right-to-left override shows them.

    What opens the tag stands behind the name, and may be a bracket of either direction, since
    such an override also flips brackets; or the name alone is turned round.
    """
    size = len(skeleton)
    for match in names.finditer(mirrored):
        if _lacks_second_word(match):
            continue
        start, end = size - match.end(), size - match.start()
        behind = _matched(_BEFORE_MIRRORED, skeleton, end)
        before = _matched(_BEFORE_PLAIN, mirrored, match.end())
        opening = [start - 1 - place for place, sign in enumerate(before) if sign in OPENERS]
        opening += [end + place for place, sign in enumerate(behind) if sign in _BRACKETS]
        if opening:
            yield _hit("tag", reading, opening, (min(start, *opening), max(end - 1, *opening) + 1))


def _tokens(reading: Reading, skeleton: str) -> Iterator[Hit]:
    for match in _TOKEN.finditer(skeleton):
        opening: list[int] = []
        closing: list[int] = []
        for place, sign in enumerate(match[0], match.start()):
            if sign in OPENERS:
                opening.append(place)
            elif sign in CLOSERS:
                closing.append(place)
        yield _hit("token", reading, opening, match.span(), closing)


def _lacks_second_word(match: re.Match[str]) -> bool:
    return match["first"] is not None and match["second"] is None


def _matched(pattern: re.Pattern[str], text: str, offset: int) -> str:
    """What `pattern`, which also matches nothing, matches at `offset`."""
    match = pattern.match(text, offset)
    return match[0] if match else ""


def _hit(
    kind: Kind,
    reading: Reading,
    opening: Sequence[int],
    span: Span,
    closing: Sequence[int] = (),
) -> Hit:
    """A hit in offsets of the original text."""
    start, end = span
    return Hit(
        kind,
        reading.origin(start)[0],
        reading.origin(end - 1)[1],
        tuple(sorted(map(reading.origin, opening))),
        tuple(sorted(map(reading.origin, closing))),
    )
